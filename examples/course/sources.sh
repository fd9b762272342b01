#!/bin/sh
# sources.sh FILE...: prints a C++ program that has these solutions in it, for check.sh.
set -eu
export LC_ALL=C
blank='[[:blank:]]*'

# The headers come first, as none may be inside of a namespace.
sed -n "s/^$blank#${blank}include$blank\(<[^>]*>\).*/#if __has_include(\1)\\
#include \1\\
#endif/p" "$@"
cat <<'END'
#include "course.h"
#include "steps.cuh"
#pragma push_macro("float")
#pragma push_macro("double")
#undef float
#undef double
#include "lessons.h"
#pragma pop_macro("float")
#pragma pop_macro("double")
alignas(128) thread_local unsigned char course::dynamic_shared[simt::most_dynamic_shared];
extern "C" void begin_nothing() {} /* as GCC asks for it of such an array in a template */
#define simt the_CPU_machine_which_CUDA_has_not
END
count=0
entries=
for file; do
    count=$((count + 1))
    printf 'namespace file%d\n{\n#include "%s"\n' $count \
        "$(CDPATH= cd "$(dirname "$file")" && pwd)/$(basename "$file")"
    # Its macros end with it, unless one stands for what the lesson asks for.
    sed -n "s/^$blank#${blank}define$blank\([[:alpha:]_][[:alnum:]_]*\).*/#undef \1/p" "$file" |
        grep -vxE '#undef (block_sums|sum|pairwise|microseconds|row_sums|sums_by_index)' || true
    printf '} // namespace file%d\n#define NAME file%d\n#include "solution.cpp"\n' $count $count
    # Arrays of shared memory whose size a launch says are one memory.
    tr '\n;' ' \n' < "$file" | grep -a extern | grep -a __shared__ | sed -n \
        's/.*[^[:alnum:]_]\([[:alpha:]_][[:alnum:]_]*\)[[:space:]]*\[[[:space:]]*\].*/\1/p' |
        sort -u | while read -r array; do
        array=N$((4 + ${#count}))file$count${#array}${array}E
        printf '__asm__(".globl %s, %s\\n.set %s, %s\\n.set %s, %s");\n' "_Z$array" \
            "_ZTH$array" "_Z$array" _ZN6course14dynamic_sharedE "_ZTH$array" begin_nothing
    done
    entries="$entries &file$count::of_course::entry,"
done
echo "const course::solution *const course::solutions[] = {$entries};"
