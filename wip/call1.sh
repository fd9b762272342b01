nvidia-smi --query-gpu=name --format=csv,noheader
T="test_auto test_auto_types test_order test_every_size test_launcher test_types test_big test_load test_ladder test_exact test_exact_floats test_exact_shapes test_exact_atomics test_dot test_columns test_operators test_shapes block_reduce"
t0=$(date +%s)
sh build/dev/build.sh $T bench_shapes old_bench_shapes
echo "== built at $(($(date +%s)-t0)) s"
Z="gzip -5"; command -v zstd >/dev/null && Z="zstd -q -T16 -9"; echo $Z; (cd build/gpu; rm -f *.log; tar c test_* block_reduce | $Z | split -b 15M - $OUT/tests.) ; ls -l $OUT | tail -3
JOBS=5 LIMIT=200 bash build/dev/tests.sh test_shapes test_columns $(echo $T | sed 's/test_shapes//;s/test_columns//;s/test_operators//')
echo "== tested at $(($(date +%s)-t0)) s"
for t in rows columns segments small; do
  for b in bench_shapes old_bench_shapes; do
    timeout 70 build/gpu/$b --table $t --replays 7 --csv > $OUT/$b.$t.csv 2>$OUT/$b.$t.err; echo "$b $t $? $(($(date +%s)-t0))"; head -3 $OUT/$b.$t.err
  done
done
cat $OUT/*bench_shapes*.csv > $OUT/all.csv; rm -f $OUT/*bench_shapes.*; rm -f $OUT/test_*.txt
