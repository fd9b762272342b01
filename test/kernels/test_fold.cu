/* The same tests, compiled by nvcc to run on a GPU. */
#include "test_fold.cpp"
