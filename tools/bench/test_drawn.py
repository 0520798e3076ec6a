#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""tools/bench/test_drawn.py SPEEDBENCH

What speedbench measures on this machine, without the module, drawn by its own report, with
the library that draws: each transport has its line in each drawing. test_page.py looks at
the words, test_report.py at the figures.
"""
import os
import subprocess
import sys
import tempfile
import unittest
from xml.etree import ElementTree

HERE = {"pipe": "pipe", "unix": "AF_UNIX stream", "tcp": "TCP"}
SHORT = ("--runs", "3", "--target", "2", "--transports", ",".join(HERE))
SVG = "{http://www.w3.org/2000/svg}"


def speedbench(*args):
    """What it prints."""
    done = subprocess.run([sys.argv[1], *args], check=True, text=True, stdout=subprocess.PIPE)
    return done.stdout


class Drawn(unittest.TestCase):
    """The drawings of a small run."""

    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "here.json")
            with open(path, "w", encoding="utf-8") as file:
                for args in (["sweep", "--max", "256"],
                             ["latency", "--detail", "--messages", "1000"]):
                    file.write(speedbench(*args, *SHORT))
            speedbench("report", "-o", folder, path)
            with open(os.path.join(folder, "report.html"), encoding="utf-8") as file:
                text = file.read()
        parts = text.split("<svg")[1:]
        cls.drawings = [ElementTree.fromstring("<svg" + part.partition("</svg>")[0] + "</svg>")
                        for part in parts]

    def test_all(self):
        """One of the throughput, one for each kind of call."""
        self.assertGreaterEqual(len(self.drawings), 1 + 5)

    def test_lines(self):
        """Each has a legend that names the transports, and a line for each, of points."""
        for drawing in self.drawings:
            texts = {text.text for text in drawing.iter(SVG + "text")}
            self.assertLessEqual(set(HERE.values()), texts)
            lines = [path.get("d", "") for path in drawing.iter(SVG + "path")
                     if "clip-path" in path.attrib and "fill: none" in path.get("style", "")]
            curves = [line for line in lines if line.count("L") >= 2]
            self.assertGreaterEqual(len(curves), len(HERE), lines)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
