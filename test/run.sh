#!/bin/sh
# Installs what the tests lack, builds everything and runs all tests: sh test/run.sh [ARGUMENTS OF MESON TEST].
# With nvcc the GPU code is compiled too, for every architecture it knows, or for the GPU that is there; what needs a
# GPU is skipped where there is none.
set -eu
cd "$(dirname "$0")/.."
. test/setup.sh
need cc gcc libc6-dev
need g++ g++
need python3 python3
need meson meson
need ninja ninja-build
need addr2line binutils
need pkg-config pkg-config
[ -e /usr/include/mpfr.h ] || install_packages libmpfr-dev libgmp-dev
# The tests do without these. The newest Clang there is reads the most CUDA toolkits; pip brings other toolkits.
(need clang-format clang-format) || true
(need make make) || true
(need cmake cmake) || true
(need gcovr gcovr) || true
python3 -m pip --version >/dev/null 2>&1 || (install_packages python3-pip) || true
clang=$(apt-cache search --names-only '^clang-[0-9]+$' 2>/dev/null | cut -d ' ' -f 1 | sort -V | tail -n 1)
[ -z "$clang" ] || (need "$clang" "$clang") || true
[ -z "$clang" ] || [ -n "$(ls -d /usr/lib/llvm-*/lib/clang/*/lib/*/libclang_rt.fuzzer*.a 2>/dev/null)" ] ||
    (install_packages "libclang-rt-${clang#clang-}-dev") || echo "no libFuzzer: the exact sum is not fuzzed"
if ! command -v mpicc >/dev/null 2>&1 || ! command -v mpirun >/dev/null 2>&1; then
    (install_packages libopenmpi-dev openmpi-bin) || echo "Open MPI cannot be installed: sum_mpi is not tested"
fi

if have_gpu; then arch=native; else arch=all; fi
build=build/test
if [ -e $build/build.ninja ]; then
    meson configure $build -Dgpu_arch=$arch
else
    meson setup $build -Dgpu_arch=$arch
fi
ninja -C $build
status=0
meson test -C $build --print-errorlogs "$@" || status=$?

# which barriers were taken out, what went unnoticed, coverage, what a build costs, why tests were skipped, and a closing line
log=$build/meson-logs/testlog.txt
grep -hE '^(fastreduce.cuh:[0-9]+ __sync|fastreduce.*: SURVIVED|mutants:|coverage:|cost:|fuzz:|SKIP|skip:|no GPU here)' $log | cut -c1-150 || true
awk '/^Ok:/ { ok = $2 } /^Fail:/ { fail = $2 } /^Timeout:/ { late = $2 } /^Skipped:/ { skip = $2 }
    END { printf "tests: %d passed, %d failed, %d skipped\n", ok, fail + late, skip }' $log
exit $status
