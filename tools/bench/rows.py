# SPDX-License-Identifier: GPL-2.0
"""What the project claims: each row, where it is measured, and its bounds."""
from collections import namedtuple

Result = namedtuple("Result", "good lines")

NAMES = {
    "unix": "AF_UNIX", "tcp": "TCP", "tcp-fused": "fused TCP",
    "tcp-fused-poll": "fused TCP, polling", "speedrun": "speedrun",
    "speedrun-sleep": "speedrun, sleeping", "speed": "AF_SPEED by system call",
    "speed-mapped": "mapped", "speed-mapped-sleep": "mapped, sleeping",
    "speed-zc": "zero copy", "speed-call": "call and reply",
    "ring": "the ring", "bare": "the bare ring",
}


class Point(namedtuple("Point", "args transport experiment metric connections module",
                       defaults=(None, True))):
    """One figure: the arguments of speedbench or apps that give it, and how to find it."""

    def find(self, records):
        """The record, or None."""
        for record in records:
            if (record["experiment"] == self.experiment
                    and record["transport"] == self.transport
                    and record["metric"] == self.metric
                    and self.size() in (None, record["size"])
                    and record.get("connections") == self.connections
                    and record.get("module", True) == self.module):
                return record
        return None

    def size(self):
        """The size that is asked for, or None."""
        args = list(self.args)
        return int(args[args.index("--size") + 1]) if "--size" in args else None

    def name(self):
        """What a reader calls it."""
        name = NAMES[self.transport]
        if not self.module:
            name += " without the module"
        return "%s, %d" % (name, self.connections) if self.connections else name


class Bound(namedtuple("Bound", "left relation factor right higher_is_faster extra load",
                       defaults=(False, 0, ""))):
    """left <= factor x right + extra, or left >= factor x right; of a load that has a name."""

    def text(self):
        """The bound as it is written down."""
        text = "%s %s %.4g x %s" % (self.left.name(), self.relation, self.factor,
                                    self.right.name())
        text = self.load + text
        return text + " + %d" % self.extra if self.extra else text

    def judge(self, records):
        """Whether it is met, and a line that says so."""
        left, right = self.left.find(records), self.right.find(records)
        text = self.text()
        if not left or not right or not left["median"] or not right["median"]:
            return False, "%-52s not measured" % text
        ratio = left["median"] / right["median"]
        factor = self.factor + self.extra / right["median"]
        if not self.higher_is_faster and self.relation == ">=":
            ratio = 1 / ratio  # so many times faster: less time
        good = ratio <= factor if self.relation == "<=" else ratio >= factor
        return good, "%-52s %8.3f  %s\n%10s%s against %s" % (
            text, ratio, "met" if good else "FALLS SHORT", "", side(left), side(right))


def side(record):
    """A figure with its spread."""
    return "%.6g %s (%.6g to %.6g)" % (record["median"], record["unit"],
                                       record["min"], record["max"])


class Row:
    """One line of the table."""

    def __init__(self, number, what, place, bounds, repeat=False):
        self.number = number
        self.what = what
        self.place = place  # host, icount, twice, time or programs: see figures
        self.bounds = bounds
        self.repeat = repeat  # measured again when it falls short

    def experiments(self):
        """The arguments and transports that give all figures."""
        return [(point.args, [point.transport])
                for bound in self.bounds for point in (bound.left, bound.right)]

    def judge(self, records):
        """The Result of one boot."""
        judged = [bound.judge(records) for bound in self.bounds]
        return Result(all(good for good, _ in judged), [line for _, line in judged])


def bounds(args, experiment, metric, *wanted, higher=False, connections=None, extra=0):
    """Bounds whose figures all come from one experiment."""
    def point(transport):
        return Point(tuple(args.split()), transport, experiment, metric, connections)
    return [Bound(point(left), relation, factor, point(right), higher, extra)
            for left, relation, factor, right in wanted]


# Long runs: ticks of the clock, and where things lie in memory, weigh less in them.
ONE = "latency --size 64 --cpus one --runs 9 --target 100"
TWO = "latency --size 64 --cpus two"
# Nine runs: the median stands when a neighbour disturbs four.
SMALL = "stream --size 512 --cpus two --runs 9"
LARGE = "stream --size 65536 --touch --cpus two --runs 9"


def epoll_bound():
    """The one row whose two sides differ in something other than the transport."""
    def point(connections):
        return Point(("epoll",), "speed", "epoll", "wait_and_read", connections)
    return [Bound(point(10000), "<=", 1.15, point(100), False)]


def fused(args, experiment, metric, relation, factor, load="", **how):
    """One bound: fused TCP against plain TCP."""
    found = bounds(args, experiment, metric, ("tcp-fused", relation, factor, "tcp"), **how)
    return [bound._replace(load=load and load + ": ") for bound in found]


def streams(*factors):
    """Row 14: a message's instructions, and so those of a byte, at each size.

    Long runs: TCP takes some thousand messages to come to the gait that it keeps.
    """
    return [bound for size, factor, target in factors
            for bound in fused("stream --size %d --cpus one --target %d" % (size, target),
                               "stream", "message", "<=", factor, load="%d B" % size)]


def unloaded(args, experiment, metric, factor):
    """Plain TCP with the module loaded, but switched off, against TCP without it."""
    point = Point(tuple(args.split()), "tcp", experiment, metric)
    return Bound(point, "<=", factor, point._replace(module=False), load=experiment + ": ")


ROWS = [
    Row(1, "64-byte blocking round trip by system call, one processor, guest instructions",
        "icount",
        bounds(ONE, "latency", "round_trip",
               ("speed", "<=", 0.50, "unix"), ("speed", "<=", 0.33, "tcp"))),
    Row(2, "64-byte round trip, mapped, both spinning, two processors, times faster", "time",
        bounds(TWO, "latency", "round_trip", ("speed-mapped", ">=", 100, "tcp")), repeat=True),
    Row(3, "64-byte round trip, mapped, both sleeping, one processor, guest instructions", "icount",
        bounds(ONE, "latency", "round_trip", ("speed-mapped-sleep", "<=", 1, "speed"))),
    Row(4, "64-byte call and reply, one processor, guest instructions", "icount",
        bounds(ONE, "latency", "round_trip", ("speed-call", "<=", 0.8, "speed"))),
    Row(5, "512-byte stream, mapped, two processors, throughput", "time",
        bounds(SMALL, "stream", "throughput",
               ("speed-mapped", ">=", 40, "tcp"), ("speed-mapped", ">=", 10, "unix"),
               higher=True), repeat=True),
    Row(6, "64 KiB stream, every byte written and read, two processors, throughput", "time",
        bounds(LARGE, "stream-touched", "throughput",
               ("speed", ">=", 1.3, "unix"), ("speed-mapped", ">=", 1.5, "unix"),
               ("speed-zc", ">=", 2, "unix"), higher=True), repeat=True),
    Row(7, "connect, accept, one byte each way, close, guest instructions", "icount",
        bounds("connect --runs 11", "connect", "connection",
               ("speed", "<=", 1, "unix"), ("speed", "<=", 0.35, "tcp"))),
    Row(8, "memory of an idle connection that has carried data, both ends, 10,000 open", "time",
        bounds("memory --runs 5", "memory", "idle_connection", ("speed", "<=", 1, "tcp"),
               connections=10000)),
    Row(9, "epoll_wait and read, one active among 10,000 and among 100, guest instructions",
        "icount", epoll_bound()),
    Row(10, "natively, the ring alone, 64-byte round trip, both spinning", "host",
        bounds("native --runs 15 --target 100", "latency", "round_trip",
               ("ring", "<=", 1.5, "bare"))),
    Row(11, "natively, the ring alone, 512-byte stream, throughput", "host",
        bounds("native --runs 15 --target 100", "stream", "throughput",
               ("ring", ">=", 0.7, "bare"), higher=True)),
    Row(12, "64-byte blocking round trip over fused TCP, one processor, guest instructions",
        "icount",
        bounds(ONE, "latency", "round_trip",
               ("tcp-fused", "<=", 0.33, "tcp"), ("tcp-fused", "<=", 0.55, "unix"))),
    Row(13, "the same with SO_BUSY_POLL at both ends, two processors, times faster", "time",
        bounds(TWO, "latency", "round_trip", ("tcp-fused-poll", ">=", 10, "tcp")), repeat=True),
    Row(14, "stream of 64 B, 512 B, 4 KiB and 64 KiB writes, guest instructions a byte", "icount",
        streams((64, 0.28, 300), (512, 0.50, 300), (4096, 0.50, 600), (65536, 0.66, 200))),
    Row(15, "stream of 1 MiB writes, two processors, throughput", "time",
        fused("stream --size 1048576 --cpus two --runs 9", "stream", "throughput", ">=", 1.3,
              higher=True), repeat=True),
    Row(16, "connect, one request, one reply, close, guest instructions", "icount",
        fused("connect --runs 11", "connect", "connection", "<=", 0.75)),
    Row(17, "connect and close with no data, guest instructions", "icount",
        fused("connect --silent --runs 15 --target 100", "connect-silent", "connection",
              "<=", 1.04)),
    Row(18, "module loaded, sysctl off: round trip; connect and close; guest instructions", "twice",
        [unloaded("latency --size 64 --cpus one --runs 15 --target 100",
                  "latency", "round_trip", 1.005),
         unloaded("connect --silent --runs 15 --target 100",
                  "connect-silent", "connection", 1.005)]),
    Row(19, "bytes that a sender can write with no reader, default settings", "icount",
        fused("capacity --runs 5", "capacity", "unread", ">=", 1, higher=True)),
    Row(20, "redis-benchmark GET, -c 1, -c 50, -c 50 -P 16, two processors, requests a second",
        "programs",
        fused("redis", "redis", "get_c1_p1", ">=", 1.7, load="-c 1", higher=True)
        + fused("redis", "redis", "get_c50_p1", ">=", 1.9, load="-c 50", higher=True)
        + fused("redis", "redis", "get_c50_p16", ">=", 1.4, load="-c 50 -P 16", higher=True),
        repeat=True),
    Row(21, "nginx and wrk, keep-alive, a file of 1 KiB; pgbench -S -c 1; two processors",
        "programs",
        fused("nginx", "nginx", "keepalive_1k", ">=", 1.5, load="nginx", higher=True)
        + fused("pgbench", "pgbench", "select_c1", ">=", 1.5, load="pgbench", higher=True),
        repeat=True),
    Row(22, "memory of an idle fused connection that has carried data, both ends, 10,000 open",
        "time",
        fused("memory --runs 5", "memory", "idle_connection", "<=", 1, connections=10000,
              extra=1024)),
    Row(23, "64-byte round trip over 127.0.0.1, both under speedrun, two processors, times faster",
        "mapped",
        bounds(TWO, "latency", "round_trip", ("speedrun", ">=", 80, "tcp")), repeat=True),
    Row(24, "the same, both sleeping each time, one processor, guest instructions", "mapped-icount",
        bounds(ONE, "latency", "round_trip", ("speedrun-sleep", "<=", 1, "tcp-fused"))),
    Row(25, "stream of 64 B and 512 B under speedrun, two processors, throughput", "mapped",
        [bound._replace(load="%d B: " % size) for size, factor in ((64, 40), (512, 30))
         for bound in bounds("stream --size %d --cpus two --runs 9" % size, "stream", "throughput",
                             ("speedrun", ">=", factor, "tcp"), higher=True)], repeat=True),
    Row(26, "redis-benchmark GET, -c 1 and -c 50, both under speedrun (--spin 1000), "
        "requests a second",
        "programs",
        [bound._replace(load="-c %d: " % clients) for clients, factor in ((1, 1.15), (50, 1.1))
         for bound in bounds("redis", "redis", "get_c%d_p1" % clients,
                             ("speedrun", ">=", factor, "tcp-fused"), higher=True)], repeat=True),
    Row(27, "connect, one request, one reply, close under speedrun, guest instructions",
        "mapped-icount",
        bounds("connect --runs 11", "connect", "connection",
               ("speedrun", "<=", 1.02, "tcp-fused"))),
    Row(28, "start of a program under speedrun, this machine", "host",
        bounds("process --detail --runs 15", "process", "start", ("speedrun", "<=", 1, "tcp"),
               extra=3000000)),
    Row(29, "memory of a process under speedrun with 10,000 idle connections, each", "mapped",
        bounds("process --detail --runs 5 --connections 10000", "process", "own_memory",
               ("speedrun", "<=", 1, "tcp"), connections=10000, extra=64)),
    Row(30, "two processes sending in turn on a connection under speedrun, guest instructions",
        "mapped-icount",
        bounds("process", "process", "alternating", ("speedrun", "<=", 1.1, "tcp-fused"))),
]
