#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""memcached_load.py PORT COUNT

Eight threads, each with a connection: sets COUNT values of up to 1 MB and gets
them back, alone and many at once, and increments a counter that all share.
"""
import random
import socket
import sys
import threading

import fusion

THREADS = 8


class Client:
    """One connection that speaks memcached's text protocol."""

    def __init__(self, host, port):
        self.sock = socket.create_connection((host, port), timeout=100)
        self.file = self.sock.makefile("rb")

    def line(self, wanted=None):
        """One line of the answer, without its end."""
        line = self.file.readline()[:-2]
        if wanted is not None and line != wanted:
            raise RuntimeError("%r instead of %r" % (line[:100], wanted))
        return line

    @staticmethod
    def storing(key, value):
        """The request that sets a value."""
        return b"set %s 0 0 %d\r\n%s\r\n" % (key, len(value), value)

    def gets(self, keys):
        """The values of many keys at once."""
        self.sock.sendall(b"get " + b" ".join(keys) + b"\r\n")
        found = {}
        while (line := self.line()) != b"END":
            _, key, _, size = line.split()
            found[key] = self.file.read(int(size))
            self.line(b"")
        return found


def values(number, count):
    """Mostly small, some large, one of a megabyte."""
    rng = random.Random(number)
    for index in range(count):
        size = rng.randrange(1000)
        if index % 20 == 7:
            size = 1000000 if index == 7 else rng.randrange(100000)
        yield b"key:%d:%d" % (number, index), rng.randbytes(size)


def work(host, port, number, count):
    """One thread's load."""
    client = Client(host, port)
    pairs = dict(values(number, count))
    for key, value in list(pairs.items())[:count // 2]:
        client.sock.sendall(client.storing(key, value))
        client.line(b"STORED")
    rest = list(pairs.items())[count // 2:]
    client.sock.sendall(b"".join(client.storing(*pair) for pair in rest))
    for _ in rest:
        client.line(b"STORED")
    for key in list(pairs)[:count // 2]:
        if client.gets([key]) != {key: pairs[key]}:
            raise RuntimeError("%r is not as it was set" % key)
    keys = list(pairs)
    for at in range(0, count, 20):
        if client.gets(keys[at:at + 20]) != {key: pairs[key] for key in keys[at:at + 20]}:
            raise RuntimeError("values from %d on are not as they were set" % at)
    for _ in range(count):
        client.sock.sendall(b"incr shared 1\r\n")
        client.line()
    fusion.check(client.sock, 10000)


def main():
    """All threads, then the counter."""
    port, count = int(sys.argv[1]), int(sys.argv[2])
    first = Client("127.0.0.1", port)
    first.sock.sendall(first.storing(b"shared", b"0"))
    first.line(b"STORED")
    failed = []

    def guarded(number):
        try:
            work("::1" if number % 2 else "127.0.0.1", port, number, count)
        except Exception as error:
            failed.append("client %d: %s" % (number, error))

    threads = [threading.Thread(target=guarded, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise SystemExit("\n".join(failed))
    shared = first.gets([b"shared"])[b"shared"]
    if int(shared) != THREADS * count:
        raise SystemExit("the counter is %s instead of %d" % (shared, THREADS * count))


if __name__ == "__main__":
    main()
