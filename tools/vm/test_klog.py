#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""tools/vm/test_klog.py

Tries klog.py without a machine: it must find each of these lines, excuse what is to be
excused, and pass an ordinary log. Each alternative of its patterns must be needed for
one of the lines, so that none can be lost.
"""
import re
import sys

sys.dont_write_bytecode = True
import klog  # noqa: E402

# As Linux 6.1 to 7 and guest-run print them.
FAULTS = """\
WARNING: CPU: 1 PID: 71 at /build/kmod/pair.c:120 speed_pair_put+0x3f/0x50 [speed]
WARNING: /build/kmod/pair.c:120 at speed_pair_put+0x3f/0x50 [speed], CPU#1: insmod/71
WARNING: possible circular locking dependency detected
WARNING: possible recursive locking detected
WARNING: possible irq lock inversion dependency detected
WARNING: HARDIRQ-safe -> HARDIRQ-unsafe lock order detected
WARNING: inconsistent lock state
WARNING: suspicious RCU usage
WARNING: bad unlock balance detected!
WARNING: lock held when returning to user space!
WARNING: stream/120 still has locks held!
WARNING: held lock freed!
[ BUG: Invalid wait context ]
BUG: sleeping function called from invalid context at /build/kmod/tx.c:12
BUG: scheduling while atomic: stream/120/0x00000002
BUG: KASAN: slab-use-after-free in speed_pair_put+0x3f/0x50 [speed]
BUG: KCSAN: data-race in speed_send / speed_recv
BUG: kernel NULL pointer dereference, address: 0000000000000008
BUG: unable to handle page fault for address: ffffc90000a3d000
BUG: Bad page state in process stream  pfn:04a2f
BUG: Bad page map in process stream  pte:8000000004a2f865 pmd:0512a067
BUG: Bad rss-counter state mm:000000006c5c5f7f type:MM_FILEPAGES val:1
BUG: workqueue lockup - pool cpus=0 node=0 flags=0x0 nice=0 stuck for 31s!
BUG kmalloc-64 (Tainted: G    B      OE     ): Object already free
BUG kmalloc-64 (Tainted: G    B      OE     ): Poison overwritten
kernel BUG at /build/kmod/pair.c:120!
Oops: 0002 [#1] PREEMPT SMP NOPTI
Oops: Oops: 0002 [#1] SMP NOPTI
general protection fault, probably for non-canonical address 0xdead000000000100: 0000 [#1] PREEMPT SMP
invalid opcode: 0000 [#1] PREEMPT SMP NOPTI
divide error: 0000 [#1] PREEMPT SMP NOPTI
Kernel panic - not syncing: Fatal exception in interrupt
Kernel panic - not syncing: stack-protector: Kernel stack is corrupted in: speed_send+0x1f/0x20 [speed]
KASAN: null-ptr-deref in range [0x0000000000000008-0x000000000000000f]
UBSAN: shift-out-of-bounds in /build/kmod/addr.c:31:12
ODEBUG: free active (active state 0) object: ffff888004a2f000 object type: timer_list hint: expire+0x0/0x10
INFO: task stream:120 blocked for more than 60 seconds.
watchdog: BUG: soft lockup - CPU#1 stuck for 63s! [stream:120]
watchdog: Watchdog detected hard LOCKUP on cpu 1
rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:
rcu: INFO: rcu_preempt self-detected stall on CPU
rcu: INFO: rcu_sched detected expedited stalls on CPUs/tasks: { 1-... } 6 jiffies s: 33 root: 0x2/.
refcount_t: underflow; use-after-free.
ref_tracker: leaked reference.
ref_tracker: net notrefcnt@ffff888004a2f1d0 has 1/1 users at
page_counter underflow: -4 nr_pages=4
list_add corruption. next->prev should be prev (ffff888004a2f000), but was dead000000000122.
list_del corruption, ffff888004a2f000->next is LIST_POISON1 (dead000000000100)
list_add double add: new=ffff888004a2f000, prev=ffff888004a2f000, next=ffff888004a2f100.
usercopy: Kernel memory exposure attempt detected from SLUB object 'kmalloc-64' (offset 0, size 65)!
unregister_netdevice: waiting for lo to become free. Usage count = 2
speed-vm: the module does not load
speed-vm: the module does not unload, reference count 1
speed-vm: time limit of 600 s
Call Trace:
""".splitlines()

# A dump of a stack follows these and means nothing by itself.
EXCUSED = """\
FAULT_INJECTION: forcing a failure.
stream: page allocation failure: order:4, mode:0xcc0(GFP_KERNEL), nodemask=(null)
stream invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0
sysrq: Show Blocked State
vmap allocation for size 1052672 failed: use vmalloc=<size> to increase size
""".splitlines()

# A guest is not waited for after these.
FATAL = """\
Oops: 0002 [#1] PREEMPT SMP NOPTI
kernel BUG at /build/kmod/pair.c:120!
Kernel panic - not syncing: Fatal exception in interrupt
general protection fault, probably for non-canonical address 0xdead000000000100: 0000 [#1] PREEMPT SMP
""".splitlines()

ORDINARY = """\
speed: loading out-of-tree module taints kernel.
speed: module verification failed: signature and/or required key missing - tainting kernel
speed: family 18
TCP: request_sock_TCP: Possible SYN flooding on port 127.0.0.1:21070. Sending cookies.
hrtimer: interrupt took 4191304 ns
clocksource: timekeeping watchdog on CPU1: Marking clocksource 'tsc' as unstable
stream[120]: segfault at 8 ip 0000000000401136 sp 00007ffc5e3f1a20 error 6 in stream[401000+1000]
traps: stream[120] general protection fault ip:401136 sp:7ffc5e3f1a20 error:0 in stream[401000+1000]
traps: stream[120] trap invalid opcode ip:401136 sp:7ffc5e3f1a20 error:0 in stream[401000+1000]
traps: stream[120] trap divide error ip:401136 sp:7ffc5e3f1a20 error:0 in stream[401000+1000]
Memory cgroup out of memory: Killed process 120 (stream) total-vm:1024kB, anon-rss:512kB
kmemleak: 3 new suspicious memory leaks (see /sys/kernel/debug/kmemleak)
DEBUG: a test speaks of a debugging option
speed-vm: end
""".splitlines()

bad = 0


def expect(true, what):
    """Tells of a claim that does not hold."""
    global bad
    if not true:
        print("klog.py: " + what)
        bad += 1


def log(*lines):
    """The lines as a guest's log, after the mark."""
    marked = ("Linux version 6.12", "WARNING: before the module") + (klog.BEGIN,) + lines
    return "\n".join("[%12.6f] %s" % (number / 7, line) for number, line in enumerate(marked))


def all_needed(name, patterns, lines):
    """Each pattern is the only one that finds some line."""
    for pattern in patterns:
        rest = re.compile("|".join(other for other in patterns if other != pattern))
        expect(any(re.search(pattern, line) and not rest.search(line) for line in lines),
               "no line here needs '%s' of %s" % (pattern, name))


def finding():
    """Each fault is found, alone and within a log."""
    for line in FAULTS:
        expect(klog.faults(log(line)) == [0], "not found: " + line)
        text = klog.report(log(*ORDINARY, line, *ORDINARY))
        expect(line in text, "not reported: " + line)
    all_needed("FAULTS", klog.FAULTS, FAULTS)
    expect(klog.faults(FAULTS[0]) == [0], "a log without the mark is judged whole")


def passing():
    """What is no fault."""
    expect(not klog.faults(log()) and not klog.report(log()), "an empty log is a fault")
    for line in ORDINARY:
        expect(not klog.faults(log(line)), "no fault: " + line)


def excusing():
    """A stack dump counts unless its head is excused, and an excuse ends."""
    filler = ["filler"] * klog.EXCUSED_LINES
    for line in EXCUSED:
        expect(not klog.faults(log(line, "Call Trace:")), "not excused: " + line)
        expect(klog.faults(log(line, FAULTS[0])) == [1], "excuses a fault: " + line)
        expect(not klog.faults(log(line, *filler[1:], "Call Trace:")), "excused too briefly: " + line)
        expect(klog.faults(log(line, *filler, "Call Trace:")), "excused for ever: " + line)
    all_needed("EXCUSES", klog.EXCUSES, EXCUSED)


def ending():
    """Which faults are the end of a guest, and that all of those are faults."""
    for line in FATAL:
        expect(klog.FATAL.search(line), "not fatal: " + line)
        expect(klog.faults(log(line)), "fatal and no fault: " + line)
    for line in ORDINARY + FAULTS[:15]:
        expect(not klog.FATAL.search(line), "not fatal: " + line)
    all_needed("FATALS", klog.FATALS, FATAL)


def reporting():
    """A report has what stands around a fault, once, and an end."""
    numbered = ["line %d" % number for number in range(400)]
    text = klog.report(log(*numbered[:100], FAULTS[0], FAULTS[1], *numbered[100:])).splitlines()
    expect([line[15:] for line in text] ==
           ["", *numbered[97:100], FAULTS[0], FAULTS[1], *numbered[100:149]], "what is around a fault")
    text = klog.report(log(*(FAULTS[:1] + numbered) * 9)).splitlines()
    expect(len(text) < 260 and text[-1:] == ["[...] more in the log"], "a long report ends")


for part in (finding, passing, excusing, ending, reporting):
    part()
print("%d faults, %d excuses, %d lines of an ordinary log" % (len(FAULTS), len(EXCUSED), len(ORDINARY)))
sys.exit(bad != 0)
