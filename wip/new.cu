#define PATH "../../fastreduce.cuh"
#define NAME new_call
#include "side.inc"
