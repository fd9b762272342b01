#!/bin/sh
# Measures on this machine's GPU, and draws all figures of plot.py from that one run:
#
#     sh examples/bench/figures.sh [FOLDER [SIZES]]
#
# FOLDER (default: build/figures) gets the rows, named after the GPU, and the figures. SIZES is for
# bench's n=, by default 2^10 to 2^30, for which the GPU needs 5 GB. Takes some minutes, nvcc and
# matplotlib. BENCH in the environment names a bench that is built already.
set -eu
here=$(CDPATH= cd "$(dirname "$0")" && pwd)
folder=${1:-${here%/examples/bench}/build/figures}
sizes=${2:-2^10,2^12,2^14,2^16,2^18,2^20,2^22,2^23,2^24,2^25,2^26,2^27,2^28,2^30}
python3 -c 'import matplotlib' 2>/dev/null || # before minutes of measuring
    { echo "figures: needs matplotlib: python3 -m pip install matplotlib" >&2; exit 1; }
mkdir -p "$folder"
bench=${BENCH:-}
if [ -z "$bench" ]; then
    command -v nvcc >/dev/null || { echo "figures: no nvcc on the PATH" >&2; exit 77; }
    bench=$folder/bench
    echo "compiling bench" >&2
    nvcc -O3 -std=c++17 -arch=native "$here/bench.cu" -o "$bench"
fi

rows=$folder/rows.csv
part=$folder/part.csv
: > "$rows"
# The ladder first: of two rows of V7 at one size plot.py takes the first, so its bars are of a run.
# Not CUB's gpu_to_gpu, as its sum of 2^30 is wrong, and bench says so.
for what in "ladder n=2^28" "auto exact v7 cub thrust copy n=$sizes" \
    "--isolated auto exact cub n=$sizes" "--after-producer auto exact cub n=$sizes"; do
    echo "bench --csv $what" >&2
    status=0
    "$bench" --csv $what > "$part" || status=$?
    [ $status = 0 ] || { cat "$part" >&2; rm -f "$part" "$rows"; exit $status; }
    if [ -s "$rows" ]; then sed 1d "$part"; else cat "$part"; fi >> "$rows"
done
rm -f "$part"
gpu=$(sed -n '2s/^"\(NVIDIA \)*\([^"]*\)".*/\2/p' "$rows" | tr 'A-Z' 'a-z' | tr -cs 'a-z0-9\n' '-')
mv "$rows" "$folder/${gpu:-gpu}.csv"
echo "$folder/${gpu:-gpu}.csv"
python3 "$here/plot.py" "$folder/${gpu:-gpu}.csv" --out "$folder"
