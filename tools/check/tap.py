# SPDX-License-Identifier: GPL-2.0
"""Checks that are functions, in TAP: what tools/bt/check and tools/bench share."""
import subprocess

FAILURES = (AssertionError, RuntimeError, LookupError, TypeError, ValueError,
            subprocess.SubprocessError)


def expect(what, is_so, said):
    """A condition; AssertionError with what was said if it does not hold."""
    if not is_so:
        raise AssertionError("%s; it said %s" % (what, said))


def run(checks):
    """Runs {name: function} in order, each a line; 0, or 1 if one failed."""
    failed = 0
    print("TAP version 13\n1..%d" % len(checks), flush=True)
    for number, (name, check) in enumerate(checks.items(), 1):
        problem = None
        try:
            check()
        except FAILURES as error:
            problem = error
            failed += 1
        print("%s %d %s" % ("not ok" if problem else "ok", number, name), flush=True)
        if problem:
            print("# %s: %s" % (type(problem).__name__, str(problem)[:2000]), flush=True)
    print("%d passed, %d failed, 0 skipped" % (len(checks) - failed, failed))
    return 1 if failed else 0
