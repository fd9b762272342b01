/* The same tests, compiled by nvcc to run on a GPU. */
#include "test_by_index.cpp"
