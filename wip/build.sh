# build.sh NAME... : builds each into build/gpu, in parallel
mkdir -p build/gpu
one() {
  n=$1; t0=$(date +%s)
  F="-O3 -std=c++17 -arch=sm_90 --split-compile 4 -I build/dev/cccl"
  case $n in
    old_bench_shapes) s=build/dev/old/examples/bench_shapes.cu; F="$F -DFASTREDUCE_NO_EXACT -DBENCH_NO_CUB" ;;
    old_bench_types) s=build/dev/old/examples/bench_types.cu;;
    old_bench) s=build/dev/old/examples/bench.cu ;;
    bench_shapes) s=examples/bench_shapes.cu; F="$F -DFASTREDUCE_NO_EXACT" ;;
    bench*) s=examples/$n.cu ;;
    test_shapes) s=test/kernels/$n.cu; F="$F -DFASTREDUCE_NO_LADDER -DFASTREDUCE_TYPES=FASTREDUCE_F32+FASTREDUCE_F16+FASTREDUCE_U8 -DFASTREDUCE_OPERATORS=FASTREDUCE_SUM+FASTREDUCE_ARGMAX+FASTREDUCE_NORM2" ;;
    test_every_size|test_big|test_load|test_order) s=test/gpu/$n.cu ;;
    block_reduce) s=examples/$n.cu ;;
    *) s=test/kernels/$n.cu ;;
  esac
  [ -f build/dev/$n.cu ] && s=build/dev/$n.cu
  if nvcc $F $s -o build/gpu/$n > build/gpu/$n.log 2>&1; then echo "built $n $(($(date +%s)-t0)) s"; else echo "FAILED build $n"; tail -5 build/gpu/$n.log; fi
}
for n in "$@"; do one $n & done
wait
