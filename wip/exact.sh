# On the GPU machine: EXACT of many results, main's (old) beside this branch's (new). $1: root of old, $2: of new
set -e
T='-DFASTREDUCE_TYPES=FASTREDUCE_F32\,FASTREDUCE_F64\,FASTREDUCE_F16 -DFASTREDUCE_OPERATORS=FASTREDUCE_SUM'
b() { nvcc -O3 -std=c++17 -arch=sm_90 -DBENCH_NO_CUB $T $1/examples/bench_shapes.cu -o $2 & }
b $1 old; b $2 new
(cd $2/wip && nvcc -O3 -std=c++17 -arch=sm_90 -I.. flat_pairs.cu -o ../../flat_pairs) &
wait
for t in rows columns segments small; do for w in old new; do ./$w --exact --no-peers --table $t --csv > $OUT/$t.$w.csv; done; done
./flat_pairs > $OUT/flat_pairs.txt
