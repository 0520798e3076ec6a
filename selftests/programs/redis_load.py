#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""redis_load.py PORT COUNT

Sets COUNT values of many sizes and gets them back, over IPv4 and IPv6, one by one
and pipelined: all requests are written before the first reply is read, as far as
Redis and the sockets between take them. Each value must come back as it was set.
"""
import random
import socket
import sys
import threading


class Client:
    """One connection that speaks RESP."""

    def __init__(self, host, port):
        self.sock = socket.create_connection((host, port), timeout=100)
        self.file = self.sock.makefile("rb")

    @staticmethod
    def request(*words):
        """The bytes of a command."""
        parts = [b"*%d\r\n" % len(words)]
        parts += [b"$%d\r\n%s\r\n" % (len(word), word) for word in words]
        return b"".join(parts)

    def reply(self):
        """One simple or bulk reply."""
        head = self.file.readline()
        if head[:1] == b"+":
            return head[1:-2]
        if head[:1] != b"$":
            raise SystemExit("an unexpected reply: %r" % head[:100])
        size = int(head[1:])
        body = self.file.read(size + 2)
        if len(body) != size + 2 or body[size:] != b"\r\n":
            raise SystemExit("a value was cut off")
        return body[:size]


def values(seed, count):
    """The same for the same seed: mostly small, each tenth large."""
    rng = random.Random(seed)
    for number in range(count):
        size = rng.randrange(100000) if number % 10 == 9 else rng.randrange(1500)
        yield b"load:%d:%d" % (seed, number), rng.randbytes(size)


def must_be(got, wanted, what):
    """Ends the program with a word about the first difference."""
    if got != wanted:
        raise SystemExit("%s: %d bytes instead of %d, or not the same"
                         % (what, len(got), len(wanted)))


def one_by_one(client, seed, count):
    """A round trip a command."""
    for key, value in values(seed, count):
        client.sock.sendall(client.request(b"SET", key, value))
        must_be(client.reply(), b"OK", "SET")
    for key, value in values(seed, count):
        client.sock.sendall(client.request(b"GET", key))
        must_be(client.reply(), value, key.decode())


def pipelined(client, seed, count):
    """A thread writes everything while this one reads what comes."""
    def write():
        for key, value in values(seed, count):
            client.sock.sendall(client.request(b"SET", key, value) +
                                client.request(b"GET", key))

    writer = threading.Thread(target=write)
    writer.start()
    for key, value in values(seed, count):
        must_be(client.reply(), b"OK", "SET")
        must_be(client.reply(), value, key.decode())
    writer.join()


def unread(client, seed, count):
    """All is written in one piece before anything is read."""
    small = [(key, value[:700]) for key, value in values(seed, count)]
    client.sock.sendall(b"".join(client.request(b"SET", *pair) for pair in small))
    client.sock.sendall(b"".join(client.request(b"GET", key) for key, _ in small))
    for _ in small:
        must_be(client.reply(), b"OK", "SET")
    for key, value in small:
        must_be(client.reply(), value, key.decode())


def main():
    """Each way on a connection of its own."""
    port, count = int(sys.argv[1]), int(sys.argv[2])
    for number, host in enumerate(("127.0.0.1", "::1")):
        for work in (one_by_one, pipelined, unread):
            work(Client(host, port), number * 10 + len(work.__name__), count)


if __name__ == "__main__":
    main()
