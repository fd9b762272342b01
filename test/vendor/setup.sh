# Sourced by the vendoring tests, with $root set: goes to an empty folder that holds copies of the
# two files and the .cu file that defines the C functions, to be removed at exit. Each case prints
# one line: pass, skip or fail. done_testing ends the script, with 77 if no case ran.
tests=$(CDPATH= cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp "$root/fastreduce.h" "$root/fastreduce.cuh" "$folder"
CDPATH= cd "$folder"
printf '#define FASTREDUCE_IMPLEMENTATION\n#include "fastreduce.cuh"\n' > fastreduce.cu
cc=${CC:-cc}
cxx=${CXX:-c++}
# with WERROR in the environment, which Meson's option werror puts there, a warning is an error
werror=${WERROR:+-Werror}
nvcc_werror=${WERROR:+-Werror all-warnings}
passed=0
skipped=0
pass() { passed=$((passed + 1)); echo "ok: $*"; }
skip() { skipped=$((skipped + 1)); echo "skip: $1 ($2)"; }
fail() { echo "FAIL: $1"; exit 1; }

# run PROGRAM WHAT: the programs say by their exit status which check failed
run()
{
    status=0
    "$1" > output 2>&1 || status=$?
    [ $status = 0 ] || { cat output; fail "$2: exit $status"; }
}

done_testing()
{
    echo "vendoring: $passed passed, $skipped skipped"
    [ "$passed" -gt 0 ] || exit 77
}

# What only has to compile needs no optimising, which takes most of nvcc's time: the options that
# leave it out (one from CUDA 12.9 on)
unoptimised()
{
    if "$1" --help | grep -q -- --Ofast-compile; then echo -Ofc max; else echo -Xcicc -O0; fi
}
if [ -n "${nvcc:-}" ]; then
    export NVCC_APPEND_FLAGS="${NVCC_APPEND_FLAGS:-} $(unoptimised "$nvcc")"
    # by default it takes the standard of its host compiler, which may be older than C++17
    echo __cplusplus > standard.cu
    [ "$("$nvcc" -E standard.cu | tail -n 1)" != 201402L ] ||
        export NVCC_PREPEND_FLAGS="${NVCC_PREPEND_FLAGS:-} -std=c++17"
fi

# every Clang there is, the newest first
clangs()
{
    for version in $(seq 40 -1 14) ''; do
        compiler=$(command -v clang++${version:+-$version}) &&
            echo "$(readlink -f "$compiler") $compiler"
    done | awk '!seen[$1]++ { print $2 }' # clang++ is one of the others, most often
}

# What a compiler is told of float arithmetic: what changes it most, and all else
most_options='-O1 -ffast-math
-O3 -ffast-math $native
-Ofast -w'
all_options="-O0
-Os -ffinite-math-only
-O2 -funsafe-math-optimizations
-O3 -ffp-contract=fast \$native
$most_options"

# same_bits OPTIONS COMPILER FOLDER [COMMAND...]: whatever the compiler is told, results on the CPU
# have the bits that the first build of all gave them. The command begins each build and each run,
# and finds in FOLDER what is here.
same_bits()
{
    options=$1 compiler=$2 from=$3
    shift 3
    native=-march=native # where the compiler knows this processor: Clang 19 warns of AVX10.1's
    "$@" $compiler $native -Werror -fsyntax-only "$from/test/host/bits.c" 2> /dev/null || native=
    echo "$options" | sed "s/[$]native/$native/" > options
    while read -r option; do
        "$@" $compiler $option -std=c99 -Wall -Wextra -Wpedantic -Wshadow -Wconversion \
            -Wswitch-default $werror "$from/test/host/bits.c" -o "$from/bits" -lm ||
            fail "$compiler $option"
        bits=$("$@" "$from/bits") || fail "$compiler $option: $bits"
        [ "$bits" = "${wanted:=$bits}" ] || fail "$compiler $option: $bits, and not $wanted"
    done < options
    pass "$compiler: the same bits on the CPU," $(tr '\n' ',' < options)
}

same_bits_of_installed()
{
    mkdir -p test/host
    cp "$tests"/../host/*.[ch] test/host
    same_bits "$all_options" "$cc" .
    for clang in $(clangs | sed 's/clang++/clang/'); do same_bits "$most_options" "$clang" .; done
}

# Some types and operators, of each kind of code one, where all of them would take minutes.
some="-DFASTREDUCE_TYPES=FASTREDUCE_F32\\,FASTREDUCE_F16\\,FASTREDUCE_I8\\,FASTREDUCE_U64"
some="$some -DFASTREDUCE_OPERATORS=FASTREDUCE_SUM\\,FASTREDUCE_ARGMIN\\,FASTREDUCE_VARIANCE"
few="-DFASTREDUCE_TYPES=FASTREDUCE_F32\\,FASTREDUCE_F16"
few="$few -DFASTREDUCE_OPERATORS=FASTREDUCE_SUM\\,FASTREDUCE_ARGMIN"
sums="-DFASTREDUCE_TYPES=FASTREDUCE_F32 -DFASTREDUCE_OPERATORS=FASTREDUCE_SUM"
