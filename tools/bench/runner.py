# SPDX-License-Identifier: GPL-2.0
"""Runs speedbench and apps here or in a guest and reads what they print."""
import json
import os
import platform
import shlex
import signal
import subprocess
import sys

from programs import PROGRAMS

HERE = os.path.dirname(os.path.realpath(__file__))
TREE = os.path.dirname(os.path.dirname(HERE))
OUT = os.path.join(TREE, "build", "bench")
FIRST = -15
OLDEST = "6.1"  # what is built in its root runs in all guests
PROGRAM = os.path.join(OUT, "speedbench")
APPS = os.path.join(HERE, "apps")
VM = os.path.join(TREE, "tools", "vm")
FULL = os.path.join(OUT, "full")
LIBRARY = os.path.join(FULL, "userspace", "libspeed-preload.so")


class Failed(Exception):
    """A program or a guest that did not do all it was asked, and what was measured."""

    def __init__(self, text, measured=(), status=None):
        super().__init__(text)
        self.measured = list(measured)
        self.status = status  # what it ended with


def say(text):
    """Tells the user what goes on, beside the results."""
    print("bench: " + text, file=sys.stderr, flush=True)


def build():
    """Builds speedbench. It is static, so that guests of all kernels run it."""
    done = subprocess.run(["make", "-s", "-C", HERE, "O=" + OUT], check=False,
                          stdout=sys.stderr.fileno())
    if done.returncode:
        raise Failed("speedbench does not build")


def call(*command):
    """Runs command, its words to stderr; Failed if it fails."""
    if subprocess.run(command, check=False, stdout=sys.stderr.fileno()).returncode:
        raise Failed("%s failed" % " ".join(map(os.path.basename, command[:3])))


def build_full(host=False):
    """Builds the speedbench that is linked with the rivals, and libspeed-preload."""
    if host:
        call(os.path.join(TREE, "tools", "check", "deps"), "rivals")
    root = [] if host else [os.path.join(VM, "chroot"), OLDEST]
    call(*root, "make", "-s", "-C", HERE, "O=" + FULL, "FULL=1")
    if os.path.isdir(os.path.join(TREE, "userspace", "preload")):
        call(*root, "make", "-s", "-C", os.path.join(TREE, "userspace"),
             "O=" + os.path.dirname(LIBRARY), "speedrun")


def trouble(experiment, why):
    """A record that says why there are no figures."""
    return {"experiment": experiment, "transport": "all", "size": 0, "metric": "failed",
            "unit": None, "median": None, "min": None, "max": None, "runs": None, "why": why}


def records(text):
    """The JSON objects among the lines of text; the rest goes to stderr.

    A line may be cut off where a guest ended before its time.
    """
    found = []
    for line in text.splitlines():
        if line.startswith("{"):
            try:
                found.append(json.loads(line))
            except ValueError:
                say("a line of results is cut off: " + line)
                found.append(trouble("bench", "a line of results is cut off: " + line))
        elif line.strip():
            print(line, file=sys.stderr)
    return found


def machine():
    """What this machine calls itself."""
    model = platform.machine()
    with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
        for line in file:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    return "%s, %d processors, Linux %s" % (model, os.cpu_count(), platform.release())


def first_in_line():
    """Asks for the processors before other programs get them, where that is allowed.

    Among sessions it is the session's own value that counts, if the kernel groups
    by session; a guest gets it from tools/vm/run.
    """
    try:
        os.setpriority(os.PRIO_PROCESS, 0, FIRST)
        with open("/proc/self/autogroup", "w", encoding="ascii") as file:
            file.write(str(FIRST))
    except OSError:
        pass


def run(command, seen=None):
    """Runs command, passes its stderr through, returns its records; seen gets each line first."""
    lines = []
    # What a guest's console brings need not be text.
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, errors="replace",
                          start_new_session=True, preexec_fn=first_in_line) as process:
        try:
            for line in process.stdout:
                lines.append(line)
                if seen:
                    seen(line)
        except BaseException:
            os.killpg(process.pid, signal.SIGTERM)
            raise
    found = records("".join(lines))
    if process.returncode:
        raise Failed("%s ended with %d" % (os.path.basename(command[0]), process.returncode),
                     found, process.returncode)
    return found


def script(experiments, full=False):
    """For the shell: all experiments, whether or not one of them fails."""
    program = os.path.join(FULL, "speedbench") if full else PROGRAM
    lines = [shlex.join([APPS if args[0] in PROGRAMS else program] + args) + " || bad=1"
             for args in experiments]
    return "\n".join(["export SPEED_PRELOAD=" + shlex.quote(LIBRARY), "bad=0"] + lines
                     + ["exit $bad"])


def on_host(experiments, full=False, seen=None):
    """Runs experiments (lists of arguments) on this machine's own kernel."""
    return run(["sh", "-c", script(experiments, full)], seen)


def in_guest(experiments, kernel="6.12", icount=False, module=True, programs=False,
             full=False, sealed=False, timeout=2400):
    """Runs experiments in one boot; full: by the speedbench that can be preloaded to; sealed:
    icount where nothing depends on the host, so that all is counted the same each time.
    """
    icount = icount or sealed
    command = [os.path.join(VM, "run"), "--kernel", kernel,
               "--timeout", str(timeout)]
    command += ["--sealed", "--file", PROGRAM] if sealed else []
    command += ["--icount"] if icount else ["--cpus", "2"]
    command += [] if module else ["--no-module"]
    command += ["--programs"] if programs else []
    line = script(experiments, full)
    if icount:
        line = "export SPEED_ACCEL=icount; " + line
    return run(command + ["--", line])
