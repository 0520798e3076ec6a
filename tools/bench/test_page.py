#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""tools/bench/test_page.py

The page that report draws of made-up records of every experiment: each section has its
table, each claim its sentence, with figures that follow from the records. What draws
is a stand-in, for not every Python has matplotlib.
"""
import contextlib
import io
import json
import os
import sys
import tempfile
import types
import unittest
from unittest import mock

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))


def drawn(what, title, *_):
    """A stand-in for a drawing, which says how many lines it has."""
    return "<svg>%s: %d</svg>" % (title, len(what)) if what else None


plots = types.ModuleType("report_plots")
plots.lines = plots.histograms = drawn
sys.modules.update(report_plots=plots, matplotlib=types.ModuleType("matplotlib"))

import report_sections as sections  # noqa: E402
from made_up import command, record, results  # noqa: E402
from report_page import Page  # noqa: E402

TIMES = {"unix": 40e3, "tcp": 100e3, "tcp-fused": 50e3, "speedrun": 20e3, "speed": 45e3}
RATES = {transport: 4e6 / time for transport, time in TIMES.items()}
FILE = 19090223


def each(figures, experiment, metric, unit="ns", **more):
    """A record of each transport."""
    return [record(transport, value, experiment, metric, unit, **more)
            for transport, value in figures.items()]


def of_iobench():
    """Both sides of a hundred messages."""
    return [one for side in ("client", "server")
            for metric, factor, unit in (("elapsed", 1e3, "ns"), ("user", 100, "ns"),
                                         ("switches", 1e-3, "count"))
            for one in each({t: v * factor for t, v in TIMES.items()}, "iobench",
                            "%s_%s" % (side, metric), unit, size=70, messages=100, threads=1)]


def of_latency():
    """A round trip, and its calls with a histogram."""
    histogram = {"experiment": "latency-detail", "transport": "tcp", "metric": "histogram",
                 "kind": "round_trip", "unit": "ns", "buckets": [[64, 9], [128, 1]], "cpus": 2}
    return [*each(TIMES, "latency", "round_trip"), histogram,
            *(one for point in ("p50", "p99", "p999", "max")
              for one in each(TIMES, "latency-detail", "round_trip_" + point, messages=500))]


def of_sweep():
    """Two sizes, options of sockets, and a sender that fills its ring."""
    nonblocking = {"size": 16384, "nonblocking": True}
    return [*each(RATES, "sweep", "throughput", "MB/s", size=64),
            *each(RATES, "sweep", "throughput", "MB/s", size=16384),
            *each(RATES, "sweep", "throughput", "MB/s", size=16384, gathered=True),
            *each(RATES, "sweep", "throughput", "MB/s", **nonblocking),
            record("speedrun", 0.5, "sweep", "by_ring", "share", fills=True, **nonblocking),
            record("speedrun", 7, "sweep", "leases", "count", fills=True, **nonblocking)]


def of_jipc():
    """Fitted costs and what they are fitted to."""
    return [one for way in ("talk", "slow", "call", "implied")
            for metric, factor in (("connection" if way in ("talk", "call") else "once", 3),
                                   ("message", {"slow": 2, "call": 0.1}.get(way, 1)),
                                   ("elapsed", 100))
            for one in each({t: v * factor for t, v in TIMES.items()}, "jipc",
                            "%s_%s" % (way, metric),
                            **({"messages": 100} if metric == "elapsed" else {}))] + [
        record("speedrun", 20, "jipc", "talk_leases", "count"),
        record("speedrun", 0, "jipc", "slow_leases", "count")]


def of_sovia():
    """Curves, and a file."""
    files = {"copy": 200, "tcp": 100, "tcp-fused": 150, "speedrun": 180}
    shares = {"tcp-fused": 60, "speedrun": 80}
    return [*each(TIMES, "sovia", "one_way"), *each(RATES, "sovia", "bandwidth", "MB/s"),
            *each({t: RATES[t] for t in ("tcp", "tcp-fused", "speedrun")}, "sovia",
                  "bandwidth_gathered", "MB/s", gathered=True),
            *each(files, "ftp", "file_%d" % FILE, "MB/s", size=0),
            *each(shares, "ftp", "file_%d_ring" % FILE, "% by a ring", size=0)]


def of_lmbench():
    """Its table, and what memory does."""
    return [*each(TIMES, "lmbench", "latency"), *each(RATES, "lmbench", "bandwidth", "MB/s"),
            *each(TIMES, "lmbench", "connection"),
            record("memcpy", 9000, "lmbench", "copy", "MB/s", size=1 << 26)]


def of_crowds():
    """How costs grow, of a transport that did not get as far as the others."""
    def at(counts, transports, metric, experiment="scale", unit="ns", factor=1, **more):
        return [record(t, TIMES[t] * (1 + number) * factor, experiment, metric, unit,
                       connections=count, **more)
                for number, count in enumerate(counts) for t in transports]

    return [*at((10, 1000), ("unix",), "round_trip"),
            *at((10, 1000, 50000), ("tcp", "tcp-fused", "speedrun", "speed"), "round_trip"),
            *at((10, 1000), ("speed",), "round_trip_uses", unit="uses"),
            *at((1000,), ("speedrun",), "mapped_ends", unit="ends"),
            *at((100, 1000), TIMES, "idle_connection", "memory", "bytes"),
            *(one for threads in (1, 8)
              for one in each({t: r * threads for t, r in RATES.items()}, "scale", "round_trips",
                              "1/s", threads=threads))]


def of_native():
    """The limits."""
    return [record("ring", 200), record("bare", 150), record("unix", 9e3),
            record("ring", 3e3, "stream", "throughput", "MB/s", size=512),
            record("ring", 4e3, "sweep", "throughput", "MB/s", size=4096),
            record("onecopy", 3e3, "sweep", "throughput", "MB/s", size=4096)]


def of_tools():
    """Without any, and with one."""
    return [record("tcp-fused", 10e3, "bt", "none", "instructions", cpus=1, bpftrace="bpftrace v0"),
            record("tcp-fused", 15e3, "bt", "speedrtt", "instructions", cpus=1)]


EVERYTHING = {
    "iobench": of_iobench(), "latency": of_latency(), "sweep": of_sweep(),
    "poller": [*(one for metric in ("poll", "epoll_level", "open")
                 for one in each(TIMES, "poller", metric, connections=100)),
               record("speedrun", 2, "poller", "mapped_ends", "ends", connections=100)],
    "jipc": of_jipc(), "sovia": of_sovia(), "lmbench": of_lmbench(),
    "apps": each(RATES, "redis", "get_c1_p1", "requests/s"),
    "others": [*each(TIMES, "connect", "connection"),
               *each({"tcp": 9e6, "tcp-fused": 9e6}, "capacity", "unread", "bytes")],
    "grow": of_crowds(), "native": of_native(), "one_copy": of_native(), "traced": of_tools(),
}
IN_GUEST = [one for name, found in EVERYTHING.items() if name not in ("native", "one_copy")
            for one in found]


def read(path):
    """A file's text."""
    with open(path, encoding="utf-8") as file:
        return file.read()


def page_of(*files):
    """What report writes of files of records: status, HTML, Markdown, what it said."""
    report = command("report")
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for number, found in enumerate(files):
            paths.append(os.path.join(folder, "%d.json" % number))
            with open(paths[-1], "w", encoding="utf-8") as file:
                file.writelines(json.dumps(one) + "\n" for one in found)
        said = io.StringIO()
        with mock.patch.object(sys, "argv", ["report", "-o", folder, *paths]), \
                contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            status = report.main()
        html, markdown = (read(os.path.join(folder, "report." + e)) for e in ("html", "md"))
    return status, html, markdown, said.getvalue()


class Sections(unittest.TestCase):
    """Each alone."""

    def test_each(self):
        """Each of them has its heading and a table of its records, and is nothing without them."""
        self.assertEqual(set(EVERYTHING), {section.__name__ for section in sections.SECTIONS})
        for section in sections.SECTIONS:
            page, none = Page(""), Page("")
            section(page, results(*EVERYTHING[section.__name__]))
            kinds = [block[0] for block in page.blocks]
            self.assertIn("table", kinds, section.__name__)
            self.assertEqual(kinds[0], "heading", section.__name__)
            section(none, results())
            self.assertEqual(none.blocks, [], section.__name__)

    def test_growth(self):
        """Each transport's growth is told over the numbers that it was measured at itself."""
        page = Page("")
        sections.grow(page, results(*of_crowds()))
        said = [line for block in page.blocks if block[0] == "items" for line in block[1]]
        self.assertIn("measured from 10 to 1,000 connections: AF_UNIX stream × 2.00 (1.64–2.44)",
                      said)
        self.assertEqual(1, len([line for line in said if line.startswith(
            "measured from 10 to 50,000 connections: TCP × 3.00")]), said)
        self.assertIn("AF_UNIX stream × 8.00", said[-1])
        self.assertIn("measured from 1 to 8 threads", said[-1])

    def test_growth_of_one(self):
        """What was measured at one number alone has not grown."""
        found = results(record("tcp", 5, "scale", connections=10))
        self.assertEqual(sections.growth(found, found.records, "connections"), [])


class Whole(unittest.TestCase):
    """All of it."""

    @classmethod
    def setUpClass(cls):
        cls.status, cls.html, cls.markdown, cls.said = page_of(IN_GUEST, of_native())

    def there(self, *texts):
        """Each stands on the page, whoever reads it."""
        for text in texts:
            self.assertIn(text, self.markdown)
            self.assertIn(text, self.html)

    def test_whole(self):
        """Every section, a part for each file, and the drawings in HTML alone."""
        self.assertEqual((self.status, self.said.count("report.")), (0, 2), self.said)
        self.there("iobench, after Speed (2001)", "Round trip of 64 B", "sweep, after sockspeedp6",
                   "poller, after Poller_bench", "jipc, after Jade", "sovia, after SOVIA",
                   "lmbench", "Unmodified programs", "Connections", "scale",
                   "What the bpftrace tools add", "The limits: the ring alone",
                   "A trial: one copy a byte", "Linux 6.12, without the module")
        self.assertIn("<svg>Throughput against size: 5</svg>", self.html)
        self.assertIn("<svg>round trip, the last run, two processors: 1</svg>", self.html)
        self.assertNotIn("<svg>", self.markdown)

    def test_spreads(self):
        """A figure is a median with its least and its most."""
        self.there("median (least–most)")
        self.assertIn("| TCP | 100 (90–110) |", self.markdown)
        self.assertIn("<td>TCP</td><td>100 (90–110)</td>", self.html)

    def test_speed(self):
        """Speed's claims."""
        self.there("iobench, 70 B: TCP fused, speedrun needs 20 (16–24) % of the time of TCP: it "
                   "is 5.00 (4.09–6.11) times as fast, +400 %",
                   "poll() on AF_SPEED works: one of 100 in 45 (40.5–49.5) µs",
                   "connections open at once over AF_SPEED in this run: 50,000",
                   "100 messages, not the 100,000 of the paper")

    def test_sovia(self):
        """SOVIA's, and how much of its file went by a ring."""
        self.there("19,090,223 B through TCP fused, speedrun: 90 (74–110) % of a local copy",
                   "Of the 19,090,223 B 60 (54–66) % over TCP fused and 80 (72–88) % over TCP "
                   "fused, speedrun went by a ring; the limit is the local copy, 200 (180–220) MB/s.")

    def test_jipc(self):
        """Jade's."""
        self.there("send, receive, reply over AF_SPEED, system call costs 4.5 (4.05–4.95) µs, a "
                   "TCP connection a message 200 (180–220) µs: 44.4 (36.4–54.3) times",
                   "an AF_SPEED connection a message, by implied connect, costs 45 (40.5–49.5) µs: "
                   "4.4 (3.6–5.4) times")

    def test_mapped(self):
        """How much of what speedrun did was mapped."""
        self.there("rings that TCP fused, speedrun was lent in all trials of a run: one connection "
                   "20 (18–22), a connection a message 0; without, it makes system calls",
                   "ends that speedrun has mapped at the end of poller: 2 of 200")

    def test_unconnected(self):
        """Why lmbench's table has no connection of a transport that has the rest."""
        text = page_of([*IN_GUEST, record("pipe", 9, "lmbench", "latency"), {
            "experiment": "lmbench", "transport": "pipe", "size": 0, "metric": "impossible",
            "median": None, "why": "nobody connects"}])[2]
        self.assertIn("- connection: pipe: not measured: nobody connects\n", text)

    def test_not_first(self):
        """Where it is not first, and by how much; how often it is."""
        alone = [one for one in of_latency() if one["transport"] != "speedrun"]
        text = page_of(alone)[2]
        self.assertIn("latency round trip of 64 B, 2 cpus: AF_UNIX stream, 40 (36–44) µs, is 1.12 "
                      "times better than the best of ours, AF_SPEED, system call (door AF_SPEED, "
                      "system calls), 45 (40.5–49.5) µs; their spreads touch", text)
        self.assertIn("Of 5 comparisons", text)
        self.assertIn("speed is not first in 5:", text)
        self.assertIn("It is first in 0, ", text)
        self.assertNotIn("is not first in 5:", self.markdown)
        self.assertIn("Where TCP, fused, is not better than plain TCP: nowhere.", text)

    def test_options(self):
        """Options of sockets are told, and who fills a ring."""
        self.there("--nodelay no, MB/s", "--nonblocking, MB/s")
        self.assertIn("| TCP fused, speedrun | 16 KiB | --nonblocking | 50 (45–55) | 7 (6.3–7.7) |",
                      self.markdown)
        self.there("Bandwidth, small messages gathered (no TCP_NODELAY)")

    def test_nothing(self):
        """A file without figures is no page's part, and why there are none stands there."""
        status, _, text, said = page_of([{
            "experiment": "bench", "transport": "all", "size": 0, "metric": "failed",
            "median": None, "why": "no guest"}])
        self.assertEqual(status, 1)
        self.assertIn("nothing was measured in", said)
        self.assertIn("- all transports (bench): failed: no guest", text)

    def test_missing(self):
        """What was not measured stands there with its reason, what failed first."""
        text = page_of([*IN_GUEST, *(
            {"experiment": "redis", "transport": transport, "size": 0, "metric": metric,
             "median": None, "why": why}
            for transport, metric, why in (("smc", "missing", "no SMC here"),
                                           ("speedrun", "failed", "it broke")))])[2]
        self.assertIn("### Not measured\n\n- TCP fused, speedrun (redis): failed: it broke\n"
                      "- SMC (redis): no SMC here\n", text)


if __name__ == "__main__":
    unittest.main()
