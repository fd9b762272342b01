/* The answers to the questions of the lessons, by running the library's kernels, and the steps', on
 * the CPU machine: answers NUMBER; `answers costs NAME` for what a kernel's block does; `answers
 * 64` for a trace of the first steps, by which examples/course/ladder_pictures.py draws them;
 * `answers picture NUMBER` for that of a lesson's kernel. */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>
#include "course.h"
#include "steps.cuh"
#undef float
#undef double
#include "lessons.h"
#include "seen.h"
#include "picture.h"
#include "../../fastreduce.cuh"
#include "../../test/common/dynamic_shared.h"
#include "../../test/common/pairwise.h"

namespace fastreduce::FASTREDUCE_DETAIL_ABI::detail
{
template <class T>
struct is_trivially_copyable<simt::traced<T>> : std::true_type {
};
} // namespace fastreduce::FASTREDUCE_DETAIL_ABI::detail

namespace course
{
using fastreduce::plus;
using kernel = void (*)(const element *, element *, size_t);
constexpr unsigned block = 256;

/* A kernel, of floats and blocks of 256 threads; v4_block is V4 with its block barriers. */
struct named {
    const char *name;
    unsigned items;
    kernel run;
};
static const named kernels[] = {
    {"v0_baseline", 1, fastreduce::v0_baseline<plus, element, element>},
    {"v1_no_divergence", 1, fastreduce::v1_no_divergence<plus, element, element>},
    {"v2_no_bank_conflict", 1, fastreduce::v2_no_bank_conflict<plus, element, element>},
    {"v3_add_during_load", 2, fastreduce::v3_add_during_load<plus, element, element>},
    {"v4_unroll_last_warp", 2, fastreduce::v4_unroll_last_warp<plus, element, element>},
    {"v5_completely_unroll", 2, fastreduce::v5_completely_unroll<plus, block, element, element>},
    {"v6_multi_add", 8, fastreduce::v6_multi_add<plus, block, 8, element, element>},
    {"v7_shuffle", 8, fastreduce::v7_shuffle<plus, block, 8, element, element>},
    {"vector_loads", tile_items, vector_loads<block>},
    {"handing_over", tile_items, handing_over<block>},
};

static const named &find(const char *name)
{
    for (const named &one : kernels)
        if (strcmp(one.name, name) == 0) return one;
    fprintf(stderr, "answers: there is no kernel %s\n", name);
    exit(1);
}

/* One block of it whose elements are all there, or the first so many. */
static seen watch(const char *name, size_t n = 0)
{
    const named &one = find(name);
    if (n == 0) n = static_cast<size_t>(one.items) * block;
    std::vector<float> values(n);
    float sum = 0;
    for (size_t i = 0; i < n; ++i) sum += values[i] = static_cast<float>(i % 61);
    memory<element> input(n), partial(1);
    input.set(values.data());
    seen all;
    const element *const from = input.data();
    const bool good = all.watch(
        [&] { launch(one.run, 1, block, block * sizeof(float), from, partial.data(), n); });
    if (!good || partial.at(0) != sum) {
        fprintf(stderr, "answers: %s: %s\n", name, simt::report().c_str());
        exit(1);
    }
    return all;
}

/* The kernels of the lessons in blocks of 64 threads, which fit in a picture. */
constexpr unsigned few = 64;
static const struct {
    unsigned lesson;
    named kernel;
} pictured[] = {
    {2, {"v0_baseline", 1, fastreduce::v0_baseline<plus, element, element>}},
    {3, {"v1_no_divergence", 1, fastreduce::v1_no_divergence<plus, element, element>}},
    {4, {"v2_no_bank_conflict", 1, fastreduce::v2_no_bank_conflict<plus, element, element>}},
    {5, {"v3_add_during_load", 2, fastreduce::v3_add_during_load<plus, element, element>}},
    {6, {"v4_unroll_last_warp", 2, fastreduce::v4_unroll_last_warp<plus, element, element>}},
    {7, {"v6_multi_add", 8, fastreduce::v6_multi_add<plus, few, 8, element, element>}},
    {8, {"v7_shuffle", 8, fastreduce::v7_shuffle<plus, few, 8, element, element>}},
    {10, {"step1_vector_loads", tile_items, vector_loads<few>}},
    {11, {"step2_handing_over", tile_items, handing_over<few>}},
};

/* As trace_ladder prints it; nothing of a lesson that has no such kernel. */
static void print_picture(unsigned lesson)
{
    for (const auto &one : pictured)
        if (one.lesson == lesson)
            print_trace(stdout, one.kernel.name, few, size_t(few) * one.kernel.items,
                        [&](const element *input, element *partial, size_t n) {
                            launch(one.kernel.run, 1, few, few * sizeof(float), input, partial, n);
                        });
}

static void print_costs(const char *name)
{
    const seen all = watch(name);
    const simt::counts &c = all.counts;
    const auto row = [](const char *what, uint64_t count) {
        printf("| %s | %llu |\n", what, static_cast<unsigned long long>(count));
    };
    printf("| one block of %s, 256 threads | |\n|---|---|\n", name);
    row("elements", find(name).items * block);
    row("block barriers", c.barriers);
    row("accesses of warps to shared memory", c.warp_steps);
    row("of these, avoidable by packing the threads at work", c.avoidable_steps);
    row("bank conflicts", c.conflicts);
    row("shuffles of warps", c.shuffles);
    row("loads of warps from global memory", all.loads);
}

/* Threads that add in each step of the tree, and in how many warps. */
static void print_steps(const char *name)
{
    const seen all = watch(name);
    unsigned number = 0;
    printf("%s, step by step:\n", name);
    for (const auto &one : all.steps) {
        if (one.first.first == 0 && one.first.second == 0) continue; /* the load's additions */
        printf("  step %u: %zu %s, in %u %s\n", ++number, one.second.threads.size(),
               one.second.threads.size() == 1 ? "thread adds" : "threads add", one.second.warps(),
               one.second.warps() == 1 ? "warp" : "warps");
    }
}

static void print_ways(const char *name)
{
    const seen all = watch(name);
    printf("%s, lanes of a warp in one bank at worst:\n", name);
    for (size_t k = 1; k + 1 < all.counts.interval_way.size(); ++k)
        printf("  step %zu: %u\n", k, all.counts.interval_way[k]);
    printf("  bank conflicts in all: %llu\n",
           static_cast<unsigned long long>(all.counts.conflicts));
}

static unsigned long long barriers(const char *name) { return watch(name).counts.barriers; }
static unsigned long long shared_accesses(const char *name)
{
    const simt::counts c = watch(name).counts;
    return c.shared_loads + c.shared_stores;
}

static float pairwise_sum(const float *x, size_t n)
{
    return pairwise::sum([x](size_t i) { return x[i]; }, n);
}

/* How far sums of ones, and of tenths, come. */
static void print_roundings()
{
    const size_t n = size_t(1) << 25;
    const std::vector<float> ones(n, 1.0f), tenths(n, 0.1f);
    float loop = 0, loop_of_tenths = 0;
    double exact = 0;
    size_t stops = 0;
    for (size_t i = 0; i < n; ++i) {
        loop += 1.0f;
        const float before = loop_of_tenths;
        loop_of_tenths += 0.1f;
        exact += static_cast<double>(0.1f);
        if (before == loop_of_tenths && stops == 0) stops = i;
    }
    printf("2^25 ones, one loop: %.0f\n2^25 ones, pairwise: %.0f\n", static_cast<double>(loop),
           static_cast<double>(pairwise_sum(ones.data(), n)));
    printf("2^25 times 0.1f, one loop: %.1f, and it stands still after %zu elements\n",
           static_cast<double>(loop_of_tenths), stops);
    printf("2^25 times 0.1f, pairwise: %.1f\n2^25 times 0.1f, exactly: %.1f\n",
           static_cast<double>(pairwise_sum(tenths.data(), n)), exact);
}

/* Launches of a sum of n elements whose blocks have `tile` each. */
static unsigned levels(size_t n, size_t tile)
{
    unsigned count = 0;
    do {
        n = fastreduce::blocks_for(n, tile);
        ++count;
    } while (n > 1);
    return count;
}

static void print_loads(const char *name)
{
    const seen all = watch(name);
    const unsigned elements = find(name).items * block;
    printf("%s: %llu loads of warps for %u elements, one for %llu\n", name,
           static_cast<unsigned long long>(all.loads), elements,
           static_cast<unsigned long long>(elements / all.loads));
}

static void print_shuffles(const char *name)
{
    const seen all = watch(name);
    const auto met = static_cast<unsigned long long>(all.counts.barriers);
    printf("%s: %llu shuffles of warps, %llu block %s\n", name,
           static_cast<unsigned long long>(all.counts.shuffles), met,
           met == 1 ? "barrier" : "barriers");
}

/* In what order 1000 elements meet at the top, and how often AUTO's result rounds. */
static void print_halves(size_t n)
{
    unsigned depth = 0;
    printf("n = %zu:", n);
    for (; n > 1; ++depth) {
        size_t half = 1;
        while (2 * half < n) half *= 2;
        if (depth == 0) printf(" %zu + %zu", half, n - half);
        n = half;
    }
    printf(" first; %u additions on the longest way\n", depth);
}

/* Step 3 in ten blocks, which all have all their elements. */
static void print_waiting()
{
    constexpr unsigned blocks = 10;
    const size_t n = size_t(blocks) * block * tile_items;
    memory<element> input(n), output(1);
    memory<word> words(blocks, true);
    input.set(std::vector<float>(n, 1.0f).data());
    seen all;
    const element *const from = input.data();
    const bool good = all.watch(
        [&] { launch(one_launch<block>, blocks, block, 0, from, output.data(), words.data(), n); });
    if (!good || output.at(0) != static_cast<float>(n)) exit(1);
    printf("one_launch in %u blocks: %llu block barriers, %llu shuffles of warps\n", blocks,
           static_cast<unsigned long long>(all.counts.barriers),
           static_cast<unsigned long long>(all.counts.shuffles));
}

/* By the two numbers of lesson 15. */
static void print_crossing()
{
    size_t n = 1;
    while (4.0 * static_cast<double>(n) / 3192000 < 1.21) n *= 2;
    unsigned log = 0;
    while (size_t(1) << log < n) ++log;
    printf("from 2^%u elements on the memory takes longer than a sum of next to nothing\n", log);
}

/* A sum of so many threads' partial sums, by a tree. */
static float row_sum(const float *row, size_t columns, size_t threads)
{
    std::vector<float> partial(threads);
    for (size_t i = 0; i < columns; ++i) partial[i % threads] += row[i];
    for (size_t stride = threads / 2; stride > 0; stride /= 2)
        for (size_t t = 0; t < stride; ++t) partial[t] += partial[t + stride];
    return partial[0];
}

static void print_rows()
{
    constexpr size_t rows = 1000, columns = 1000;
    std::vector<float> row(columns);
    unsigned state = 1, differ = 0;
    for (size_t k = 0; k < rows; ++k) {
        for (float &x : row) {
            state = state * 1664525 + 1013904223;
            x = static_cast<float>(state >> 8) * 0x1p-24f;
        }
        differ += row_sum(row.data(), columns, 64) != row_sum(row.data(), columns, 256);
    }
    printf("of %zu rows %u have other bits with 64 threads than with 256\n", rows, differ);
}

static void print_orders()
{
    float x[] = {-0x1p24f, 1, 0x1p24f};
    unsigned ones = 0, zeros = 0;
    do {
        const float sum = x[0] + x[1] + x[2];
        ones += sum == 1;
        zeros += sum == 0;
    } while (std::next_permutation(x, x + 3));
    printf("2^24, 1 and -2^24: %u orders give 0, and %u give 1\n", zeros, ones);
}

static void print_threads_left(unsigned n)
{
    const unsigned left = (block - n % block) % block;
    printf("n = %u: %u threads of the last block have no element, in %u of its warps\n", n, left,
           (left + lanes - 1) / lanes);
}

static void count_blocks(unsigned *counter, unsigned *last)
{
    if (atomicAdd(counter, 1u) == gridDim.x - 1) *last = blockIdx.x;
}

static void print_last_block()
{
    for (simt::order schedule : {simt::order::forward, simt::order::reverse, simt::order::random}) {
        memory<unsigned> counter(1, true), last(1);
        simt::settings().schedule = schedule;
        simt::settings().last_block_last = false;
        launch(count_blocks, 10, 1, 0, counter.data(), last.data());
        printf("blocks in %s order: block %u comes last\n",
               schedule == simt::order::forward   ? "their"
               : schedule == simt::order::reverse ? "reverse"
                                                  : "random",
               *last.data());
    }
}

static int answer(unsigned lesson)
{
    switch (lesson) {
    case 1:
        printf("128 numbers: %d additions in one loop, one after the other; in a tree %u steps\n",
               127, levels(128, 2));
        break;
    case 2:
        printf("v0_baseline: %llu block barriers\n", barriers("v0_baseline"));
        print_steps("v0_baseline");
        break;
    case 3:
        print_steps("v1_no_divergence");
        printf("In steps 4 to 8 fewer than 32 pairs are left, and one warp is the least that can "
               "run:\n%llu of its accesses are avoidable, so no warp could be saved there.\n",
               static_cast<unsigned long long>(watch("v1_no_divergence").counts.avoidable_steps));
        break;
    case 4:
        print_ways("v1_no_divergence");
        print_ways("v2_no_bank_conflict");
        break;
    case 5:
        printf("blocks of 256 threads for 2^28 elements: V2 %u, V3 %u\n", 1u << 20, 1u << 19);
        print_steps("v3_add_during_load");
        break;
    case 6:
        printf("block barriers: v3_add_during_load %llu, v4_unroll_last_warp %llu\n",
               barriers("v3_add_during_load"), barriers("v4_unroll_last_warp"));
        break;
    case 7:
        print_loads("v5_completely_unroll");
        print_loads("v6_multi_add");
        printf("additions before the tree, of 2048 in a block of V6: %u\n", 7 * block);
        break;
    case 8:
        print_shuffles("v6_multi_add");
        print_shuffles("v7_shuffle");
        printf("accesses of lanes to shared memory: v6_multi_add %llu, v7_shuffle %llu\n",
               shared_accesses("v6_multi_add"), shared_accesses("v7_shuffle"));
        break;
    case 9:
        printf("launches for 2^20 elements: tiles of 512 %u, of 2048 %u; for 2^28: %u and %u\n",
               levels(1 << 20, 512), levels(1 << 20, 2048), levels(1 << 28, 512),
               levels(1 << 28, 2048));
        break;
    case 10:
        print_loads("v7_shuffle");
        print_loads("vector_loads");
        break;
    case 11:
        printf("a warp: %llu shuffles\n",
               static_cast<unsigned long long>(watch("handing_over").counts.shuffles - 3) / 8);
        print_shuffles("vector_loads");
        print_shuffles("handing_over");
        break;
    case 12: print_waiting(); break;
    case 13:
        print_halves(1000);
        print_halves(1024);
        print_halves(size_t(1) << 28);
        break;
    case 14: print_roundings(); break;
    case 15: print_crossing(); break;
    case 16: print_rows(); break;
    case 17: print_orders(); break;
    case 18:
        printf("v4_unroll_last_warp: %llu warp barriers\n",
               static_cast<unsigned long long>(watch("v4_unroll_last_warp").counts.warp_barriers));
        break;
    case 19: print_threads_left(1000); break;
    case 20: print_last_block(); break;
    default: fprintf(stderr, "answers: there is no lesson %u\n", lesson); return 1;
    }
    return 0;
}
} // namespace course

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "costs") == 0) return course::print_costs(argv[2]), 0;
    if (argc == 2 && strcmp(argv[1], "64") == 0) {
        course::print_picture(10);
        course::print_picture(11);
        return 0;
    }
    if (argc == 3 && strcmp(argv[1], "picture") == 0)
        return course::print_picture(static_cast<unsigned>(atoi(argv[2]))), 0;
    return argc == 2 ? course::answer(static_cast<unsigned>(atoi(argv[1]))) : 2;
}
