#!/bin/sh
# Tells within two minutes whether FastReduce works here: run.sh calls it where it has no arguments.
# It compiles and runs some of the tests, as many at a time as there are processors, and prints a
# line for each as it ends. A test that needs nvcc or a GPU is skipped where there is none.
set -eu
CDPATH= cd "$(dirname "$0")/.."
. test/setup.sh
folder=build/quick

# A test a line: its name; its source, of which test/README.md says what it proves; options of the
# compiler; arguments; what else it needs.
tests()
{
    soak="-DFASTREDUCE_TYPES=FASTREDUCE_F32+FASTREDUCE_U8"
    soak="$soak -DFASTREDUCE_OPERATORS=FASTREDUCE_SUM+FASTREDUCE_ARGMAX"
    cat <<TESTS
exact sums on the CPU, against MPFR|host/test_host.c|-O1 -lmpfr -lgmp -lm||mpfr
exact reductions on the CPU, against MPFR|host/test_floats.c|-O1 -lmpfr -lgmp -lm||mpfr
the order of AUTO's additions|host/test_pairwise.cpp|||
the two files by nvcc, and the C example||||nvcc
AUTO and EXACT of any shape on the GPU|gpu/test_soak.cu|$soak|15|gpu
the ladder V0 to V7 on the GPU|kernels/test_ladder.cu||5000|gpu
EXACT of rows, columns and segments|kernels/test_small_shapes.cpp|-DSMALL_EXACT||
AUTO of rows, columns and segments|kernels/test_small_shapes.cpp|-DSMALL_AUTO||
all operators of floats|kernels/test_operators.cpp|-DFASTREDUCE_TYPES=FASTREDUCE_F32|f32|
AUTO of one array|kernels/test_auto.cpp|-DAUTO_SMALL||
lists of long results|kernels/test_lists.cpp||small|
EXACT of one array|kernels/test_small.cpp|-DSMALL_EXACT||
the ladder V0 to V7|kernels/test_ladder.cpp||5000|
what the C functions refuse|kernels/test_launcher.cpp|||
how sums are planned|kernels/test_plan.cpp|||
the CPU machine|simt/test_simt.cpp|-g1||
TESTS
}

# build SOURCE OPTIONS PROGRAM
build()
{
    case $1 in
    *.c) ${CC:-cc} -std=c99 -I. "test/$1" -o "$3" $2 -pthread ;;
    *.cu) nvcc -O3 -std=c++17 -arch=native $2 -w "test/$1" -o "$3" ;;
    *) ${CXX:-c++} -std=c++17 -Og -w -Itest/simt -I. $2 "test/$1" -o "$3" -ldl -pthread ;;
    esac
}

# hello.c, an object of the two files, and what links them
build_example()
{
    arch=
    ! have_gpu || arch=-arch=native
    nvcc -O1 $arch -c examples/fastreduce.cu -o "$1.o" &&
        nvcc -O1 $arch examples/hello.c "$1.o" -o "$1"
}

# What keeps the test from running here, or nothing.
missing()
{
    case $1 in
    mpfr) [ -e /usr/include/mpfr.h ] || echo "no MPFR" ;;
    nvcc) command -v nvcc >/dev/null 2>&1 || echo "no nvcc" ;;
    gpu) { have_gpu && command -v nvcc >/dev/null 2>&1; } || echo "no GPU, or no nvcc" ;;
    esac
}

# run_test NUMBER: a line that says how it went, and in result.NUMBER a word of it
run_test()
{
    IFS='|' read -r name source options arguments needs <<LINE
$(tests | sed -n "$1p")
LINE
    begin=$(date +%s)
    program=$folder/program.$1
    log=$folder/log.$1
    why=$(missing "$needs")
    status=0
    result=ok
    if [ -n "$why" ]; then
        result=skip
    elif [ -n "$source" ]; then
        build "$source" "$options" "$program" > "$log" 2>&1 || result=FAIL
    else
        build_example "$program" > "$log" 2>&1 || result=FAIL
    fi
    if [ $result = FAIL ]; then
        why="does not compile"
    elif [ $result = ok ]; then
        "$program" $arguments > "$log" 2>&1 || status=$?
        case $status in
        0) ;;
        77) [ -z "$source" ] || result=skip; why=$(tail -n 1 "$log") ;;
        *) result=FAIL; why="exit status $status" ;;
        esac
    fi
    echo $result > "$folder/result.$1"
    printf '%-4s  %-48s %3d s%s\n' $result "$name" $(($(date +%s) - begin)) "${why:+  ($why)}"
    [ $result != FAIL ] || tail -n 20 "$log"
}

if [ "${1:-}" = --test ]; then
    run_test "$2"
    exit
fi
need cc gcc libc6-dev
need c++ g++
[ -e /usr/include/mpfr.h ] || liked="$liked libmpfr-dev libgmp-dev"
install_missing
rm -rf $folder
mkdir -p $folder
begin=$(date +%s)
count=$(tests | wc -l)
echo "$count tests, compiled and run on $(getconf _NPROCESSORS_ONLN) processors"
seq 1 "$count" | xargs -n 1 -P "$(getconf _NPROCESSORS_ONLN)" sh test/quick.sh --test
count_of()
{
    cat $folder/result.* | grep -c "$1" || true
}
echo "$(($(date +%s) - begin)) s; all tests: sh test/run.sh --full"
echo "$(count_of ok) passed, $(count_of FAIL) failed, $(count_of skip) skipped"
[ "$(count_of FAIL)" = 0 ] && [ "$(cat $folder/result.* | wc -l)" = "$count" ]
