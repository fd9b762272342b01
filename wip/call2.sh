nvidia-smi --query-gpu=name --format=csv,noheader
mkdir -p build/gpu; t0=$(date +%s)
B="nvcc -O3 -std=c++17 -arch=sm_90 --split-compile 4 -I build/dev/cccl -DFASTREDUCE_NO_EXACT -DBENCH_NO_CUB"
ONE="-DFASTREDUCE_TYPES=FASTREDUCE_F32 -DFASTREDUCE_OPERATORS=FASTREDUCE_SUM"
v() { n=$1; shift; ( $B $ONE "$@" examples/bench_shapes.cu -o build/gpu/$n > build/gpu/$n.log 2>&1 || { echo FAIL $n; head -5 build/gpu/$n.log; } ) & }
v base; v res7 -DROWS_RESIDENT=7; v share128 -DSHARE_BYTES=128; v share8 -DSHARE_BYTES=8; v most64 -DMOST_OF_MANY=64 -DMOST_OF_FEW=16; v most256 -DMOST_OF_MANY=256 -DMOST_OF_FEW=32 ; v each64 -DSEGMENTS_EACH=64
( $B examples/bench_shapes.cu -o build/gpu/all || echo FAIL all ) & ( $B build/dev/old/examples/bench_shapes.cu -o build/gpu/old || echo FAIL old ) &
(sh build/dev/build.sh test_shapes) &
wait; echo "built $(($(date +%s)-t0))"
timeout 100 build/gpu/test_shapes quick > $OUT/ts.txt 2>&1; echo "test_shapes $? $(tail -1 $OUT/ts.txt)"; head -5 $OUT/ts.txt
for b in base res7 share128 share8 most64 most256 each64; do timeout 40 build/gpu/$b --table rows,segments,small --replays 7 --csv > $OUT/tmp.csv; sed "s/^/$b,/" $OUT/tmp.csv >> $OUT/variants.csv; done; rm $OUT/tmp.csv
echo "variants $(($(date +%s)-t0))"
for b in all old; do for t in f32 f16 u8; do for o in sum max argmax; do timeout 40 build/gpu/$b --table rows,columns,segments,small --type $t --op $o --replays 7 --csv | sed "s/^/$b,/" >> $OUT/all.csv; done; done; done
echo "all $(($(date +%s)-t0))"
