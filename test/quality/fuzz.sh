#!/bin/sh
# Builds fuzz_exact.cpp and fuzz_floats.cpp and runs each from nothing: sh fuzz.sh ROOT [SECONDS].
# Exit 77 without a Clang that has libFuzzer and MPFR.
set -eu
root=$(CDPATH= cd "$1" && pwd)
seconds=${2:-20}
. "$(dirname "$0")/../vendor/setup.sh"
flags="-std=c++17 -O2 -g -fsanitize=fuzzer,undefined -fno-sanitize-recover=all"
cat > empty.cpp <<'EMPTY'
#include <mpfr.h>
extern "C" int LLVMFuzzerTestOneInput(const unsigned char *, unsigned long)
{
    return mpfr_get_version() == nullptr;
}
EMPTY
clang=
for one in $(clangs); do
    if $one $flags empty.cpp -lmpfr -lgmp -o empty 2>/dev/null; then clang=$one && break; fi
done
if [ -z "$clang" ]; then
    echo "SKIP: the fuzzer needs a Clang with libFuzzer, and MPFR"
    exit 77
fi
for target in fuzz_exact fuzz_floats; do
    $clang $flags -I "$root/test/simt" "$root/test/quality/$target.cpp" -lmpfr -lgmp -ldl \
        -o $target
    status=0
    ./$target -max_len=4096 -max_total_time="$seconds" -print_final_stats=1 > log 2>&1 || status=$?
    [ $status = 0 ] || { tail -n 40 log | cut -c1-300; fail "$target found a difference"; }
    inputs=$(sed -n 's/^stat::number_of_executed_units: *//p' log)
    echo "fuzz: $target, $inputs inputs in $seconds s, no difference"
done
