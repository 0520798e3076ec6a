#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# iperf3: both directions, several streams, small and large writes; both ends must
# count as many bytes.
set -u
. "$(dirname "$(readlink -f "$0")")/lib.sh"

port=21120
bytes=$(amount 40000000)

# agreed BYTES ARG...: client and server counted the same in the end
agreed()
{
	local least=$1 ahead=

	shift
	case " $* " in
	*" -R "*|*" --bidir "*)	ahead=ahead ;;
	esac
	timeout "$limit" iperf3 -J -p $port -n "$least" "$@" >"$work/told" || {
		grep error "$work/told"
		return 1
	}
	python3 "$programs/iperf3_agree.py" "$work/told" "$least" $ahead
}

body()
{
	start iperf3 iperf3 -s -p $port
	listening $port || return
	pass "one stream" agreed "$bytes" -c 127.0.0.1
	pass "one stream back, IPv6" agreed "$bytes" -c ::1 -R
	pass "four streams, small writes" agreed $((bytes / 5)) -c 127.0.0.1 -P 4 -l 1000
	pass "four streams back, large writes" agreed "$bytes" -c 127.0.0.1 -R -P 4 -l 1M
	pass "both ways at once" agreed "$bytes" -c 127.0.0.1 --bidir
	pass "zero copy" agreed "$bytes" -c 127.0.0.1 -Z
	fused 12
}

needs iperf3 python3
each_way body
tap_done
