#define PATH "old/fastreduce.cuh"
#define NAME old_call
#define FASTREDUCE_NO_LADDER
#include "side.inc"
