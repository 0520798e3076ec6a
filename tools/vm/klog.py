# SPDX-License-Identifier: GPL-2.0
"""Judges a kernel log: which of its lines report a fault, and what belongs to them."""
import re

BEGIN = "speed-vm: begin"
NO_LEAKS = "Kernel memory leak detector disabled"

# Each is the only one to find some line of test_klog.py. Lockdep, KASAN and their like
# begin with "WARNING: " or "BUG: ".
FAULTS = (
    r"\bWARNING: ", r"\bBUG\b", r"\bOops\b", r"Kernel panic",
    r"general protection", r"invalid opcode", r"divide error",
    r"KASAN: ", r"UBSAN: ", r"ODEBUG: ",
    r"blocked for more than", r"hard LOCKUP", r"detected (expedited )?stall",
    r"refcount_t: ", r"ref_tracker: .*(leaked|has \d+)", r"page_counter underflow",
    r"list_(add|del) corruption", r"list_add double add", r"usercopy: Kernel memory",
    r"unregister_netdevice: waiting", r"speed-vm: the module does not", r"speed-vm: time limit",
)
FAULT = re.compile("|".join(FAULTS))

# A program's own fault, which the kernel only notes.
PROGRAM = re.compile(r"\btraps: ")

# A stack dump by itself is a fault too, unless its head is one of these.
TRACE = re.compile(r"Call Trace:")
EXCUSES = (
    r"FAULT_INJECTION: forcing a failure", r"page allocation failure",
    r"invoked oom-killer", r"sysrq: ", r"vmap allocation for size .* failed",
)
EXCUSE = re.compile("|".join(EXCUSES))
EXCUSED_LINES = 60

# After these the guest is not worth waiting for.
FATALS = (r"\bOops: ", r"kernel BUG at", r"Kernel panic", r": 0000 \[#1\]")
FATAL = re.compile("|".join(FATALS))


def judged(log):
    """The lines after the mark, all lines if it never came."""
    lines = log.splitlines()
    for number, line in enumerate(lines):
        if BEGIN in line:
            return lines[number + 1:]
    return lines


def faults(log):
    """Returns the numbers of the judged lines at which a fault is reported."""
    found = []
    excused_until = -1
    for number, line in enumerate(judged(log)):
        if FAULT.search(line) and not PROGRAM.search(line):
            found.append(number)
        elif EXCUSE.search(line):
            excused_until = number + EXCUSED_LINES
        elif TRACE.search(line) and number > excused_until:
            found.append(number)
    return found


def report(log, before=3, after=50, limit=250):
    """Returns the faulty parts of the log as text, nothing if there are none."""
    lines = judged(log)
    text = []
    printed = -1
    for number in faults(log):
        if number <= printed:
            continue
        first = max(number - before, printed + 1)
        printed = min(number + after, len(lines) - 1)
        text += ["[...]"] + lines[first:printed + 1]
        if len(text) > limit:
            text = text[:limit] + ["[...] more in the log"]
            break
    return "\n".join(text)
