# SPDX-License-Identifier: GPL-2.0
"""The experiments' tables and drawings, each a function of the results and the page."""
import report_plots as plots
from report_data import LIMITS, amount, cell, figure, name, options_of, quotient, scale
from report_tables import OUR_NAMES, against_size, cross_table, placement, points, unit_of

SPEED_MESSAGES = 100000  # of Speed's paper
IDLE_NS = 1e9  # REAP_IDLE of kmod/reap.c


def in_ms(records):
    """What times that are shown in milliseconds are in, or instructions."""
    return "ms" if any(r["unit"] == "ns" for r in records) else "instructions"


def fewer_than_speed(records):
    """How many messages there were where they are fewer than the paper's, and why, as a line."""
    timed = [r for r in records if r["metric"] == "client_elapsed" and r["unit"] == "ns"]
    messages = max(r["messages"] for r in records)
    if messages >= SPEED_MESSAGES or not timed:
        return []
    minutes = sum(r["median"] * r["runs"] for r in timed) * SPEED_MESSAGES / messages / 60e9
    return ["%s messages, not the %s of the paper: so many would take %s minutes here, at the "
            "pace of this run" % (figure(messages), figure(SPEED_MESSAGES), figure(minutes, 2))]


def iobench(page, results):
    """Speed's benchmark."""
    every = results.select("iobench")
    if not every:
        return
    page.heading(2, "iobench, after Speed (2001)")
    for size in results.values("iobench", "size"):
        records = results.select("iobench", size=size)
        first = records[0]
        page.heading(3, "%s messages of %s each way, %d connection%s, %s" % (
            figure(first["messages"]), amount(size), first["threads"],
            "s at once" if first["threads"] > 1 else "", placement(first["cpus"])))
        unit = in_ms(records)
        ms = [dict(r, median=r["median"] / 1e6, min=r["min"] / 1e6, max=r["max"] / 1e6, unit="ms")
              if r["unit"] == "ns" else r for r in records]
        for side in ("client", "server"):
            cross_table(page, results, [r for r in ms if r["metric"].startswith(side)], [
                ("%s: elapsed %s" % (side, unit) if what == "elapsed" else text,
                 {"metric": side + "_" + what})
                for what, text in (("elapsed", ""), ("user", "user " + unit),
                                   ("system", "system " + unit),
                                   ("wait", "wait " + unit), ("switches", "switches"),
                                   ("forced_switches", "forced"), ("cpu_share", "% of a CPU"))])
    page.items(fewer_than_speed(every))
    page.text("memcpy alone is the time of the copies: two a message. user and system are told "
              "by the kernel in steps of its clock tick. Both sides begin to count together, "
              "when all is connected and mapped and some messages have gone there and back.")


def latency(page, results):
    """Round trips, and the calls one by one."""
    records = results.select("latency")
    if records and not any(r["transport"] in LIMITS for r in records):
        page.heading(2, "Round trip of %s" % amount(records[0]["size"]))
        cross_table(page, results, records, [
            ("%s, %s" % (placement(cpus), unit_of(records)), {"cpus": cpus}) for cpus in (1, 2)])
    for cpus in results.values("latency-detail", "cpus"):
        records = results.select("latency-detail", cpus=cpus)
        page.heading(2, "Each call of a round trip of %s, %s, %s of them" % (
            amount(records[0]["size"]), placement(cpus), figure(records[0]["messages"])))
        page.text("A read, the client's or the server's, contains the wait for the other side.")
        for kind, text in (("round_trip", "round trip"), ("client_write", "client, write"),
                           ("client_read", "client, read"), ("server_read", "server, read"),
                           ("server_write", "server, write")):
            cross_table(page, results, records, [
                ("%s: %s %s" % (text, shown, unit_of(records)) if shown == "p50" else shown,
                 {"metric": kind + "_" + point})
                for point, shown in (("p50", "p50"), ("p99", "p99"), ("p999", "p99.9"),
                                     ("max", "maximum"))])
            same = [h for h in results.histograms if h["kind"] == kind and h["cpus"] == cpus]
            if same:
                factor, unit = scale(same[0]["unit"])
                page.plot(plots.histograms(same, "%s, the last run, %s" % (text, placement(cpus)), unit, factor))


def sweep(page, results):
    """sockspeedp6's benchmark."""
    if results.select("sweep"):
        page.heading(2, "sweep, after sockspeedp6 (2001)")
        page.text("Every byte of a message is written before it is sent and read after it has "
                  "come; %s. memcpy alone: one process that writes, copies and reads in turn; a "
                  "transport whose two sides do that at the same time may be faster. Up to "
                  "1 MiB a figure of fused TCP is refused unless nine tenths of its bytes went by "
                  "a ring; of longer messages, and where calls do not wait, what a full ring does "
                  "not take goes by TCP, and a table tells how much. Zero copy writes and reads "
                  "its bytes in the ring here; in other experiments it copies them there, as the "
                  "others do." % placement(results.select("sweep")[0]["cpus"]))
        against_size(page, results, "sweep", "throughput", "Throughput against size")
    by_ring(page, results)
    with_options(page, results)


def by_ring(page, results):
    """How much of what fills a ring went by it."""
    rows = results.by_ring()
    if rows:
        page.heading(3, "Of fused TCP, what went by a ring where the sender fills it")
        page.table(["transport", "message", "options", "% by a ring",
                    "times that the library was lent one"], rows, OUR_NAMES)


def with_options(page, results):
    """sockspeedp6's options of sockets."""
    records = [r for r in results.select("sweep", metric="throughput") if options_of(r)]
    kinds = list(dict.fromkeys(options_of(r) for r in records))
    if not kinds:
        return
    size = records[0]["size"]
    page.heading(3, "Messages of %s, with options of sockets" % amount(size))
    plain = [dict(r, options="") for r in results.select("sweep", metric="throughput", size=size)
             if not options_of(r)]
    found = plain + [dict(r, options=options_of(r)) for r in records if r["size"] == size]
    here = {r["transport"] for r in records}
    cross_table(page, results, [r for r in found if r["transport"] in here], [
        ("%s, %s" % (kind or "none", unit_of(records)), {"options": kind}) for kind in [""] + kinds])


def sovia(page, results):
    """SOVIA's curves, and its files."""
    if results.select("sovia"):
        page.heading(2, "sovia, after SOVIA")
        against_size(page, results, "sovia", "one_way", "Latency, half a round trip")
        against_size(page, results, "sovia", "bandwidth", "Bandwidth, messages sent as they come")
        against_size(page, results, "sovia", "bandwidth_gathered",
                     "Bandwidth, small messages gathered (no TCP_NODELAY)")
    records = results.select("ftp")
    if records:
        page.heading(3, "A file through vsftpd and curl, unmodified, and a local copy by dd")
        rows = []
        for transport in results.transports(records):
            row = [name(transport)]
            for metric in results.files():
                found = results.one("ftp", metric=metric, transport=transport)
                copy = results.one("ftp", metric=metric, transport="copy")
                row.append(cell(found))
                row.append(quotient(found, copy, 100, "%.0f %%") if found and copy else "")
                ring = results.one("ftp", metric=metric + "_ring", transport=transport)
                row.append(cell(ring))
            rows.append(row)
        head = ["median (least–most)"]
        for metric in results.files():
            head += [amount(int(metric.split("_")[1])) + ", MB/s", "of local copy", "% by a ring"]
        page.table(head, rows, OUR_NAMES)
        page.text(" ".join(["By a ring: the bytes that the loopback device did not carry. What "
                            "finds the ring full goes by TCP.", *shares_of_files(results)]))


def shares_of_files(results):
    """A sentence for each file: how much of it went by a ring, and how fast it could have come."""
    for metric in results.files():
        shares = results.select("ftp", metric=metric + "_ring")
        copy = results.one("ftp", metric=metric, transport="copy")
        if shares:
            yield "Of the %s %s went by a ring%s." % (
                amount(int(metric.split("_")[1])),
                " and ".join("%s %% over %s" % (cell(r), name(r["transport"])) for r in shares),
                "; the limit is the local copy, %s MB/s" % cell(copy) if copy else "")


def poller(page, results):
    """Poller_bench."""
    records = results.select("poller")
    if not records:
        return
    page.heading(2, "poller, after Poller_bench")
    page.text("One connection is active among so many. Timed is the call that waits and the read of "
              "one byte, %s; not the send, which wakes whoever waits. io_uring leaves what an "
              "arriving byte gives it to do to the wait (DEFER_TASKRUN), so that is timed too. "
              "open: connect, accept and a kilobyte each way; close: of both ends, by a reset, "
              "which leaves nothing in TIME_WAIT for the next one. Of more than a thousand each "
              "run is a part of one crowd." % unit_of(records))
    of = "poller"
    for metric in ("select", "poll", "epoll_level", "epoll_edge", "io_uring", "open", "close"):
        same = results.select("poller", metric=metric)
        if same:
            counts = results.values("poller", "connections", metric=metric)
            cross_table(page, results, same, [
                ("%s, %s connections" % (metric, figure(counts[0])) if not number
                 else figure(count), {"connections": count})
                for number, count in enumerate(counts)], of)
            of = None
    page.items(mapped(results, "poller"))


def lent(results):
    """Lines: how many rings the library was lent for jipc, without which it makes system calls."""
    for transport in results.transports(results.select("jipc")):
        found = ((text, results.one("jipc", transport=transport, metric=way + "_leases"))
                 for way, text in (("talk", "one connection"), ("slow", "a connection a message"),
                                   ("call", "send, receive, reply")))
        told = ["%s %s" % (text, cell(leases)) for text, leases in found if leases]
        if told:
            yield "rings that %s was lent in all trials of a run: %s; without, it makes system calls" % (
                name(transport), ", ".join(told))


def jipc(page, results):
    """Jade's, with its formulas."""
    records = results.select("jipc")
    if not records:
        return
    page.heading(2, "jipc, after Jade's Jipc")
    rows = []
    for transport in results.transports(records):
        mine = {r["metric"]: r for r in records if r["transport"] == transport}
        factor, unit = scale(records[0]["unit"])

        def cell(form, *metrics, of=mine, by=factor):
            if any(metric not in of for metric in metrics):
                return ""
            return form % tuple(figure(of[m]["median"] * (1 if m == "crossover" else by))
                                for m in metrics)

        rows.append([
            name(transport),
            cell("%s + %s n", "talk_connection", "talk_message"),
            cell("%s + %s n", "slow_once", "slow_message"),
            cell("%s + %s n", "call_connection", "call_message"),
            cell("%s + %s n", "implied_once", "implied_message"), cell("n = %s", "crossover")])
    page.text("Fitted costs of n four-byte messages, %s (weighted least squares; medians of the "
              "fits). The crossover is where one connection becomes cheaper than one a message."
              % unit)
    page.table(["", "one connection (tcptalk)", "a connection a message (tcpslow)",
                "send, receive, reply", "implied connect", "crossover"], rows, OUR_NAMES)
    cross_table(page, results, records, [
        (metric.replace("_", ", "), {"metric": metric}) for metric in (
            "talk_connection", "talk_message", "slow_once", "slow_message", "call_connection",
            "call_message", "implied_once", "implied_message", "crossover")], "jipc")
    elapsed = [r for r in records if r["metric"].endswith("_elapsed")]
    cross_table(page, results, [dict(r, median=r["median"] / 1e6, min=r["min"] / 1e6,
                                     max=r["max"] / 1e6, unit="ms")
                                if r["unit"] == "ns" else r for r in elapsed], [
        ("%s messages, %s: %s" % (figure(messages), text, in_ms(elapsed)),
         {"metric": way + "_elapsed", "messages": messages})
        for way, text in (("talk", "one connection"), ("slow", "a connection each"),
                          ("call", "send, receive, reply"), ("implied", "implied connect"))
        for messages in results.values("jipc", "messages")])
    page.items(list(lent(results)))


def lmbench(page, results):
    """Its table."""
    records = results.select("lmbench")
    if not records:
        return
    page.heading(2, "lmbench's table")
    transports = [r for r in records if r["transport"] not in LIMITS]
    if transports:
        cross_table(page, results, transports, [
            ("%s, %s" % (metric, unit_of(results.select("lmbench", metric=metric) or transports)),
             {"metric": metric}) for metric in ("latency", "bandwidth", "connection")])
        page.items(["connection: %s: not measured: %s" % (name(t), why) for t, why in
                    results.impossible("lmbench", results.select("lmbench", metric="connection")).items()])
    kinds = ("copy_cached", "copy", "read", "write")
    limits = [r for r in records if r["metric"] in kinds]
    if limits:
        cross_table(page, results, limits, [
            ("%s of %s, %s" % (metric.replace("_", ", "), amount(size), unit_of(limits)),
             {"metric": metric, "size": size})
            for metric in kinds for size in results.values("lmbench", "size", metric=metric)])


def apps(page, results):
    """Unmodified programs."""
    columns, records = [], []
    for program in ("redis", "memcached", "nginx", "pgbench"):
        for metric in results.values(program, "metric"):
            same = results.select(program, metric=metric)
            records += same
            columns.append(("%s %s, %s" % (program, metric, same[0]["unit"]),
                            {"experiment": program, "metric": metric}))
    if records:
        page.heading(2, "Unmodified programs")
        cross_table(page, results, records, columns)


def others(page, results):
    """Connecting and what a sender may leave unread."""
    records = [r for e in ("connect", "connect-silent", "capacity") for r in results.select(e)]
    if records:
        page.heading(2, "Connections")
        cross_table(page, results, records, [
            ("%s, %s" % (text, unit_of(results.select(experiment) or records)),
             {"experiment": experiment})
            for experiment, text in (("connect", "connect, a byte each way, close"),
                                     ("connect-silent", "connect and close"),
                                     ("capacity", "taken with no reader"))])


def growth(results, records, key):
    """How each transport's figure changes from its own least number to its own most.

    A line for all whose numbers are the same.
    """
    said = {}
    for transport in results.transports(records):
        mine = sorted((r for r in records if r["transport"] == transport), key=lambda r: r[key])
        least, most = mine[0], mine[-1]
        if least is not most:
            said.setdefault((least[key], most[key]), []).append(
                "%s × %s" % (name(transport), quotient(most, least)))
    return ["measured from %s to %s %s: %s" % (figure(first), figure(last), key, "; ".join(texts))
            for (first, last), texts in said.items()]


def mapped(results, experiment):
    """A line: how many ends of a crowd the library maps in the end; none if nobody counted."""
    ends = sorted(results.select(experiment, metric="mapped_ends", transport="speedrun"),
                  key=lambda r: r["connections"])
    return ["ends that speedrun has mapped at the end of %s: %s" % (experiment, "; ".join(
        "%s of %s" % (figure(r["median"]), figure(2 * r["connections"])) for r in ends))] if ends else []


def how_used(results):
    """Lines: how often a crowd's connections were used, and how many the library mapped."""
    def each(metric):
        found = results.select("scale", metric=metric)
        uses = [(count, [r["median"] for r in found if r["connections"] == count])
                for count in results.values("scale", "connections", metric=metric)]
        return "; ".join("%s of %s" % ("–".join(dict.fromkeys((figure(min(n)), figure(max(n))))),
                                       figure(count)) for count, n in uses)

    lines = ["how often each connection is used %s: %s" % (text, each(metric)) for metric, text in (
        ("untimed_uses", "before the first run, untimed, by their number"),
        ("round_trip_uses", "in a run of round trips"),
        ("throughput_uses", "in a run of 4 KiB messages")) if each(metric)]
    for experiment in ("scale", "memory"):
        lines += mapped(results, experiment)
    if results.select("scale", metric="mapped_ends"):
        lines.append("speedrun maps at most so many at a time as its --mappings tells it and their "
                     "rings find room for in net.speed.mem_max; both ends of a crowd are its own")
    slow = sorted({r["connections"] for r in results.select("scale", metric="round_trip", unit="ns")
                   if r["connections"] * r["median"] > IDLE_NS})
    if slow:
        lines.append("a round of all takes longer than the second after which an idle ring gives "
                     "its pages back, for some transport at least: %s connections"
                     % ", ".join(map(figure, slow)))
    return lines


def grow(page, results):
    """How costs grow."""
    if not (results.select("scale") or results.select("memory")):
        return
    page.heading(2, "scale")
    page.items(how_used(results))
    of = "scale"
    for experiment, metric, key, title in (
            ("scale", "round_trip", "connections", "64 bytes there and back, each in turn"),
            ("scale", "throughput", "connections", "4 KiB messages, each in turn"),
            ("scale", "open", "connections", "Opening a connection that carries 1 KiB each way"),
            ("memory", "idle_connection", "connections",
             "Memory of an idle connection that has carried data, both ends"),
            ("scale", "round_trips", "threads", "64-byte round trips of all threads together")):
        records = results.select(experiment, metric=metric)
        if not records:
            continue
        page.heading(3, title)
        if experiment == "memory":
            page.text("All that the machine has less of, from whatever allocator, and what a "
                      "process has for what it maps. Of fewer connections than %s there are no "
                      "figures: the rest of the system takes and gives back as much meanwhile as "
                      "so few hold." % figure(min(r["connections"] for r in records)))
        page.plot(plots.lines(points(records, key), title, key, unit_of(records)))
        cross_table(page, results, records, [
            ("%s %s, %s" % (figure(value), key, unit_of(records)) if not number
             else figure(value), {key: value})
            for number, value in enumerate(results.values(experiment, key, metric=metric))], of)
        page.items(growth(results, records, key))
        of = None


def native(page, results):
    """The ring without the module against the least that one could do, and the usual ones."""
    records = [r for e in ("latency", "stream") for r in results.select(e)]
    if not any(r["transport"] in LIMITS for r in records):
        return
    page.heading(2, "The limits: the ring alone, and a bare ring")
    page.text("libspeed on shared memory without the module, and the least that two processes "
              "can do with a ring: two indices and memcpy(), no checks, no sleeping; two "
              "processors, both sides spinning. Beside them what any kernel has, by blocking "
              "calls, in the same time; memcpy alone: the two copies of each message.")
    cross_table(page, results, records, [
        ("%s of %s, %s" % (text, amount(size), unit_of(results.select(experiment, size=size))),
         {"experiment": experiment, "size": size})
        for experiment, text in (("latency", "round trip"), ("stream", "stream"))
        for size in results.values(experiment, "size")])


def one_copy(page, results):
    """What is tried in place of the ring's two copies."""
    records = [r for r in results.select("sweep") if r["transport"] in {"ring", "onecopy"}]
    sizes = results.values("sweep", "size", transport="onecopy")
    if not sizes:
        return
    page.heading(2, "A trial: one copy a byte")
    page.text("A receiver that waits says where, and the sender has the kernel put its bytes there; "
              "the ring copies twice, on two processors at once. Both sides spin.")
    cross_table(page, results, records,
                [("%s, %s" % (amount(size), unit_of(records)), {"size": size}) for size in sizes])


def traced(page, results):
    """What watching costs."""
    records = results.select("bt")
    if not records:
        return
    page.heading(2, "What the bpftrace tools add")
    said = dict.fromkeys(r["bpftrace"] for r in records if "bpftrace" in r)
    if said:
        page.text("Each tool of tools/bt alone, by %s." % ", ".join(said))
    plain = results.one("bt", metric="none")
    rows = [["no tool", cell(plain), ""]]
    for record in records:
        if record is not plain:
            rows.append([record["metric"], cell(record), quotient(record, plain)])
    page.table(["a %s round trip, %s, %s" % (amount(plain["size"]), name(plain["transport"]),
                                             placement(plain["cpus"])),
                unit_of(records), "times without"], rows)


SECTIONS = (native, one_copy, iobench, latency, sweep, poller, jipc, sovia, lmbench, apps, others, grow,
            traced)
