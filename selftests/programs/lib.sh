# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables for the scripts, and those of tap.sh
# Sourced by the scripts of this folder, each of which puts a load on one
# unmodified program over TCP and checks what came of it, with
# net.speed.loopback=0 and =1:
#
#	. "$(dirname "$0")/lib.sh"
#	needs PROGRAM...
#	each_way FUNCTION
#	tap_done
#
# With SPEED_PRELOAD=FILE it is done once more with servers and clients under that
# library, and, where SPEED_ONE_SIDE is set, with the servers alone. Then directions must
# have been leased, and without the library none; unpreloaded=1 is for a program that the
# library cannot get into.
#
# FUNCTION starts servers with start, waits for them with listening, and makes
# its checks with pass. REFERENCE_ONLY=1 is plain TCP alone, without the module.

programs=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
# shellcheck source=/dev/null
. "$programs/../unit/tap.sh"
built=$(readlink -f "$programs/../..")/build/programs/made
sysctl=/proc/sys/net/speed/loopback
export PYTHONDONTWRITEBYTECODE=1
work=$(mktemp -d)
# Servers that do not run as root look into it.
chmod 755 "$work"
pids=()
way=

# One emulated second is short: nothing here is a test of time.
limit=240
[ -z "${SPEED_SOAK:-}" ] || limit=900

stop_all()
{
	local pid tries

	[ ${#pids[@]} -gt 0 ] || return 0
	kill "${pids[@]}" 2>/dev/null
	for pid in "${pids[@]}"; do
		for ((tries = 0; tries < 100; tries++)); do
			kill -0 "$pid" 2>/dev/null || break
			sleep 0.1
		done
		kill -KILL "$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
	done
	pids=()
}

clean_up()
{
	stop_all
	case $way in
	fused|both|servers) echo 0 >$sysctl ;;
	esac
	rm -rf "$work" "$tap_log"
}
trap clean_up EXIT
trap 'exit 143' TERM INT HUP

# needs PROGRAM...: one that is not installed is a failure, as each can be.
needs()
{
	local name missing=()

	for name; do
		command -v "$name" >/dev/null || missing+=("$name")
	done
	[ ${#missing[@]} -gt 0 ] || return 0
	echo "# not found: ${missing[*]}"
	tap_result 1 "the programs are there"
	tap_done
	exit 1
}

# amount N: a load, smaller where all is slow and larger where there is time
amount()
{
	local quarters=4

	[ -z "${SPEED_SOAK:-}" ] || quarters=20
	case $(uname -r) in
	*debug*) quarters=$((quarters / 4)) ;;
	esac
	echo $(($1 * quarters / 4))
}

# start NAME CMD...: in the background, what it says in $work/NAME.log
start()
{
	local name=$1

	shift
	case $way in
	both|servers) local -x LD_PRELOAD=$SPEED_PRELOAD ;;
	esac
	"$@" >"$work/$name.log" 2>&1 </dev/null &
	pids+=($!)
}

# listening PORT...: waits until the server started last listens there, without
# connecting, as some servers serve but one connection
listening()
{
	local port tries

	for port; do
		for ((tries = 0; tries < 600; tries++)); do
			grep -qs "$(printf ':%04X 0*:0000 0A' "$port")" \
				/proc/net/tcp /proc/net/tcp6 && continue 2
			kill -0 "${pids[-1]}" 2>/dev/null || break
			sleep 0.1
		done
		tail -n 20 "$work"/*.log | sed 's/^/# /'
		tap_result 1 "$way: a server listens on port $port"
		return 1
	done
}

# pass NAME CMD...: CMD succeeds in time
pass()
{
	local name=$1 since=${EPOCHREALTIME/./}

	shift
	tap_pass "$way: $name" bounded "$@"
	echo "# $(((${EPOCHREALTIME/./} - since) / 1000)) ms"
}

# skip NAME WHY
skip() { tap_result 0 "$way: $1 # SKIP $2"; }

# A function of the script's or a program.
bounded()
{
	[ "$way" != both ] || local -x LD_PRELOAD=$SPEED_PRELOAD
	if [ "$(type -t "$1")" = function ]; then
		"$@"
	else
		timeout "$limit" "$@"
	fi
}

# counter NAME: of the module's
counter()
{
	local name value

	while read -r name value; do
		[ "$name" != "$1" ] || break
	done </proc/net/speed_stat
	echo "${value:-0}"
}

# fused N [MOVES] [WHAT]: with the sysctl on at least N connections found their
# other end since this way began or this was asked last, and moved a direction to
# a ring as often as both ends speak; with the sysctl off none did.
fused()
{
	local pairs moves least=${2:-$(($1 * 2))}

	[ -e /proc/net/speed_stat ] || return 0
	pairs=$(($(counter tcp_paired) - pairs_before))
	moves=$(($(counter tcp_fused) - moves_before))
	count_from_here
	echo "# $pairs pairs, moved to a ring $moves times"
	if [ "$way" = tcp ]; then
		tap_pass "tcp: nothing was fused${3:+, $3}" [ "$pairs:$moves" = 0:0 ]
		return
	fi
	if [ "$pairs" -lt "$1" ] || [ "$moves" -lt "$least" ]; then
		grep ^tcp_ /proc/net/speed_stat | sed 's/^/# /'
	fi
	tap_pass "$way: at least $1 connections${3:+, $3}" [ "$pairs" -ge "$1" ]
	tap_pass "$way: at least $least directions${3:+, $3}" [ "$moves" -ge "$least" ]
}

count_from_here()
{
	[ -e /proc/net/speed_stat ] || return 0
	pairs_before=$(counter tcp_paired)
	moves_before=$(counter tcp_fused)
}

# leases COUNT: so many were given in this way, as it should be
leases()
{
	case $way${unpreloaded:+-unpreloaded} in
	both|servers)	[ "$1" -gt 0 ] ;;
	*)		[ "$1" = 0 ] ;;
	esac
}

# carried PORT: bytes that open connections of the server on that port have sent
# over rings
carried()
{
	awk -v port=":$1" 'substr($1, length($1) - length(port) + 1) == port { n += $6 }
		END { print n + 0 }' /proc/net/speed_tcp
}

# set_way VALUE: of the sysctl
set_way()
{
	[ -z "${REFERENCE_ONLY:-}" ] || return 0
	echo "$1" >$sysctl
}

each_way()
{
	local value=0 ways="tcp fused" leased

	[ -z "${SPEED_PRELOAD:-}" ] || ways+=" both${SPEED_ONE_SIDE:+ servers}"
	[ -z "${REFERENCE_ONLY:-}" ] || ways=tcp
	for way in $ways; do
		[ "$way" = tcp ] || value=1
		tap_pass "$way: net.speed.loopback is $value" set_way $value
		count_from_here
		[ ! -e /proc/net/speed_stat ] || leased=$(counter leased)
		"$@"
		if [ -e /proc/net/speed_stat ]; then
			leased=$(($(counter leased) - leased))
			echo "# $leased leases"
			tap_pass "$way: leased by the library, if at all" leases $leased
		fi
		stop_all
	done
}
