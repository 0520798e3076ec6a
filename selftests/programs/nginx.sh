#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# nginx: wrk with and without keep-alive, and curl, which compares what it gets and
# what it puts, with sendfile on and off.
set -u
. "$(dirname "$(readlink -f "$0")")/lib.sh"
. "$programs/web.sh"

sendfile=21020
copying=21021

body()
{
	serve_files $sendfile $copying || return
	pass "wrk, keep-alive" wrk_asks 20 "http://127.0.0.1:$sendfile/small"
	pass "wrk, keep-alive, sendfile off" wrk_asks 20 "http://127.0.0.1:$copying/small"
	pass "wrk, a connection each" wrk_asks 10 "http://127.0.0.1:$sendfile/small" \
		-H 'Connection: close'
	pass "wrk, IPv6, 64 KB" wrk_asks 4 "http://[::1]:$sendfile/middle"
	pass "20 MB by sendfile" same_file "http://127.0.0.1:$sendfile/large" large
	pass "20 MB by copying" same_file "http://127.0.0.1:$copying/large" large
	pass "20 MB to a slow reader" same_file "http://127.0.0.1:$sendfile/large" large \
		--limit-rate 15M
	pass "a range of it" same_range "http://[::1]:$sendfile/large"
	pass "many on one connection" same_many "http://127.0.0.1:$sendfile"
	pass "a file put there" put_file "http://127.0.0.1:$copying/put" large
	fused 50
}

needs nginx wrk curl cmp
make_files
each_way body
tap_done
