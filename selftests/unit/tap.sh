# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Sourced by the check scripts of unit/, fuzz/ and model/: one TAP line a
# command, what it printed as comments above it.

tap_count=0
tap_failed=0
tap_log=$(mktemp)
trap 'rm -f "$tap_log"' EXIT
echo "TAP version 13"

tap_result()
{
	tap_count=$((tap_count + 1))
	if [ "$1" = 0 ]; then
		echo "ok $tap_count - $2"
	else
		tap_failed=$((tap_failed + 1))
		echo "not ok $tap_count - $2"
	fi
}

tap_show() { tail -n "${TAP_LINES:-60}" "$tap_log" | sed 's/^/# /'; }

# tap_pass NAME CMD...: good if CMD succeeds
tap_pass()
{
	local name=$1 rc=0

	shift
	"$@" >"$tap_log" 2>&1 || rc=$?
	if [ "$rc" != 0 ] || [ -n "${TAP_VERBOSE:-}" ]; then tap_show; fi
	tap_result "$rc" "$name"
}

# tap_caught NAME PATTERN CMD...: a broken variant; good if CMD fails and says
# PATTERN, so that a variant that does not even run is not taken for a find
tap_caught()
{
	local name=$1 pattern=$2 rc=0

	shift 2
	"$@" >"$tap_log" 2>&1 || rc=$?
	if [ "$rc" != 0 ] && grep -qE -- "$pattern" "$tap_log"; then
		tap_result 0 "$name"
	else
		tap_show
		echo "# status $rc; a failure that says '$pattern' was expected"
		tap_result 1 "$name"
	fi
}

tap_done()
{
	echo "1..$tap_count"
	[ "$tap_failed" = 0 ] && [ "$tap_count" -gt 0 ]
}
