# SPDX-License-Identifier: GPL-2.0
"""One run of the machine: QEMU, its pipes, and what the guest told through them."""
import ctypes
import os
import selectors
import signal
import subprocess
import sys
import time

import klog
import machine

FAULT, TIMEOUT, FAILED = 99, 124, 125
BOOT_SECONDS = 300
END_SECONDS = 240
OOPS_SECONDS = 10
SCANS = 2  # for leaks, on the debug kernel
PR_SET_PDEATHSIG = 1


def say(text):
    """Prints one line about the machine itself."""
    print("vm: " + text, file=sys.stderr, flush=True)


def emit(fd, data):
    """Writes everything, whatever the descriptor takes at once."""
    while data:
        try:
            data = data[os.write(fd, data):]
        except BlockingIOError:
            time.sleep(0.01)
        except BrokenPipeError:
            return


def die_with_parent():
    """In the child: no QEMU survives the run that started it, however that ended."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def keep_priority(pid):
    """A session of its own is scheduled as a group of its own: give that the caller's nice value."""
    try:
        with open("/proc/%d/autogroup" % pid, "w") as file:
            file.write(str(os.nice(0)))
    except OSError:
        pass


class Guest:
    """States: boot, run (the command), end (unloading), finished; oops, timeout."""

    def __init__(self, opts, on_ready):
        self.opts = opts
        self.on_ready = on_ready
        self.log = b""
        self.control = b""
        self.status = None
        self.failed = False
        self.scans = 0
        self.deadline = time.monotonic() + BOOT_SECONDS
        self.state = "boot"
        self.process = None
        self.pipes = [os.pipe() for _ in machine.PORTS]

    def start(self, args):
        """Starts QEMU in a process group of its own; args get the ports' descriptors."""
        writers = [writer for _, writer in self.pipes]
        self.process = subprocess.Popen(args(writers), stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, pass_fds=writers,
                                        start_new_session=True, preexec_fn=die_with_parent)
        keep_priority(self.process.pid)
        for writer in writers:
            os.close(writer)

    def end(self):
        """Ends QEMU; all that the guest wrote has reached the host's files by then."""
        if self.process and self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        if self.process:
            self.process.wait()

    def finish_within(self, seconds):
        """Brings the end of waiting nearer, never farther."""
        self.deadline = min(self.deadline, time.monotonic() + seconds)

    def on_log(self, data):
        """Takes a piece of the kernel log."""
        recent = self.log[-80:] + data
        self.log += data
        if self.state != "oops" and klog.FATAL.search(recent.decode(errors="replace")):
            self.state = "oops"
            self.finish_within(OOPS_SECONDS)

    def on_control(self, data):
        """Takes what the guest says on the control port, line by line."""
        self.control += data
        while b"\n" in self.control:
            line, self.control = self.control.split(b"\n", 1)
            self.told(*line.decode().split())

    def told(self, word, value=None):
        """Acts on one line of the guest's."""
        if word == "ready":
            self.on_ready()
            if self.state == "boot":
                self.state = "run"
                # The guest's own watch comes first, as it can say where all wait.
                slack = 0 if self.opts.icount else 20
                self.deadline = time.monotonic() + self.opts.timeout + slack
        elif word == "timeout" and self.state == "run":
            self.state = "timeout"
            self.finish_within(1)
        elif word == "status":
            self.status = int(value)
            if self.state == "run":
                self.state = "end"
                self.deadline = time.monotonic() + END_SECONDS
        elif word == "step":
            self.scans += 1
            if self.state == "end":
                self.deadline = time.monotonic() + END_SECONDS
        elif word == "failed":
            self.failed = True
            if self.state == "boot":
                self.state = "end"
        elif word == "finished":
            if self.state == "end":
                self.state = "finished"
            self.finish_within(0)

    def follow(self):
        """Passes on what the guest writes until it has finished or its time is over."""
        select = selectors.DefaultSelector()
        readers = [reader for reader, _ in self.pipes]
        sinks = dict(zip(readers, (lambda d: emit(1, d), lambda d: emit(2, d), self.on_control)))
        sinks[self.process.stdout.fileno()] = self.on_log
        for reader in sinks:
            os.set_blocking(reader, False)
            select.register(reader, selectors.EVENT_READ)
        while select.get_map():
            left = self.deadline - time.monotonic()
            events = select.select(max(0, left))
            for key, _ in events:
                data = os.read(key.fd, 65536)
                if data:
                    sinks[key.fd](data)
                else:
                    select.unregister(key.fd)
            if left <= 0 and (not events or left < -5):
                break

    def stillborn(self):
        """Returns what ended the boot if that was not the module's doing, else "".

        QEMU may abort by an assertion of its own, and an emulated processor may sleep for
        good, its timer lost. Once the module is about to be loaded such a guest hangs.
        """
        if self.state != "boot":
            return ""
        if self.process.returncode == -signal.SIGABRT:
            return "the emulator aborted"
        if self.process.returncode == -signal.SIGKILL and klog.BEGIN.encode() not in self.log:
            return "the kernel stood still in its boot"
        return ""

    def unscanned(self, log):
        """Says why leaks were not looked for where they should have been, nothing if they were."""
        if klog.NO_LEAKS in log:
            return "kmemleak gave up, so leaks were not looked for"
        if self.opts.kernel == "debug" and self.state == "finished" and self.scans < SCANS \
                and not self.failed:
            return "kmemleak was not asked for leaks"
        return ""

    def verdict(self, leaks):
        """Returns the exit status, and prints why if it is not the command's own."""
        log = self.log.decode(errors="replace").replace("\r", "")
        if self.opts.keep_log:
            with open(self.opts.keep_log, "w") as file:
                file.write(log + leaks)
        gone = self.process.returncode != -signal.SIGKILL
        if self.state == "boot":
            print("\n".join(log.splitlines()[-60:]), file=sys.stderr)
            say("the guest did not come up")
            return FAILED
        if self.state in ("run", "timeout"):
            print("\n".join(klog.judged(log)[-150:]), file=sys.stderr)
            say("the guest went away" if gone else
                "the command did not end within %g s" % self.opts.timeout)
            return FAILED if gone else TIMEOUT
        faults = klog.report(log)
        unscanned = self.unscanned(log)
        if faults or leaks or unscanned or self.failed or self.state != "finished":
            print(faults + leaks, file=sys.stderr)
            if unscanned:
                say(unscanned)
            if self.state == "end":
                print("\n".join(klog.judged(log)[-60:]), file=sys.stderr)
                say("the guest did not finish after the command")
            say("the kernel reported a fault, see above; the command's own status: %s" % self.status)
            return FAULT
        return self.status
