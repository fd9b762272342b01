#!/bin/sh
# Installs what the tests lack, builds and runs them; test/README.md lists them:
#
#     sh test/run.sh                       whether FastReduce works here: two minutes (quick.sh)
#     sh test/run.sh [--full | --ci | --all] [ARGUMENTS OF MESON TEST]
#     sh test/run.sh --suite fast          a minute
#     sh test/run.sh 'sum without CUDA'    one test
#
# --full: the suites fast and slow. --ci: also toolkits (other CUDA toolkits and compilers, 1.9 GB).
# --all: also long (whether every change is noticed, our tests by other toolkits, coverage, fuzzing,
# cost). Both install the packages that these need, and Open MPI. With nvcc the GPU code is compiled
# too, for every architecture it knows, or for the GPU that is there; what needs a GPU is skipped
# where there is none. Tests that are named run whatever suite they are of. CI in the environment,
# if not empty: warnings are errors.
set -eu
CDPATH= cd "$(dirname "$0")/.."
. test/setup.sh
setup=quick
extent=full
all=
case ${1:-} in
'') exec sh test/quick.sh ;;
--full) shift ;;
--ci | --all)
    setup=${1#--}
    extent=$setup
    all=1
    shift
    ;;
-*) ;;
*) setup=all ;;
esac
need cc gcc libc6-dev
need c++ g++
need python3 python3
need meson meson
need ninja ninja-build
need addr2line binutils
need pkg-config pkg-config
[ -e /usr/include/mpfr.h ] || liked="$liked libmpfr-dev libgmp-dev"
like make make
case $all$* in 1 | 1*slow* | *mpi*) # 660 MB
    command -v mpicc >/dev/null 2>&1 || liked="$liked libopenmpi-dev"
    like mpirun openmpi-bin
    ;;
esac
if [ -n "$all" ]; then
    like cmake cmake
    like gcovr gcovr
    like clang-format clang-format
    like x86_64-w64-mingw32-g++ g++-mingw-w64-x86-64-posix
    python3 -m pip --version >/dev/null 2>&1 || liked="$liked python3-pip"
    install_missing # with what a fresh machine has no lists for: which packages there are
    like clang-19 clang-19 # lacks functions of CUDA's that newer ones declare
    # the newest Clang there is reads the most CUDA toolkits
    clang=$(apt-cache search --names-only '^clang-[0-9]+$' 2>/dev/null | cut -d ' ' -f 1 |
        sort -V | tail -n 1)
    if [ -n "$clang" ]; then
        like "$clang" "$clang"
        [ -n "$(ls -d /usr/lib/llvm-*/lib/clang/*/lib/*/libclang_rt.fuzzer*.a 2>/dev/null)" ] ||
            liked="$liked libclang-rt-${clang#clang-}-dev"
    fi
fi
install_missing

if have_gpu; then arch=native; else arch=all; fi
if [ -n "${CI:-}" ]; then werror=true; else werror=false; fi
build=build/test
mkdir -p $build
log=$build/run.log

# with_progress WHAT COMMAND...: what it does, and each tenth part of what ninja or Meson counts;
# the rest goes to the log. Returns the command's status.
with_progress()
{
    what=$1
    shift
    echo "$what"
    { PYTHONUNBUFFERED=1 "$@" 2>&1 || echo "status $?"; } | tee $log | awk -v what="$what" '
        match($0, /^\[? *[0-9]+\/[0-9]+/) {
            split(substr($0, 1, RLENGTH), part, /[^0-9]+/)
            from = part[1] == "" ? 2 : 1
            tenth = int(10 * part[from] / part[from + 1])
            if (tenth > last) print what ": " part[from] " of " part[from + 1]
            last = tenth
            fflush()
        }'
    return "$(sed -n '$s/^status //p' $log | grep . || echo 0)"
}
# What the compilers say is wrong, or where they do not the end of the log.
show_errors()
{
    grep -E 'error:|ERROR:|FAILED:' $log | cut -c1-300 | head -n 40 | grep . || tail -n 60 $log
}
how=setup
[ ! -e $build/build.ninja ] || how=configure
with_progress configuring meson $how $build -Dgpu_arch=$arch -Dwerror=$werror \
    -Dextent=$extent ||
    { show_errors; exit 1; }
rebuild=
if [ $# = 0 ]; then
    with_progress building ninja -C $build || { show_errors; exit 1; }
else # what is asked for by name is all that is built; Meson would build all where that is nothing
    rebuild=$(meson introspect --tests $build | python3 -c '
import json, sys
named = [test for test in json.load(sys.stdin) if test["name"] in sys.argv]
print("--no-rebuild" if named and not any(test["depends"] for test in named) else "")' "$@")
fi
rm -f $build/meson-logs/testlog*
# one more than there are processors, as some tests wait
export MESON_TESTTHREADS="${MESON_TESTTHREADS:-$(($(getconf _NPROCESSORS_ONLN) + 1))}"
status=0
with_progress testing meson test -C $build --setup $setup --print-errorlogs $rebuild "$@" ||
    status=$?
[ -n "$(ls $build/meson-logs/testlog*.json 2>/dev/null)" ] || { show_errors; exit 1; }
python3 test/summary.py $build/meson-logs $log "${CI:-}" || { [ $status != 0 ] || status=1; }
exit $status
