#!/bin/sh
# sources.sh FILE...: prints a C++ program that has these solutions in it, for check.sh.
set -eu

# shared_arrays FILE NAMESPACE: those of FILE whose size a launch says are one memory
shared_arrays()
{
    sed -n '/__shared__/{/extern/{
        s|^ *[/ ]\*.*||
        s|//.*||
        s/.*extern//
        s/__shared__//
        s/^ *\(.*[^A-Za-z0-9_]\)\([A-Za-z_][A-Za-z0-9_]*\) *\[ *\].*/\1|\2/p
    }}' "$1" | sort -u -t '|' -k 2 | {
        IFS='|' read -r type first || { type=float first=of_no_launch; }
        printf '#define SHARED_TYPE %s\n#define SHARED_NAME %s\n' "$type" "$first"
        mangled=_ZN${#2}$2
        while IFS='|' read -r type name; do
            printf '__asm__(".globl %s\\n.set %s, %s");\n' "$mangled${#name}${name}E" \
                "$mangled${#name}${name}E" "$mangled${#first}${first}E"
        done
    }
}

cat "$@" | grep '^ *# *include *<' || true # which may not be inside of a namespace
printf '#include "course.h"\n#include "steps.cuh"\n#undef float\n#include "lessons.h"\n'
count=0
entries=
for file; do
    count=$((count + 1))
    shared_arrays "$file" "file$count"
    printf '#define NAME file%d\n#define SOLUTION "%s"\n#include "solution.cpp"\n' $count \
        "$(CDPATH= cd "$(dirname "$file")" && pwd)/$(basename "$file")"
    entries="$entries &file$count::entry,"
done
echo "const course::solution *const course::solutions[] = {$entries};"
