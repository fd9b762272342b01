nvidia-smi --query-gpu=name --format=csv,noheader
t0=$(date +%s); mkdir -p build/gpu; now() { echo $(($(date +%s)-t0)); }
G="nvcc -O3 -std=c++17 -arch=sm_90 --split-compile 4"
FEW="-DFASTREDUCE_NO_LADDER -DFASTREDUCE_OPERATORS=FASTREDUCE_SUM+FASTREDUCE_ARGMAX+FASTREDUCE_VARIANCE"
b() { n=$1; s=$2; shift 2; $G "$@" $s -o build/gpu/$n > build/gpu/$n.log 2>&1 || { echo FAILED build $n; tail -3 build/gpu/$n.log; }; }
b bench examples/bench_shapes.cu -DFASTREDUCE_NO_EXACT -I build/dev/cccl &
b old build/dev/old/examples/bench_shapes.cu -DFASTREDUCE_NO_EXACT -DBENCH_NO_CUB &
b test_shapes test/kernels/test_shapes.cu $FEW -DFASTREDUCE_TYPES=FASTREDUCE_F32+FASTREDUCE_F16+FASTREDUCE_U8+FASTREDUCE_F64 &
b test_columns test/kernels/test_columns.cu $FEW -DFASTREDUCE_TYPES=FASTREDUCE_F32+FASTREDUCE_F16+FASTREDUCE_U8 &
for n in test_exact test_exact_shapes test_launcher test_auto test_auto_types test_operators test_dot test_order; do s=test/kernels/$n.cu; [ -f $s ] || s=test/gpu/$n.cu; b $n $s & done
wait; echo "built $(now)"
for x in bench old; do for t in f32 f16 u8; do for o in sum argmax; do p=""; [ $o$t = argmaxf16 ] && continue; timeout 15 build/gpu/$x --table rows,segments,small,columns --type $t --op $o --replays 7 --csv | sed "s/^/$x,/" >> $OUT/all.csv; done; done; done
echo "benched $(now)"
run() { s=$(date +%s); timeout $3 build/gpu/$1 $2 > build/gpu/$1.txt 2>&1; echo "$1 $2: exit $?, $(($(date +%s)-s)) s: $(tail -1 build/gpu/$1.txt | cut -c1-100)"; grep -m5 FAIL build/gpu/$1.txt | cut -c1-200; }
( run test_columns "" 120 ) & ( run test_shapes quick 120; run test_operators quick 120 ) & ( run test_exact quick 60; run test_exact_shapes "" 120; run test_launcher "" 30; run test_order "" 30 ) & ( run test_auto "" 90; run test_auto_types "" 120 ) & ( run test_dot quick 150 ) &
L=$((545-$(now)))
san() { s=$(date +%s); timeout $4 compute-sanitizer --tool $1 $5 $6 --error-exitcode 9 build/gpu/$2 $3 > "build/gpu/s.$1.$2.$3" 2>&1; echo "$1 $2 $3: exit $?, $(($(date +%s)-s)) s, $(grep -o '[A-Z]* SUMMARY: .*\|[0-9]* checks, .*' "build/gpu/s.$1.$2.$3" | paste -s -d ' ')"; grep -m3 "=========.*\(Invalid\|hazard\|Error\|Uninit\)" "build/gpu/s.$1.$2.$3" | cut -c1-200; }
for t in memcheck racecheck synccheck initcheck; do
 B=""; [ $t = synccheck ] && B="--num-cuda-barriers 4096"
 (san $t test_shapes "quick f32" $L) &
 (san $t test_shapes "quick u8" $L) &
 (san $t test_launcher 50000 $L; san $t test_order quick $((540-$(now))) $B) &
 (san $t test_auto quick $L $B) &
done
wait; echo "sanitized $(now)"
