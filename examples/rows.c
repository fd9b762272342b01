/* Many results in one call: fastreduce_reduce_axis reduces each row of a matrix, from a .npy file
 * of float32, or of a small one of its own, which it shows. One line for each row.
 *
 *     nvcc -O3 -arch=native -DFASTREDUCE_WITH_SHAPES rows.c fastreduce.cu -o rows && ./rows
 *     ./rows matrix.npy --op argmax
 */
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#define PROGRAM "rows"
#include <cuda_runtime_api.h>
#include "../fastreduce.h"
#include "common.h"
#include "array.h"

static const char help[] =
    "usage: rows [FILE.npy] [--op OPERATOR]\n"
    "One result for each row of a matrix, a two-dimensional array of float32 in C order;\n"
    "without a file, of a small one.\n"
    "  --op OPERATOR  sum (default), max, argmax: what fastreduce.cu builds in\n"
    "-h, --help and --version print and do nothing else.\n";

static float *read_matrix(const char *name, size_t *rows, size_t *columns)
{
    array a = open_array(name, FASTREDUCE_F32);
    float *x;
    if (a.dimensions != 2 || a.fortran_order)
        fail(1, "%s: is not a two-dimensional array in C order", name);
    *rows = a.extents[0];
    *columns = a.extents[1];
    x = a.count < SIZE_MAX / 8 ? (float *)malloc(a.count * sizeof *x + 1) : NULL;
    if (!x) fail(1, "%s: no memory for %zu x %zu floats", name, *rows, *columns);
    read_floats(&a, x, 0, a.count);
    close_array(&a);
    return x;
}

static float *make_matrix(size_t rows, size_t columns)
{
    float *x = (float *)malloc(rows * columns * sizeof *x);
    size_t i;
    if (!x) fail(1, "no memory");
    for (i = 0; i < rows * columns; ++i) {
        x[i] = uniform(i);
        printf("%8.4f%s", (double)x[i], (i + 1) % columns ? " " : "\n");
    }
    printf("\n");
    return x;
}

static fastreduce_operator operator_of(const arguments *a)
{
    int op;
    for (op = FASTREDUCE_SUM; op <= FASTREDUCE_ARGMAX_ABS; ++op)
        if (strcmp(a->value, fastreduce_operator_name((fastreduce_operator)op)) == 0 &&
            fastreduce_supports(FASTREDUCE_F32, (fastreduce_operator)op, FASTREDUCE_AUTO))
            return (fastreduce_operator)op;
    wrong_usage(a, "no such operator: ", a->value);
    return FASTREDUCE_SUM;
}

int main(int argc, char **argv)
{
    arguments a = arguments_of(argv);
    fastreduce_operator op = FASTREDUCE_SUM;
    fastreduce_shape shape = {.outer = 5, .n = 8, .inner = 1}; /* strides of 0: without gaps */
    const char *name = NULL;
    float *host, *input;
    void *output; /* of the type that the operator gives */
    size_t bytes, row;

    (void)argc;
    while (next_argument(&a, help)) {
        if (is_option_with_value(&a, "--op"))
            op = operator_of(&a);
        else if (!is_operand(&a))
            wrong_usage(&a, "no such option: ", a.word);
        else if (name)
            wrong_usage(&a, "more than one file: ", a.word);
        else
            name = a.word;
    }
    host = name ? read_matrix(name, &shape.outer, &shape.n) : NULL;
    (void)count_gpus(); /* ends the program if there is none */
    if (!host) host = make_matrix(shape.outer, shape.n);

    bytes = shape.outer * shape.n * sizeof *host;
    CHECK(cudaMalloc((void **)&input, bytes + 1)); /* a matrix may be empty */
    CHECK(cudaMemcpy(input, host, bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMallocHost(&output, shape.outer * sizeof(int64_t) + 1));
    CHECK(fastreduce_reduce_axis(input, output, &shape, FASTREDUCE_F32, op, NULL));
    CHECK(cudaStreamSynchronize(NULL)); /* until then the call is only enqueued */
    for (row = 0; row < shape.outer; ++row)
        if (fastreduce_output_type(FASTREDUCE_F32, op) == FASTREDUCE_F32)
            printf("%.9g\n", (double)((float *)output)[row]);
        else
            printf("%lld\n", (long long)((int64_t *)output)[row]);

    CHECK(cudaFreeHost(output));
    CHECK(cudaFree(input));
    free(host);
    finish_output();
    return 0;
}
