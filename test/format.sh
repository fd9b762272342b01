#!/bin/sh
# Every C, C++ and CUDA file is as clang-format leaves it: sh format.sh ROOT. Its versions differ,
# so only one counts.
set -eu
cd "$1"
clang-format --version 2>/dev/null | grep -q 'version 14\.' || { echo "SKIP: needs clang-format 14"; exit 77; }
find . -path './build*' -prune -o \( -name '*.c' -o -name '*.h' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' \) \
    -print | sort | xargs clang-format --dry-run --Werror
echo "format: every file is formatted"
