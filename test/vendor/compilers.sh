#!/bin/sh
# fastreduce.h and its host implementation by GCC, in C and C++, from -O0 to -O2, and its results by
# those and by Clang, with options that change float arithmetic: sh compilers.sh ROOT FOLDER [all].
# On Debian, what it has had since release 11, from GCC 9 and Clang 14 on: unpacked into a root
# folder of their own in FOLDER, which is kept. Elsewhere the installed ones. Of each the newest,
# the oldest and one between; the newest get all such options. With `all` every one gets all of
# them, and C++ also -O1 and -Os.
set -eu
root=$(CDPATH= cd "$1" && pwd)
mkdir -p "$2"
downloads=$(CDPATH= cd "$2" && pwd)
everything=${3:-}
. "$(dirname "$0")/setup.sh"
. "$tests/downloads.sh"
warnings='-Wall -Wextra -Wpedantic -DWITH_HOST -DHOST_ONLY'

# by_gcc NUMBER COMMAND...: gcc-NUMBER and g++-NUMBER, begun by the command, which changes the root
by_gcc()
{
    number=$1
    shift
    version=$("$@" gcc-$number -dumpfullversion)
    for compile in "gcc-$number -std=c99" "g++-$number -std=c++14 -x c++"; do
        levels="-O0 -O1 -Os -O2" # C++ is optimised as C is
        case $everything$compile in g++*) levels="-O0 -O2" ;; esac
        for level in $levels; do
            what="$compile $level (GCC $version)"
            "$@" $compile $level $warnings $werror "$place/main.c" -o "$place/host" -lm ||
                fail "$what"
            status=0
            "$@" "$place/host" || status=$?
            [ $status = 0 ] || fail "$what: exit $status"
        done
    done
    pass "GCC $version: C with -O0, -O1, -Os, -O2; C++ with $levels"
    same_bits "$told" gcc-$number "$place" "$@"
    [ -n "$everything" ] || told=$most_options
}

# Their packages, of those chosen, and what these need, unpacked into $kept. None is installed, so
# there is neither a shell in it nor anything to set up.
debian_compilers()
{
    debian_apt "$kept" main bullseye bookworm trixie sid || return 1
    with_apt apt-cache search --names-only '^(g[+][+]-[0-9]+|clang-(14|19|2[0-9]))$' 2>> apt.log |
        cut -d ' ' -f 1 > known
    packages=$(sed -n 's/^g++-//p' known | sort -rn | chosen | sed 's/.*/gcc-& g++-&/'
        grep '^clang' known | sort -rV | chosen)
    if ! with_apt apt-get -qq -y --no-install-recommends --download-only -o Debug::NoLocking=1 \
        install libc6-dev ${packages:-gcc} >> apt.log 2>&1; then
        why="none from Debian: $(grep -m 1 '^E:' apt.log)"
        return 1
    fi
    mkdir -p "$kept/usr/bin" "$kept/usr/lib" "$kept/usr/lib64" "$kept/usr/sbin" "$kept/tmp"
    for name in bin lib lib64 sbin; do ln -s usr/$name "$kept/$name"; done
    for package in "$apt"/archives/*.deb; do
        # a third of it all is for sanitizers and for the linker to compile
        dpkg-deb --fsys-tarfile "$package" |
            tar -x --keep-directory-symlink -C "$kept" --exclude='*san.*' --exclude=lto1 ||
            { why="${package##*/} can't be unpacked"; return 1; }
    done
    rm -rf "$apt"
}

# Of the lines, all with `all`; else the first, the last and one between.
chosen()
{
    awk -v everything="$everything" '{ line[NR] = $0 } END {
        for (k = 1; k <= NR; ++k)
            if (everything != "" || k == 1 || k == int((NR + 1) / 2) || k == NR) print line[k]
    }'
}

cp "$tests/main.c" .
mkdir -p test/host
cp "$tests"/../host/*.[ch] test/host
place=.
told=$all_options
PATH=$PATH:/usr/sbin:/sbin
# root by itself, or where a user may be that in a namespace
changed=chroot
[ "$(id -u)" = 0 ] || changed="unshare -r chroot"
if ! $changed / true 2>chroot.log; then
    why=$(tail -n 1 chroot.log)
elif kept compilers${everything:+-all} debian_compilers; then
    place=/$(basename "$folder") # as the files may not be reached from within
    mkdir "$kept$place"
    trap 'rm -rf "$folder" "${kept:?}$place"' EXIT
    cp -r main.c fastreduce.h test "$kept$place"
    for number in $(ls "$kept/usr/bin" | sed -n 's/^g++-\([0-9]*\)$/\1/p' | sort -rn); do
        by_gcc $number $changed "$kept"
    done
    told=$all_options
    for clang in $(ls "$kept/usr/bin" | grep '^clang-[0-9]*$' | sort -rV); do
        same_bits "$told" $clang "$place" $changed "$kept"
        [ -n "$everything" ] || told=$most_options
    done
    done_testing
    exit
fi
skip "all compilers of Debian" "$why"
same_bits_of_installed
for number in $(seq 40 -1 5); do
    command -v gcc-$number >/dev/null && command -v g++-$number >/dev/null || continue
    by_gcc $number env
done
done_testing
