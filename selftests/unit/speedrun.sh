# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# shellcheck disable=SC2154 # the variables are those of speedrun, which sources it
# What the cases of speedrun share: the programs that are run, and what is expected.

die() { echo "$*" >&2; exit 1; }

# expect STATUS STDOUT STDERR CMD...: each is a pattern for all of it
expect()
{
	local status=$1 out=$2 err=$3 got=0 said told

	shift 3
	"$@" >"$dir/said" 2>"$dir/told" </dev/null || got=$?
	said=$(<"$dir/said")
	told=$(<"$dir/told")
	# shellcheck disable=SC2053 # patterns
	[[ $got == $status && $said == $out && $told == $err ]] ||
		die "$*: status $got, said '$said', told '$told'; wanted $status, '$out', '$err'"
}

# Whether the library is in it, and the status that its last argument names.
build()
{
	# What may be installed on this machine is not to be found.
	make -s -C "$here/../../userspace" O="$dir/out" LIBDIR="$dir/nowhere" speedrun
	cat >"$dir/program.c" <<-'END'
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		int main(int argc, char **argv)
		{
			FILE *maps = fopen("/proc/self/maps", "r");
			char line[8192];
			int in = 0;
			while (maps && fgets(line, sizeof(line), maps))
				in |= strstr(line, "libspeed-preload.so") != NULL;
			puts(in ? "with" : "without");
			return atoi(argv[argc - 1]);
		}
	END
	"$CC" -o "$dir/dynamic" "$dir/program.c"
	"$CC" -static -o "$dir/static" "$dir/program.c"
	echo 'extern int other; int other;' >"$dir/other.c"
	"$CC" -shared -fPIC -o "$dir/other.so" "$dir/other.c"
}

capable()
{
	cp "$dir/dynamic" "$dir/capable"
	setcap cap_net_raw+ep "$dir/capable"
}

# copy_as NAME MODE: the dynamic program
copy_as()
{
	rm -f "$dir/$1"
	cp "$dir/dynamic" "$dir/$1"
	chmod "$2" "$dir/$1"
}

# script NAME INTERPRETER
script()
{
	printf '#!%s\n' "$2" >"$dir/$1"
	chmod 755 "$dir/$1"
}
