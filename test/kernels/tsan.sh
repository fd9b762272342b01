#!/bin/sh
# Runs a program that was built with the thread sanitizer: sh tsan.sh PROGRAM. Exit 77 where the
# kernel spreads addresses wider than this compiler's sanitizer knows.
status=0
output=$("$1" 2>&1) || status=$?
echo "$output"
case $output in *'unexpected memory mapping'*)
    echo "SKIP: the thread sanitizer does not start: vm.mmap_rnd_bits is too large for it"
    exit 77
    ;;
esac
exit $status
