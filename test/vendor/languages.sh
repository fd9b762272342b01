#!/bin/sh
# The two files under every language standard and compiler, and with every macro: sh languages.sh ROOT [NVCC]. Without
# NVCC the host part only.
set -eu
root=$(cd "$1" && pwd)
nvcc=${2:-}
. "$(dirname "$0")/setup.sh"
cp "$tests/main.c" .
strict="-Wall -Wextra -Wpedantic -Wshadow -Wconversion $werror"

# fastreduce.h: C99, C11, C++; included twice; with and without the implementation
for compile in "$cc -std=c99" "$cc -std=c11" "$cxx -std=c++14 -x c++" "$cxx -std=c++17 -x c++" "$cxx -std=c++20 -x c++"; do
    $compile $strict -c main.c -o header.o || fail "$compile, header"
    $compile $strict -DWITH_HOST -DHOST_ONLY main.c -o host || fail "$compile, host implementation"
    run ./host "$compile, host implementation"
    $compile $strict -DWITH_HOST -DHOST_ONLY -DFASTREDUCE_STATIC main.c -o host || fail "$compile, static"
    run ./host "$compile, static host implementation"
    pass "$compile: header twice, host implementation, static"
done
nm host | grep -q ' [TW] fastreduce' && fail "FASTREDUCE_STATIC exports symbols"
pass "FASTREDUCE_STATIC exports nothing"
[ -n "$nvcc" ] || { skip "everything that needs nvcc" "there is none"; done_testing; exit; }

"$nvcc" -O3 -arch=sm_80 -Xcompiler=-fno-exceptions,-fno-threadsafe-statics -c fastreduce.cu
$cc -std=c99 -Wall -Wextra -Wpedantic $werror -c main.c
toolkit=$(dirname "$(dirname "$(readlink -f "$(command -v "$nvcc")")")")
libraries=$toolkit/lib64
[ -e "$libraries/libcudart_static.a" ] || libraries=/usr/lib/x86_64-linux-gnu
$cc main.o fastreduce.o -L"$libraries" -lcudart_static -ldl -lrt -lpthread -o program
ldd program | grep -q 'libstdc++' && fail "the C program needs libstdc++"
run ./program "the C program"
pass "nvcc -c, cc -std=c99, linked without libstdc++"

$cc -std=c99 -DWITH_HOST -c main.c -o both.o
$cc both.o fastreduce.o -L"$libraries" -lcudart_static -ldl -lrt -lpthread -o both
run ./both "host implementation in C beside the whole library"
pass "host implementation in a .c file beside the library in a .cu file"

ptx=-gencode=arch=compute_80,code=compute_80 # machine code takes longer, and other tests make it
echo > empty.cu
standards="14 17 20"
if ! "$nvcc" -std=c++20 -E empty.cu > /dev/null 2>&1; then
    standards="14 17"
    skip "C++20 in nvcc" "CUDA 12 has it"
fi
for standard in $standards; do
    "$nvcc" -std=c++$standard $ptx $nvcc_werror -Xcompiler=-Wall,-Wextra,-Wshadow,-Wconversion \
        -c fastreduce.cu -o /dev/null || fail "C++$standard"
done
pass "nvcc: C++" $standards

for switch in FASTREDUCE_STATIC FASTREDUCE_NO_LADDER FASTREDUCE_NO_EXACT FASTREDUCE_EXACT_INTEGER FASTREDUCE_BLOCK_SIZE=512 \
    FASTREDUCE_ITEMS_PER_THREAD=3; do
    "$nvcc" $ptx $nvcc_werror -D$switch -c fastreduce.cu -o switch.o || fail "$switch"
    [ $switch != FASTREDUCE_STATIC ] || ! nm switch.o | grep -q ' T fastreduce' || fail "$switch exports symbols"
done
pass "switches"

for bad in FASTREDUCE_BLOCK_SIZE=48 FASTREDUCE_BLOCK_SIZE=2048 FASTREDUCE_BLOCK_SIZE=16 \
    FASTREDUCE_ITEMS_PER_THREAD=0 FASTREDUCE_ITEMS_PER_THREAD=65; do
    "$nvcc" $ptx -D$bad -c fastreduce.cu -o /dev/null 2>message && fail "$bad compiles"
    grep -q "${bad%%=*} must be" message || fail "$bad: no sentence"
done
pass "a bad value of a macro is an error in words"

# Clang reads CUDA by itself. It may be too old for this toolkit: then it fails on an empty file, too.
clang=$(newest_clang)
flags="-x cuda --cuda-path=$toolkit --cuda-gpu-arch=sm_75 --cuda-gpu-arch=sm_90 -Wno-unknown-cuda-version"
if [ -z "$clang" ]; then
    skip "clang" "not installed"
elif ! $clang $flags -fsyntax-only /dev/null 2>message; then
    skip "$clang" "does not read this toolkit: $(grep -m1 error message)"
else
    $clang $flags -std=c++14 -O2 $strict -Wno-pedantic -c fastreduce.cu -o clang.o || fail "$clang"
    $cc main.o clang.o -L"$libraries" -lcudart_static -lstdc++ -ldl -lrt -lpthread -o program || fail "$clang, linked"
    run ./program "$clang"
    pass "$clang as the CUDA compiler, sm_75 and sm_90"
fi
done_testing
