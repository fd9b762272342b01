#!/bin/sh
# Builds examples/sum and runs it: sh examples/quickstart.sh [ARGUMENTS OF SUM]. Without arguments it sums 100 million
# generated floats. On the GPU where there are nvcc and a GPU, else exactly on the CPU. Installs a compiler if need be.
set -eu
examples=$(cd "$(dirname "$0")" && pwd)
. "$examples/../test/setup.sh"
program=$examples/../build/quickstart/sum
mkdir -p "$(dirname "$program")"
need cc gcc libc6-dev
if command -v nvcc >/dev/null 2>&1; then
    need g++ g++
    if have_gpu; then arch=-arch=native; else arch=; fi
    nvcc -O3 $arch "$examples/sum.c" "$examples/fastreduce.cu" -o "$program"
else
    echo "no nvcc on the PATH: building for the CPU alone" >&2
    cc -std=c99 -O3 -DSUM_HOST_ONLY "$examples/sum.c" -o "$program" -lm
fi
[ $# -gt 0 ] || set -- 100000000
exec "$program" "$@"
