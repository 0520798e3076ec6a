#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# socat: a file tree one way over IPv4 and IPv6, a file there and back through a
# program that has the connection itself as standard input and output, and many
# connections one after another; and the tree over AF_SPEED, as make demo does.
set -u
. "$(dirname "$(readlink -f "$0")")/lib.sh"

port=21070

sums() { (cd "$1" && find . -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum); }

# Some hundred files of some megabytes: Python's own library.
make_tree()
{
	mkdir "$work/here"
	python3 -c 'import sysconfig
print(sysconfig.get_path("stdlib"))' >"$work/where"
	(cd "$(cat "$work/where")" && tar -cf - ./*.py ./asyncio/*.py) | tar -C "$work/here" -xf -
	tar -C "$work/here" -cf "$work/tree.tar" .
	sums "$work/here" >"$work/sent"
	[ "$(wc -l <"$work/sent")" -gt 100 ]
}

# carry LISTEN CONNECT
carry()
{
	rm -rf "$work/there"
	mkdir "$work/there"
	start carry socat -u "$1" "CREATE:$work/got.tar"
	listening $port || return
	timeout "$limit" socat -u "OPEN:$work/tree.tar" "$2" || return
	wait "${pids[-1]}" || return
	tar -C "$work/there" -xf "$work/got.tar" &&
	sums "$work/there" >"$work/received" && cmp "$work/sent" "$work/received"
}

# there_and_back WHAT: each byte sent before the half close comes back
there_and_back()
{
	timeout "$limit" socat -t "$limit" - "TCP4:127.0.0.1:$1" \
		<"$work/tree.tar" >"$work/back" && cmp "$work/tree.tar" "$work/back"
}

many_lines()
{
	local i

	for ((i = 0; i < $(amount 20); i++)); do
		[ "$(echo "line $i" | timeout "$limit" socat -t "$limit" - "TCP6:[::1]:$1")" = \
			"line $i" ] || return
	done
}

body()
{
	pass "a tree, IPv4" carry "TCP4-LISTEN:$port,bind=127.0.0.1,reuseaddr" \
		"TCP4:127.0.0.1:$port"
	pass "a tree, IPv6" carry "TCP6-LISTEN:$port,bind=[::1],reuseaddr" "TCP6:[::1]:$port"
	start pipe socat "TCP4-LISTEN:$((port + 1)),reuseaddr,fork" EXEC:cat
	start itself socat "TCP6-LISTEN:$((port + 2)),reuseaddr,fork,ipv6only=0" EXEC:cat,nofork
	listening $((port + 1)) $((port + 2)) || return
	pass "there and back" there_and_back $((port + 1))
	pass "there and back, cat on the connection" there_and_back $((port + 2))
	pass "many connections" many_lines $((port + 2))
	fused "$(amount 16)" "$(amount 24)"
}

needs socat tar sha256sum cmp python3
make_tree || exit
way=${REFERENCE_ONLY:+unix}
way=${way:-speed}
pass "a tree" "$programs/../../tools/demo/carry" "$way" "$work/here"
each_way body
tap_done
