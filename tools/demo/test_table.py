#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""tools/demo/test_table.py

The demo's table, of a speedbench that says known figures: every transport has a line,
every figure its unit and its ratio to TCP, and a benchmark that fails fails the table.
"""
import os
import subprocess
import sys
import tempfile
import unittest

TABLE = os.path.join(os.path.dirname(os.path.realpath(__file__)), "table")
FIGURES = {  # nanoseconds; MB/s of 512 bytes; of 64 KiB
    "pipe": (44000, 100, 900), "unix": (38000, 460, 800), "tcp": (53000, 20, 1000),
    "speed": (26500, 100, 1300), "speed-mapped": (530, 2000, 1500),
}
FAKE = """#!%s
import json, sys
words = sys.argv[1:]
column = 0 if words[0] == "latency" else 1 if "512" in words else 2
for name in words[words.index("--transports") + 1].split(","):
    print(json.dumps({"transport": name, "median": %r[name][column], "accelerator": "tcg"}))
sys.exit(%d)
"""
WANTED = {
    "pipe": "44.00 us 1.2 x 100 MB/s 5.0 x 900 MB/s 0.9 x",
    "AF_UNIX": "38.00 us 1.4 x 460 MB/s 23.0 x 800 MB/s 0.8 x",
    "TCP": "53.00 us 1.0 x 20 MB/s 1.0 x 1000 MB/s 1.0 x",
    "AF_SPEED, system call": "26.50 us 2.0 x 100 MB/s 5.0 x 1300 MB/s 1.3 x",
    "AF_SPEED, mapped": "0.53 us 100.0 x 2000 MB/s 100.0 x 1500 MB/s 1.5 x",
}


def table(status=0, transports=()):
    """Runs the table over a speedbench that ends with status."""
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "speedbench")
        with open(program, "w", encoding="ascii") as file:
            file.write(FAKE % (sys.executable, FIGURES, status))
        os.chmod(program, 0o755)
        return subprocess.run([TABLE, program, *transports], check=False, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)


class Table(unittest.TestCase):
    """What it prints."""

    def test_lines(self):
        """A line for each transport, in order, with each ratio the right way up."""
        done = table()
        self.assertEqual(done.returncode, 0, done.stderr)
        where, heads, *lines = done.stdout.splitlines()
        self.assertIn("emulated", where)
        self.assertEqual(" ".join(heads.split()),
                         "(x: times TCP) 64 B round trip 512 B stream 64 KiB stream")
        self.assertEqual([" ".join(line.split()) for line in lines],
                         ["%s %s" % item for item in WANTED.items()])

    def test_failing(self):
        """A benchmark that fails is not a table."""
        done = table(status=1)
        self.assertNotEqual(done.returncode, 0)
        self.assertNotIn("times TCP", done.stdout)

    def test_without_tcp(self):
        """Nothing to compare with."""
        done = table(transports=("unix", "speed"))
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("not among the transports", done.stderr)


if __name__ == "__main__":
    unittest.main()
