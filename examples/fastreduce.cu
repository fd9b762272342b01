/* The one translation unit that holds the library; the C examples link it. Compile: nvcc -O3
 * -arch=native -c fastreduce.cu */
#define FASTREDUCE_IMPLEMENTATION
#include "../fastreduce.cuh"
