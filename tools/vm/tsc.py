# SPDX-License-Identifier: GPL-2.0
"""How fast the host's time stamp counter runs, which an emulated guest reads as its own.

A guest measures it when it boots, and on a loaded host by as much too slow or too fast as it
was kept waiting: then all its clocks are wrong.
"""
import ctypes
import mmap
import platform
import time

RDTSC = bytes.fromhex("0f31 48c1e220 4809d0 c3".replace(" ", ""))  # rax = rdx:eax; ret
WINDOW = 0.05
ROUNDS = 5


def _reader():
    page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(RDTSC)
    address = ctypes.addressof(ctypes.c_char.from_buffer(page))
    return ctypes.CFUNCTYPE(ctypes.c_uint64)(address), page


def _both(read):
    """The counter and the clock at the same time: of some pairs the one read fastest."""
    pairs = []
    for _ in range(ROUNDS):
        before = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        ticks = read()
        after = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        pairs.append((after - before, ticks, (before + after) // 2))
    return min(pairs)[1:]


def khz():
    """Returns thousands of ticks a second, or 0 where there is no such counter."""
    if platform.machine() != "x86_64":
        return 0
    read, _page = _reader()
    ticks, clock = _both(read)
    time.sleep(WINDOW)
    more, later = _both(read)
    return round((more - ticks) * 1e6 / (later - clock))
