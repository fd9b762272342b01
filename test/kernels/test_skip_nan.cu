/* The same tests, compiled by nvcc to run on a GPU. */
#include "test_skip_nan.cpp"
