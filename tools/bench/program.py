# SPDX-License-Identifier: GPL-2.0
"""An unmodified program as an experiment: what Redis, FTP and the others have in common."""
import glob
import os
import re
import shutil
import socket
import subprocess
import time
from collections import namedtuple

START_SECONDS = 120
LOAD_SECONDS = 120
STOP_SECONDS = 120
SOME_FAILED = 3  # what speedbench and apps end with when their records say what did
SPIN = "1000"  # microseconds, where the processor is emulated
SPIN_DEFAULT = "/proc/sys/net/speed/spin_us"
HOST = "127.0.0.1"


def accelerator():
    """As speedbench tells it: an emulated processor has a name, any other guest's a flag."""
    told = os.environ.get("SPEED_ACCEL")
    if told:
        return told
    with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
        text = file.read()
    if "QEMU TCG" in text:
        return "tcg"
    return "kvm" if re.search(r"^flags.* hypervisor\b", text, re.M) else "native"


def spin():
    """$SPEED_SPIN of programs under the library, or None: they keep the default."""
    told = os.environ.get("SPEED_SPIN")
    # All takes an emulated processor some twenty times as long; so may looking.
    return told or (SPIN if accelerator() in ("tcg", "icount") else None)


def spin_us():
    """How long the library looks before it sleeps."""
    try:
        with open(SPIN_DEFAULT, encoding="ascii") as file:
            return int(spin() or file.read())
    except FileNotFoundError:
        return None


class Failed(Exception):
    """A program that does not start, or whose load did not go well."""


class Missing(Failed):
    """A program that is not installed."""


# The rate, how many connections the load made, at least, how many operations, and how
# many bytes it moved one way, or 0: not to be looked at.
Load = namedtuple("Load", "rate connections operations moved", defaults=(0,))


def find(name, *more):
    """The path of a program, also where it stands in no PATH."""
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    found = shutil.which(name, path=path)
    for pattern in more:
        found = next(iter(sorted(glob.glob(pattern + "/" + name), reverse=True)), found)
    if not found:
        raise Missing("no program %s: install it" % name)
    return found


def free_port():
    """A port that nobody listens on."""
    with socket.socket() as one:
        one.bind((HOST, 0))
        return one.getsockname()[1]


class Program:
    """A server that runs while this object is entered."""

    user = None  # the server and its load run as
    preload = None  # a library that both run under

    def __init__(self, folder):
        self.folder = folder
        self.port = free_port()
        self.server = None

    def environment(self):
        """That of the server and of its load."""
        if not self.preload:
            return None
        told = {"SPEED_SPIN": spin()} if spin() else {}
        return dict(os.environ, LD_PRELOAD=self.preload, **told)

    def run(self, *command):
        """Runs a program to its end; its standard output."""
        done = subprocess.run(command, check=False, timeout=LOAD_SECONDS, user=self.user,
                              cwd=self.folder, text=True, errors="replace",
                              stdin=subprocess.DEVNULL, env=self.environment(),
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode:
            raise Failed("%s ended with %d:\n%s" % (os.path.basename(command[0]),
                                                    done.returncode, done.stdout))
        return done.stdout

    def start(self, *command):
        """Starts the server and waits until it accepts."""
        with open(self.folder + "/server.log", "wb") as log:
            self.server = subprocess.Popen(command, user=self.user, cwd=self.folder, stdout=log,
                                           env=self.environment(),
                                           stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT)
        until = time.monotonic() + START_SECONDS
        while time.monotonic() < until and self.server.poll() is None:
            with socket.socket() as one:
                if one.connect_ex((HOST, self.port)) == 0:
                    return
            time.sleep(0.1)
        with open(self.folder + "/server.log", encoding="utf-8", errors="replace") as log:
            raise Failed("%s does not accept:\n%s" % (command[0], log.read()))

    def stop(self):
        """Ends the server, if there is one."""
        if not self.server:
            return
        self.server.terminate()
        try:
            self.server.wait(timeout=STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.server.kill()
            self.server.wait()

    def __enter__(self):
        try:
            self.prepare()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    def prepare(self):
        """Makes the files that the server wants, and starts it."""
        raise NotImplementedError

    def loads(self):
        """Pairs: the metric, and a function of seconds that puts the load on; it returns a Load."""
        raise NotImplementedError
