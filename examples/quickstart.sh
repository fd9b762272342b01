#!/bin/sh
# Builds examples/sum and runs it: sh examples/quickstart.sh [ARGUMENTS OF SUM]. Without arguments
# it sums 100 million generated floats. On the GPU where there are nvcc and a GPU, else exactly on
# the CPU. Installs a compiler if need be. Compiles nothing that is up to date.
set -eu
examples=$(CDPATH= cd "$(dirname "$0")" && pwd)
top=$(dirname "$examples")
. "$top/test/setup.sh"
folder=$top/build/quickstart
program=$folder/sum
mkdir -p "$folder"
need cc gcc libc6-dev
! command -v nvcc >/dev/null 2>&1 || need c++ g++
install_missing

arch=
! have_gpu || arch=-arch=native
how="$(command -v nvcc || echo 'no nvcc') $arch"

# whether the program was built on such a machine, of sources that have not changed since
up_to_date()
{
    [ -x "$program" ] && [ "$(cat "$folder/how" 2>/dev/null)" = "$how" ] || return 1
    for source in "$top"/fastreduce.* "$examples"/*.h "$examples/sum.c" \
        "$examples/fastreduce.cu"; do
        [ ! "$source" -nt "$program" ] || return 1
    done
}

build()
{
    rm -f "$program" "$folder/how"
    echo "compiling examples/sum.c, once" >&2
    if ! command -v nvcc >/dev/null 2>&1; then
        echo "no nvcc on the PATH: building for the CPU alone" >&2
    elif nvcc -O3 -std=c++17 $arch "$examples/sum.c" "$examples/fastreduce.cu" -o "$program" \
        2> "$folder/log"; then
        return
    else
        why=$(grep -m1 -i error "$folder/log" || tail -n 1 "$folder/log")
        echo "nvcc cannot compile here ($why): building for the CPU alone" >&2
    fi
    cc -std=c99 -O3 -pthread -DSUM_HOST_ONLY "$examples/sum.c" -o "$program"
}

if ! up_to_date; then
    build
    echo "$how" > "$folder/how"
fi
[ $# -gt 0 ] || set -- 100000000
exec "$program" "$@"
