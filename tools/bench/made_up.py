# SPDX-License-Identifier: GPL-2.0
"""Made-up records, and what is made of them: for the tests of the report."""
import importlib.machinery
import importlib.util
import json
import os
import tempfile

import report_data

HERE = os.path.dirname(os.path.realpath(__file__))


def record(transport, median, experiment="latency", metric="round_trip", unit="ns", **more):
    """One, whose spread is a tenth each way."""
    return dict({"experiment": experiment, "transport": transport, "size": 64, "metric": metric,
                 "unit": unit, "median": median, "min": median * 0.9, "max": median * 1.1,
                 "runs": 5, "cpus": 2, "kernel": "6.12", "accelerator": "tcg"}, **more)


def results(*records):
    """Of a file with these."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        for one in records:
            file.write(json.dumps(one) + "\n")
        file.flush()
        return report_data.Results(file.name)


def command(name):
    """A command of this folder as a module."""
    loader = importlib.machinery.SourceFileLoader(name, os.path.join(HERE, name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module
