#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# memcached: clients that know each value they should get, with small and large
# values, counters that several increment, and requests in one piece.
set -u
. "$(dirname "$(readlink -f "$0")")/lib.sh"

port=21080

body()
{
	start memcached memcached -u root -l 127.0.0.1,::1 -p $port -U 0 -t 2 -m 200 -I 4m
	listening $port || return
	pass "values as they were set" python3 "$programs/memcached_load.py" $port "$(amount 200)"
	fused 8
}

needs memcached python3
each_way body
tap_done
