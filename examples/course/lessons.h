/* What the grader knows of each lesson: what its exercise defines, and what is enough. */
#ifndef COURSE_LESSONS_H
#define COURSE_LESSONS_H

namespace course
{
constexpr unsigned any = ~0u;
constexpr unsigned warp_barriers_from = 6; /* the lesson that teaches __syncwarp() */

/* Of one block of 256 threads that has all its elements. */
struct costs {
    unsigned barriers, avoidable, conflicts, shared, lines, loads, shuffles;
    unsigned steps = any; /* accesses of warps to shared memory */
};

struct lesson {
    unsigned number, items; /* elements a thread */
    unsigned block;         /* threads; 0: no kernel */
    bool any_block;         /* blocks of 32 to 1024 threads */
    bool any_address;       /* the input may begin where no vector does */
    bool pairwise;          /* by index, to the bit */
    costs enough;
    const char *praise;
};

/* One of these functions: what the exercise defines. */
struct solution {
    unsigned lesson;
    void (*blocks)(unsigned block, size_t blocks, const element *input, element *partials,
                   size_t n);
    void (*levels)(const element *input, element *output, element *workspace, size_t n);
    void (*one_launch)(const element *input, element *output, word *words, size_t n);
    float (*on_the_host)(const float *x, size_t n);
    double (*model)(double n);
    void (*rows)(const element *input, element *output, size_t rows, size_t columns);
    void (*by_index)(const element *values, const unsigned *index, element *sums, word *space,
                     size_t n, unsigned bins);
    void (*last_block)(const element *input, element *output, element *partials, unsigned *counter,
                       size_t n);
};
extern const solution *const solutions[];           /* of the files that are graded */
extern thread_local unsigned char dynamic_shared[]; /* theirs */

constexpr lesson lessons[] = {
    {1, 1, 0, false, false, false, {}, "each group by itself, and the last one has what is left"},
    {2, 1, 256, true, false, false, {9, any, 0, any, 8, 8, 0, 150}, "a tree of 8 steps for 256"},
    {3, 1, 256, true, false, false, {9, 0, any, any, 8, 8, 0, 45}, "whole warps work, or none"},
    {4, 1, 256, true, false, false, {9, 0, 0, any, 8, 8, 0, 45}, "each lane has a bank of its own"},
    {5, 2, 256, true, false, false, {9, 0, 0, any, 16, 16, 0, 45}, "every thread adds"},
    {6, 2, 256, true, false, false, {3, 0, 0, any, 16, 16, 0, 45}, "the last warp goes on alone"},
    {7, 8, 256, true, false, false, {3, 0, 0, any, 64, 64, 0}, "eight loads under way at once"},
    {8, 8, 256, true, false, false, {1, any, 0, 16, 64, 64, 45}, "from register to register"},
    {9, 2, 32, false, false, false, {}, "no launch reads what it writes"},
    {10, 16, 256, true, true, false, {1, any, 0, 16, 128, 32, 45}, "a quarter of the loads"},
    {11, 16, 256, true, true, true, {1, any, 0, 16, 128, 32, 67}, "neighbours first, to the bit"},
    {12, 16, 256, false, true, true, {}, "one launch, and nobody waits for a block after it"},
    {13, 1, 0, false, false, true, {}, "AUTO's bits, by six lines of C"},
    {14, 1, 0, false, false, true, {}, "pairwise, whoever knows how many there are"},
    {15, 1, 0, false, false, false, {}, "what takes as long as nothing, and what memory takes"},
    {16, 1, 1000, false, false, false, {any, any, 0, any, any, 32, any}, "one row, one tree"},
    {17, 1, 0, false, false, false, {any, any, any, any, any, 32, any}, "integers have no order"},
    {18, 1, 256, true, false, false, {1, any, 0, any, 8, 8, any, 150}, "a __syncwarp(), there"},
    {19, 1, 256, true, false, false, {9, 0, 0, any, 8, 8, 0, 45}, "barriers are for all"},
    {20, 4, 256, false, false, false, {}, "stored, then fenced, then counted"},
};
} // namespace course
#endif
