/* The first program: a sum on the GPU by AUTO, the fastest, and by EXACT, correctly rounded.
 *
 *     nvcc -O3 -arch=native hello.c fastreduce.cu -o hello && ./hello
 */
#define PROGRAM "hello"
#include <cuda_runtime_api.h>
#include <stdio.h>
#include "../fastreduce.h"
#include "common.h" /* CHECK: ends the program in words where a call fails */

static const char help[] = "usage: hello [-h | --help | --version]\n"
                           "Sums 1000000 floats on the GPU, by AUTO and by EXACT.\n";

enum { N = 1000000 };

int main(int argc, char **argv)
{
    static float host[N];
    float *input, *output;          /* output: the sum by AUTO, and by EXACT */
    fastreduce_config config = {0}; /* all zeros: AUTO, on the default stream */
    int i;

    (void)argc;
    take_nothing(argv, help);
    (void)count_gpus(); /* ends the program if there is none */
    for (i = 0; i < N; ++i) host[i] = 0.1f * (float)(i % 7);
    CHECK(cudaMalloc((void **)&input, sizeof host));
    CHECK(cudaMemcpy(input, host, sizeof host, cudaMemcpyHostToDevice));
    CHECK(cudaMallocHost((void **)&output, 2 * sizeof *output)); /* the GPU writes, the CPU reads */

    CHECK(fastreduce_sum_f32(input, &output[0], N, &config));
    config.kernel = FASTREDUCE_EXACT;
    CHECK(fastreduce_sum_f32(input, &output[1], N, &config));
    CHECK(cudaStreamSynchronize(config.stream)); /* until then the calls are only enqueued */
    printf("auto   %.9g\nexact  %.9g\n", (double)output[0], (double)output[1]);

    CHECK(cudaFreeHost(output));
    CHECK(cudaFree(input));
    finish_output();
    return 0;
}
