#!/bin/sh
# Every example compiles by the lines at its top: sh examples.sh ROOT [NVCC [BUILD]]. What Meson
# has compiled in the folder BUILD of the same source, with the same macros, is linked in its place.
# Lines that need what is not here (nvcc, MPI, NCCL, cuBLAS) are left out, and say so.
set -eu
root=$(CDPATH= cd "$1" && pwd)
nvcc=${2:-}
build=${3:-}
. "$(dirname "$0")/../vendor/setup.sh"
mkdir -p examples/bench
for folder in examples examples/bench; do
    cp "$root/$folder"/*.[ch]* $folder
done
CDPATH= cd examples
arch=-gencode=arch=compute_75,code=compute_75 # no machine code: that takes half the time
if [ -z "$build" ] && [ -n "$nvcc" ]; then
    mkdir build
    build=$PWD/build
    "$nvcc" -O3 $arch -c fastreduce.cu -o build/libfastreduce.a
fi

has_library()
{
    printf 'int main(void) { return 0; }\n' > empty.c
    # the bench counts in 64 bits, which cuBLAS does from CUDA 12 on
    [ "$1" != -lcublas ] ||
        printf '#include <cublas_v2.h>\nvoid *main(void) { return (void *)%s; }\n' cublasSasum_64 \
            > empty.c
    "$nvcc" empty.c "$1" -o empty 2>/dev/null
}

# object_of LINE: the path of what the build has made of the example's line, or would have
object_of()
{
    name=$(echo "$1" | sed 's/.*[ ]\([a-z_]*\)\.cu .*/\1/')
    case $example in bench/*) folder=examples_bench ;; *) folder=examples ;; esac
    object=$build/$name.p/${folder}_$name.cu.o
    case $1 in
    cc* | mpicc* | *' -x cu '*) ;;
    *FASTREDUCE_WITH_SHAPES*) echo "$build/libshapes.a" ;;
    *EVERY_FLOAT*) echo "$build/libevery_float.a" ;;
    *' fastreduce.cu '*) echo "$build/libfastreduce.a" ;;
    *BENCH_CUBLAS*) ! nm "$object" 2>/dev/null | grep -q cublas || echo "$object" ;;
    *) nm "$object" 2>/dev/null | grep -q cublas || echo "$object" ;;
    esac
}

for example in *.c *.cu bench/*.c bench/*.cu; do
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
            object=$(object_of "$line")
            if [ -e "$object" ]; then
                command=$(echo "$line" | sed "s|[a-z_]*\.cu |$object |")
            else
                # without CUB and Thrust, which take longest: the build compiles the bench with
                # them; and of sums of floats alone
                command=$(echo "$line" | sed \
                    -e 's|bench\.cu|-DBENCH_NO_CUB -DBENCH_NO_THRUST &|' \
                    -e 's|bench_[a-z]*\.cu|-DBENCH_NO_CUB -DFASTREDUCE_TYPES=FASTREDUCE_F32 &|' \
                    -e 's|bench_[a-z]*\.cu|-DFASTREDUCE_OPERATORS=FASTREDUCE_SUM &|')
            fi
            command=$(echo "$command" | sed -e "s|^nvcc|$nvcc|" -e "s|-arch=native|$arch|")
            (CDPATH= cd "$(dirname "$example")" && $command) > log 2>&1 ||
                { head -n 20 log | cut -c1-300; fail "$example: $line"; }
            pass "$line"
        fi
    done
done
