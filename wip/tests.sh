# runs tests, three at a time
run() { t0=$(date +%s); timeout ${LIMIT:-250} build/gpu/$1 $2 > $OUT/$1.txt 2>&1; rc=$?; echo "$1 $2: exit $rc, $(($(date +%s)-t0)) s: $(grep -v '^ *$' $OUT/$1.txt | tail -1 | cut -c1-150)"; [ $rc = 0 ] || { head -15 $OUT/$1.txt | cut -c1-200; }; }
export -f run
printf '%s\n' "$@" | xargs -P ${JOBS:-4} -I{} bash -c 'run {}'
