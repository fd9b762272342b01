/* The engines in blocks and tiles as small as a test likes, through the library's own launchers:
 * EXACT's by a table of one row, AUTO's by a pairwise_engine whose small and large blocks are the
 * same. */
#ifndef ONE_ROW_H
#define ONE_ROW_H

#include "../../fastreduce.cuh"
#include "check.h"

namespace one_row
{

using namespace fastreduce::detail;

/* Dynamic shared memory that an accumulator itself needs. */
template <unsigned BlockSize, class Source>
constexpr size_t own_bytes(const superaccumulator<BlockSize, Source> *)
{
    return superaccumulator<BlockSize, Source>::shared_bytes;
}
template <unsigned BlockSize, class Source>
constexpr size_t own_bytes(const wide_superaccumulator<BlockSize, Source> *)
{
    return wide_superaccumulator<BlockSize, Source>::shared_bytes;
}
constexpr size_t own_bytes(const void *)
{
    return 0;
}

template <class Accumulator, engine_kernel Kernel, unsigned BlockSize, unsigned Packs,
          unsigned Stages = 0, bool Streaming = false>
struct engine {
    using Element = typename Accumulator::Element;
    using Output = typename Accumulator::Output;
    template <unsigned>
    using accumulator = Accumulator;
    static constexpr unsigned head_alignment = Accumulator::head_alignment;
    static constexpr unsigned rows = 1;
    static constexpr size_t most_blocks = 4095;

    static constexpr plan_entry row(unsigned)
    {
        return {any_bytes,
                Kernel,
                BlockSize,
                Packs,
                Stages,
                0,
                Stages * stage_bytes<Accumulator, BlockSize * Packs>() +
                    own_bytes(static_cast<const Accumulator *>(nullptr)),
                Streaming,
                Stages};
    }
};

/* Whether a row's kernel is compiled with a pipeline for a device. */
template <class Engine>
cudaError_t pipelines(unsigned number, int device, bool *answer)
{
    unsigned char code = unknown_code;
    const cudaError_t error = row_kernel<Engine>(number) == nullptr
                                  ? cudaSuccess
                                  : find_code(engine_of<Engine>(), number, device, &code);
    *answer = code == pipelined_code;
    return error;
}

/* Whether the kernel of a row is there in full: what an architecture never runs is left out of its
 * code. */
template <class Engine>
bool is_compiled(unsigned number, int device)
{
    const engine_kernel kernel = Engine::row(number).kernel;
    bool pipelined = false;
    if (row_kernel<Engine>(number) == nullptr) return false;
    CUDA(pipelines<Engine>(number, device, &pipelined));
#ifdef SIMT_MACHINE
    return true;
#endif
    return kernel == engine_kernel::grid_stride || pipelined;
}

/* Status words of a launch by any of its rows. */
template <class Engine>
size_t words_of(size_t units)
{
    const engine_table table = table_of<Engine>();
    return table.words_at_all + table.words_per_unit * units + 1;
}

/* The array as a row of an engine reads it. */
template <class Engine>
array_layout array_of(unsigned number, const void *input, size_t n)
{
    return {input, n, sizeof(typename Engine::Element), Engine::head_alignment,
            Engine::row(number).streaming};
}

template <class Engine>
cudaError_t launch(unsigned number, unsigned blocks, int device, const array_layout &input,
                   const work_plan &work, typename Engine::Output output, status_word *words)
{
    return launch_row(engine_of<Engine>(), number, blocks, device, input, work, &output, words,
                      nullptr);
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
    return launch_pairwise(pairwise_engine_of<Reducer, BlockSize, Packs, BlockSize, Packs>(),
                           {input, n, call.n_on_device, call.other}, &output, memory, nullptr,
                           call.most_words);
}

} // namespace one_row

using exact_output = fastreduce::detail::exact_engine::Output;
#endif
