#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# HAProxy in front of nginx, by splice and by copying, as a proxy of HTTP and of TCP:
# wrk, and curl, which compares what it gets and what it puts.
set -u
. "$(dirname "$(readlink -f "$0")")/lib.sh"
. "$programs/web.sh"

origin=21030
putting=21031
spliced=21032
copied=21033
tunnel=21034

# Every byte that can goes through a pipe in the first and the last of these.
configure()
{
	cat >"$work/haproxy.cfg" <<-CONF
		global
			stats socket $work/stats level admin
			maxconn 500
		defaults
			timeout connect 60s
			timeout client 60s
			timeout server 60s
		frontend spliced
			mode http
			bind 127.0.0.1:$spliced
			bind [::1]:$spliced
			option splice-auto
			option splice-request
			option splice-response
			use_backend put_spliced if METH_PUT
			default_backend get_spliced
		frontend copied
			mode http
			bind 127.0.0.1:$copied
			use_backend put_copied if METH_PUT
			default_backend get_copied
		frontend tunnel
			mode tcp
			bind 127.0.0.1:$tunnel
			option splice-request
			option splice-response
			default_backend any
		backend get_spliced
			mode http
			option splice-response
			server origin 127.0.0.1:$origin
		backend put_spliced
			mode http
			option splice-request
			server origin 127.0.0.1:$putting
		backend get_copied
			mode http
			server origin [::1]:$origin
		backend put_copied
			mode http
			server origin [::1]:$putting
		backend any
			mode tcp
			option splice-request
			option splice-response
			server origin 127.0.0.1:$putting
	CONF
}

serve()
{
	serve_files $origin $putting || return
	start haproxy haproxy -q -db -f "$work/haproxy.cfg"
	listening $spliced $copied $tunnel
}

# Pipes that were used are kept for the next time.
pipes_were_used()
{
	echo 'show info' | socat -t 10 - "UNIX-CONNECT:$work/stats" | grep -E '^Pipes' |
		tee /dev/stderr | grep -qE ': [1-9]'
}

body()
{
	serve || return
	pass "wrk, keep-alive" wrk_asks 10 "http://127.0.0.1:$copied/small"
	pass "wrk, a connection each, 64 KB, splice" wrk_asks 4 "http://[::1]:$spliced/middle" \
		-H 'Connection: close'
	pass "20 MB by splice" same_file "http://127.0.0.1:$spliced/large" large
	pass "20 MB by copying" same_file "http://127.0.0.1:$copied/large" large
	pass "20 MB through a tunnel" same_file "http://127.0.0.1:$tunnel/large" large
	pass "20 MB put there by splice" put_file "http://127.0.0.1:$spliced/put" large
	pass "20 MB put there by copying" put_file "http://127.0.0.1:$copied/put" large
	pass "many on one connection" same_many "http://127.0.0.1:$spliced"
	pass "it did splice" pipes_were_used
	fused 40
}

needs haproxy nginx wrk curl cmp socat
make_files
configure
each_way body
tap_done
