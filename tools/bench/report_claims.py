# SPDX-License-Identifier: GPL-2.0
"""What was claimed, what is measured here, and where speed is not first."""
from collections import Counter

from report_data import (OURS, amount, best, cell, figure, name, options_of, overlap, quotient,
                         scale, setting, times)


def where(record):
    """What a contest is about."""
    text = "%s %s" % (record["experiment"], record["metric"].replace("_", " "))
    if record["size"] and record["experiment"] not in ("poller", "jipc"):
        text += " of " + amount(record["size"])
    for key in ("connections", "threads"):
        if record.get(key):
            text += ", %s %s" % (figure(record[key]), key)
    if options_of(record):
        text += ", " + options_of(record)
    return text + ", %d cpu%s" % (record["cpus"], "s" if record["cpus"] > 1 else "")


def with_unit(record):
    """A figure that stands alone."""
    return "%s %s" % (cell(record), scale(record["unit"])[1])


def contests_of(results):
    """Those of whole operations: parts of one, such as a side's read, also hold waiting."""
    for contest in results.contests():
        experiment, metric = contest[0]["experiment"], contest[0]["metric"]
        if experiment == "iobench" and metric != "client_elapsed":
            continue
        if experiment == "latency-detail" and not metric.startswith("round_trip_"):
            continue
        yield contest


def not_first(results):
    """Lines for the contests that another transport wins, the widest margins first.

    And how many contests there are, which settings of ours win how many, and in how many
    of those the spreads touch.
    """
    lines, contests, wins, close = [], 0, Counter(), 0
    for contest in contests_of(results):
        ours = [r for r in contest if r["transport"] in OURS]
        theirs = [r for r in contest if r["transport"] not in OURS]
        if not ours or not theirs:
            continue
        contests += 1
        mine, other = best(ours), best(theirs)
        if times(mine, other) >= 1:
            wins[setting(mine)] += 1
            close += overlap(mine, other)
            continue
        factor = times(other, mine)
        lines.append((factor, "%s: %s, %s, is %.2f times better than the best of ours, %s (%s), "
                      "%s%s" % (where(mine), name(other["transport"]), with_unit(other), factor,
                                name(mine["transport"]), setting(mine), with_unit(mine),
                                "; their spreads touch" if overlap(mine, other) else "")))
    return [text for _, text in sorted(lines, reverse=True)], contests, wins, close


def fused_loses(results):
    """The same for TCP against itself, fused: what an unmodified program would lose."""
    lines = []
    for contest in contests_of(results):
        fused = next((r for r in contest if r["transport"] == "tcp-fused"), None)
        plain = next((r for r in contest if r["transport"] == "tcp"), None)
        if fused and plain and times(fused, plain) < 1:
            factor = times(plain, fused)
            lines.append((factor, "%s: TCP, %s, is %.2f times better than TCP fused, %s%s" % (
                where(fused), with_unit(plain), factor, with_unit(fused),
                "; their spreads touch" if overlap(fused, plain) else "")))
    return [text for _, text in sorted(lines, reverse=True)]


def speed_2001(results):
    """More than 100 % better than TCP; poll() unsupported; at most 152 slots."""
    lines = []
    for size in results.values("iobench", "size"):
        tcp = results.one("iobench", metric="client_elapsed", transport="tcp", size=size)
        for transport in ("tcp-fused", "speedrun", "speed", "speed-mapped"):
            mine = results.one("iobench", metric="client_elapsed", transport=transport, size=size)
            if tcp and mine:
                lines.append("iobench, %s: %s needs %s %% of the time of TCP: it is %s times as "
                             "fast, %+.0f %%" % (
                                 amount(size), name(transport), quotient(mine, tcp, 100, "%.0f"),
                                 quotient(tcp, mine), 100 * (tcp["median"] / mine["median"] - 1)))
    records = [r for r in results.select("poller", transport="speed", metric="poll")]
    if records:
        lines.append("poll() on AF_SPEED works: %s" % "; ".join(
            "one of %s in %s" % (figure(r["connections"]), with_unit(r)) for r in records))
    most = [r["connections"] for e in ("poller", "scale", "memory")
            for r in results.select(e, transport="speed") if r.get("connections")]
    if most:
        lines.append("connections open at once over AF_SPEED in this run: %s" % figure(max(most)))
    return lines


def sovia(results):
    """94 % to 99 % of a local copy."""
    lines = []
    for metric in results.files():
        copy = results.one("ftp", metric=metric, transport="copy")
        for record in results.select("ftp", metric=metric):
            if copy and record is not copy:
                lines.append("%s through %s: %s %% of a local copy" % (
                    amount(int(metric.split("_")[1])), name(record["transport"]),
                    quotient(record, copy, 100, "%.0f")))
    return lines


def jipc(results):
    """A null send beats a TCP connection a message by an order of magnitude."""
    slow = results.one("jipc", metric="slow_message", transport="tcp")
    lines = []
    for record in results.select("jipc", metric="call_message"):
        if slow and record["transport"] in OURS:
            lines.append("send, receive, reply over %s costs %s, a TCP connection a message %s: "
                         "%s times" % (name(record["transport"]), with_unit(record),
                                       with_unit(slow), quotient(slow, record, form="%.1f")))
    implied = results.one("jipc", metric="implied_message", transport="speed")
    if slow and implied:
        lines.append("an AF_SPEED connection a message, by implied connect, costs %s: %s times"
                     % (with_unit(implied), quotient(slow, implied, form="%.1f")))
    return lines


def write(page, results):
    """The first part of a kernel's report."""
    lines, contests, wins, close = not_first(results)
    page.heading(3, "Where speed is not first")
    page.text("Of %d comparisons (best of speed's doors against best of the others, same "
              "experiment, size and processors) speed is not first in %d:" % (contests, len(lines)))
    page.items(lines)
    page.text("It is first in %d, and in %d of these the spreads of both touch; so many times "
              "with: %s." % (sum(wins.values()), close, "; ".join(
                  "%s, %d" % pair for pair in wins.most_common()) or "none"))
    page.text("Of latency's single calls only the round trips are such comparisons, of iobench "
              "the client's elapsed time.")
    lines = fused_loses(results)
    page.text("Where TCP, fused, is not better than plain TCP: %s" % (
        "%d comparisons." % len(lines) if lines else "nowhere."))
    page.items(lines)
    for title, claim in (
            ("Speed (2001): more than 100 % better than TCP; no poll(); at most 152 slots",
             speed_2001),
            ("SOVIA: a file through FTP at 94 % to 99 % of a local copy", sovia),
            ("Jipc: a null send beats a TCP connection a message by an order of magnitude", jipc)):
        found = claim(results)
        page.heading(3, title)
        page.items(found or ["not measured in this run"])
