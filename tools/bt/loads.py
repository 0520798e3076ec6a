#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""tools/bt/loads.py paced|reasons|refused|unread|given_up

The loads that check watches the tools under: what they do is known to the last byte.
"""
import os
import socket
import struct
import sys
import time

SWITCH = "/proc/sys/net/speed/loopback"
FAMILY = "/proc/sys/net/speed/family"
PORTS = "/proc/sys/net/speed/loopback_ports"
PACES = 60
PAUSE = 0.05  # seconds until the next message
THINK = 0.02  # until its answer
CLIENT = "pace-client"
SERVER = "pace-server"
ALL_PROTOCOLS = 0x0003  # ETH_P_ALL
UNREAD = 5003
UNREAD_TCP = 4001


def switch(value, path=SWITCH):
    """Sets net.speed.loopback, or another."""
    with open(path, "w", encoding="ascii") as file:
        file.write(value)


def called(name):
    """Gives this process a name."""
    with open("/proc/self/comm", "w", encoding="ascii") as file:
        file.write(name)


def connected():
    """Both ends of a connection."""
    listener = socket.create_server(("127.0.0.1", 0))
    client = socket.create_connection(listener.getsockname())
    return client, listener.accept()[0]


def paced():
    """A byte there and back, so many times; each time both ends have long slept."""
    switch("1")
    client, server = connected()
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    child = os.fork()
    if not child:
        called(SERVER)
        client.close()
        for _ in range(PACES):
            byte = server.recv(1)
            time.sleep(THINK)
            server.send(byte)
        os._exit(0)
    called(CLIENT)
    server.close()
    for _ in range(PACES):
        time.sleep(PAUSE)
        client.send(b"x")
        if client.recv(1) != b"x":
            sys.exit("the answer is another")
    sys.exit(os.waitpid(child, 0)[1])


def there_and_back(both):
    """Bytes each way."""
    for one, other in (both, both[::-1]):
        one.sendall(b"x" * 100)
        if len(other.recv(100, socket.MSG_WAITALL)) != 100:
            sys.exit("not all bytes came")


def opened_tap():
    """What tcpdump has open."""
    return socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ALL_PROTOCOLS))


def refused():
    """Two that are never fused: by a tap that was there before it, by its port."""
    switch("1")
    with opened_tap():
        both = connected()
        for _ in range(3):
            there_and_back(both)
        for end in both:
            end.close()
    switch("1-2", PORTS)
    both = connected()
    there_and_back(both)
    switch("\n", PORTS)
    for end in both:
        end.close()


def reasons():
    """Two fused connections, of which one goes back for a packet tap, one for the switch."""
    for why in ("tap", "off"):
        switch("1")
        both = connected()
        there_and_back(both)
        tap = None
        if why == "tap":
            tap = opened_tap()
        else:
            switch("0")
        there_and_back(both)
        # Closed while the reason lasts: neither has time to go to its ring again.
        for end in both:
            end.close()
        if tap:
            tap.close()


def speed_pair():
    """Both ends of a connection of AF_SPEED."""
    with open(FAMILY, encoding="ascii") as file:
        return socket.socketpair(int(file.read()), socket.SOCK_STREAM)


def given_up():
    """A sleep that nobody ends: its time is over, and the connection is closed."""
    one, other = speed_pair()
    with one, other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", 0, 200000))
        try:
            other.recv(1)
        except BlockingIOError:
            return
    sys.exit("it waited for nothing, and did not give up")


def unread():
    """Bytes that lie for some seconds in a ring of AF_SPEED, and in one of fused TCP."""
    one, other = speed_pair()
    switch("1")
    client, server = connected()
    client.sendall(b"x")
    server.recv(1)
    one.sendall(b"x" * UNREAD)
    client.sendall(b"x" * UNREAD_TCP)
    time.sleep(3)
    for end, size in ((other, UNREAD), (server, UNREAD_TCP)):
        if len(end.recv(size, socket.MSG_WAITALL)) != size:
            sys.exit("not all bytes came")
    switch("0")


if __name__ == "__main__":
    {"paced": paced, "reasons": reasons, "refused": refused, "unread": unread,
     "given_up": given_up}[sys.argv[1]]()
