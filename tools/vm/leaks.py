# SPDX-License-Identifier: GPL-2.0
"""Reads kmemleak's report: what was lost since the run's beginning, with the symbols
of the module, which is unloaded by then."""
import bisect
import re

JIFFIES = re.compile(r"^unreferenced object .*?jiffies (\d+)", re.DOTALL)
ADDRESS = re.compile(r"^    (?:\[<[0-9a-f]+>\] )?0x([0-9a-f]+)$", re.MULTILINE)


def reader(symbols):
    """Returns a function that names an address, from lines of /proc/kallsyms."""
    table = sorted((int(line.split()[0], 16), line.split()[2]) for line in symbols.splitlines())
    addresses = [address for address, _ in table]

    def name(match):
        address = int(match.group(1), 16)
        place = bisect.bisect_right(addresses, address) - 1
        if place < 0 or address - addresses[place] > 0x10000:
            return match.group(0)
        return "    %s+0x%x [speed]" % (table[place][1], address - addresses[place])
    return name


def since(report, begin, symbols):
    """Returns the objects of the report that were allocated at or after begin (jiffies)."""
    name = reader(symbols)
    found = []
    for entry in re.split(r"^(?=unreferenced object )", report, flags=re.MULTILINE):
        when = JIFFIES.match(entry)
        if when and int(when.group(1)) >= begin:
            found.append(ADDRESS.sub(name, entry))
    return "".join(found)
