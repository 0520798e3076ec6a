#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""iperf3_agree.py FILE LEAST [ahead]

Reads what an iperf3 client told in JSON: LEAST bytes and more were received in all,
and on each stream as many as were sent, by the other end's own count. With "ahead"
a sender may have sent more: a client that receives ends the test once it has got
what it wants, with more under way.
"""
import json
import sys


def main():
    """Compares."""
    with open(sys.argv[1]) as file:
        streams = json.load(file)["end"]["streams"]
    total = 0
    for number, stream in enumerate(streams):
        sent = stream["sender"]["bytes"]
        received = stream["receiver"]["bytes"]
        print("stream %d: %d sent, %d received" % (number, sent, received))
        if received > sent or (received < sent and "ahead" not in sys.argv):
            sys.exit("the ends do not agree")
        total += received
    if total < int(sys.argv[2]):
        sys.exit("%d bytes instead of %s" % (total, sys.argv[2]))


if __name__ == "__main__":
    main()
