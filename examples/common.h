/* Shared by the examples: one line that says what failed, the check of every call, sizes and
 * options on command lines, and floats that follow from their index. A program defines PROGRAM, its
 * name, before it includes this, and CUDA's header before this, if at all. */
#ifndef FASTREDUCE_EXAMPLES_COMMON_H
#define FASTREDUCE_EXAMPLES_COMMON_H

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "../fastreduce.h"

#ifdef __CUDACC__
#define ON_BOTH __host__ __device__
#else
#define ON_BOTH
#endif

enum { NO_GPU = 77 }; /* exit status where there is none: test runners take it for "skipped" */

/* ---- Leaving --------------------------------------------------------------------------------- */

static inline void fail(int status, const char *format, ...);

/* Output counts only once it has been written. */
static inline void finish_output(void)
{
    if (fflush(stdout) != 0 || ferror(stdout)) fail(1, "standard output: %s", strerror(errno));
}

static inline void end_program(int status, const char *text)
{
    fputs(text, status ? stderr : stdout);
    if (status == 0) finish_output();
    fflush(stdout);
    _Exit(status); /* at once: other threads may be at work */
}
#ifndef END_PROGRAM /* a program that has more to do at its end defines a function of its own */
#define END_PROGRAM end_program
#endif

/* Ends the program with one line on standard error. It may quote file names, which hold any bytes:
 * control characters, alone or in UTF-8, become '?', so that no terminal obeys them. */
static inline void fail(int status, const char *format, ...)
{
    char line[1200] = PROGRAM ": ";
    const size_t name = strlen(line);
    unsigned char before = 0, *c;
    va_list list;

    va_start(list, format);
    vsnprintf(line + name, sizeof line - name - 1, format, list);
    va_end(list);
    for (c = (unsigned char *)line; *c; before = *c++) {
        if (*c >= 128 && *c < 160 && before == 0xc2) c[-1] = '?';
        if (*c < 32 || *c == 127 || (*c >= 128 && *c < 160 && (before < 128 || before == 0xc2)))
            *c = '?';
    }
    strcat(line, "\n");
    END_PROGRAM(status, line);
}

/* Takes both kinds: a positive fastreduce_status is a cudaError_t. */
static inline void check(int status, const char *call)
{
    if (status != FASTREDUCE_SUCCESS)
        fail(1, "%.*s failed: %s", (int)strcspn(call, "("), call, fastreduce_status_string(status));
}
#define CHECK(call) check(call, #call)

#ifdef CUDART_VERSION
/* Null, or why there is no GPU. */
static inline const char *find_gpus(int *devices)
{
    const cudaError_t error = cudaGetDeviceCount(devices);
    int driver = 1;
    if (error == cudaSuccess) return *devices > 0 ? NULL : "none is visible";
    /* without a driver, which is version 0, the error is about one that is too old */
    if (cudaDriverGetVersion(&driver) == cudaSuccess && driver == 0) return "no NVIDIA driver";
    return cudaGetErrorString(error);
}

/* How many GPUs there are. Without one the program ends. */
static inline int count_gpus(void)
{
    int devices = 0;
    const char *why = find_gpus(&devices);
    if (why) fail(NO_GPU, "no GPU here (%s)", why);
    return devices;
}
#endif

/* ---- Command lines --------------------------------------------------------------------------- */

#define SIZE_FORMS "1000, 10k, 3M, 2G, 1T (k = 2^10), 1e9 or 2^30"

/* A size in one of those forms; 0 for anything else, and from 2^62 on, where bytes overflow. */
static inline int parse_size(const char *text, uint64_t *size)
{
    static const char letters[] = "kKmMgGtT";
    const uint64_t most = UINT64_MAX >> 2;
    uint64_t value, factor = 1;
    unsigned long power = 0;
    char *end;

    if (*text < '0' || *text > '9') return 0;
    errno = 0;
    value = strtoull(text, &end, 10);
    if (*end && strchr("^eE", *end) && end[1] >= '0' && end[1] <= '9') {
        factor = *end == '^' ? value : 10;
        if (*end == '^') value = 1;
        power = strtoul(end + 1, &end, 10);
    } else if (*end && strchr(letters, *end)) {
        factor = 1024;
        power = 1 + (unsigned long)(strchr(letters, *end++) - letters) / 2;
    }
    if (errno || *end || power > 62) return 0;
    for (; power > 0; --power) {
        if (factor > 1 && value > most / factor) return 0;
        value *= factor;
    }
    *size = value;
    return value <= most;
}

/* The words of a command line, one after the other. */
typedef struct arguments {
    char **next, *word;
    const char *program, *value;
    int options_ended; /* by -- */
} arguments;

static inline arguments arguments_of(char **argv)
{
    arguments a = {argv, NULL, PROGRAM, NULL, 0};
    if (*argv) a.program = *a.next++;
    return a;
}

/* Steps to the next word, 0 at the end. --help, -h and --version end the program. */
static inline int next_argument(arguments *a, const char *help)
{
    char version[80];
    if (!*a->next) return 0;
    a->word = *a->next++;
    if (a->options_ended) return 1;
    if (strcmp(a->word, "--") == 0) {
        a->options_ended = 1;
        return next_argument(a, help);
    }
    snprintf(version, sizeof version, PROGRAM " (FastReduce) %d.%d.%d\n", FASTREDUCE_VERSION_MAJOR,
             FASTREDUCE_VERSION_MINOR, FASTREDUCE_VERSION_PATCH);
    if (strcmp(a->word, "--help") == 0 || strcmp(a->word, "-h") == 0) END_PROGRAM(0, help);
    if (strcmp(a->word, "--version") == 0) END_PROGRAM(0, version);
    return 1;
}

/* Ends the program: why, about which word, and how to see the help of this very program. */
static inline void wrong_usage(const arguments *a, const char *why, const char *what)
{
    fail(2, "%s%s (%s --help tells more)", why, what, a->program);
}

static inline int is_operand(const arguments *a)
{
    return a->options_ended || a->word[0] != '-' || a->word[1] == 0;
}

static inline int is_option(const arguments *a, const char *name)
{
    return !a->options_ended && strcmp(a->word, name) == 0;
}

/* Whether the word is --name=VALUE, or --name with VALUE as the next word. */
static inline int is_option_with_value(arguments *a, const char *name)
{
    const size_t length = strlen(name);
    if (a->options_ended || strncmp(a->word, name, length) != 0) return 0;
    if (a->word[length] == '=') {
        a->value = a->word + length + 1;
        return 1;
    }
    if (a->word[length]) return 0;
    if (!*a->next) wrong_usage(a, "a value is missing after ", name);
    a->value = *a->next++;
    return 1;
}

/* Takes the word for the one operand; ends the program if it is an option, or a second one. */
static inline void take_operand(arguments *a, const char **operand)
{
    if (!is_operand(a)) wrong_usage(a, "no such option: ", a->word);
    if (*operand) wrong_usage(a, "more than one input: ", a->word);
    *operand = a->word;
}

/* The one operand of a program without options; null if there is none. */
static inline const char *only_operand(arguments *a, const char *help)
{
    const char *operand = NULL;
    while (next_argument(a, help)) take_operand(a, &operand);
    return operand;
}

/* For a program that takes no words but --help, -h and --version. */
static inline void take_nothing(char **argv, const char *help)
{
    arguments a = arguments_of(argv);
    while (next_argument(&a, help)) wrong_usage(&a, "not understood: ", a.word);
}

/* Reads a size, or ends the program: what is "no such number: ", say. */
static inline uint64_t size_argument(const arguments *a, const char *what, const char *text)
{
    uint64_t size = 0;
    if (!parse_size(text, &size))
        fail(2, "%s%s; numbers are like " SIZE_FORMS " (%s --help tells more)", what, text,
             a->program);
    return size;
}

/* ---- Times ----------------------------------------------------------------------------------- */

#ifdef CLOCK_MONOTONIC /* POSIX */
static inline double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
#endif

static inline int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts the values. */
static inline double median(double *values, size_t n)
{
    qsort(values, n, sizeof *values, by_size);
    return values[n / 2];
}

/* ---- Floats ---------------------------------------------------------------------------------- */

static inline ON_BOTH uint64_t hash(uint64_t i)
{
    uint64_t z = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 32)) * UINT64_C(0xd6e8feb86659fd93);
    return z ^ (z >> 32);
}

/* Float number i of an array that is uniform in [-1, 1): 24 bits. */
static inline float uniform(uint64_t i)
{
    return (float)((int32_t)(hash(i) >> 40) - (1 << 23)) / (1 << 23);
}

/* Float number i of an array whose sum is ill-conditioned: an odd significand of 23 bits, never 0,
 * of either sign, times 2^-43 .. 2^-3. Exact, as it is a product of two floats by powers of two. */
static inline float ill_conditioned(uint64_t i)
{
    const uint64_t z = hash(i);
    return (float)(2 * (int32_t)(z >> 41) + 1 - (1 << 23)) *
           (float)(UINT64_C(1) << ((z & 0xffffff) * 41 >> 24)) / (float)(UINT64_C(1) << 43);
}

static inline uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* Number i of f16, bf16, f32 or f64, made of floats: of f64, a product of two, which is exact; of
 * 16 bits, a part of a float's, in f16 its sign and 14 others, for magnitudes below 2. */
static inline void typed_number(fastreduce_type type, float (*number)(uint64_t i), uint64_t i,
                                void *to)
{
    const float x = number(i);
    const double product = type == FASTREDUCE_F64 ? (double)x * (double)number(i + 1) : 0;
    const uint32_t bits = bits_of(x);
    const uint16_t upper = (uint16_t)(bits >> 16),
                   half = (uint16_t)((bits >> 16 & 0x8000) | (bits >> 3 & 0x3fff));
    switch (type) {
    case FASTREDUCE_F64: memcpy(to, &product, sizeof product); return;
    case FASTREDUCE_F16: memcpy(to, &half, sizeof half); return;
    case FASTREDUCE_BF16: memcpy(to, &upper, sizeof upper); return;
    default: memcpy(to, &x, sizeof x);
    }
}

#endif
