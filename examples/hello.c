/* The first program: a sum on the GPU by AUTO, the fastest, and by EXACT, correctly rounded.
 *
 *     nvcc -O3 -arch=native hello.c fastreduce.cu -o hello && ./hello
 */
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include "../fastreduce.h"

enum { N = 1000000 };
static float numbers[N];

/* Ends the program where a status is no success; it may be CUDA's. 77: there is no GPU. */
static void check(int status, const char *what)
{
    if (status == FASTREDUCE_SUCCESS) return;
    fprintf(stderr, "hello: %s failed: %s\n", what, fastreduce_status_string(status));
    exit(status == cudaErrorNoDevice || status == cudaErrorInsufficientDriver ? 77 : 1);
}

int main(void)
{
    float *input, *sums;            /* sums: by AUTO, and by EXACT */
    fastreduce_config config = {0}; /* all zeros: AUTO, on the default stream */

    for (int i = 0; i < N; ++i) numbers[i] = 0.1f * (float)(i % 7);
    check(cudaMalloc((void **)&input, sizeof numbers), "an allocation on the GPU");
    check(cudaMemcpy(input, numbers, sizeof numbers, cudaMemcpyHostToDevice), "the copy");
    check(cudaMallocHost((void **)&sums, 2 * sizeof *sums), "an allocation that both reach");
    check(fastreduce_sum_f32(input, &sums[0], N, &config), "AUTO");
    config.kernel = FASTREDUCE_EXACT;
    check(fastreduce_sum_f32(input, &sums[1], N, &config), "EXACT");
    check(cudaStreamSynchronize(config.stream), "a sum"); /* till here they are only enqueued */
    printf("auto   %.9g\nexact  %.9g\n", (double)sums[0], (double)sums[1]);
    check(cudaFreeHost(sums), "freeing the sums");
    check(cudaFree(input), "freeing the numbers");
    if (fflush(stdout) == 0) return 0;
    perror("hello: standard output");
    return 1;
}
