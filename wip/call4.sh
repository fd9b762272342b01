nvidia-smi --query-gpu=name --format=csv,noheader
mkdir -p build/gpu; t0=$(date +%s)
B="nvcc -O3 -std=c++17 -arch=sm_90 --split-compile 4 -I build/dev/cccl -DFASTREDUCE_NO_EXACT -DBENCH_NO_CUB"
ONE="-DFASTREDUCE_TYPES=FASTREDUCE_F32 -DFASTREDUCE_OPERATORS=FASTREDUCE_SUM"
v() { n=$1; shift; ( $B $ONE "$@" examples/bench_shapes.cu -o build/gpu/$n > build/gpu/$n.log 2>&1 || { echo FAIL $n; head -5 build/gpu/$n.log; } ) & }
v base; v lb128 -DLONG_BLOCK=128; v lb128_8 -DLONG_BLOCK=128 -DLONG_PACKS=8; v lb64_8 -DLONG_BLOCK=64 -DLONG_PACKS=8; v seg1024 -DSEG_THREADS=1024 -DLONG_BLOCK=512; v seg512 -DSEG_THREADS=512 -DMOST_OF_MANY=64; v m8 -DMOST_OF_MANY=8 -DMOST_OF_FEW=8
( $B examples/bench_shapes.cu -o build/gpu/all || echo FAIL all ) & ( $B build/dev/old/examples/bench_shapes.cu -o build/gpu/old || echo FAIL old ) &
(sh build/dev/build.sh test_shapes) &
wait; echo "built $(($(date +%s)-t0))"
timeout 100 build/gpu/test_shapes quick > $OUT/ts.txt 2>&1; echo "test_shapes $? $(tail -1 $OUT/ts.txt)"; grep -v "plan of" $OUT/ts.txt | head -5
for b in base lb128 lb128_8 lb64_8 seg1024 seg512 m8; do timeout 40 build/gpu/$b --table rows,segments,small --replays 7 --csv > $OUT/tmp.csv; sed "s/^/$b,/" $OUT/tmp.csv >> $OUT/variants.csv; done; rm $OUT/tmp.csv
echo "variants $(($(date +%s)-t0))"
for b in all old; do for t in f32 f16 u8; do for o in sum argmax; do timeout 40 build/gpu/$b --table rows,segments,small --type $t --op $o --replays 7 --csv | sed "s/^/$b,/" >> $OUT/all.csv; done; done; done
echo "all $(($(date +%s)-t0))"
