cd build/dev
for v in "$@"; do ( nvcc -O3 -std=c++17 -arch=sm_90 $( [ $v = old ] && echo -DFR='"old/fastreduce.cuh"' || echo -DOCC -DFR="\"$v.cuh\"" ) quick.cu -o q_$v 2>&1 | grep error ) & done
wait
for r in 1 2; do for v in "$@"; do timeout 20 ./q_$v $v; done; done
