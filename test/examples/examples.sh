#!/bin/sh
# Every example compiles by the lines at its top: sh examples.sh ROOT [NVCC]. The object of
# fastreduce.cu, which most of them name as it is, is compiled once. Lines that need what is not
# here (nvcc, MPI, NCCL, cuBLAS) are left out, and say so.
set -eu
root=$(CDPATH= cd "$1" && pwd)
nvcc=${2:-}
. "$(dirname "$0")/../vendor/setup.sh"
mkdir examples
cp "$root"/examples/*.c "$root"/examples/*.cu "$root"/examples/*.h "$root"/examples/*.cuh \
    examples
CDPATH= cd examples
arch=-gencode=arch=compute_75,code=compute_75 # no machine code: that takes half the time
[ -z "$nvcc" ] || "$nvcc" -O3 $arch -c fastreduce.cu

has_library()
{
    printf 'int main(void) { return 0; }\n' > empty.c
    # the bench counts in 64 bits, which cuBLAS does from CUDA 12 on
    [ "$1" != -lcublas ] ||
        printf '#include <cublas_v2.h>\nvoid *main(void) { return (void *)%s; }\n' cublasSasum_64 \
            > empty.c
    "$nvcc" empty.c "$1" -o empty 2>/dev/null
}

for example in *.c *.cu; do
    [ "$example" != fastreduce.cu ] || continue
    case $example in empty.*) continue ;; esac
    lines=$(sed -n '2,/\*\//s/^ \*     \(\(nvcc\|cc\|mpicc\) .*\)/\1/p' "$example" |
        sed -e 's/ *&&.*//' -e 's/   *(.*//' -e 's/;.*//')
    [ -n "$lines" ] || fail "$example: no line to compile it by"
    echo "$lines" | while read -r line; do
        compiler=${line%% *}
        library=$(echo "$line" | grep -o -- '-lnccl\|-lcublas' || true)
        case $line in *mpicxx*) also=mpicxx ;; *) also=$compiler ;; esac
        if [ "$also" != nvcc ] && ! command -v "$also" >/dev/null; then
            skip "$line" "no $also"
        elif [ "$compiler" = nvcc ] && [ -z "$nvcc" ]; then
            skip "$line" "no nvcc"
        elif [ -n "$library" ] && ! has_library "$library"; then
            skip "$line" "no $library"
        else
            # without CUB and Thrust, which take longest: the build compiles the bench with them;
            # and of sums of floats alone
            command=$(echo "$line" | sed -e "s|^nvcc|$nvcc|" -e "s|-arch=native|$arch|" \
                -e 's|bench\.cu|-DBENCH_NO_CUB -DBENCH_NO_THRUST &|' \
                -e 's|bench_[a-z]*\.cu|-DBENCH_NO_CUB -DFASTREDUCE_TYPES=FASTREDUCE_F32 &|' \
                -e 's|bench_[a-z]*\.cu|-DFASTREDUCE_OPERATORS=FASTREDUCE_SUM &|')
            case $line in
            *' -x cu '* | *FASTREDUCE_WITH_SHAPES* | *EVERY_FLOAT*) ;;
            *) command=$(echo "$command" | sed 's|fastreduce\.cu|fastreduce.o|') ;;
            esac
            $command > log 2>&1 || { head -n 20 log | cut -c1-300; fail "$example: $line"; }
            pass "$line"
        fi
    done
done
