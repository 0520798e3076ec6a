# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Sourced by the scripts in tools/vm: where things are and who may touch them.
#
# The cache, one folder a kernel, each replaced whole by a rename:
#
#   $SPEED_CACHE/<kernel>/root      the Debian system (not in debug, which uses 6.12's)
#   $SPEED_CACHE/<kernel>/image     the same without compiler and headers, ext4
#   $SPEED_CACHE/<kernel>/kernel    what QEMU starts
#   $SPEED_CACHE/<kernel>/initrd    modules and program that mount the image
#   $SPEED_CACHE/<kernel>/release   what uname -r says in it
#   $SPEED_CACHE/<kernel>/stamp     what it was made from
#   $SPEED_CACHE/programs/          root, image and stamp: a disk of further programs
#   $SPEED_CACHE/qemu/              a newer QEMU than the installed one, where that is old
#   $SPEED_CACHE/build/<tree>/      modules, one folder a kernel

vm_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
tree=$(cd "${SPEED_TREE:-$vm_dir/../..}" && pwd -P)
cache=${SPEED_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/speed}
kernels="6.1 6.12 7 debug"

case $tree$cache in
*[[:space:]:]*) echo "vm: no blank or colon may be in $tree or $cache" >&2; exit 1 ;;
esac

say() { echo "vm: $*" >&2; }
die() { say "$*"; exit 1; }

# Roots are made with device nodes and owners, and entered with chroot.
need_root()
{
	[ "$(id -u)" = 0 ] && return
	command -v sudo >/dev/null || die "this needs root"
	exec sudo --preserve-env SPEED_CACHE="$cache" "$0" "$@"
}

check_kernel()
{
	case " $kernels " in
	*" $1 "*) ;;
	*) die "unknown kernel '$1', one of: $kernels" ;;
	esac
}

# check_root NAME: a kernel, or the programs, of which there is no kernel.
check_root() { [ "$1" = programs ] || check_kernel "$1"; }

# What a root holds: files in this folder.
lists_of()
{
	case $1 in
	programs) echo packages-guest packages-soak ;;
	6.12) echo packages packages-guest packages-go ;;
	*) echo packages packages-guest ;;
	esac
}

# The kernel whose root serves the named one.
root_kernel() { if [ "$1" = debug ]; then echo 6.12; else echo "$1"; fi; }
root_of() { echo "$cache/$(root_kernel "$1")/root"; }

tree_key() { printf '%s' "$tree" | sha256sum | cut -c1-12; }
build_dir() { echo "$cache/build/$(tree_key)/$1"; }

# Debian's packages, from the mirror that this machine's own apt uses.
mirror()
{
	local found=${SPEED_MIRROR:-}

	# shellcheck disable=SC2016
	[ -n "$found" ] || found=$(apt-get indextargets --format \
		'$(CREATED_BY)|$(ORIGIN)|$(CODENAME)|$(REPO_URI)' 2>/dev/null |
		awk -F'|' '$1 == "Packages" && $2 == "Debian" && $3 !~ /-/ { print $4; exit }')
	[ -n "$found" ] || die "apt knows no Debian mirror; name one in SPEED_MIRROR"
	echo "${found%/}/"
}

# Apt with the suites of all kernels, apart from this machine's own lists.
suites_apt()
{
	local tool=$1
	shift
	"$tool" -qq -o Dir::Etc::SourceList="$cache/apt/sources.list" \
		-o Dir::Etc::SourceParts=/dev/null \
		-o Dir::State::Lists="$cache/apt/lists" -o Dir::State::Status=/dev/null \
		-o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= \
		-o Acquire::Check-Valid-Until=false -o Acquire::Languages=none \
		-o APT::Sandbox::User=root "$@"
}

# lock_cache s|x KERNEL: held on a descriptor until the calling shell ends.
lock_cache()
{
	local fd

	mkdir -p "$cache"
	exec {fd}>"$cache/$2.lock"
	flock "-$1" "$fd"
}
