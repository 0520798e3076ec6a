# SPDX-License-Identifier: GPL-2.0
"""Which experiments make bench runs: arguments of speedbench and apps, in order."""

# Those of the tables; the others are variants of them.
CORE = ("pipe,vmsplice,unix,unix-seqpacket,zmq,tcp,tcp-io_uring,smc,tcp-sockmap,tcp-fused,"
        "speedrun,speed,speed-mapped,speed-zc")
SOCKETS = "unix,unix-seqpacket,tcp,tcp-fused,speedrun,speed"
# Of Speed's 100,000, emulated: ten times as many would take longer than all the rest.
IOBENCH = 10000
FEW = "pipe,unix,tcp,tcp-sockmap,tcp-fused,speedrun,speed,speed-mapped"


def line(text):
    """The words of an experiment."""
    return text.split()


def quick():
    """At most five minutes, emulated; what shows most comes first, as on a slow machine the last
    ones are left out.
    """
    short = "--runs 3 --target 40"
    return [line(text) for text in (
        "latency --size 64 --cpus one %s" % short,
        "latency --size 64 --cpus two %s" % short,
        "latency --detail --cpus two --runs 3 --messages 400 --transports " + FEW,
        "iobench --cpus two --runs 3 --messages 200 --transports " + FEW,
        "sweep --cpus two --runs 3 --target 10 --max 16384 --transports " + FEW,
        "poller --connections 100 --runs 3 --messages 30",
        "poller --connections 1000 --runs 3 --messages 30",
        "jipc --cpus two --runs 3 --messages 100",
        "sovia --cpus two --runs 3 --target 10 --transports tcp,tcp-fused,speed-mapped",
        "lmbench --cpus two --runs 3 --target 15 --transports " + FEW,
        "capacity --runs 3 --transports tcp,tcp-fused",
        "scale --connections 100 --runs 3 --target 40 --transports "
        "unix,tcp,tcp-fused,speedrun,speed",
        "scale --threads 4 --cpus two --runs 3 --target 15 --transports " + FEW,
        "redis --runs 3 --seconds 0.5 --only get_c1_p1",
        "ftp --runs 3 --only file_19090223",
    )]


def left_out():
    """The experiments of a full run that a quick one is without."""
    here = {words[0] for words in quick()}
    return [name for name in dict.fromkeys(words[0] for words in full(False)) if name not in here]


def full(real):
    """All of it, once for each kernel; as many messages as the papers had, but iobench where
    time is not real.

    What shows most comes first: a guest may end before its time.
    """
    wanted = []
    target = "--target %d" % (100 if real else 50)
    for cpus in ("one", "two"):
        wanted += [
            "latency --size 64 --cpus %s %s" % (cpus, target),
            "latency --detail --cpus %s --transports %s" % (cpus, CORE),
        ]
    wanted += ["%s --runs 5" % program for program in ("redis", "memcached", "nginx", "pgbench")]
    wanted += [
        "ftp --runs 5",
        "iobench --cpus two --messages %d --transports %s" % (100000 if real else IOBENCH, CORE),
        "sweep --cpus two %s --transports %s" % (target, CORE),
    ]
    wanted += ["sweep --cpus two %s --size %d --transports %s" % (target, size << 20, CORE)
               for size in (4, 16, 64)]
    options = "sweep --cpus two %s --size 16384 --transports %s " % (target, SOCKETS)
    wanted += [options + more for more in (
        "--nodelay no", "--nonblocking", "--sendbufsz 131072 --recvbufsz 131072")]
    wanted += [
        "jipc --cpus two --messages 10000",
        "sovia --cpus two %s --transports %s" % (target, CORE),
        "lmbench --cpus two %s --transports %s" % (target, CORE),
        "connect " + target, "connect --silent " + target, "capacity",
        "scale --threads 8 --cpus two %s --transports %s" % (target, CORE),
        "poller --messages 50",
        "scale --connections 50000 " + target,
    ]
    # Memory hardly differs (0.4 % in row 22), and 50,000 connections take minutes to open.
    wanted += ["memory --runs 3 --connections %d" % count for count in (100, 10000)]
    wanted += ["memory --runs 3 --connections 50000 --transports unix,tcp,tcp-fused,speedrun,speed"]
    return [line(text) for text in wanted]


def native(short):
    """On this machine itself: pipe, AF_UNIX and TCP beside the ring of libspeed and a bare one;
    memcpy, what memory does, and a trial of one copy; Speed's messages, all of them if not short.
    """
    few = "--runs 3 --target 20 --max 65536" if short else "--runs 9 --target 100"
    messages = IOBENCH // 10 if short else 100000
    return [line(text) for text in (
        "native " + few,
        "sweep --cpus two %s --transports ring,bare,onecopy" % few,
        "lmbench --cpus two %s --transports pipe,unix,tcp" % few,
        "iobench --cpus two --runs 3 --messages %d --transports pipe,unix,tcp,ring" % messages,
    )]


def counted():
    """What is counted in instructions on one processor, and kept in counts.json.

    Only what is ours: the others do not change with this tree.
    """
    short = "--runs 9 --target 10 --transports "
    return [line(text) for text in (
        "latency --size 64 %stcp-fused,speed,speed-mapped-sleep,speed-call" % short,
        "stream --batch --size 512 %stcp-fused,speed,speed-mapped-sleep" % short,
        "stream --batch --size 65536 %stcp-fused,speed,speed-mapped-sleep" % short,
        "connect --runs 9 --target 50 --transports tcp-fused,speed",
        "connect --silent --runs 9 --target 50 --transports tcp-fused,speed",
        "epoll --connections 100 %stcp-fused,speed" % short,
    )]
