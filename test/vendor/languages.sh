#!/bin/sh
# The two files under every language standard and compiler, with the warnings that a strict project
# asks for, and with every macro: sh languages.sh ROOT [NVCC]. Without NVCC the host part only. With
# BITS_ELSEWHERE in the environment, compilers.sh compares the bits of these compilers on the CPU.
set -eu
root=$(CDPATH= cd "$1" && pwd)
nvcc=${2:-}
. "$(dirname "$0")/setup.sh"
cp "$tests/main.c" .
strict="-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wswitch-default $werror"

# fastreduce.h: C99, C11, C++; included twice; with and without the implementation
for compile in "$cc -std=c99" "$cc -std=c11" "$cxx -std=c++14 -Wold-style-cast -x c++" \
    "$cxx -std=c++17 -Wold-style-cast -x c++" "$cxx -std=c++20 -Wold-style-cast -x c++"; do
    $compile $strict -c main.c -o header.o || fail "$compile, header"
    $compile $strict -DWITH_HOST -DHOST_ONLY main.c -o host || fail "$compile, host implementation"
    run ./host "$compile, host implementation"
    $compile $strict -DWITH_HOST -DHOST_ONLY -DFASTREDUCE_STATIC main.c -o host ||
        fail "$compile, static"
    run ./host "$compile, static host implementation"
    pass "$compile: header twice, host implementation, static"
done
nm host | grep -q ' [TW] fastreduce' && fail "FASTREDUCE_STATIC exports symbols"
pass "FASTREDUCE_STATIC exports nothing"

[ -n "${BITS_ELSEWHERE:-}" ] || same_bits_of_installed

# Two versions in one program: callers get what their own header declares, however they are linked.
mkdir other sources
sed 's/\(#define FASTREDUCE_VERSION_PATCH\) .*/\1 99/' fastreduce.h > other/fastreduce.h
printf '#define FASTREDUCE_HOST_IMPLEMENTATION\n#include "fastreduce.h"\n' > sources/copy.c
cat > sources/caller.c <<'CALLER'
#include "fastreduce.h"
int CALLER(void);
int CALLER(void) { return fastreduce_version() == FASTREDUCE_VERSION; }
CALLER
cat > callers.c <<'CALLERS'
int first(void), second(void);
int main(void) { return 2 * !first() + !second(); }
CALLERS
for part in first second; do
    case $part in first) from=. ;; *) from=other ;; esac
    for source in copy caller; do
        $cc -std=c99 -O1 -fPIC -I$from -DCALLER=$part -c sources/$source.c -o $part-$source.o
    done
    ar rc lib$part.a $part-copy.o $part-caller.o
    $cc -shared $part-copy.o $part-caller.o -o lib$part.so
done
nm first-copy.o | grep -v detail | grep -iE ' [a-z] fastreduce' > own
grep -q ' W ' own || fail "no names seen"
grep -v '_[0-9]*_[0-9]*_[0-9]*$' own | grep -v ' W ' && fail "names without the version"
for order in "first second" "second first"; do
    set -- $order
    $cc callers.c $1-*.o $2-*.o -o program || fail "two versions, objects"
    run ./program "two versions, objects, $order"
    $cc callers.c lib$1.a lib$2.a -o program || fail "two versions, archives"
    run ./program "two versions, archives, $order"
    $cc callers.c ./lib$1.so ./lib$2.so -o program || fail "two versions, shared libraries"
    run ./program "two versions, shared libraries, $order"
done
$cc callers.c first-*.o second-caller.o -o program 2> message && fail "a copy of another version"
grep -q 'fastreduce_version_[0-9]' message || fail "a copy of another version: no name"
cat > plain.c <<'PLAIN'
int fastreduce_version(void); /* as other languages, dlsym and ctypes look it up */
float fastreduce_host_sum_f32(const float *, unsigned long);
int main(void)
{
    const float x[] = {1e30f, 1, -1e30f};
    return !(fastreduce_version() > 0 && fastreduce_host_sum_f32(x, 3) == 1);
}
PLAIN
$cc plain.c first-copy.o -o program && ./program || fail "the plain names, an object"
$cc plain.c ./libfirst.so -o program && ./program || fail "the plain names, a shared library"
for source in copy caller; do
    $cc -std=c99 -I. -DFASTREDUCE_SUFFIX= -DCALLER=first -c sources/$source.c -o plain-$source.o
done
nm plain-caller.o | grep -q ' U fastreduce_version$' && nm plain-copy.o |
    grep -q ' W fastreduce_version$' || fail "FASTREDUCE_SUFFIX= leaves a suffix"
nm plain-copy.o | grep '_[0-9]*_[0-9]*_[0-9]*$' && fail "FASTREDUCE_SUFFIX= leaves names"
pass "two versions in one program: objects, archives, shared libraries; plain names"

# Windows, first by MinGW: objects without weak symbols and plain names, and vectors that GCC does
# not align on the stack there.
mingw=x86_64-w64-mingw32
if command -v $mingw-gcc > /dev/null; then
    for compile in "$mingw-gcc -std=c99 -O0" "$mingw-gcc -std=c11 -O2" \
        "$mingw-gcc -std=c99 -O3 -march=haswell" "$mingw-g++ -std=c++17 -O2 -x c++"; do
        command -v ${compile%% *} > /dev/null || { skip "MinGW" "no ${compile%% *}"; continue; }
        for static in '' -DFASTREDUCE_STATIC; do
            $compile $strict -DWITH_HOST -DHOST_ONLY $static main.c -o main.exe ||
                fail "$compile $static"
        done
    done
    $mingw-gcc -std=c99 -I. -c sources/copy.c -o one.o
    nm one.o | grep -qi ' [vw] ' && fail "MinGW: weak symbols"
    nm one.o | grep ' T ' | grep -v '_[0-9]*_[0-9]*_[0-9]*$' && fail "MinGW: plain names"
    pass "MinGW: C and C++, compiled and linked"
else
    skip "MinGW" "no $mingw-gcc"
fi

# Then as Microsoft's cl.exe would read them: by Clang with the types that it has there and its
# macros, in place of Clang's own, or with these besides, as clang-cl has them. What it says of
# __cplusplus is what cl.exe says without /Zc:__cplusplus. This shows what cl.exe would not know; it
# can't show that cl.exe accepts the rest.
windows="--target=x86_64-pc-windows-msvc -fms-compatibility -fms-extensions -nostdinc -I. -Iwindows"
windows="$windows -fno-delayed-template-parsing $strict -Wundef -Wgnu"
windows="$windows -Wvla -Wno-unknown-pragmas -Wno-builtin-macro-redefined"
windows="$windows -Wno-sometimes-uninitialized" # shared memory is a local variable in the stand-in
as_cl="-undef -D_MSC_VER=1933 -D_WIN32 -D_WIN64 -D_M_X64=100 -D_M_AMD64=100"
cl_cpp="-std=c++17 -D_MSVC_LANG=201703L -U__cplusplus -D__cplusplus=199711L"
cl_cpp="$cl_cpp -x c++ -D__CUDA_ARCH_LIST__=750,900" # as nvcc has it
mkdir windows
for name in stddef.h stdint.h string.h atomic cmath limits type_traits utility cuda_runtime.h; do
    cp "$tests/standin_windows.h" windows/$name
done
printf '#include "fastreduce.h"\n' > windows/header.c
one="$sums -DFASTREDUCE_WITH_SHAPES -DFASTREDUCE_WITH_BY_INDEX -DFASTREDUCE_WITH_EXACT_PRODUCTS"
clangs | sed 's/clang++/clang/' > list
[ -s list ] || skip "Clang in the place of cl.exe" "not installed"
while read -r clang; do
    for macros in '' "$as_cl"; do
        for switches in -DFASTREDUCE_NOTHING -DFASTREDUCE_HOST_IMPLEMENTATION \
            "-DFASTREDUCE_HOST_IMPLEMENTATION -DFASTREDUCE_STATIC -Wno-unused-function" \
            "-DFASTREDUCE_HOST_IMPLEMENTATION -DFASTREDUCE_API=__declspec(dllexport)"; do
            for language in "-std=c99 -x c" "-std=c11 -x c" "-std=c17 -x c" "-std=c++14 -x c++" \
                "-std=c++20 -x c++" "$cl_cpp"; do
                $clang $windows $macros $switches $language -fsyntax-only windows/header.c ||
                    fail "$clang as cl.exe, $language $switches"
            done
        done
        $clang $windows $macros $one $cl_cpp -fsyntax-only fastreduce.cu ||
            fail "$clang as cl.exe, fastreduce.cu"
    done
    # Words that neither the stand-in nor cl.exe has are GCC's, and Clang takes them in silence.
    for file in sources/copy.c fastreduce.cu windows/stddef.h; do
        $clang $windows $as_cl $one $cl_cpp -E -P $file | sed 's/"[^"]*"//g' |
            grep -owE 'asm|typeof|__\w+' | sort -u > ${file##*/}.words
    done
    cat copy.c.words fastreduce.cu.words | sort -u | comm -23 - stddef.h.words |
        grep -vxE '__(declspec|forceinline|restrict|is_base_of)' &&
        fail "$clang as cl.exe: words of GCC's"
    pass "$clang in the place of cl.exe: both files, C99 to C17, C++14 to C++20"
done < list
clang=$(head -n 1 list)
if [ -n "$clang" ]; then
    for architecture in 75 90; do
        device="-nocudainc -nocudalib --cuda-device-only --cuda-gpu-arch=sm_$architecture"
        if ! $clang $device -x cuda -fsyntax-only /dev/null 2>message; then
            skip "$clang as cl.exe, sm_$architecture" "$(grep -m 1 error message)"
            continue
        fi
        device="$device -D__CUDACC__ -D__CUDA_ARCH__=${architecture}0 ${cl_cpp% -x*} -x cuda"
        $clang $windows $as_cl $one $device -fsyntax-only fastreduce.cu ||
            fail "$clang as cl.exe, the kernels of sm_$architecture"
        pass "$clang with the types of Windows: the kernels of sm_$architecture"
    done
fi

[ -n "$nvcc" ] || { skip "everything that needs nvcc" "there is none"; done_testing; exit; }

"$nvcc" -O3 -arch=sm_80 $few -Xcompiler=-fno-exceptions,-fno-threadsafe-statics -c fastreduce.cu
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
cp "$tests/templates.cu" .
: > empty.cu
standards="17 20"
if ! "$nvcc" -std=c++20 -E empty.cu > /dev/null 2>&1; then
    standards=17
    skip "C++20 in nvcc" "CUDA 12 has it"
fi
# no -Wold-style-cast: nvcc hands its host compiler every C++ cast as an old one
warnings="$nvcc_werror -Xcompiler=-Wall,-Wextra,-Wshadow,-Wconversion,-Wswitch-default"
for standard in $standards; do
    types=$few
    [ "$standard" != 17 ] || types=$some
    for file in fastreduce.cu templates.cu; do
        "$nvcc" -std=c++$standard $ptx $warnings $types -c $file -o /dev/null ||
            fail "C++$standard, $file"
    done
done
pass "nvcc: C++" $standards

# The two files ask which architecture it is, and whether -rdc=true is given
known=$("$nvcc" --list-gpu-arch | sed 's/compute_//' | sort -n)
newest=$(echo "$known" | tail -n 1)
kinds=$(echo "$known" | grep -xE '60|75|80|90')
[ "$newest" = 90 ] || kinds="$kinds $newest"
several=$(for a in $kinds; do echo "-gencode=arch=compute_$a,code=compute_$a"; done)
for file in fastreduce.cu templates.cu; do
    "$nvcc" -std=c++17 $several $warnings $sums -c $file -o /dev/null ||
        fail "architectures, $file"
    "$nvcc" -std=c++17 -gencode=arch=compute_$newest,code=compute_$newest $warnings -rdc=true \
        -use_fast_math $few -c $file -o /dev/null || fail "nvcc -rdc=true -use_fast_math, $file"
done
"$nvcc" -std=c++17 -gencode=arch=compute_$newest,code=compute_$newest $warnings -G \
    -c templates.cu -o /dev/null || fail "nvcc -G, templates.cu"
pass "nvcc: architectures" $kinds
pass "nvcc -rdc=true -use_fast_math; -G"

# Clang as nvcc's host compiler warns of what GCC does not: functions that a file leaves unused
clangs > list
[ -s list ] || skip "nvcc -ccbin clang++" "not installed"
while read -r clang; do
    if ! "$nvcc" -ccbin "$clang" -std=c++17 $ptx -c empty.cu -o /dev/null > message 2>&1; then
        skip "nvcc -ccbin $clang" "nvcc does not take it: $(grep -m 1 error message | cut -c 1-200)"
        continue
    fi
    for file in fastreduce.cu templates.cu; do
        "$nvcc" -ccbin "$clang" -std=c++17 $ptx $warnings $few -c $file -o /dev/null ||
            fail "nvcc -ccbin $clang, $file"
    done
    pass "nvcc -ccbin $clang"
done < list

for switch in FASTREDUCE_STATIC FASTREDUCE_NO_LADDER FASTREDUCE_NO_EXACT FASTREDUCE_WITH_SHAPES \
    FASTREDUCE_WITH_BY_INDEX FASTREDUCE_BLOCK_SIZE=512 FASTREDUCE_ITEMS_PER_THREAD=3; do
    "$nvcc" $ptx $nvcc_werror $sums -D$switch -c fastreduce.cu -o switch.o || fail "$switch"
    [ $switch != FASTREDUCE_STATIC ] || ! nm switch.o | grep -q ' T fastreduce' ||
        fail "$switch exports symbols"
done
pass "switches"

for bad in FASTREDUCE_BLOCK_SIZE=48 FASTREDUCE_BLOCK_SIZE=2048 FASTREDUCE_BLOCK_SIZE=16 \
    FASTREDUCE_ITEMS_PER_THREAD=0 FASTREDUCE_ITEMS_PER_THREAD=65; do
    "$nvcc" $ptx $sums -D$bad -c fastreduce.cu -o /dev/null 2>message && fail "$bad compiles"
    grep -q "${bad%%=*} must be" message || fail "$bad: no sentence"
done
pass "a bad value of a macro is an error in words"

# Clang reads CUDA by itself. It may be too old for this toolkit: then it fails on an empty file,
# too. The headers are to be the toolkit's, and not those of another in /usr/local/include, which
# --cuda-path alone would have come first.
release=$("$nvcc" --version | sed -n 's/.*release \([0-9.]*\),.*/\1/p')
flags="-x cuda --cuda-path=$toolkit -isystem $toolkit/include -Wno-unknown-cuda-version"
flags="$flags --cuda-gpu-arch=sm_75 --cuda-gpu-arch=sm_90"
flags="$flags -DTOOLKIT_VERSION=$((${release%.*} * 1000 + ${release#*.} * 10))"
[ -s list ] || skip "Clang as the CUDA compiler" "not installed"
while read -r clang; do
    if ! $clang $flags -fsyntax-only /dev/null 2>message; then
        skip "$clang" "does not read this toolkit: $(grep -m 1 error message)"
        continue
    fi
    for file in templates.cu fastreduce.cu; do # of more types: toolkits.sh
        $clang $flags -std=c++17 -O2 $strict -Wold-style-cast -Wno-pedantic $sums \
            -c $file -o clang.o ||
            fail "$clang, $file"
    done
    $cc main.o clang.o -L"$libraries" -lcudart_static -lstdc++ -ldl -lrt -lpthread -o program ||
        fail "$clang, linked"
    run ./program "$clang"
    pass "$clang as the CUDA compiler, sm_75 and sm_90"
done < list
done_testing
