nvidia-smi --query-gpu=name --format=csv,noheader
mkdir -p build/gpu; t0=$(date +%s)
B="nvcc -O3 -std=c++17 -arch=sm_90 --split-compile 4 -I build/dev/cccl -DFASTREDUCE_NO_EXACT -DBENCH_NO_CUB"
v() { n=$1; shift; ( $B "$@" examples/bench_shapes.cu -o build/gpu/$n > build/gpu/$n.log 2>&1 || { echo FAIL $n; head -5 build/gpu/$n.log; } ) & }
v all -DSEG_THREADS=1024; v s768 -DSEG_THREADS=768 -DSTAGED_ROWS=true; v leaf2 -DLEAF=2 -DSEG_THREADS=1024 -DSTAGED_ROWS=true; v sp32 -DSHORT_PACKS=32 -DSEG_THREADS=1024 -DSTAGED_ROWS=true
( $B build/dev/old/examples/bench_shapes.cu -o build/gpu/old || echo FAIL old ) &
nvcc -O3 -std=c++17 -arch=sm_90 -lineinfo build/dev/seg.cu -o build/gpu/seg &
wait; echo "built $(($(date +%s)-t0))"
for a in "20000 64" "3000 1000" "300000 10" "100 50000"; do build/gpu/seg $a | tail -1; done
for b in all s768 leaf2 sp32 old; do for t in f32 f16 u8; do for o in sum argmax; do timeout 40 build/gpu/$b --table rows,segments,small --type $t --op $o --replays 7 --csv | sed "s/^/$b,/" >> $OUT/all.csv; done; done; done
echo "all $(($(date +%s)-t0))"
