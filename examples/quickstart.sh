#!/bin/sh
# Builds examples/sum and runs it: sh examples/quickstart.sh [ARGUMENTS OF SUM]. Without arguments
# it sums 100 million generated floats. On the GPU where there are nvcc and a GPU, else exactly on
# the CPU. Installs a compiler if need be. Compiles nothing that is up to date.
set -eu
examples=$(cd "$(dirname "$0")" && pwd)
top=$(dirname "$examples")
. "$top/test/setup.sh"
folder=$top/build/quickstart
program=$folder/sum
mkdir -p "$folder"
need cc gcc libc6-dev
! command -v nvcc >/dev/null 2>&1 || need c++ g++
install_missing

# fresh HOW: whether the program was built that way, of sources that have not changed since
fresh()
{
    [ -x "$program" ] && [ "$(cat "$folder/how" 2>/dev/null)" = "$1" ] || return 1
    for source in "$top/fastreduce.h" "$top/fastreduce.cuh" "$examples/sum.c" "$examples/input.h" \
        "$examples/fastreduce.cu"; do
        [ "$program" -nt "$source" ] || return 1
    done
}

# build HOW COMPILER...
build()
{
    how=$1
    shift
    fresh "$how" && return
    rm -f "$program" "$folder/how"
    "$@" -o "$program" && echo "$how" > "$folder/how"
}

built=
if command -v nvcc >/dev/null 2>&1; then
    if have_gpu; then arch=-arch=native; else arch=; fi
    how="nvcc $arch $(command -v nvcc)"
    if build "$how" nvcc -O3 $arch "$examples/sum.c" "$examples/fastreduce.cu" \
        2> "$folder/log"; then
        built=1
    else
        why=$(grep -m1 -i error "$folder/log" || tail -n 1 "$folder/log")
        echo "nvcc cannot compile here ($why)" >&2
        echo "building for the CPU alone" >&2
    fi
else
    echo "no nvcc on the PATH: building for the CPU alone" >&2
fi
[ -n "$built" ] || build cc cc -std=c99 -O3 -DSUM_HOST_ONLY "$examples/sum.c" -lm
[ $# -gt 0 ] || set -- 100000000
exec "$program" "$@"
