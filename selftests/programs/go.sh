#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Go: a server and a client with net/http, sendfile and io.Copy, as "build" made them
# of go/. Its listeners use MPTCP where the kernel has it, unless told otherwise.
set -u
. "$(dirname "$(readlink -f "$0")")/lib.sh"

netload=$built/netload
file=$work/file
large=$(amount 16000000)

# load WHAT N: requests or bytes
load() { timeout "$limit" "$netload" load "$1" "$port" "$file" "${2:-1}"; }

# some PORT LISTENERS MPTCP: a server of its own on PORT and its neighbours
some()
{
	local port=$1 listeners=$2

	export GODEBUG=multipathtcp=$3
	start "go$port" "$netload" serve "$port" "$file"
	listening $((port + 3)) || return
	pass "$listeners, keep-alive" load kept "$(amount 400)"
	pass "$listeners, a connection each" load closed "$(amount 80)"
}

body()
{
	local port=21040

	some 21044 "a plain listener" 0 || return
	fused "$(amount 80)" "" "a plain listener"
	some $port "the default listener" 2 || return
	pass "a proxy with io.Copy" load proxy "$large"
	pass "IPv6" load ipv6 "$(amount 200)"
	pass "large bodies both ways" load bodies $((large / 2))
	pass "a file by sendfile" load file
	pass "io.Copy to itself" load echo "$large"
	pass "deadlines" load deadlines
	fused $((16 + $(amount 80))) "" "the default listener"
	some 21048 "MPTCP at both ends" 1
}

if [ ! -x "$netload" ]; then
	echo "# make it with selftests/programs/build"
	tap_result 1 "$netload is there"
	tap_done
	exit 1
fi
head -c $((large / 2)) /dev/urandom >"$file"
# It is static.
unpreloaded=1
each_way body
tap_done
