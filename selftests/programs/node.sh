#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Node.js: an HTTP server and clients, with keep-alive and without, large bodies
# both ways.
set -u
. "$(dirname "$(readlink -f "$0")")/lib.sh"

port=21110

body()
{
	start node node "$programs/node/http.js" serve $port
	listening $port $((port + 1)) || return
	pass "requests and bodies" node "$programs/node/http.js" load $port "$(amount 40)"
	fused "$(amount 200)"
}

needs node
each_way body
tap_done
