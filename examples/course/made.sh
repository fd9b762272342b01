#!/bin/sh
# What the lessons show of the kernels is made from them: the lines between `<!-- made: COMMAND -->`
# and `<!-- /made -->`. sh examples/course/made.sh makes them again; with --check it only says which
# lesson is not up to date. A COMMAND is
#
#     diff KERNEL KERNEL    from the one to the other
#     kernel NAME           a function of fastreduce.cuh or steps.cuh
#     costs KERNEL          what one block of it does, counted by the CPU machine
#     measured N...         times of these sizes, from the first table of examples/results.md
#     by_index N...         times of so many sums by index, from the table of random indices there
#     rungs                 V0 to V7, from the lines "V0 to V7 sum 2^28 floats in ..." there
set -eu
course=$(CDPATH= cd "$(dirname "$0")" && pwd)
top=$(CDPATH= cd "$course/../.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# function_named NAME: from its template line to its last brace
function_named()
{
    cat "$course/steps.cuh" "$top/fastreduce.cuh" | awk -v name="$1" '
        /^$/ && !body { text = head = ""; next }
        { text = text $0 "\n" }
        /^{/ && index(head, "(") { body = 1 }
        /^{/ && !body { text = ""; next }
        !body { head = head $0 " " }
        /^}/ {
            if (body && match(head, "[ *]" name "\\(")) { printf "%s", text; found = 1; exit }
            text = head = ""
            body = 0
        }
        /^ \*\/|\*\/$/ && !body { text = head = "" }
        END { exit !found }' || { echo "made.sh: there is no $1" >&2; exit 1; }
}

case ${1:-} in
diff)
    function_named "$2" > "$folder/from"
    function_named "$3" > "$folder/to"
    printf '```diff\n'
    diff -U 3 "$folder/from" "$folder/to" | sed -e 1,3d -e 's/^@@.*/@@/'
    printf '```\n'
    exit
    ;;
kernel)
    printf '```cpp\n'
    function_named "$2"
    printf '```\n'
    exit
    ;;
measured)
    shift
    awk -F ' *[|] *' -v sizes="$*" '
        $2 == "n" && !columns {
            columns = split(sizes, size, " ")
            for (k = 1; k <= columns; ++k)
                for (f = 3; f < NF; ++f) if ($f == size[k]) place[k] = f
            row = "| n |"; line = "|---|"
            for (k = 1; k <= columns; ++k) { row = row " " size[k] " |"; line = line "---|" }
            print row; print line
        }
        columns && $2 ~ /^(AUTO|EXACT|V7|CUB)$/ {
            row = "| " $2 " |"
            for (k = 1; k <= columns; ++k) row = row " " $place[k] " |"
            print row
        }
        columns && /^$/ { exit }' "$top/examples/results.md"
    exit
    ;;
by_index)
    shift
    awk -F ' *[|] *' -v sizes="$*" '
        function print_row() {
            printf "| %s |", $2
            for (k = 1; k <= columns; ++k) printf " %s |", $place[k]
            print ""
        }
        $2 == "sums" {
            columns = split(sizes, size, " ")
            for (k = 1; k <= columns; ++k)
                for (f = 3; f < NF; ++f) if ($f == size[k]) place[k] = f
            print_row()
            for (k = 0; k <= columns; ++k) printf "|---"
            print "|"
            rows = 2
            next
        }
        rows && /^[|] (random|over `atomicAdd`)/ { print_row(); if (--rows == 0) exit }
        ' "$top/examples/results.md"
    exit
    ;;
rungs)
    awk -F ' *[|] *' '
        /^V0 to V7 sum 2\^[0-9]+ floats in / {
            gsub(/,|and /, "")
            split($0, word, " ")
            head = head " " word[5] ", µs |"
            for (k = 0; k < 8; ++k) times[k] = times[k] " " word[8 + k] " |"
        }
        /^<!-- profile -->/ {
            print "| |" head " of the peak |"
            gsub(/[^|]/, "", head)
            gsub(/[|]/, "---|", head)
            print "|---|" head "---|"
            on = 1
        }
        on && $2 ~ /^V[0-7]$/ { print "| " $2 " |" times[substr($2, 2)] " " $(NF - 1) " |" }
        /^<!-- \/profile -->/ { exit }' "$top/examples/results.md"
    exit
    ;;
costs)
    sh "$course/check.sh" --costs "$2"
    exit
    ;;
esac

status=0
for lesson in "$course"/[0-9]*.md; do
    awk -v made="sh '$course/made.sh' " '
        !skip { print }
        /^<!-- made: .* -->$/ {
            skip = 1
            command = made substr($0, 12, length($0) - 15)
            while ((command | getline line) > 0) { print line; lines++ }
            if (close(command) != 0 || !lines) exit 1
            lines = 0
        }
        /^<!-- \/made -->$/ { skip = 0; print }' "$lesson" > "$folder/lesson"
    if cmp -s "$lesson" "$folder/lesson"; then continue; fi
    if [ "${1:-}" = --check ]; then
        echo "$(basename "$lesson") is not what made.sh makes of the kernels:"
        diff "$lesson" "$folder/lesson" || status=1
    else
        cp "$folder/lesson" "$lesson"
    fi
done
exit $status
