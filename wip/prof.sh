mkdir -p build/gpu
nvcc -O3 -std=c++17 -arch=sm_90 build/dev/seg.cu -o build/gpu/seg & nvcc -O3 -std=c++17 -arch=sm_90 build/dev/rowsp.cu -o build/gpu/rowsp & wait
P="ncu --section WarpStateStats --section SpeedOfLight --section SchedulerStats --section InstructionStats --section Occupancy --section LaunchStats --section MemoryWorkloadAnalysis_Tables -k regex:reduce_rows --clock-control none --print-details all"
$P build/gpu/seg 4194304 64 > $OUT/seg64.txt 2>&1
$P build/gpu/seg 16777216 16 > $OUT/seg16.txt 2>&1
$P build/gpu/rowsp 8134407 33 > $OUT/r33.txt 2>&1
grep -E "Duration|Executed Instr|Issued Warp|No Eligible|Stall|Registers|Achieved Occ|Local|L1/TEX Hit|Elapsed Cycles" $OUT/seg64.txt | head -60
