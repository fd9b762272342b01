nvidia-smi --query-gpu=name --format=csv,noheader
mkdir -p build/gpu; t0=$(date +%s)
B="nvcc -O3 -std=c++17 -arch=sm_90 --split-compile 4 -I build/dev/cccl -DFASTREDUCE_NO_EXACT -DBENCH_NO_CUB"
v() { n=$1; shift; ( $B "$@" examples/bench_shapes.cu -o build/gpu/$n > build/gpu/$n.log 2>&1 || { echo FAIL $n; head -5 build/gpu/$n.log; } ) & }
v all; v $1 $2; v $3 $4
( $B build/dev/old/examples/bench_shapes.cu -o build/gpu/old || echo FAIL old ) &
(sh build/dev/build.sh test_shapes) > build/gpu/ts.log 2>&1 &
wait; cat build/gpu/ts.log | tail -3; echo "built $(($(date +%s)-t0))"
timeout 100 build/gpu/test_shapes quick > $OUT/ts.txt 2>&1; echo "test_shapes $? $(tail -1 $OUT/ts.txt)"; grep -v "plan of" $OUT/ts.txt | head -5
nvcc -O3 -std=c++17 -arch=sm_90 -lineinfo build/dev/seg.cu -o build/gpu/seg; for a in "20000 64" "3000 1000" "300000 10" "100 50000"; do build/gpu/seg $a; compute-sanitizer --tool memcheck build/gpu/seg $a 2>&1 | tail -2; compute-sanitizer --tool racecheck build/gpu/seg $a 2>&1 | tail -1; done
for b in all $1 $3 old; do for t in f32 f16 u8; do for o in sum argmax; do timeout 40 build/gpu/$b --table rows,segments,small --type $t --op $o --replays 7 --csv | sed "s/^/$b,/" >> $OUT/all.csv; done; done; done
echo "all $(($(date +%s)-t0))"
