#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Redis: redis-benchmark one by one and pipelined, small and 100 KB values, a client
# that knows each value it should get, and a replica that is filled, then follows,
# and must end with the same dataset.
set -u
. "$(dirname "$(readlink -f "$0")")/lib.sh"

port=21010
replica=21011
many=$(amount 1500)
batches=$((many / 4))

cli() { timeout "$limit" redis-cli -p "$@"; }

benchmark()
{
	timeout "$limit" redis-benchmark -p $port -q "$@" >"$work/benchmark" 2>&1 || {
		cat "$work/benchmark"
		return 1
	}
	! grep -i error "$work/benchmark"
	tr '\r' '\n' <"$work/benchmark" | grep 'requests per second'
}

# serve NAME PORT ARG...
serve()
{
	local name=$1

	shift
	mkdir -p "$work/$name"
	start "$name" redis-server --port "$@" --bind 127.0.0.1 ::1 --dir "$work/$name" \
		--save '' --appendonly no --enable-debug-command yes --loglevel warning
	listening "$1"
}

# counted KEY CLIENTS N ARG...: each of N increments is there, once. With a pipeline
# N has to be a multiple of its length.
counted()
{
	local key=$1 clients=$2 n=$3

	shift 3
	benchmark -c "$clients" -n "$n" "$@" INCR "$key" && [ "$(cli $port get "$key")" = "$n" ]
}

large_values()
{
	benchmark -c 10 -n "$((many / 15))" -d 102400 -t set,get &&
	[ "$(cli $port strlen key:__rand_int__)" = 102400 ]
}

same_dataset()
{
	local there

	# "wait" is for what its own connection wrote.
	[ "$(printf 'incr fence\nwait 1 %d\n' $((limit * 1000)) | cli $port | tail -n 1)" = 1 ] ||
		return 1
	[ "$(cli $port dbsize)" -gt 50 ] || return 1
	there=$(cli $replica debug digest)
	echo "$there, $(cli $port dbsize) keys"
	[ "${#there}" -ge 40 ] && [ "$there" = "$(cli $port debug digest)" ]
}

online() { cli $replica info replication | grep -q 'master_link_status:up'; }

full_copy()
{
	local tries

	serve second $replica --replicaof 127.0.0.1 $port
	for ((tries = 0; tries < 300; tries++)); do
		online && break
		sleep 0.2
	done
	online && same_dataset
}

follow()
{
	benchmark -c 20 -P 4 -n "$((many * 2))" -r 1000 -d 300 -t set,lpush,sadd,hset &&
	same_dataset
}

# The one connection that stays is the replica's.
link_is_fused()
{
	local bytes

	bytes=$(carried $port)
	echo "$bytes bytes"
	if [ "$way" != tcp ]; then [ "$bytes" -gt 200000 ]; else [ "$bytes" = 0 ]; fi
}

body()
{
	serve first $port --repl-diskless-sync-delay 0 || return
	pass "50 clients" counted one 50 "$many"
	pass "1 client" counted two 1 "$((many / 5))"
	pass "50 clients, pipelined" counted three 50 "$((batches * 16))" -P 16
	pass "values of 100 KB" large_values
	pass "values as they were set" python3 "$programs/redis_load.py" $port "$(amount 200)"
	pass "a replica gets all" full_copy
	pass "a replica follows" follow
	[ ! -e /proc/net/speed_tcp ] || pass "by a ring or not" link_is_fused
	fused 200
}

needs redis-server redis-benchmark redis-cli python3
each_way body
tap_done
