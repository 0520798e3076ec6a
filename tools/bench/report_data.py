# SPDX-License-Identifier: GPL-2.0
"""What the report knows: the records of one kernel, and what is better of two."""
import json
import math

# How the page calls them, in the order in which tables show them.
NAMES = {
    "pipe": "pipe", "vmsplice": "vmsplice pipe", "unix": "AF_UNIX stream",
    "unix-seqpacket": "AF_UNIX seqpacket", "zmq": "ZeroMQ ipc", "tcp": "TCP",
    "tcp-io_uring": "TCP by io_uring", "smc": "SMC", "tcp-sockmap": "TCP by sockmap",
    "tcp-fused": "TCP fused", "tcp-fused-poll": "TCP fused, busy poll",
    "speedrun": "TCP fused, speedrun", "speedrun-sleep": "TCP fused, speedrun, never spins",
    "speed": "AF_SPEED, system call",
    "speed-seqpacket": "AF_SPEED seqpacket", "speed-mapped": "AF_SPEED mapped",
    "speed-mapped-sleep": "AF_SPEED mapped, never spins", "speed-zc": "AF_SPEED zero copy",
    "speed-call": "AF_SPEED call and reply", "ring": "the ring alone", "bare": "a bare ring",
    "onecopy": "one copy, by the kernel",
    "all": "all transports", "memcpy": "memcpy alone", "copy": "local copy",
}
OURS = {"tcp-fused", "tcp-fused-poll", "speedrun", "speedrun-sleep", "speed", "speed-seqpacket",
        "speed-mapped", "speed-mapped-sleep", "speed-zc", "speed-call"}
LIMITS = {"memcpy", "copy", "ring", "bare", "onecopy"}  # not transports: what they are held against
LESS_IS_BETTER = {"ns", "instructions"}
MORE_IS_BETTER = {"MB/s", "requests/s", "transactions/s", "1/s"}
SPLICED = 4096  # bytes from which the vmsplice pipe uses vmsplice(): PAGE of its C file
OPTIONS = {"gathered": "--nodelay no", "nonblocking": "--nonblocking",
           "sendbufsz": "--sendbufsz {}", "recvbufsz": "--recvbufsz {}"}
KEYS = ("size", "connections", "threads", "messages", "cpus", "touch", "silent", "batch",
        "accelerator", *OPTIONS)


def options_of(record):
    """The options of sockets that it was measured with, as a reader calls them."""
    said = {key: text for key, text in OPTIONS.items() if record.get(key)}
    if record["metric"].endswith("_gathered"):
        said.pop("gathered", None)  # told already
    return ", ".join(text.format(record[key]) for key, text in said.items())


def is_plain_pipe(record):
    """The vmsplice pipe where it writes: the rival of that name takes no part."""
    return record["transport"] == "vmsplice" and record["size"] < SPLICED


def better(record):
    """-1: less is better, 1: more is, 0: neither."""
    if record["experiment"] == "memory":
        return -1 if record["unit"] == "bytes" else 0
    if record["experiment"] == "capacity":
        return 1
    if record["unit"] in LESS_IS_BETTER:
        return -1
    return 1 if record["unit"] in MORE_IS_BETTER else 0


class Results:
    """The records of one file."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            found = [json.loads(line) for line in file if line.startswith("{")]
        self.records = [r for r in found if r.get("median") is not None]
        self.histograms = [r for r in found if r["metric"] == "histogram"]
        self.absent = [r for r in found if "why" in r]

    def impossible(self, experiment, records):
        """{transport: why} of those that an experiment has nothing to measure of."""
        here = {r["transport"] for r in records}
        return {r["transport"]: r["why"] for r in self.absent if r["metric"] == "impossible"
                and r["experiment"] == experiment and r["transport"] not in here}

    def reasons(self):
        """A line for each reason why something was not measured: what failed comes first."""
        words = {"failed": "failed: ", "missing": "", "impossible": ""}
        where = {}
        for record in self.absent:
            what = record["experiment"]
            if record["metric"] == "failed":
                what += "".join(", %s %s" % (record[key], key) for key in
                                ("size", "connections", "threads") if record.get(key))
            key = (record["metric"], record["transport"], record["why"])
            where.setdefault(key, []).append(what)
        return ["%s (%s): %s%s" % (name(transport), "; ".join(dict.fromkeys(places)),
                                   words[metric], why)
                for (metric, transport, why), places in sorted(
                    where.items(), key=lambda item: list(words).index(item[0][0]))]

    def select(self, experiment, **wanted):
        """The records of an experiment that are like this."""
        return [r for r in self.records if r["experiment"] == experiment
                and all(r.get(key) == value for key, value in wanted.items())]

    def one(self, experiment, **wanted):
        """One record, or None."""
        return next(iter(self.select(experiment, **wanted)), None)

    def values(self, experiment, key, **wanted):
        """What a field takes on, in order."""
        return sorted({r[key] for r in self.select(experiment, **wanted) if r.get(key) is not None})

    def files(self):
        """The metrics of FTP's files."""
        return [m for m in self.values("ftp", "metric") if not m.endswith("_ring")]

    def by_ring(self):
        """Of each sweep that fills its ring: who, size, options, share of the ring, leases."""
        like = ("transport", "size", *OPTIONS)
        return [[name(r["transport"]), amount(r["size"]), options_of(r) or "none",
                 "%.0f (%.0f–%.0f)" % tuple(100 * r[key] for key in ("median", "min", "max")),
                 cell(self.one("sweep", metric="leases", **{key: r.get(key) for key in like}))]
                for r in self.select("sweep", metric="by_ring", fills=True)]

    def transports(self, records):
        """Those that records are of, in the order of tables."""
        here = {r["transport"] for r in records}
        return [t for t in NAMES if t in here] + sorted(here - set(NAMES))

    def contests(self):
        """Lists of records that differ in nothing but the transport."""
        groups = {}
        for record in self.records:
            if record["experiment"] == "jipc" and record["metric"].endswith(("_elapsed", "_once")):
                continue  # what the fitted costs are from
            if record["metric"] == "idle_connection_slab":
                continue  # a part of idle_connection
            if is_plain_pipe(record):
                continue
            if better(record) and record["transport"] not in LIMITS and record["median"] >= 0:
                key = (record["experiment"], record["metric"]) + tuple(
                    record.get(k) for k in KEYS)
                groups.setdefault(key, []).append(record)
        return list(groups.values())


def name(transport):
    """What a reader calls it."""
    return NAMES.get(transport, transport)


def looks(record):
    """How long the library looks before it sleeps."""
    if "spin_us" not in record:
        return "looks before it sleeps"
    return "looks %s before it sleeps" % (
        "%d µs" % record["spin_us"] if record["spin_us"] else "never")


def setting(record):
    """Which of speed's doors this is, and how it waits."""
    transport = record["transport"]
    door = "TCP" if transport.startswith(("tcp", "speedrun")) else "AF_SPEED"
    how = {"tcp-fused-poll": "system calls, SO_BUSY_POLL", "speed-zc": "zero copy, ",
           "speed-call": "call and reply, ", "tcp-fused": "system calls", "speed": "system calls",
           "speed-seqpacket": "system calls"}.get(transport, "mapped, ")
    return "door %s, %s" % (door, how + looks(record) if how.endswith(", ") else how)


def best(records):
    """The best of records."""
    sign = better(records[0])
    return max(records, key=lambda r: sign * r["median"])


def times(first, second):
    """How many times better the first one is; without bound where the other one is nothing."""
    more, less = first["median"], second["median"]
    if better(first) < 0:
        more, less = less, more
    if not less:
        return math.inf if more else 1
    return more / less


def overlap(first, second):
    """Whether the spreads of two records touch."""
    return first["min"] <= second["max"] and second["min"] <= first["max"]


def quotient(first, second, factor=1, form="%.2f"):
    """first / second, with the least and the most that the spreads of both allow."""
    def of(one, other):
        return form % (factor * one / other if other else math.inf)

    text = of(first["median"], second["median"])
    least, most = of(first["min"], second["max"]), of(first["max"], second["min"])
    return text if least == most else "%s (%s–%s)" % (text, least, most)


def figure(value, digits=3):
    """A number of so many digits that count."""
    if value == 0:
        return "0"
    if abs(value) >= 10 ** (digits - 1):
        return "{:,.0f}".format(value)
    return "{:.{}g}".format(value, digits)


def scale(unit):
    """What values of a unit are shown in: a factor and a unit."""
    return (1e-3, "µs") if unit == "ns" else (1, unit)


def cell(record, spread=True):
    """A figure with its spread."""
    if not record:
        return ""
    factor = scale(record["unit"])[0]
    text = figure(record["median"] * factor)
    if spread and record["min"] != record["max"]:
        text += " (%s–%s)" % (figure(record["min"] * factor), figure(record["max"] * factor))
    return text


def amount(size):
    """A number of bytes as people write it."""
    for unit, factor in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= factor and size % factor == 0:
            return "%d %s" % (size // factor, unit)
    return "{:,} B".format(size)
