/* The one translation unit that holds the library; the C examples link it. Compile: nvcc -O3
 * -arch=native -c fastreduce.cu; rows.c needs -DFASTREDUCE_WITH_SHAPES, too, and sum_mpi.c and
 * sum_nccl.c -DEVERY_FLOAT */
#define FASTREDUCE_IMPLEMENTATION
/* what they call, for a shorter build */
#ifdef EVERY_FLOAT
#define FASTREDUCE_WITH_EXACT_PRODUCTS
#define FASTREDUCE_TYPES FASTREDUCE_F32, FASTREDUCE_F64, FASTREDUCE_F16, FASTREDUCE_BF16
#define FASTREDUCE_OPERATORS FASTREDUCE_SUM
#else
#define FASTREDUCE_TYPES FASTREDUCE_F32
#define FASTREDUCE_OPERATORS FASTREDUCE_SUM, FASTREDUCE_MAX, FASTREDUCE_ARGMAX
#endif
#include "../fastreduce.cuh"
