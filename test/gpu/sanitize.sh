#!/bin/sh
# compute-sanitizer's four tools over the GPU tests: sh sanitize.sh BUILD [TEST ...], BUILD a Meson
# build folder. A line a run; exit 1 if one found something or took longer than SECONDS_EACH
# (environment, 600), 77 without the tool or a GPU.
set -eu
build=$(CDPATH= cd "$1" && pwd)
shift
command -v compute-sanitizer >/dev/null || { echo "SKIP: no compute-sanitizer"; exit 77; }
"$build/test_types" >/dev/null 2>&1 || [ $? != 77 ] || { echo "SKIP: no GPU"; exit 77; }
[ $# -gt 0 ] || set -- test_types test_auto_types test_operators test_shapes test_columns test_dot \
    test_fold test_skip_nan test_launcher test_lists test_auto test_exact test_exact_floats \
    test_exact_shapes test_exact_atomics test_ladder test_every_size block_reduce test_order \
    test_soak
failed=0
for name in "$@"; do
    # of the copy engine: given for the tests that have any, as synccheck takes minutes more with it
    barriers=
    case $name in # what keeps a run short; without an argument they take up to an hour
        test_auto | test_exact | test_order) bound=quick barriers="--num-cuda-barriers 4096" ;;
        test_auto_types | test_operators | test_shapes | test_dot) bound=quick ;;
        test_columns | test_fold | test_skip_nan) bound=f32 ;;
        test_lists | test_exact_floats | test_exact_shapes) bound=quick ;;
        test_exact_atomics) bound=quick ;;
        test_launcher) bound=50000 ;;
        test_ladder) bound=3000 ;;
        test_every_size) bound=200 ;;
        test_soak) bound="500 1 60 100000" ;;
        *) bound= ;;
    esac
    for tool in memcheck racecheck synccheck initcheck; do
        [ $tool = synccheck ] && more=$barriers || more=
        begin=$(date +%s)
        status=0
        timeout "${SECONDS_EACH:-600}" compute-sanitizer --tool $tool $more --error-exitcode 9 \
            "$build/$name" $bound > "$build/sanitize.log" 2>&1 || status=$?
        echo "$tool $name $bound: exit $status, $(($(date +%s) - begin)) s," \
            "$(grep -o '[A-Z]* SUMMARY: .*\|[0-9]* checks, .*' "$build/sanitize.log" |
                paste -s -d ' ')"
        [ $status != 0 ] || continue
        failed=1
        grep -m 20 '=========' "$build/sanitize.log" || tail -n 5 "$build/sanitize.log"
    done
done
exit $failed
