#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Java: a server and clients with NIO selectors, streams and transferTo, as "build"
# made them of java/.
set -u
. "$(dirname "$(readlink -f "$0")")/lib.sh"

port=21100
jvm=(java -cp "$built/java" -Xmx256m -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto)

body()
{
	start java "${jvm[@]}" NetLoad serve $port
	listening $port $((port + 1)) || return
	pass "selectors, streams and a file" "${jvm[@]}" NetLoad load $port 12 \
		"$(amount 200000)" "$work/file"
	fused 14
}

needs java
if [ ! -e "$built/java/NetLoad.class" ]; then
	echo "# make it with selftests/programs/build"
	tap_result 1 "NetLoad.class is there"
	tap_done
	exit 1
fi
head -c 5000000 /dev/urandom >"$work/file"
each_way body
tap_done
