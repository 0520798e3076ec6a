# SPDX-License-Identifier: GPL-2.0
"""What the project claims: each row, where it is measured, and its bounds."""
from collections import namedtuple

Result = namedtuple("Result", "good lines")

NAMES = {
    "unix": "AF_UNIX", "tcp": "TCP", "speed": "AF_SPEED by system call",
    "speed-mapped": "mapped", "speed-mapped-sleep": "mapped, sleeping",
    "speed-zc": "zero copy", "speed-call": "call and reply",
    "ring": "the ring", "bare": "the bare ring",
}


class Point(namedtuple("Point", "args transport experiment metric connections")):
    """One figure: the arguments of speedbench that give it, and how to find it."""

    def find(self, records):
        """The record, or None."""
        for record in records:
            if (record["experiment"] == self.experiment
                    and record["transport"] == self.transport
                    and record["metric"] == self.metric
                    and record.get("connections") == self.connections):
                return record
        return None

    def name(self):
        """What a reader calls it."""
        name = NAMES[self.transport]
        return "%s, %d" % (name, self.connections) if self.connections else name


class Bound(namedtuple("Bound", "left relation factor right higher_is_faster")):
    """left <= factor x right, or left >= factor x right."""

    def judge(self, records):
        """Whether it is met, and a line that says so."""
        left, right = self.left.find(records), self.right.find(records)
        text = "%s %s %.2f x %s" % (self.left.name(), self.relation, self.factor,
                                    self.right.name())
        if not left or not right or not left["median"] or not right["median"]:
            return False, "%-52s not measured" % text
        ratio = left["median"] / right["median"]
        if not self.higher_is_faster and self.relation == ">=":
            ratio = 1 / ratio  # so many times faster: less time
        good = ratio <= self.factor if self.relation == "<=" else ratio >= self.factor
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
        self.place = place  # host, icount, or time: see figures
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


def bounds(args, experiment, metric, *wanted, higher=False, connections=None):
    """Bounds whose figures all come from one experiment."""
    def point(transport):
        return Point(tuple(args.split()), transport, experiment, metric, connections)
    return [Bound(point(left), relation, factor, point(right), higher)
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
        bounds("memory --runs 3", "memory", "idle_connection", ("speed", "<=", 1, "tcp"),
               connections=10000)),
    Row(9, "epoll_wait and read, one active among 10,000 and among 100, guest instructions",
        "icount", epoll_bound()),
    Row(10, "natively, the ring alone, 64-byte round trip, both spinning", "host",
        bounds("native --runs 15 --target 100", "latency", "round_trip",
               ("ring", "<=", 1.5, "bare"))),
    Row(11, "natively, the ring alone, 512-byte stream, throughput", "host",
        bounds("native --runs 15 --target 100", "stream", "throughput",
               ("ring", ">=", 0.7, "bare"), higher=True)),
]
