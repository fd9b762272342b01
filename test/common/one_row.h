/* The engines in blocks and tiles as small as a test likes, through the library's own launchers. */
#ifndef ONE_ROW_H
#define ONE_ROW_H

#include "../../fastreduce.cuh"
#include "check.h"

namespace one_row
{

using namespace fastreduce::detail;

/* A call of EXACT by at most so many blocks, each of as many threads as the accumulator says. */
template <class Accumulator, unsigned Packs = 4>
fastreduce_status reduce_exact_in(size_t blocks, const void *input, size_t n, exact_output output,
                                  status_word *words, const void *other = nullptr)
{
    const kernel_set &set = exact_kernels_of<Accumulator, Packs>;
    return launch(plan_array, set, {input, n, nullptr, other}, &output,
                  {{words, Accumulator::status_words * sizeof *words}, nullptr, blocks});
}

/* A call of AUTO in blocks of so many threads, each with so many packs; as if there were no more
 * than `most_words` of workspace; or n is on the device. Where blocks run one at a time, in any
 * order of threads: whoever waits waits for blocks before it. */
struct pairwise_call {
    size_t most_words = workspace_words;
    const size_t *n_on_device = nullptr;
    const void *other = nullptr; /* y of a dot product */
};
template <class Reducer, unsigned BlockSize, unsigned Packs>
fastreduce_status reduce_pairwise_in(const void *input, size_t n, void *result,
                                     const Reducer &reducer, fastreduce::workspace memory,
                                     const pairwise_call &call = {})
{
    reduction_output<Reducer> output = {result, reducer};
    const kernel_set &set = kernels_of<Reducer, array_part, BlockSize, Packs, BlockSize, Packs>;
    return launch(plan_array, set, {input, n, call.n_on_device, call.other}, &output,
                  {memory, nullptr, max_blocks, call.most_words});
}

} // namespace one_row

using fastreduce::detail::exact_output;
#endif
