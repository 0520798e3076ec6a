#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# PostgreSQL: pgbench over TCP, whose sums must agree afterwards, and a table that is
# copied in and out.
set -u
. "$(dirname "$(readlink -f "$0")")/lib.sh"

port=21090
bin=$(echo /usr/lib/postgresql/*/bin)
cluster=$(echo /var/lib/postgresql/*/main)
data=$work/data
clients=4
transactions=$(amount 40)
some=$(amount 20000)
PATH=$PATH:$bin
export PGUSER=postgres PGDATABASE=postgres PGPORT=$port PGHOST=127.0.0.1 PGCONNECT_TIMEOUT=60

# The cluster that the package made, as making one takes time.
prepare()
{
	cp -r "$cluster" "$data" &&
	echo 'host all all all trust' >"$work/hba" &&
	echo >"$data/pg_ident.conf" &&
	rm -f "$data/postmaster.pid" "$data/postgresql.auto.conf" &&
	chmod 700 "$data" && chown -R postgres:postgres "$data"
}

serve()
{
	# The rest of its configuration is in /etc, for another port.
	: >"$work/postgresql.conf"
	start postgresql setpriv --reuid=postgres --regid=postgres --clear-groups \
		"$bin/postgres" -D "$data" -c config_file="$work/postgresql.conf" \
		-c hba_file="$work/hba" -c ident_file="$data/pg_ident.conf" \
		-c listen_addresses=127.0.0.1,::1 -c port=$port -c unix_socket_directories= \
		-c fsync=off -c autovacuum=off -c shared_buffers=32MB
	listening $port
	timeout "$limit" pg_isready -q -t "$limit"
}

ask() { timeout "$limit" psql -X -q -A -t -v ON_ERROR_STOP=1 "$@"; }

fill() { timeout "$limit" pgbench -i -q -s 1 && [ "$(ask -c 'select count(*) from pgbench_accounts')" = 100000 ]; }

# Each transaction adds the same to four tables.
transfer()
{
	local sums

	timeout "$limit" pgbench -n -c $clients -j 2 -t "$transactions" "$@" || return
	sums=$(ask -c 'select (select sum(abalance) from pgbench_accounts),
		(select sum(tbalance) from pgbench_tellers),
		(select sum(bbalance) from pgbench_branches),
		(select sum(delta) from pgbench_history), (select count(*) from pgbench_history)')
	echo "$sums"
	done_before=$((done_before + clients * transactions))
	[[ $sums =~ ^(-?[0-9]+)\|(-?[0-9]+)\|(-?[0-9]+)\|(-?[0-9]+)\|([0-9]+)$ ]] || return
	[ "${BASH_REMATCH[1]}" = "${BASH_REMATCH[2]}" ] &&
	[ "${BASH_REMATCH[1]}" = "${BASH_REMATCH[3]}" ] &&
	[ "${BASH_REMATCH[1]}" = "${BASH_REMATCH[4]}" ] &&
	[ "${BASH_REMATCH[5]}" = $done_before ]
}

selects()
{
	PGHOST=::1 timeout "$limit" pgbench -n -S -c 1 -t "$((transactions * 10))" "$@" |
		tee /dev/stderr | grep -q "processed: $((transactions * 10))/"
}

# Rows out and in again, and the copy is the same as the table.
copied()
{
	local rows="(select * from pgbench_accounts where aid <= $some order by aid)"

	ask -c "\\copy $rows to stdout" >"$work/out" &&
	[ "$(wc -l <"$work/out")" = "$some" ] &&
	ask -c 'create table again (like pgbench_accounts)' -c "\\copy again from '$work/out'" &&
	ask -c "\\copy ${rows/pgbench_accounts/again} to stdout" | cmp - "$work/out" &&
	ask -c 'drop table again'
}

body()
{
	done_before=0
	serve || { tap_result 1 "$way: the server answers"; return; }
	pass "100,000 rows put there" fill
	pass "pgbench, sums agree" transfer
	pass "pgbench, prepared" transfer -M prepared
	pass "pgbench -S, IPv6" selects
	pass "rows out and in again" copied
	fused 12
}

needs pgbench psql postgres setpriv
prepare || exit
each_way body
tap_done
