/* What the grader knows of each lesson: what its exercise defines, and what is enough. */
#ifndef COURSE_LESSONS_H
#define COURSE_LESSONS_H

#define COURSE_BLOCKS 1     /* block_sums(input, partials, n), a kernel */
#define COURSE_LEVELS 2     /* sum(input, output, workspace, n), which launches one for each level */
#define COURSE_ONE_LAUNCH 3 /* sum(input, output, words, n), which launches one */
#define COURSE_HOST 4       /* a function of the host */
#define COURSE_MODEL 5      /* a formula */

#if LESSON == 9
#define COURSE_KIND COURSE_LEVELS
#elif LESSON == 12
#define COURSE_KIND COURSE_ONE_LAUNCH
#elif LESSON == 15
#define COURSE_KIND COURSE_MODEL
#elif defined(COURSE_ON_THE_HOST)
#define COURSE_KIND COURSE_HOST
#else
#define COURSE_KIND COURSE_BLOCKS
#endif
/* From V5 on the block size is a template parameter. */
#define COURSE_TEMPLATE (LESSON == 7 || LESSON == 8 || LESSON == 10 || LESSON == 11)

namespace course
{
constexpr unsigned any = ~0u;

/* Of one block of 256 threads that has all its elements. */
struct costs {
    unsigned barriers, avoidable, conflicts, shared, lines, loads, shuffles;
};

struct lesson {
    unsigned number, items; /* elements a thread */
    bool device;            /* a kernel, or what launches one */
    bool any_block;         /* blocks of 32 to 1024 threads */
    bool any_address;       /* the input may begin where no vector does */
    bool pairwise;          /* by index, to the bit */
    costs enough;
    const char *praise;
};

constexpr lesson lessons[] = {
    {2, 1, true, true, false, false, {9, any, 0, any, 8, 8, 0}, "a tree: 8 steps for 256 numbers"},
    {6, 2, true, true, false, false, {3, 0, 0, any, 16, 16, 0}, "the last warp goes on alone"},
};

constexpr lesson find_lesson(unsigned number)
{
    for (const lesson &one : lessons)
        if (one.number == number) return one;
    return {};
}
constexpr lesson this_lesson = find_lesson(LESSON);
static_assert(this_lesson.number == LESSON, "there is no such lesson");
} // namespace course
#endif
