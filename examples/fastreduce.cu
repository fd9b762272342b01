/* The one translation unit that holds the library; the C examples link it. Compile: nvcc -O3
 * -arch=native -c fastreduce.cu; rows.c needs -DFASTREDUCE_SHAPES, too */
#define FASTREDUCE_IMPLEMENTATION
/* what they call, for a shorter build */
#define FASTREDUCE_TYPES FASTREDUCE_F32
#define FASTREDUCE_OPERATORS FASTREDUCE_SUM, FASTREDUCE_MAX, FASTREDUCE_ARGMAX
#include "../fastreduce.cuh"
