#!/bin/sh
# A C program with vendored copies of the two files, under Make, CMake and Meson; and CMake projects
# that take examples/cmake's targets in each way it names: sh build_systems.sh ROOT NVCC.
set -eu
root=$(CDPATH= cd "$1" && pwd)
nvcc=$2
. "$(dirname "$0")/setup.sh"
sed -i -e '1i #define FASTREDUCE_TYPES FASTREDUCE_F32' \
    -e '1i #define FASTREDUCE_OPERATORS FASTREDUCE_SUM' fastreduce.cu

# project NAME: a folder with the program and what it vendors
project()
{
    mkdir -p "$1/vendor"
    cp fastreduce.h fastreduce.cuh fastreduce.cu "$1/vendor"
    cp "$tests/main.c" "$1"
}
have() { command -v "$1" >/dev/null 2>&1; }

project make
cat > make/Makefile <<'MAKE'
program: main.o vendor/fastreduce.o
	$(NVCC) -o $@ $^
main.o: main.c vendor/fastreduce.h
	$(CC) -std=c99 -Ivendor -c -o $@ $<
vendor/fastreduce.o: vendor/fastreduce.cu vendor/fastreduce.cuh vendor/fastreduce.h
	$(NVCC) -O3 -arch=sm_80 -c -o $@ $<
MAKE
if have make; then
    make -s -C make NVCC="$nvcc" || fail "Make"
    run make/program "Make"
    pass "Make"
else
    skip "Make" "not installed"
fi

project cmake
sed -i '/FASTREDUCE_[TO]/d' cmake/vendor/fastreduce.cu
cat > cmake/CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.18)
project(program LANGUAGES C)
enable_language(CUDA)
add_library(fastreduce STATIC vendor/fastreduce.cu)
target_include_directories(fastreduce PUBLIC vendor)
target_compile_definitions(fastreduce PRIVATE FASTREDUCE_OPERATORS=FASTREDUCE_SUM
  FASTREDUCE_TYPES=FASTREDUCE_F32+FASTREDUCE_U8)
add_executable(program main.c)
target_link_libraries(program PRIVATE fastreduce)
CMAKE
if have cmake; then
    cmake -S cmake -B cmake/build -DCMAKE_CUDA_COMPILER="$nvcc" -DCMAKE_CUDA_ARCHITECTURES=80 \
        > log 2>&1 && cmake --build cmake/build >> log 2>&1 || { cat log; fail "CMake"; }
    run cmake/build/program "CMake"
    pass "CMake, with a list of types"
else
    skip "CMake" "not installed"
fi

# The C program links the C functions, a CUDA program that calls templates links the headers alone.
mkdir -p targets fastreduce/examples
cp fastreduce.h fastreduce.cuh fastreduce
cp -r "$root/examples/cmake" fastreduce/examples
tar -cf fastreduce.tar fastreduce
mv fastreduce targets
cp "$tests/main.c" targets
cat > targets/templates.cu <<'TEMPLATES'
#include "fastreduce.cuh"
int main()
{
    float sum;
    const fastreduce_status status = fastreduce::reduce<fastreduce::plus>(&sum, &sum, 1);
    return *fastreduce::status_string(status) != 'i'; /* invalid argument: they overlap */
}
TEMPLATES

# project_by LINE: takes the lines from this one on, in the comment of examples/cmake/CMakeLists.txt
project_by()
{
    {
        printf '%s\n' 'cmake_minimum_required(VERSION 3.18)' 'project(program LANGUAGES C CUDA)'
        sed -n "/^#     $1/,/^#\$/s/^#  *//p" "$root/examples/cmake/CMakeLists.txt" |
            sed "s|https://[.]*|$folder/fastreduce.tar|"
        cat <<'CMAKE'
add_executable(program main.c)
target_link_libraries(program PRIVATE fastreduce::c)
target_compile_definitions(program PRIVATE FASTREDUCE_OPERATORS=FASTREDUCE_SUM
  FASTREDUCE_TYPES=FASTREDUCE_F32 FASTREDUCE_NO_EXACT)
add_executable(templates templates.cu)
target_link_libraries(templates PRIVATE fastreduce::fastreduce)
CMAKE
    } > targets/CMakeLists.txt
    cmake -S targets -B "$1" -DCMAKE_CUDA_COMPILER="$nvcc" -DCMAKE_CUDA_ARCHITECTURES=80 \
        -DCMAKE_PREFIX_PATH="$folder/installed" > log 2>&1 && cmake --build "$1" >> log 2>&1 ||
        { cat log; fail "CMake, $1"; }
    run "$1/program" "CMake, $1, fastreduce::c"
    run "$1/templates" "CMake, $1, fastreduce::fastreduce"
    pass "CMake, $1: fastreduce::c and fastreduce::fastreduce"
}
if have cmake; then
    project_by add_subdirectory
    rm -r targets/fastreduce
    project_by include
    if have meson && have ninja; then
        meson setup -Dtests=false --prefix="$folder/installed" install "$root" > log 2>&1 &&
            meson install -C install >> log 2>&1 || { cat log; fail "meson install"; }
        project_by find_package
    fi
fi

# As a subproject, of which the two files and what Meson reads are enough.
project meson
mkdir meson/subprojects
mv meson/vendor meson/subprojects/fastreduce
mv meson/subprojects/fastreduce/fastreduce.cu meson
cp "$root/meson.build" "$root/meson_options.txt" meson/subprojects/fastreduce
cat > meson/meson.build <<'MESON'
project('program', 'c', 'cuda', default_options: ['buildtype=release'])
executable('program', 'main.c', 'fastreduce.cu', dependencies: dependency('fastreduce'),
  cuda_args: '-arch=sm_80')
MESON
if have meson && have ninja; then
    NVCC=$nvcc meson setup meson/build meson > log 2>&1 && ninja -C meson/build >> log 2>&1 ||
        { cat log; fail "Meson"; }
    run meson/build/program "Meson"
    [ "$(meson introspect --targets meson/build | grep -o '"type": "[a-z ]*"' | wc -l)" = 1 ] ||
        fail "Meson: the subproject adds targets"
    [ "$(meson introspect --installed meson/build)" = "{}" ] ||
        fail "Meson: the subproject installs itself"
    pass "Meson subproject"
else
    skip "Meson" "not installed"
fi
done_testing
