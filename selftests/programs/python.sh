#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Python: a server and clients with asyncio, and http.server with curl.
set -u
. "$(dirname "$(readlink -f "$0")")/lib.sh"
. "$programs/web.sh"

pair=21060
web=21061

body()
{
	start asyncio python3 "$programs/asyncio_pair.py" serve $pair
	listening $pair || return
	pass "asyncio streams" python3 "$programs/asyncio_pair.py" load $pair "$(amount 30)"
	stop_all
	start web python3 -m http.server $web --bind :: --directory "$work/files"
	listening $web || return
	pass "http.server, 20 MB" same_file "http://127.0.0.1:$web/large" large
	pass "http.server, IPv6" same_file "http://[::1]:$web/middle" middle
	pass "http.server, many" same_many "http://127.0.0.1:$web"
	fused $((40 + $(amount 30)))
}

needs python3 curl cmp
make_files
each_way body
tap_done
