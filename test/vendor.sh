#!/bin/sh
# The two files alone, in an empty folder, as a project vendors them: sh vendor.sh ROOT [NVCC]. Without NVCC the host
# part only.
set -eu
root=$1
nvcc=${2:-}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp "$root/fastreduce.h" "$root/fastreduce.cuh" "$folder"
cd "$folder"
cc=${CC:-cc}
cxx=${CXX:-c++}
strict="-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror"
passed=0
pass() { passed=$((passed + 1)); echo "ok: $1"; }
fail() { echo "FAIL: $1"; exit 1; }

cat > main.c <<'C'
#ifdef WITH_HOST
#define FASTREDUCE_HOST_IMPLEMENTATION
#endif
#include "fastreduce.h"
#include "fastreduce.h"
#include <stdio.h>
int main(void)
{
    const float x[5] = {1e30f, 3.0f, -1e30f, 0.25f, 1e-20f};
    fastreduce_accumulator sum = {{0}};
    fastreduce_host_accumulate_f32(x, &sum, 5);
    if (fastreduce_host_sum_f32(x, 5) != 3.25f || fastreduce_accumulator_f64(&sum) != 3.25 + 1e-20) return 1;
#ifndef HOST_ONLY
    fastreduce_config config = {FASTREDUCE_V7, 128, NULL, 0, NULL};
    fastreduce_status status = fastreduce_sum_f32(NULL, NULL, 5, &config);
    if (status != FASTREDUCE_ERROR_INVALID_ARGUMENT) return 2;
    status = fastreduce_workspace_init((void *)64, 64, NULL);
    if (status == FASTREDUCE_SUCCESS) return 3;
    printf("%s: %s\n", fastreduce_kernel_name(config.kernel), fastreduce_status_string(status));
#endif
    return 0;
}
C

# fastreduce.h: C99, C11, C++; included twice; with and without the implementation
for compile in "$cc -std=c99" "$cc -std=c11" "$cxx -std=c++14 -x c++" "$cxx -std=c++20 -x c++"; do
    $compile $strict -c main.c -o header.o || fail "$compile, header"
    $compile $strict -DWITH_HOST -DHOST_ONLY main.c -o host || fail "$compile, host implementation"
    ./host || fail "$compile, host implementation: exit $?"
    $compile $strict -DWITH_HOST -DHOST_ONLY -DFASTREDUCE_STATIC main.c -o host || fail "$compile, static"
    ./host || fail "$compile, static host implementation: exit $?"
    pass "$compile: header twice, host implementation, static"
done
nm host | grep -q ' [TW] fastreduce' && fail "FASTREDUCE_STATIC exports symbols"
pass "FASTREDUCE_STATIC exports nothing"

if [ -n "$nvcc" ]; then
    printf '#define FASTREDUCE_IMPLEMENTATION\n#include "fastreduce.cuh"\n' > fastreduce.cu
    "$nvcc" -O3 -arch=sm_80 -Xcompiler=-fno-exceptions,-fno-threadsafe-statics -c fastreduce.cu
    $cc -std=c99 -Wall -Wextra -Wpedantic -Werror -c main.c
    libraries=$(dirname "$(dirname "$(readlink -f "$(command -v "$nvcc")")")")/lib64
    [ -e "$libraries/libcudart_static.a" ] || libraries=/usr/lib/x86_64-linux-gnu
    $cc main.o fastreduce.o -L"$libraries" -lcudart_static -ldl -lrt -lpthread -o program
    ldd program | grep -q 'libstdc++' && fail "the C program needs libstdc++"
    ./program || fail "the C program: exit $?"
    pass "nvcc -c, cc -std=c99, linked without libstdc++"

    $cc -std=c99 -DWITH_HOST -c main.c -o both.o
    $cc both.o fastreduce.o -L"$libraries" -lcudart_static -ldl -lrt -lpthread -o both && ./both >/dev/null ||
        fail "host implementation in C beside the whole library"
    pass "host implementation in a .c file beside the library in a .cu file"

    for standard in 14 17 20; do
        "$nvcc" -std=c++$standard -arch=sm_80 -Werror all-warnings -Xcompiler=-Wall,-Wextra -c fastreduce.cu -o /dev/null ||
            fail "C++$standard"
    done
    pass "C++14, 17 and 20"

    for switch in FASTREDUCE_STATIC FASTREDUCE_NO_LADDER FASTREDUCE_NO_EXACT FASTREDUCE_BLOCK_SIZE=512 \
        FASTREDUCE_ITEMS_PER_THREAD=3; do
        "$nvcc" -arch=sm_80 -Werror all-warnings -D$switch -c fastreduce.cu -o switch.o || fail "$switch"
        [ $switch != FASTREDUCE_STATIC ] || ! nm switch.o | grep -q ' T fastreduce' || fail "$switch exports symbols"
    done
    pass "switches"

    for bad in FASTREDUCE_BLOCK_SIZE=48 FASTREDUCE_BLOCK_SIZE=2048 FASTREDUCE_BLOCK_SIZE=16 \
        FASTREDUCE_ITEMS_PER_THREAD=0 FASTREDUCE_ITEMS_PER_THREAD=65; do
        "$nvcc" -arch=sm_80 -D$bad -c fastreduce.cu -o /dev/null 2>message && fail "$bad compiles"
        grep -q "${bad%%=*} must be" message || fail "$bad: no sentence"
    done
    pass "a bad value of a macro is an error in words"
fi
echo "vendoring: $passed passed"
