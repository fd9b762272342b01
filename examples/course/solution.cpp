/* A solution of an exercise, as the grader takes it: compiled with -DLESSON=number and
 * -DSOLUTION="file". */
#include "course.h"
#include SOLUTION
#undef float
#include "lessons.h"

#ifndef COURSE_ON_THE_HOST
/* The shared memory whose size a launch says, as exercises declare it. */
alignas(128) thread_local simt::traced<float> sdata[simt::most_dynamic_shared / sizeof(float)];
#endif

namespace course
{
using element = simt::traced<float>;

#ifndef COURSE_ON_THE_HOST
static unsigned char *shared()
{
    return reinterpret_cast<unsigned char *>(sdata);
}
#else
constexpr auto shared = nullptr;
#endif

#if LESSON == 1
static float on_the_host(const float *x, size_t n)
{
    return sum(x, n, n > 1000000 ? 4096 : 256);
}
const solution the_solution = {LESSON, shared, nullptr, nullptr, nullptr, on_the_host, nullptr};
#elif LESSON == 9
const solution the_solution = {LESSON, shared, nullptr, sum, nullptr, nullptr, nullptr};
#elif LESSON == 12
const solution the_solution = {LESSON, shared, nullptr, nullptr, sum, nullptr, nullptr};
#elif LESSON == 13
const solution the_solution = {LESSON, shared, nullptr, nullptr, nullptr, pairwise, nullptr};
#elif LESSON == 14
const solution the_solution = {LESSON, shared, nullptr, nullptr, nullptr, sum, nullptr};
#elif LESSON == 15
const solution the_solution = {LESSON, shared, nullptr, nullptr, nullptr, nullptr, microseconds};
#else
static void launch_blocks(unsigned block, size_t count, const element *input, element *partials,
                          size_t n)
{
    const unsigned blocks = static_cast<unsigned>(count);
#if LESSON < 7
    launch(block_sums, blocks, block, block * sizeof(float), input, partials, n);
#else /* from V5 on the block size is a template parameter */
    switch (block) {
    case 32: return launch(block_sums<32>, blocks, 32, 0, input, partials, n);
    case 64: return launch(block_sums<64>, blocks, 64, 0, input, partials, n);
    case 128: return launch(block_sums<128>, blocks, 128, 0, input, partials, n);
    case 256: return launch(block_sums<256>, blocks, 256, 0, input, partials, n);
    case 512: return launch(block_sums<512>, blocks, 512, 0, input, partials, n);
    default: return launch(block_sums<1024>, blocks, 1024, 0, input, partials, n);
    }
#endif
}
const solution the_solution = {LESSON, shared, launch_blocks, nullptr, nullptr, nullptr, nullptr};
#endif
} // namespace course
