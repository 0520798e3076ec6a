#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""asyncio_pair.py serve PORT
asyncio_pair.py load PORT COUNT

A server with asyncio's streams that sends back what it gets, then the checksum of
it, and clients that know what they should get: COUNT at once, of which each third
writes everything before it reads, and each third reads slowly.
"""
import asyncio
import hashlib
import random
import sys

import fusion

LARGEST = 400000


async def answer(reader, writer):
    """To the client's end of file."""
    digest = hashlib.sha256()
    while data := await reader.read(50000):
        digest.update(data)
        writer.write(data)
        await writer.drain()
    writer.write(digest.digest())
    writer.write_eof()
    await writer.drain()
    writer.close()


async def serve(port):
    """On both loopback addresses."""
    server = await asyncio.start_server(answer, ["127.0.0.1", "::1"], port)
    async with server:
        await server.serve_forever()


async def write(writer, data, rng):
    """In pieces of any size."""
    at = 0
    while at < len(data):
        size = min(rng.choice((1, 100, 5000, 60000)), len(data) - at)
        writer.write(data[at:at + size])
        await writer.drain()
        at += size
    writer.write_eof()


async def read(reader, size, pause):
    """To the end of file."""
    parts = []
    while part := await reader.read(size):
        parts.append(part)
        await asyncio.sleep(pause)
    return b"".join(parts)


async def ask(port, number):
    """One connection; the server's buffers take what the unread ones write."""
    rng = random.Random(number)
    unread = number % 3 == 0
    data = rng.randbytes(rng.randrange(1000, LARGEST // 4 if unread else LARGEST))
    host = "::1" if number % 2 else "127.0.0.1"
    reader, writer = await asyncio.open_connection(host, port)
    sending = asyncio.ensure_future(write(writer, data, rng))
    if unread:
        await sending
    got = await read(reader, rng.choice((1000, 100000)), 0.002 if number % 3 == 1 else 0)
    await sending
    if got != data + hashlib.sha256(data).digest():
        raise SystemExit("client %d: what came back differs" % number)
    fusion.check(writer.get_extra_info("socket"), 500)
    writer.close()


async def load(port, count):
    """All at once."""
    await asyncio.gather(*(ask(port, number) for number in range(count)))


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        asyncio.run(serve(int(sys.argv[2])))
    else:
        asyncio.run(load(int(sys.argv[2]), int(sys.argv[3])))
