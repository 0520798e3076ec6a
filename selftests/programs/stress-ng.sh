#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# stress-ng: the members of its socket family that use TCP over loopback, with
# every way to send, and with verification.
set -u
. "$(dirname "$(readlink -f "$0")")/lib.sh"

seconds=${SPEED_SOAK:+1}2
ports=(--sock-port 21130 --sockmany-port 21130 --sockabuse-port 21130 --epoll-port 21130)

# stressed STRESSOR ARG...: it succeeds and has done something
stressed()
{
	local name=$1

	shift
	timeout "$limit" stress-ng --temp-path "$work" --"$name" 2 --verify \
		--timeout "$seconds" --metrics-brief --stdout "${ports[@]}" "$@" >"$work/stress" 2>&1 || {
		cat "$work/stress"
		return 1
	}
	grep -E "\] $name |fail:" "$work/stress"
	! grep -q 'fail: ' "$work/stress" &&
	grep -qE "\] $name +[1-9][0-9]* " "$work/stress"
}

body()
{
	local how

	for how in send sendmsg sendmmsg random; do
		pass "sock, $how" stressed sock --sock-opts $how
	done
	pass "sock, IPv6" stressed sock --sock-domain ipv6
	pass "sock, no delay" stressed sock --sock-nodelay
	pass "sock, zero copy" stressed sock --sock-zerocopy
	if [ -e /proc/sys/net/mptcp ]; then
		pass "sock, MPTCP" stressed sock --sock-protocol mptcp
	else
		skip "sock, MPTCP" "this kernel has no MPTCP"
	fi
	pass "sockmany" stressed sockmany
	pass "sockabuse" stressed sockabuse
	pass "sigurg" stressed sigurg
	pass "epoll, IPv4" stressed epoll --epoll-domain ipv4 --epoll-sockets 100
	pass "epoll, IPv6" stressed epoll --epoll-domain ipv6 --epoll-sockets 100
	fused 100
}

needs stress-ng
# It is server and client in one: the servers alone are nothing.
SPEED_ONE_SIDE=
each_way body
tap_done
