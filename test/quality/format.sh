#!/bin/sh
# No source line is longer than 100 columns, and every C, C++ and CUDA file is as clang-format
# leaves it: sh format.sh [ROOT] [--fix], which lets clang-format make it so. The versions of
# clang-format differ, so only one counts; without it the lines are still measured. The documents'
# tables, the licence and the figures may be wider. Scripts bear CDPATH and CXX="ccache g++".
set -eu
fix=
root=$(dirname "$0")/../..
for argument in "$@"; do
    if [ "$argument" = --fix ]; then fix=1; else root=$argument; fi
done
CDPATH= cd "$root"

# sources TEST...: the files that pass these tests of find's, but in build folders and what git
# keeps. Not by git, as a release has none.
sources()
{
    find . \( -path './build*' -o -path './.git' -o -name 'meson-*' \) -prune -o \
        -type f \( "$@" \) -print | sort | tr '\n' '\0'
}

set -- -name '*.c' -o -name '*.h' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh'
# A column is a character: of its bytes in UTF-8, those of the form 10xxxxxx do not count.
sources "$@" -o -name '*.py' -o -name '*.sh' -o -name 'meson*' -o -path './.ci/*' |
    LC_ALL=C xargs -0 awk '
        { line = $0; gsub(/[\200-\277]/, "", line) }
        length(line) > 100 { print FILENAME ":" FNR ": " length(line) " columns"; long = 1 }
        END { exit long }' || { echo "FAIL: lines of more than 100 columns"; exit 1; }
echo "format: no line is longer than 100 columns"
# With CDPATH a cd may print its folder, or take another one of that name.
if sources -name '*.sh' -o -path './.ci/*' |
    xargs -0 grep -nE '(^|[(;{&]) *cd ["$a-z./]|"[$](cc|cxx)" -'; then
    echo 'FAIL: cd without CDPATH= before it, or a compiler as one word'
    exit 1
fi

if ! clang-format --version 2>/dev/null | grep -q 'version 14\.'; then
    echo "SKIP: needs clang-format 14"
    exit 77
fi
[ -z "$fix" ] || sources "$@" | xargs -0 clang-format -i
sources "$@" | xargs -0 clang-format --dry-run --Werror
echo "format: every file is formatted"
