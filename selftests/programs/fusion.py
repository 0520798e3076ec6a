# SPDX-License-Identifier: GPL-2.0
"""What the module tells of a TCP connection: struct speed_fusion of uapi/linux/speed.h."""
import collections
import os
import struct

SOL_SPEED = 21328
SPEED_FUSION = 8
PAIRED = 1

Fusion = collections.namedtuple(
    "Fusion", "flags reason fused unfused ring_out ring_in sent received pair"
             " fill_out fill_in")
LAYOUT = struct.Struct("=IIQQQQQQQQQ")


def expected():
    """Whether connections made now should be fused."""
    try:
        with open("/proc/sys/net/speed/loopback") as file:
            return int(file.read()) == 1
    except FileNotFoundError:
        return False


def of(sock):
    """Asks the socket."""
    return Fusion(*LAYOUT.unpack(sock.getsockopt(SOL_SPEED, SPEED_FUSION, LAYOUT.size)))


def check(sock, least=1):
    """At least so many bytes went through a ring each way, if the sysctl says so."""
    if not expected():
        return
    told = of(sock)
    if not told.flags & PAIRED or min(told.sent, told.received) < least:
        raise SystemExit("not fused as it should be, %d bytes each way: %s" % (least, told))
    if os.environ.get("TAP_VERBOSE"):
        print(told)
