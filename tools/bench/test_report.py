#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""tools/bench/test_report.py SPEEDBENCH

What the report makes of known figures: who is better and how many times, which
comparisons there are, what is said where one is missing. And what speedbench refuses:
a figure under a wrong name is worse than none.
"""
import glob
import itertools
import json
import os
import re
import subprocess
import sys
import unittest
from concurrent.futures import ThreadPoolExecutor

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
import plan  # noqa: E402
import report_claims  # noqa: E402
import report_data  # noqa: E402
from made_up import HERE, command, record, results  # noqa: E402
from programs import PROGRAMS  # noqa: E402

PROGRAM = sys.argv.pop(1)
LONG_ENOUGH = 300  # s; lmbench touches four times what the last cache holds, 8 s of a 260 MiB one


def speedbench(*args):
    """Runs it natively: status, records, what it said."""
    done = subprocess.run([PROGRAM, *args, "--accel", "native"] if "--icount" not in args else
                          [PROGRAM, *args], check=False, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=LONG_ENOUGH)
    return (done.returncode, [json.loads(line) for line in done.stdout.splitlines()],
            done.stderr)


def transports():
    """Of each transport that speedbench has: its name, and the lines that say what it is."""
    for path in glob.glob(os.path.join(HERE, "*.c")):
        with open(path, encoding="utf-8") as file:
            for text in re.findall(r"^const struct transport transport_\w+ = {.*?};$", file.read(),
                                   re.M | re.S):
                yield re.search(r'\.name = "([^"]+)"', text)[1], text


class Data(unittest.TestCase):
    """Comparisons."""

    def test_times(self):
        """Less time is better, more bytes are; nothing at all is best, and not left out."""
        slow, fast = record("tcp", 200), record("speed", 50)
        self.assertEqual(report_data.times(fast, slow), 4)
        self.assertEqual(report_data.times(slow, fast), 0.25)
        more = record("speed", 50, unit="MB/s")
        self.assertEqual(report_data.times(more, record("tcp", 10, unit="MB/s")), 5)
        self.assertEqual(report_data.times(record("speed", 0), slow), float("inf"))

    def test_names(self):
        """Each transport has a name of its own, and ours are those with something of ours."""
        there = dict(transports())
        self.assertGreaterEqual(len(there), 20)
        self.assertLessEqual(set(there), set(report_data.NAMES))
        self.assertEqual(len(set(report_data.NAMES.values())), len(report_data.NAMES))
        self.assertEqual({name for name, text in there.items()
                          if ".fused = true" in text or "= speed_family" in text},
                         report_data.OURS)

    def test_quotient(self):
        """With what the spreads of both allow."""
        self.assertEqual(report_data.quotient(record("a", 100), record("b", 50)),
                         "2.00 (1.64–2.44)")

    def test_by_ring(self):
        """The share of who fills a ring, and its own number of leases; of nobody else."""
        rows = results(*(
            record("speedrun", value, "sweep", metric, unit, **options)
            for options in ({}, {"nonblocking": True, "sendbufsz": 1},
                            {"nonblocking": True, "fills": True}, {"size": 4 << 20, "fills": True})
            for metric, value, unit in (("by_ring", 0.5, "share"),
                                        ("leases", 3 if options else 9, "count")))).by_ring()
        self.assertEqual([row[2] for row in rows], ["--nonblocking", "none"])
        self.assertEqual([row[3] for row in rows], ["50 (45–55)"] * 2)
        self.assertEqual([row[4].split()[0] for row in rows], ["3", "3"])

    def test_contests(self):
        """Only what differs in nothing but the transport is compared, and parts are not."""
        found = results(
            record("tcp", 200), record("speed", 50), record("tcp", 300, nonblocking=True),
            record("ring", 1), record("vmsplice", 1), record("tcp", 9, "jipc", "slow_once"),
            record("tcp", 9, "memory", "idle_connection_slab", "bytes")).contests()
        self.assertEqual([[r["median"] for r in c] for c in found], [[200, 50], [300]])

    def test_first(self):
        """Where another is first it is said by how much, and whether it is sure."""
        lines, contests, wins, close = report_claims.not_first(results(
            record("tcp", 200), record("unix", 48), record("speed", 50),
            record("tcp", 10, size=1), record("speed-mapped", 0, size=1),
            record("tcp", 21, size=2), record("speed", 20, size=2)))
        self.assertEqual((contests, len(lines), sum(wins.values()), close), (3, 1, 2, 1))
        self.assertIn("AF_UNIX stream", lines[0])
        self.assertIn("1.04 times better", lines[0])
        self.assertIn("their spreads touch", lines[0])

    def test_parts(self):
        """A side's read, which is mostly waiting, is no comparison; the round trip is one."""
        lines, contests, _, _ = report_claims.not_first(results(*(
            record(transport, median, "latency-detail", metric + "_p50")
            for transport, median in (("unix", 10), ("speed", 50))
            for metric in ("round_trip", "client_read", "server_write"))))
        self.assertEqual((contests, len(lines)), (1, 1))
        self.assertIn("latency-detail round trip p50", lines[0])

    def test_crossover(self):
        """A null send against a connection a message."""
        said = report_claims.jipc(results(
            record("tcp", 1000, "jipc", "slow_message"), record("speed", 50, "jipc", "call_message")))
        self.assertEqual(len(said), 1)
        self.assertIn("20.0 (16.4–24.4) times", said[0])

    def test_quick(self):
        """A quick run that takes longer than it may fails; it says what it is without."""
        bench = command("bench")
        self.assertEqual([bench.in_time(seconds, quick) for seconds, quick in
                          ((299, True), (301, True), (9999, False))], [True, False, True])
        self.assertIn("memory", plan.left_out())
        self.assertNotIn("latency", plan.left_out())

    def test_missing(self):
        """Nothing measured, nothing claimed; and why stands there."""
        none = results({"experiment": "jipc", "transport": "smc", "metric": "missing",
                        "median": None, "why": "no SMC here"})
        for claim in (report_claims.speed_2001, report_claims.sovia, report_claims.jipc):
            self.assertEqual(claim(none), [])
        self.assertEqual(none.reasons(), ["SMC (jipc): no SMC here"])


class Speedbench(unittest.TestCase):
    """What it prints, and refuses."""

    def test_record(self):
        """A small figure keeps its digits; every run counts."""
        status, found, said = speedbench("stream", "--size", "8", "--transports", "unix", "--runs",
                                         "3", "--target", "5")
        self.assertEqual(status, 0, said)
        self.assertEqual([(r["metric"], r["runs"]) for r in found], [("throughput", 3)])
        self.assertLessEqual(found[0]["min"], found[0]["median"])
        self.assertNotEqual(found[0]["median"], round(found[0]["median"], 2))

    def test_gathered(self):
        """TCP_NODELAY off means TCP, and no other transport fails of it."""
        status, found, said = speedbench("stream", "--nodelay", "no", "--transports",
                                         "pipe,unix,tcp", "--runs", "1", "--target", "5")
        self.assertEqual(status, 0, said)
        self.assertEqual([r["median"] is None for r in found], [False] * 3)

    def test_icount(self):
        """Time is not told as instructions."""
        status, found, said = speedbench("latency", "--icount", "--transports", "unix")
        self.assertEqual((status, found), (1, []))
        self.assertIn("does not count instructions", said)

    def test_sizes(self):
        """What cannot be summed is refused before it is measured."""
        status, found, said = speedbench("sweep", "--size", "70", "--transports", "unix")
        self.assertEqual((status, found), (1, []))
        self.assertIn("multiple of eight", said)

    def test_crowd(self):
        """Crowds big and small: each run has its opening, and each way to wait its figure."""
        for count in ("20", "1100"):
            status, found, said = speedbench("poller", "--connections", count, "--messages", "3",
                                             "--runs", "3", "--transports", "unix")
            self.assertEqual(status, 0, said)
            self.assertEqual([r["metric"] for r in found if r["runs"] == 3][-2:],
                             ["open", "close"])
            self.assertTrue(all(r["median"] > 0 for r in found if r["metric"] == "open"))
            for poller in ("select", "poll", "epoll_level", "epoll_edge"):
                self.assertTrue([r for r in found if r["metric"] == poller and r["median"] > 0],
                                poller)

    def test_iobench(self):
        """What a side does not wait it works, and its share of a processor is that."""
        messages = 2000
        status, found, said = speedbench("iobench", "--size", "512", "--messages", str(messages),
                                         "--runs", "1", "--transports", "pipe,tcp")
        self.assertEqual(status, 0, said)
        for transport, side in itertools.product(("pipe", "tcp"), ("client", "server")):
            of = {r["metric"].partition("_")[2]: r["median"] for r in found
                  if r["transport"] == transport and r["metric"].startswith(side)}
            busy = of["user"] + of["system"]
            self.assertGreater(busy, 0)
            self.assertAlmostEqual(of["wait"], max(of["elapsed"] - busy, 0), delta=1000)
            self.assertAlmostEqual(of["cpu_share"], 100 * busy / of["elapsed"], delta=0.01)
            # Both on one processor: for each message the other one has to have it in between.
            self.assertGreaterEqual(of["switches"] + of["forced_switches"], 0.9 * messages)
            self.assertGreater(of["switches"], 0)
        floor = [r["median"] for r in found if r["transport"] == "memcpy"]
        self.assertEqual(len(floor), 1)
        self.assertGreater(floor[0], 0)

    def test_packets(self):
        """Messages that keep their bounds are measured wherever their stream is."""
        for words in (("poller", "--connections", "20", "--messages", "3"),
                      ("scale", "--connections", "20", "--target", "5"),
                      ("jipc", "--messages", "20")):
            status, found, said = speedbench(*words, "--runs", "1", "--transports",
                                             "unix,unix-seqpacket")
            self.assertEqual(status, 0, said)
            for transport in ("unix", "unix-seqpacket"):
                self.assertTrue([r for r in found if r["transport"] == transport
                                 and r["median"] is not None], words)

    def test_options(self):
        """Options of sockets: they are told with the figure, and they are set."""
        words = ("sweep", "--size", "16384", "--runs", "1", "--target", "5")
        status, found, said = speedbench(*words, "--nonblocking", "--sendbufsz", "16384",
                                         "--recvbufsz", "16384", "--transports", "unix,tcp")
        self.assertEqual(status, 0, said)
        for record_ in found[:2]:
            self.assertEqual(report_data.options_of(record_),
                             "--nonblocking, --sendbufsz 16384, --recvbufsz 16384")
            self.assertGreater(record_["median"], 0)
        capacity = ("capacity", "--size", "4096", "--runs", "1", "--transports")
        pairs = [capacity + more for option, transport in (("--sendbufsz", "unix"),
                                                           ("--recvbufsz", "tcp"))
                 for more in ((transport,), (transport, option, "8192"))]
        with ThreadPoolExecutor(len(pairs)) as pool:
            taken = list(pool.map(lambda words: speedbench(*words), pairs))
        self.assertEqual([status for status, _, _ in taken], [0] * 4)
        of_unix, of_unix_less, of_tcp, of_tcp_less = (found[0]["median"] for _, found, _ in taken)
        self.assertLess(of_unix_less, of_unix)
        self.assertLess(of_tcp_less, of_tcp)

    def test_nodelay(self):
        """TCP_NODELAY off is told with sweep's figures; of sovia's the metric's name tells it."""
        for words, more in ((("sweep", "--size", "1024", "--nodelay", "no"), ["--nodelay no"]),
                            (("sovia",), [""])):
            status, found, said = speedbench(*words, "--runs", "1", "--target", "1",
                                             "--transports", "tcp")
            self.assertEqual(status, 0, said)
            gathered = [r for r in found if r.get("gathered") and r["transport"] == "tcp"]
            self.assertTrue(gathered)
            self.assertEqual(list({report_data.options_of(r) for r in gathered}), more)

    def test_scale(self):
        """Of a crowd that is too many for a short run each one is used, and not for the first time."""
        status, found, said = speedbench("scale", "--connections", "2000", "--runs", "1",
                                         "--target", "1", "--transports", "unix")
        self.assertEqual(status, 0, said)
        for metric in ("untimed_uses", "round_trip_uses", "throughput_uses"):
            uses = [r["median"] for r in found if r["metric"] == metric]
            self.assertEqual(len(uses), 5)
            self.assertGreaterEqual(min(uses), 1)

    def test_memory(self):
        """Memory's bandwidth is that of more than caches hold, and told beside a cached copy."""
        status, found, said = speedbench("lmbench", "--runs", "1", "--target", "1",
                                         "--transports", "pipe,unix")
        self.assertEqual(status, 0, said)
        self.assertEqual([r["transport"] for r in found if r["metric"] == "connection"], ["unix"])
        self.assertEqual([r["transport"] for r in found if r["metric"] == "impossible"], ["pipe"])
        cached = 0
        for path in glob.glob("/sys/devices/system/cpu/cpu0/cache/index*/size"):
            with open(path, encoding="ascii") as file:
                cached = max(cached, 1024 * int(file.read().strip().rstrip("K")))
        for metric in ("copy", "read", "write"):
            one = next(r for r in found if r["metric"] == metric)
            self.assertGreaterEqual(one["size"], max(2 * cached, 64 << 20))

    def test_plan(self):
        """Of each line of make bench the experiment and its transports are there."""
        helped = subprocess.run([PROGRAM, "--help"], check=True, text=True,
                                stdout=subprocess.PIPE).stdout.split()
        for words in plan.full(False) + plan.full(True) + plan.quick() + plan.counted():
            if words[0] not in PROGRAMS:
                self.assertIn(words[0], helped)
            for number, word in enumerate(words):
                if words[number - 1] == "--transports":
                    for transport in word.split(","):
                        self.assertIn(transport, report_data.NAMES)


if __name__ == "__main__":
    unittest.main()
