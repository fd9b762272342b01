#!/bin/sh
# Several copies of the two files in one process, and device code linked on
# its own: sh link.sh ROOT NVCC.
set -eu
root=$(CDPATH= cd "$1" && pwd)
nvcc=$2
. "$(dirname "$0")/setup.sh"
# -O0: an inline function that two parts share by mistake is then called, not inlined. sm_75 brings
# PTX for every GPU.
compile() { "$nvcc" -O0 -arch=sm_75 $nvcc_werror -Xcompiler=-fPIC,-Wall,-Wextra "$@"; }
hidden='-DFASTREDUCE_API=extern __attribute__((visibility("hidden")))'
$cc -c "$tests/parts.c" -o parts.o

compile -I. -DFASTREDUCE_STATIC -DPART=first -c "$tests/part.cu" -o first.o
compile -I. -DFASTREDUCE_STATIC -DPART=second -DFASTREDUCE_NO_LADDER -c "$tests/part.cu" -o second.o
"$nvcc" parts.o first.o second.o -o program || fail "FASTREDUCE_STATIC in two translation units"
run ./program "FASTREDUCE_STATIC in two translation units"
pass "FASTREDUCE_STATIC in two translation units, one with FASTREDUCE_NO_LADDER"

# libraries WHAT, of first.o and second.o: nothing of FastReduce is seen outside of either
libraries()
{
    for part in first second; do
        "$nvcc" -shared $part.o -o lib$part.so
        nm -D --defined-only lib$part.so | grep -i fastreduce &&
            fail "$1: lib$part.so exports these"
    done
    "$nvcc" parts.o -L. -lfirst -lsecond -Xlinker=-rpath="$folder" -o program
    run ./program "$1"
    pass "$1"
}
libraries "two shared libraries, FASTREDUCE_STATIC"
compile -I. "$hidden" -DPART=first -c "$tests/part.cu" -o first.o
compile -I. "$hidden" -DPART=second -DFASTREDUCE_NO_LADDER -c "$tests/part.cu" -o second.o
libraries "two shared libraries, FASTREDUCE_API hidden"

# Separate compilation: kernels of the same names in two units, linked by nvlink.
cat > templates.cu <<'CU'
#include "fastreduce.cuh"
extern "C" int second(void);
int second(void)
{
    long long *sum = nullptr;
    const bool gpu = cudaMallocManaged(&sum, sizeof *sum) == cudaSuccess;
    if (!gpu) sum = reinterpret_cast<long long *>(16);
    const int *nothing = nullptr;
    const fastreduce_status expected = gpu ? FASTREDUCE_SUCCESS : FASTREDUCE_ERROR_NO_DEVICE;
    return fastreduce::reduce<FASTREDUCE_V4>(nothing, sum, 0) != expected ||
           fastreduce::reduce<FASTREDUCE_AUTO>(nothing, sum, 0) != expected;
}
CU
compile -I. -rdc=true -DPART=first -c "$tests/part.cu" -o first.o
compile -I. -rdc=true -c templates.cu -o second.o
"$nvcc" -arch=sm_75 -rdc=true parts.o first.o second.o -o program || fail "-rdc=true"
run ./program "-rdc=true"
pass "-rdc=true, the C functions in one unit, templates in another"
done_testing
