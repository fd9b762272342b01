#!/bin/sh
# Grades the course's exercises on the CPU machine, which needs a C++ compiler and nothing else; it
# is installed if need be:
#
#     sh examples/course/check.sh             all of them, as they stand in this folder
#     sh examples/course/check.sh 3           one
#     sh examples/course/check.sh 3 mine.cu   a copy; or several, of a class
#     sh examples/course/check.sh 3 --answer  the answer to the lesson's question
#     sh examples/course/check.sh 3 --hint    a hint; again for the next one, then the solution
#     sh examples/course/check.sh 3 --picture [mine.cu]  what the kernel does, drawn as mine.svg
#     sh examples/course/check.sh --progress  what is passed, and what it takes beside the best
#     sh examples/course/check.sh --tsv ...   the first three, as a table for programs (teachers.md)
#
# A solution may take 10 seconds of the processor, or what COURSE_SECONDS in the environment says.
# Where there are nvcc and a GPU, a right one is also timed there, beside the library's own kernel.
# 0 if all that was graded is right, 1 if not, 2 if asked for what there is not.
set -eu
course=$(CDPATH= cd "$(dirname "$0")" && pwd)
top=$(CDPATH= cd "$course/../.." && pwd)
build=${COURSE_BUILD:-$top/build/course}
cxx=${CXX:-c++}
. "$top/test/setup.sh"
need "${cxx%% *}" g++
install_missing >&2
mkdir -p "$build"

usage()
{
    sed -n '5,12s/^# *//p' "$course/check.sh" >&2
    exit 2
}

# compile OUT OPTIONS...: for the CPU machine. -gdwarf-4: addr2line 2.40 mixes up files of DWARF 5
compile()
{
    out=$1
    shift
    $cxx -std=c++17 -Og -g1 -gdwarf-4 -Wno-unknown-pragmas \
        -I "$top/test/simt" -I "$course" "$@" -o "$out" \
        -pthread -ldl 2> "$out.log"
}

# made OUT OPTIONS...: the same, if a source is newer that is no lesson's
made()
{
    [ ! -e "$1" ] || [ -n "$(find "$top/fastreduce.h" "$top/fastreduce.cuh" "$course" \
        "$top/test/simt" "$top/test/common" -type f ! -name '[0-9]*' -newer "$1" |
        head -n 1)" ] || return 0
    compile "$@" || { cat "$1.log" >&2; exit 1; }
}

# starts FILE...: whether the initialisers of several files' globals let main begin
starts()
{
    [ $# = 1 ] || [ "$("$build/grader-$$" || true)" = starts ]
}

# not_yet SENTENCE: of what is not run
not_yet()
{
    echo "  NOT YET $1"
    printf 'wrong\t%s\t\t\t\t\t\t\t\n' "$(printf %s "$1" | tr -s '\t\n ' ' ')" > "$build/result-$$"
}

# keep NUMBER FILE: the result, for --tsv, and for --progress
keep()
{
    { printf '%s\t%s\t' "$1" "$2"; cat "$build/result-$$"; } | tee -a "$kept" >&3
}

# grade_files NUMBER FILE...: those that are there
grade_files()
{
    number=$1
    shift
    missing=0
    for file; do
        shift
        if [ -f "$file" ]; then
            set -- "$@" "$file"
        else
            missing=1
            echo "lesson $number: $file"
            not_yet "there is no such file."
            keep "$number" "$file"
        fi
    done
    [ $# = 0 ] || grade "$number" "$@" || return 1
    return $missing
}

# grade NUMBER FILE...
grade()
{
    number=$1
    shift
    host=
    case $number in 1 | 13 | 14 | 15) host=-DCOURSE_ON_THE_HOST ;; esac
    made "$build/grader.o" -c "$course/grader.cpp"
    sh "$course/sources.sh" "$@" > "$build/all-$$.cpp"
    if ! compile "$build/grader-$$" "-DLESSON=$number" $host "$build/all-$$.cpp" \
        "$build/grader.o" || ! starts "$@"; then
        if [ $# -gt 1 ]; then # which one is it?
            worst=0
            for file; do
                grade "$number" "$file" || worst=1
            done
            return $worst
        fi
        echo "lesson $number: $1"
        not_yet "it does not compile:
$(grep -aE 'error|undefined reference' "$build/grader-$$.log" | head -n 3 | sed 's/^/          /')"
        keep "$number" "$1"
        return 1
    fi
    all=0
    count=0
    for file; do
        echo "lesson $number: $file"
        if [ -n "${picture:-}" ]; then
            draw "$number" "$file" $count || all=1
            count=$((count + 1))
            continue
        fi
        ! grep -q 'YOUR CODE' "$file" || echo "  (there is still the hole in it)"
        rm -f "$build/result-$$"
        "$build/grader-$$" $count results "$build/result-$$" 3>&- || true
        [ -s "$build/result-$$" ] ||
            not_yet "an initialiser of a global ends the program before main, or never ends."
        if grep -q ^right "$build/result-$$"; then
            case $number in [2-9] | 1[0-2]) time_on_gpu "$number" "$file" ;; esac
        else
            all=1
        fi
        keep "$number" "$file"
        count=$((count + 1))
    done
    return $all
}

# draw NUMBER FILE COUNT: what its kernel does, beside the library's, as an SVG beside the file
draw()
{
    rm -f "$build/yours-$$"
    "$build/grader-$$" "$3" picture "$build/yours-$$" && [ -s "$build/yours-$$" ] || return 1
    "$build/answers" picture "$1" > "$build/ours-$$"
    python3 -B "$course/picture.py" "$2" "$build/yours-$$" "$build/ours-$$"
}

time_on_gpu()
{
    command -v nvcc >/dev/null 2>&1 || return 0
    nvidia-smi -L 2>/dev/null | grep -q GPU || return 0
    file=$(CDPATH= cd "$(dirname "$2")" && pwd)/$(basename "$2")
    if nvcc -O3 -std=c++17 -arch=native "-DLESSON=$1" "-DSOLUTION=\"$file\"" -I "$course" \
        "$course/gpu.cu" -o "$build/gpu-$$" 2> "$build/gpu-$$.log"; then
        "$build/gpu-$$"
    else
        echo "  GPU     nvcc does not compile it: $(grep -m1 error "$build/gpu-$$.log")"
    fi
}

# hint NUMBER: the next part of the lesson's hints, and after the last one the first
hint()
{
    hints=$course/hints/$(printf '%02d' "$1").md
    last=$(cat "$build/hint.$1" 2>/dev/null || echo 0)
    next=$((last % $(grep -c '^## ' "$hints") + 1))
    awk -v next_part=$next '/^## / { ++part } part == next_part' "$hints"
    echo $next > "$build/hint.$1"
}

trap 'rm -f "$build"/*-$$ "$build"/*-$$.*' EXIT
trap 'exit 130' HUP INT TERM
status=0
kept=$build/results.tsv
exec 3>/dev/null
if [ "${1:-}" = --tsv ]; then
    shift
    kept=/dev/null
    time_on_gpu() { :; }
    exec 3>&1 >/dev/null
    printf 'lesson\tfile\tverdict\tsentence\tbarriers\tavoidable\tconflicts\tlanes\tlines\t' >&3
    printf 'loads\tshuffles\n' >&3
elif [ "${1:-}" = --progress ]; then
    exec sh "$course/progress.sh" "$kept"
fi
if [ $# = 0 ]; then
    for exercise in "$course"/[0-9]*.cu; do
        number=$(basename "$exercise" | sed 's/^0*\([0-9]*\).*/\1/')
        grade "$number" "$exercise" || status=1
    done
    exit $status
fi
if [ "$1" = --costs ]; then # for made.sh
    made "$build/answers" "$course/answers.cpp"
    exec "$build/answers" costs "$2"
fi
case $1 in *[!0-9]* | '') usage ;; esac
number=$(echo "$1" | sed 's/^0*//')
exercise=$(ls "$course/$(printf '%02d' "$number")"-*.cu 2>/dev/null) || usage
shift
if [ "${1:-}" = --answer ]; then
    made "$build/answers" "$course/answers.cpp"
    exec "$build/answers" "$number"
fi
if [ "${1:-}" = --hint ]; then
    hint "$number"
    exit
fi
if [ "${1:-}" = --picture ]; then
    shift
    picture=1
    need python3 python3
    install_missing >&2
    made "$build/answers" "$course/answers.cpp"
fi
case ${1:-} in -*) usage ;; esac
[ $# -gt 0 ] || set -- "$exercise"
[ $# = 1 ] || kept=/dev/null # a class
grade_files "$number" "$@" || status=1
exit $status
