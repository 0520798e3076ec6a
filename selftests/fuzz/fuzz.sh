# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034
# Sourced by check and soak: how targets are built and their corpora unpacked.
# O is the folder for outputs.

fuzz_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
top=$(cd "$fuzz_dir/../.." && pwd -P)
mkdir -p "${O:?}"
O=$(cd "$O" && pwd -P)
targets="stream record lib"

# build TARGET OUTPUT UAPI: the target against the headers in UAPI
build()
{
	local sources=("$fuzz_dir/fuzz_$1.c")

	[ "$1" != lib ] || sources+=("$top"/userspace/lib/*.c)
	"${CLANG:-clang}" -D_GNU_SOURCE -O1 -g -Wall -Wextra -Wno-unused-parameter -Werror \
		-include "$fuzz_dir/hooks.h" -I"$3" -I"$top/userspace/include" \
		-fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
		"${sources[@]}" -o "$2"
}

# unpack TARGET DIR: corpus/TARGET.hex, an input a line, as files
unpack()
{
	rm -rf "$2"
	mkdir -p "$2"
	DIR=$2 perl -ne 'next if /^#/; chomp; $n++; open my $f, ">:raw", "$ENV{DIR}/$n" or die; \
		print $f pack "H*", $_' <"$fuzz_dir/corpus/$1.hex"
	[ -s "$2/1" ]
}

# fuzz BINARY CORPUS ARG...: new inputs are added to the first corpus folder
fuzz()
{
	local binary=$1 corpus=$2

	shift 2
	"$binary" -max_len=512 -timeout=10 -rss_limit_mb=2048 -artifact_prefix="$O/" \
		-print_final_stats=1 "$@" "$corpus"
}
