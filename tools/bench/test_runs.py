#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""tools/bench/test_runs.py

What runs the experiments, where something is not as it should be: a program that is not
installed, a server whose set-up fails, a load that was not fused, counts of another
machine. Nothing of it needs a guest.
"""
import contextlib
import io
import json
import lzma
import os
import subprocess
import sys
import tempfile
import time
import types
import unittest
from unittest import mock

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
import program  # noqa: E402
import rows  # noqa: E402
import runner  # noqa: E402
from made_up import command  # noqa: E402
from program import Load  # noqa: E402

apps = command("apps")
bench = command("bench")
counts = command("counts")
figures = command("figures")


class Echo(program.Program):
    """A server that is there, and a load of two metrics whose bytes are made up."""

    unit = "requests/s"
    told = {}  # what the device carries of a request over each switch
    missing = None  # of it a program is not installed

    def __init__(self, folder):
        super().__init__(folder)
        self.device = 0

    def prepare(self):
        if self.missing == "server":
            program.find("no-such-program")

    def load(self, _):
        """Ten requests over one connection."""
        if self.missing == "load":
            program.find("no-such-program")
        Machine.bytes += 10 * self.told[Machine.switch]
        Machine.attached += 2 * int(Machine.switch)
        Machine.fused += 2 * int(Machine.switch)
        return Load(1000, 1, 10)

    def loads(self):
        yield "get", self.load


class Machine:
    """What apps reads of the kernel."""

    switch = "0"
    bytes = attached = fused = 0

    @classmethod
    def counted(cls, name):
        """A counter."""
        return {"tcp_attached": cls.attached, "tcp_fused": cls.fused}.get(name, 0)

    @classmethod
    def switched(cls, value=None):
        """net.speed.loopback, which is set if value is told."""
        cls.switch = value or cls.switch
        return cls.switch


def run_apps(told, *args, missing=None):
    """The status of apps on a made-up machine, and its records by transport."""
    out = io.StringIO()
    with contextlib.ExitStack() as stack:
        for where, what, value in (
                (apps, "counted", Machine.counted), (apps, "switched", Machine.switched),
                (apps, "switch", Machine.switched), (apps, "seen_by_device", lambda: Machine.bytes),
                (Echo, "told", told), (Echo, "missing", missing),
                (sys, "argv", ["apps", "redis", "--runs", "3", *args])):
            stack.enter_context(mock.patch.object(where, what, value))
        stack.enter_context(mock.patch.dict(apps.PROGRAMS, redis=Echo))
        stack.enter_context(contextlib.redirect_stdout(out))
        stack.enter_context(contextlib.redirect_stderr(io.StringIO()))
        status = apps.main()
    found = [json.loads(line) for line in out.getvalue().splitlines()]
    return status, {record["transport"]: record for record in found}


class Apps(unittest.TestCase):
    """Which figures there are, and why not."""

    def test_fused(self):
        """A load whose bytes hardly touch the device is one over fused TCP."""
        for told in ({"0": 300, "1": 0}, {"0": 300, "1": 100}, {"0": 3000, "1": 750}):
            # Of ten requests a connection's own bytes are some fifty each.
            status, found = run_apps(told, "--transports", "tcp,tcp-fused")
            self.assertEqual(status, 0, found)
            self.assertEqual([r["metric"] for r in found.values()], ["get"] * 2)

    def test_not_fused(self):
        """One whose bytes the device sees is not, whatever the module counted."""
        for args in ("tcp,tcp-fused", "tcp-fused,tcp", "tcp-fused"):
            status, found = run_apps({"0": 3000, "1": 2900}, "--transports", args)
            self.assertEqual(status, apps.SOME_FAILED)
            self.assertEqual(found["tcp-fused"]["metric"], "failed")
            self.assertIn("2849 bytes of an operation, and of plain TCP's 3000",
                          found["tcp-fused"]["why"])
            self.assertEqual(found.get("tcp", {"metric": "get"})["metric"], "get")

    def test_missing(self):
        """A program that is not installed is no failure, but has a record that says so."""
        for what in ("server", "load"):
            status, found = run_apps({"0": 1, "1": 0}, "--transports", "tcp", missing=what)
            self.assertEqual(status, 0)
            self.assertEqual(found["all"]["metric"], "missing")
            self.assertIn("no program no-such-program: install it", found["all"]["why"])


class Started(program.Program):
    """A server that runs when its set-up fails."""

    script = "sleep 60"

    def prepare(self):
        self.server = subprocess.Popen(["sh", "-c", self.script], stdout=subprocess.PIPE)
        if "echo" in self.script:
            self.server.stdout.readline()
        raise program.Failed("the set-up")

    def loads(self):
        return ()


class Programs(unittest.TestCase):
    """Servers."""

    def ended(self, script):
        """How the server has ended once it was entered."""
        server = Started("/tmp")
        server.script = script
        with self.assertRaises(program.Failed):
            with server:
                pass
        server.server.stdout.close()
        return server.server.poll()

    def test_set_up(self):
        """A server whose set-up fails is ended, also one that does not heed a signal."""
        self.assertEqual(self.ended("exec sleep 60"), -15)
        with mock.patch.object(program, "STOP_SECONDS", 0.2):
            self.assertEqual(self.ended("trap '' TERM; echo; while :; do sleep 0.1; done"), -9)

    def test_no_text(self):
        """What a program says need not be text."""
        self.assertEqual(Started("/tmp").run("printf", "a\\377b"), "a\ufffdb")


class Runner(unittest.TestCase):
    """A guest's output."""

    def test_no_text(self):
        """A byte that is none costs no record."""
        with contextlib.redirect_stderr(io.StringIO()):
            found = runner.run(["printf", '{"a": 1}\\n\\377\\n{"a": "\\377"}\\n'])
        self.assertEqual(found, [{"a": 1}, {"a": "\ufffd"}])


class Bench(unittest.TestCase):
    """What it needs before it measures."""

    def test_prepare(self):
        """What a quick run is built in is there before its time begins."""
        for kernels, wanted in ((["6.12"], ["6.12", "6.1"]), (["6.1", "7"], ["6.1", "7"])):
            with mock.patch.object(runner, "call") as call:
                bench.prepare(kernels, types.SimpleNamespace(host=False, quick=True))
            self.assertEqual(list(call.call_args_list[-1].args[1:]), wanted)

    def told_of_script(self, until, quick=True):
        """What a guest's shell prints of one experiment that ends well, and its status."""
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(runner, "FULL", folder):
            with open(folder + "/speedbench", "w", encoding="ascii") as file:
                file.write("#!/bin/sh\necho '{\"ran\": true}'\n")
            os.chmod(folder + "/speedbench", 0o755)
            line = bench.script([["latency"]], None, until, quick)
            done = subprocess.run(["bash", "-c", line], check=False, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        return json.loads(done.stdout), done.returncode

    def test_late(self):
        """What a quick run has no time left for is not begun, and named as not measured."""
        for until in (None, time.time() + 60):
            self.assertEqual(self.told_of_script(until), ({"ran": True}, 0))
        found, status = self.told_of_script(time.time() - 1)
        self.assertEqual((found["experiment"], found["metric"], status), ("latency", "missing", 0))
        self.assertIn("300 s", found["why"])

    def test_late_in_full(self):
        """What a guest that is to run them all has no time left for is named, and a failure."""
        found, status = self.told_of_script(time.time() - 1, quick=False)
        self.assertEqual((found["experiment"], found["metric"], status), ("latency", "failed", 1))
        self.assertIn("not begun, for too little of the 10800 s was left: latency", found["why"])

    def told_of_smc(self, **environment):
        """The one line for a guest's shell, where its modules cannot be had, as a record."""
        with mock.patch.dict(os.environ, **environment), \
                contextlib.redirect_stderr(io.StringIO()):
            lines = bench.load_smc("6.12")
        self.assertEqual(len(lines), 1)
        return json.loads(subprocess.run(["sh", "-c", lines[0]], check=True, text=True,
                                         stdout=subprocess.PIPE).stdout)

    def test_smc(self):
        """SMC is missing, with a reason, where its modules are, or what unpacks them."""
        with tempfile.TemporaryDirectory() as folder:
            found = self.told_of_smc(SPEED_CACHE=folder)
            self.assertEqual((found["transport"], found["metric"]), ("smc", "missing"))
            self.assertIn("No such file", found["why"])
            os.mkdir(folder + "/6.12")
            with open(folder + "/6.12/release", "w", encoding="ascii") as file:
                file.write("6.12")
            with mock.patch.object(bench, "find", side_effect=program.Missing("no modprobe")):
                self.assertIn("no modprobe", self.told_of_smc(SPEED_CACHE=folder)["why"])
            with mock.patch.object(bench, "smc_modules", side_effect=lzma.LZMAError("cut off")):
                self.assertIn("cut off", self.told_of_smc(SPEED_CACHE=folder)["why"])

    def test_sbin(self):
        """A program of root's is found by who has not its folder in PATH."""
        with tempfile.TemporaryDirectory() as empty, mock.patch.dict(os.environ, PATH=empty):
            self.assertIn("sbin/", program.find("ldconfig"))


class Figures(unittest.TestCase):
    """Rows of the table."""

    def test_library(self):
        """Whoever is measured under the library has it built, wherever that is."""
        wanted = [row.number for row in rows.ROWS if figures.takes_library(row)]
        self.assertEqual(wanted, [20, 21, 23, 24, 25, 26, 27, 28, 29, 30])


class Counts(unittest.TestCase):
    """What may be compared."""

    def test_comparable(self):
        """Releases of one series of kernels, and of one of QEMUs, and no others."""
        known = "Linux 6.12.117+deb13-amd64, QEMU 10.0.2"
        for other, so in (("Linux 6.12.9-amd64, QEMU 10.0.3", True),
                          ("Linux 6.12-rc1, QEMU 10.0", True),
                          ("Linux 6.12.117+deb13-amd64, QEMU 10.1.2", False),
                          ("Linux 6.12.117+deb13-amd64, QEMU 1.0.2", False),
                          ("Linux 6.1.117-amd64, QEMU 10.0.2", False),
                          ("Linux 6.120.1, QEMU 10.0.2", False), ("none", False)):
            self.assertEqual(counts.comparable(other, known), so, other)
            self.assertEqual(counts.comparable(known, other), so, other)

    def test_grown(self):
        """By more than two in a hundred, or missing on a side."""
        self.assertEqual(sorted(counts.grown({"a": 103, "b": 101, "c": 1, "e": 50},
                                             {"a": 100, "b": 100, "d": 1, "e": 100})),
                         ["a", "c", "d"])

    def test_told(self):
        """What has grown fails, and so does what is not the same in two boots."""
        for before, same, good in (({"a": 100}, True, True), ({"a": 100}, False, False),
                                   ({"a": 90}, True, False), ({}, True, False)):
            with contextlib.redirect_stdout(io.StringIO()) as said:
                self.assertEqual(counts.tell({"a": 100}, before, same), good)
            self.assertEqual("not ok" in said.getvalue(), not good)


if __name__ == "__main__":
    unittest.main()
