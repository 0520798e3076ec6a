#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""tools/vm/test_guest.py

Tries guest.py's verdict without a machine: what a run comes to, by what the guest told
on its control port, its kernel log and kmemleak's report, and which boots are tried anew.
"""
import contextlib
import io
import signal
import sys
import types

sys.dont_write_bytecode = True
import guest  # noqa: E402
import klog  # noqa: E402

GOOD = ("ready", "status 7", "finished")
SCANNED = ("ready", "status 7", "step", "step", "finished")
WARNING = "WARNING: CPU: 0 PID: 1 at /build/kmod/pair.c:120"
LOST = "unreferenced object 0xffff888004a2f000 (size 64):\n"
GAVE_UP = "kmemleak: " + klog.NO_LEAKS

# Kernel, what is told, log, leaks, how QEMU ended (0: by our kill), status, what is said.
RUNS = (
    ("6.12", GOOD, "", "", 0, 7, ""),
    ("6.12", GOOD, WARNING, "", 0, 99, WARNING),
    ("6.12", GOOD[:2], "", "", 0, 99, "did not finish"),
    ("6.12", ("failed", "finished"), "", "", 0, 99, "reported a fault"),
    ("6.12", ("ready", "status 7", "failed", "finished"), "", "", 0, 99, "own status: 7"),
    ("6.12", ("ready",), "", "", 0, 124, "did not end within 600 s"),
    ("6.12", ("ready", "timeout"), "", "", 0, 124, "did not end within 600 s"),
    ("6.12", ("ready",), "", "", 1, 125, "went away"),
    ("6.12", ("ready",), "Oops: 0002 [#1] PREEMPT SMP", "", 1, 99, "Oops: 0002"),
    ("6.12", (), "", "", 0, 125, "did not come up"),
    ("debug", SCANNED, "", "", 0, 7, ""),
    ("debug", SCANNED, "", LOST, 0, 99, LOST),
    ("debug", SCANNED, GAVE_UP, "", 0, 99, "gave up"),
    ("debug", GOOD, "", "", 0, 99, "not asked for leaks"),
    ("debug", SCANNED[:3] + GOOD[2:], "", "", 0, 99, "not asked for leaks"),
)


def went(kernel, told, log, ended):
    """Returns a guest that told this, with this log, and whose QEMU ended so."""
    opts = types.SimpleNamespace(kernel=kernel, timeout=600, icount=False, keep_log=None)
    run = guest.Guest(opts, on_ready=lambda: None)
    run.process = types.SimpleNamespace(returncode=ended or -signal.SIGKILL)
    run.on_log(("Linux version 6.12\n%s\n" % log).encode())
    run.on_control("".join(line + "\n" for line in told).encode())
    return run


def judged(kernel, told, log, leaks, ended):
    """Returns status and words of a run that went so."""
    run = went(kernel, told, klog.BEGIN + "\n" + log, ended)
    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        return run.verdict(leaks), said.getvalue()


# What is told, log, how QEMU ended (0: by our kill), why another boot is tried.
BOOTS = (
    ((), "", -signal.SIGABRT, "the emulator aborted"),
    ((), klog.BEGIN, -signal.SIGABRT, "the emulator aborted"),
    ((), "", 0, "the kernel stood still in its boot"),
    ((), klog.BEGIN, 0, ""),
    ((), "", 1, ""),
    (("ready",), "", 0, ""),
    (("failed",), "", -signal.SIGABRT, ""),
)


bad = 0
for *facts, why in BOOTS:
    got = went("6.12", *facts).stillborn()
    if got != why:
        print("guest.py: %s: '%s', not '%s'" % (facts, got, why))
        bad += 1
for *facts, status, words in RUNS:
    got, said = judged(*facts)
    if got != status or words not in said or (not words) != (not said):
        print("guest.py: %s: status %d, not %d, and it says: %s" % (facts, got, status, said))
        bad += 1
print("%d runs, %d boots" % (len(RUNS), len(BOOTS)))
sys.exit(bad != 0)
