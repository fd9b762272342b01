/* AUTO's kernel in blocks so small that groups of groups of blocks, and runs of many tiles, are
 * within reach: its bits are those of the pairwise reduction (common/pairwise.h), whatever the
 * blocks, their order, the addresses, the words of workspace, and who knows n. On a GPU also the
 * soak: replays, many streams at once, a GPU kept busy. -DAUTO_SMALL, for test/quality/mutants.py,
 * leaves out what takes long. */
#include <cuda_runtime.h>
#ifdef SIMT_MACHINE
#define FASTREDUCE_HOST_IMPLEMENTATION
#else
#define FASTREDUCE_IMPLEMENTATION
#define FASTREDUCE_TYPES FASTREDUCE_F32
#define FASTREDUCE_OPERATORS FASTREDUCE_SUM
#endif
#include "../../fastreduce.cuh"
#include "../common/check.h"
#include "../common/dynamic_shared.h"
#include "../common/exact_input.h"
#include "../common/one_row.h"
#include "../common/order.h"
#include "../common/pairwise.h"

using namespace fastreduce;
using namespace fastreduce::detail;

static bool thorough = on_gpu; /* the CPU machine and sanitizers take too long for some */

/* ---- Data and results ------------------------------------------------------------------------ */

template <class T>
struct number_of { /* by the number's own bits, of a uniform one in [-1, 1) times 2^exponent */
    static T of(double x, int exponent) { return static_cast<T>(std::ldexp(x, exponent % 30)); }
};
template <>
struct number_of<double> {
    static double of(double x, int exponent) { return std::ldexp(x, exponent); }
};
template <>
struct number_of<bf16> {
    static bf16 of(double x, int exponent)
    {
        const float wide = static_cast<float>(std::ldexp(x, exponent % 30));
        return {static_cast<unsigned short>(bits_as<unsigned>(wide) >> 16)};
    }
};
template <>
struct number_of<f16> {
    static f16 of(double x, int exponent)
    {
        const unsigned fraction = static_cast<unsigned>(std::fabs(x) * 1024);
        return {static_cast<unsigned short>((x < 0) << 15 | (10 + exponent % 8) << 10 | fraction)};
    }
};
template <>
struct number_of<int> {
    static int of(double x, int exponent) { return static_cast<int>(std::ldexp(x, exponent % 30)); }
};

/* Numbers of which every sum is rounded, so that the order shows. */
template <class T>
static std::vector<T> made_of(size_t n, unsigned long long seed)
{
    std::vector<T> values(n);
    for (size_t i = 0; i < n; ++i) {
        const unsigned long long z = check::mix(i, seed);
        values[i] = number_of<T>::of(static_cast<double>(static_cast<long long>(z)) / 0x1p63,
                                     static_cast<int>(z % 24));
    }
    return values;
}

template <class Result>
static bool same(const Result &a, const Result &b)
{
    return std::memcmp(&a, &b, sizeof a) == 0 || (std::isnan(a) && std::isnan(b));
}

/* What is reduced, and what comes out by the pairwise reduction. */
template <class Input, class Operator, fastreduce_type Type, fastreduce_operator Op>
struct reduction_of {
    using T = Input;
    static constexpr bool two_arrays = false;
    static auto reducer() { return make_reducer<Operator, T>(); }
    using Result = typename decltype(reducer())::Result;
    static Result wanted(const T *x, const T *, size_t n)
    {
        Result result = {};
        check::that(pairwise::result(Type, Op, x, n, &result), "no pairwise result");
        return result;
    }
};
template <class Input, fastreduce_type Type>
struct dot_product {
    using T = Input;
    static constexpr bool two_arrays = true;
    static auto reducer() { return dot_t<T>(); }
    using Result = typename decltype(reducer())::Result;
    static Result wanted(const T *x, const T *y, size_t n)
    {
        Result result = {};
        check::that(pairwise::dot(Type, x, y, n, &result), "no pairwise dot product");
        return result;
    }
};
/* Partials of 1, 2 and 3 words; packs of a value each element, and of one; both arrays. */
using sums = reduction_of<float, plus, FASTREDUCE_F32, FASTREDUCE_SUM>;
using double_sums = reduction_of<double, plus, FASTREDUCE_F64, FASTREDUCE_SUM>;
using float_products = reduction_of<float, multiplies, FASTREDUCE_F32, FASTREDUCE_PRODUCT>;
using half_squares = reduction_of<f16, sum_squares, FASTREDUCE_F16, FASTREDUCE_SUM_SQUARES>;
using norms = reduction_of<float, norm2, FASTREDUCE_F32, FASTREDUCE_NORM2>;
using double_norms = reduction_of<double, norm2, FASTREDUCE_F64, FASTREDUCE_NORM2>;
using variances = reduction_of<bf16, variance, FASTREDUCE_BF16, FASTREDUCE_VARIANCE>;
using int_variances = reduction_of<int, variance, FASTREDUCE_I32, FASTREDUCE_VARIANCE>;
using dots = dot_product<float, FASTREDUCE_F32>;
using double_dots = dot_product<double, FASTREDUCE_F64>;

/* ---- One call in small blocks ---------------------------------------------------------------- */

struct how {
    size_t offset = 0, other_offset = 0;
    size_t most_words = workspace_words;
    size_t bound = 0; /* of n on the device, if not 0 */
    unsigned orders = 1;
    size_t n = 0; /* on the device */
};

/* Every call begins with the words that the last one left. */
template <class Of, unsigned BlockSize, unsigned Packs>
static void small_call(const char *what, const std::vector<typename Of::T> &x,
                       const std::vector<typename Of::T> &y, const how &given)
{
    using T = typename Of::T;
    using Result = typename Of::Result;
    const size_t n = given.bound ? std::min(given.n, given.bound) : x.size();
    const exact_input<T> from_x(x, given.offset), from_y(y, given.other_offset);
    const Result wanted = Of::wanted(x.data(), y.data(), n);
    check::buffer<Result> output(1, given.offset);
    check::buffer<size_t> count(1);
    const auto reducer = Of::reducer();
    using Reducer = std::decay_t<decltype(reducer)>;
    const size_t bytes =
        array_workspace_bytes(sizes_of<Reducer, BlockSize, Packs, BlockSize, Packs>(), x.size());
    check::buffer<unsigned char> memory(bytes);
    memory.fill(0);
    count.set(&given.n);
    one_row::pairwise_call call;
    call.most_words = given.most_words;
    if (given.bound) call.n_on_device = count.data();
    if (Of::two_arrays) call.other = from_y.data();
    for (unsigned turn = 0; turn < given.orders; ++turn) {
        const char *const in_order = order::next();
        output.fill(0x7f);
        const fastreduce_status status = one_row::reduce_pairwise_in<Reducer, BlockSize, Packs>(
            from_x.data(), x.size(), output.data(), reducer,
            {bytes ? memory.data() : nullptr, bytes}, call);
        CUDA(cudaDeviceSynchronize());
        order::usual();
        const Result got = output.get()[0];
        check::that(status == 0 && same(got, wanted),
                    "%s, %u x %u, n %zu of %zu, %zu words, offsets %zu and %zu, blocks %s: status "
                    "%d, %.17g, not %.17g %s",
                    what, BlockSize, Packs, n, x.size(), given.most_words, given.offset,
                    given.other_offset, in_order, status, static_cast<double>(got),
                    static_cast<double>(wanted), order::report());
        check::that(memory.every_byte_is(0) && memory.canaries_alive() && output.canaries_alive(),
                    "%s, %u x %u, n %zu of %zu, %zu words, blocks %s: words left dirty, or a write "
                    "outside",
                    what, BlockSize, Packs, n, x.size(), given.most_words, in_order);
        if (status != 0) memory.fill(0);
    }
}

template <class Of, unsigned BlockSize, unsigned Packs>
static void small_call(const char *what, size_t n, const how &given)
{
    using T = typename Of::T;
    small_call<Of, BlockSize, Packs>(what, made_of<T>(n, n),
                                     made_of<T>(Of::two_arrays ? n : 0, n + 1), given);
}

/* Runs of 2^log tiles of so many elements: as few words as that takes. */
static size_t words_for_runs(unsigned log, size_t n, tile_size size, unsigned pack_size,
                             unsigned each)
{
    size_t words = workspace_words;
    while (plan_runs(n, pack_size, each, size, words).run_log < log)
        words = plan_runs(n, pack_size, each, size, words).status_words - 1;
    return words;
}

/* ---- What is called -------------------------------------------------------------------------- */

/* Every offset of the elements, and each order of the blocks, about the ends of packs, tiles and
 * groups of tiles. */
template <class Of, unsigned BlockSize, unsigned Packs>
static void every_offset(const char *what)
{
    constexpr size_t size = pack<typename Of::T>::size, tile = BlockSize * Packs * size;
    const size_t sizes[] = {0,
                            1,
                            2,
                            3,
                            size,
                            size + 1,
                            31,
                            tile - 1,
                            tile,
                            tile + 1,
                            2 * tile,
                            3 * tile + 5,
                            5 * tile,
                            7 * tile - size,
                            33 * tile + 1};
    unsigned turn = 0;
    for (size_t n : sizes)
        for (size_t offset = 0; offset < size; ++offset) {
            if (!thorough && n > 4 * tile && offset % 3 != turn % 3) continue;
            how given;
            given.offset = offset;
            given.other_offset = Of::two_arrays ? (offset * 3 + turn) % size : 0;
            small_call<Of, BlockSize, Packs>(what, n, given);
            ++turn;
        }
}

/* Groups of groups, and runs of several tiles of which the last one is not complete. */
template <class Of, unsigned BlockSize, unsigned Packs>
static void levels_and_runs(const char *what)
{
    using T = typename Of::T;
    constexpr tile_size blocks = {BlockSize, Packs};
    constexpr size_t size = pack<T>::size, group = blocks.group_runs(),
                     tile = blocks.tile_packs() * size;
    constexpr unsigned each = partial_words<typename decltype(Of::reducer())::Value>::count;
    for (size_t tiles :
         {size_t(1), size_t(2), size_t(7), group - 1, group, group + 1, 2 * group + 3, 5 * group})
        for (size_t less : {size_t(0), size_t(1), tile - 1}) {
            how given;
            given.offset = tiles % size;
            given.orders = 2;
            small_call<Of, BlockSize, Packs>(what, tiles * tile - less, given);
        }
    for (unsigned log : {1u, 2u, 3u})
        for (size_t tiles : {size_t(9), size_t(16), size_t(23), size_t(25), size_t(77),
                             (group << log) + 1, 2 * (group << log) + 3}) {
            if (!thorough && tiles > 200 && group > 64) continue;
            how given;
            const size_t n = tiles * tile - tiles % 3 * (tile / 3);
            given.offset = tiles % 2;
            given.most_words = words_for_runs(log, n, blocks, size, each);
            given.orders = 2;
            small_call<Of, BlockSize, Packs>(what, n, given);
        }
    if (group > 64 && !thorough) return;
    /* groups of groups of groups */
    how given;
    given.offset = 1;
    given.orders = each == 1 ? 3 : 1;
    small_call<Of, BlockSize, Packs>(what, (group * group + 2 * group + 1) * tile - 1, given);
    given.most_words = words_for_runs(1, (2 * group * group + 3) * tile, blocks, size, each);
    if (each == 1) small_call<Of, BlockSize, Packs>(what, (2 * group * group + 3) * tile, given);
}

/* n in GPU memory: the bits of a call for as many. Beyond as many runs as there are blocks at once,
 * these take them in turn; beyond turns_of_block times as many, runs are of several tiles. */
template <class Of, unsigned BlockSize, unsigned Packs>
static void counted(const char *what)
{
    using T = typename Of::T;
    constexpr tile_size blocks = {BlockSize, Packs};
    constexpr size_t size = pack<T>::size, group = blocks.group_runs(),
                     tile = blocks.tile_packs() * size;
    constexpr unsigned each = partial_words<typename decltype(Of::reducer())::Value>::count;
#ifdef SIMT_MACHINE
    simt::gpu small;
    small.number = 20;
    small.multiprocessors = 1;
    simt::set_gpu(small);
#endif
    device_limits limits = {};
    check::that(find_limits(&limits) == cudaSuccess, "limits of the GPU");
    const size_t at_once = size_t(limits.multiprocessors) * (1024 / BlockSize);
    std::vector<size_t> all = {1, 5, group + 2, at_once, at_once + 1, 3 * at_once + 5};
    if (!on_gpu && BlockSize * Packs == 32) all.push_back(turns_of_block * at_once + 7);
    for (const size_t tiles : all)
        for (unsigned log : {0u, 1u}) {
            const bool many = tiles > 1000;
            if (log > 0 && (tiles == 1 || many)) continue;
            const size_t bound = (tiles << log) * tile - tiles % 2;
            const std::vector<T> x = made_of<T>(bound, tiles),
                                 y = made_of<T>(Of::two_arrays ? bound : 0, tiles + 1);
            for (size_t n :
                 {size_t(0), size_t(1), tile, tile + 1, at_once * tile, at_once * tile + 1,
                  bound / 2 + 1, bound - 1, bound, bound + 1, ~size_t(0)}) {
                if (many && n >= bound - 1 && n != bound) continue;
                how given;
                given.offset = n % size;
                given.bound = bound;
                given.n = n;
                given.orders = many ? 1 : 2;
                if (log > 0) given.most_words = words_for_runs(log, bound, blocks, size, each);
                small_call<Of, BlockSize, Packs>(what, x, y, given);
            }
        }
#ifdef SIMT_MACHINE
    simt::set_gpu(simt::gpu());
#endif
}

/* A sum of nothing but -0 is -0; of no elements, +0. */
static void negative_zeros()
{
    for (size_t n : {1, 2, 3, 4, 5, 127, 128, 129, 1000, 4100, 5000})
        for (size_t offset = 0; offset < 4; ++offset) {
            how given;
            given.offset = offset;
            const std::vector<float> zeros(n, -0.0f);
            float wanted = sums::wanted(zeros.data(), nullptr, n);
            check::that(std::signbit(wanted) && wanted == 0, "-0, pairwise");
            small_call<sums, 32, 1>("-0", zeros, {}, given);
            const std::vector<float> ones(n, 1.0f);
            small_call<dots, 32, 1>("-0 times 1", zeros, ones, given);
        }
    float nothing = sums::wanted(nullptr, nullptr, 0);
    check::that(!std::signbit(nothing) && nothing == 0, "+0, pairwise");
}

static void small_blocks()
{
    every_offset<sums, 32, 1>("sum");
    every_offset<sums, 64, 2>("sum");
    every_offset<double_sums, 32, 2>("sum of doubles");
    every_offset<float_products, 32, 1>("product");
    every_offset<half_squares, 32, 1>("squares of halves");
    every_offset<norms, 32, 2>("norm");
    every_offset<double_norms, 64, 1>("norm of doubles");
    every_offset<variances, 32, 1>("variance");
    every_offset<int_variances, 32, 2>("variance of integers");
    every_offset<dots, 32, 2>("dot product");
    every_offset<double_dots, 32, 1>("dot product of doubles");
    levels_and_runs<sums, 32, 1>("sum");
    levels_and_runs<sums, 64, 2>("sum");
    levels_and_runs<double_sums, 32, 2>("sum of doubles");
    levels_and_runs<double_norms, 64, 1>("norm of doubles");
    levels_and_runs<variances, 32, 1>("variance");
    levels_and_runs<dots, 32, 2>("dot product");
    counted<sums, 32, 1>("sum, counted");
    counted<sums, 64, 2>("sum, counted");
    counted<double_dots, 32, 1>("dot product of doubles, counted");
    counted<int_variances, 32, 2>("variance, counted");
    negative_zeros();
}

#ifndef SIMT_MACHINE
__global__ void busy(unsigned long long cycles)
{
    const long long start = clock64();
    while (clock64() - start < static_cast<long long>(cycles)) {
    }
}

/* Many streams at once, each with its workspace, on a GPU that a long kernel mostly occupies. */
static void crowd()
{
    constexpr int streams = 24, repeats = 200;
    cudaStream_t blocker;
    CUDA(cudaStreamCreateWithFlags(&blocker, cudaStreamNonBlocking));
    const size_t largest = (size_t(1) << 25) + 12345;
    const std::vector<float> values = check::make(check::data::uniform, largest, 77);
    check::buffer<float> input(largest, 1), output(streams);
    input.set(values);
    std::vector<float> wanted(streams);
    /* the last time, all of them of the largest size, by blocks that take runs in turn: each of
     * these must go on whichever others have a place */
    check::buffer<size_t> count(1);
    count.set(&largest);
    for (int round = 0; round < 3; ++round) {
        const bool crowded = round > 0, counted = round > 1;
        for (int s = 0; s < streams; ++s) {
            if (crowded && s == 0) {
                int device, multiprocessors;
                CUDA(cudaGetDevice(&device));
                CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount,
                                            device));
                busy<<<2 * multiprocessors - 2, 1024, 0, blocker>>>(
                    2000000000ull); /* a second: all but one place */
                CUDA(cudaGetLastError());
            }
            fastreduce_config config = {};
            CUDA(cudaStreamCreateWithFlags(&config.stream, cudaStreamNonBlocking));
            const size_t n = counted ? largest : largest >> s;
            if (counted) config.n_on_device = count.data();
            config.workspace_bytes = fastreduce_workspace_bytes(n, &config);
            if (config.workspace_bytes) CUDA(cudaMalloc(&config.workspace, config.workspace_bytes));
            check::that(fastreduce_workspace_init(config.workspace, config.workspace_bytes,
                                                  config.stream) == 0,
                        "init");
            for (int r = 0; r < (crowded ? repeats / 10 : 1); ++r)
                check::that(fastreduce_sum_f32(input.data(), output.data() + s, n, &config) == 0,
                            "crowd: status");
            if (!crowded) CUDA(cudaDeviceSynchronize());
            /* streams and workspaces are left to the end of the process: they are in use */
        }
        CUDA(cudaDeviceSynchronize());
        const std::vector<float> got = output.get();
        if (!crowded) wanted = got;
        for (int s = 0; s < streams; ++s)
            check::that(std::memcmp(&got[s], &wanted[counted ? 0 : s], sizeof(float)) == 0,
                        "crowd, round %d: stream %d gave %.9g, alone %.9g", round, s, got[s],
                        wanted[counted ? 0 : s]);
    }
}

/* One graph replayed 10^5 times: the same bits, the slots zero. Its calls follow each other by
 * overlapped launch. */
static void replays()
{
    for (size_t n : {size_t(5000), size_t(100001), size_t(1) << 21}) {
        const std::vector<float> values = check::make(check::data::uniform, n, 5);
        check::buffer<float> input(n, 3), output(4);
        input.set(values);
        fastreduce_config config = {};
        config.workspace_bytes = fastreduce_workspace_bytes(n, &config);
        check::buffer<unsigned char> workspace(config.workspace_bytes);
        workspace.fill(0);
        if (config.workspace_bytes) config.workspace = workspace.data();
        CUDA(cudaStreamCreateWithFlags(&config.stream, cudaStreamNonBlocking));
        fastreduce_sum_f32(input.data(), output.data(), n, &config);
        CUDA(cudaStreamSynchronize(config.stream));
        const float wanted = output.get()[0];

        cudaGraph_t graph;
        cudaGraphExec_t executable;
        CUDA(cudaStreamBeginCapture(config.stream, cudaStreamCaptureModeGlobal));
        for (int k = 0; k < 4; ++k)
            check::that(fastreduce_sum_f32(input.data(), output.data() + k, n, &config) == 0,
                        "capture");
        CUDA(cudaStreamEndCapture(config.stream, &graph));
        CUDA(cudaGraphInstantiateWithFlags(&executable, graph, 0));
        for (int replay = 0; replay < 100000; ++replay) {
            CUDA(cudaGraphLaunch(executable, config.stream));
            if (replay % 1000 == 999) {
                CUDA(cudaStreamSynchronize(config.stream));
                for (float got : output.get())
                    check::that(std::memcmp(&got, &wanted, sizeof got) == 0,
                                "n %zu, replay %d: %.9g, not %.9g", n, replay, got, wanted);
                output.fill(0x7f);
            }
        }
        CUDA(cudaStreamSynchronize(config.stream));
        check::that(workspace.every_byte_is(0), "n %zu: slots left dirty", n);
        CUDA(cudaGraphExecDestroy(executable));
        CUDA(cudaGraphDestroy(graph));
        CUDA(cudaStreamDestroy(config.stream));
    }
}

/* A kernel or a copy of the user's right before the call: the sum sees what it wrote, overlapped
 * launch or not. */
__global__ void write_ones(float *data, size_t n, float value)
{
    const long long start = clock64();
    while (clock64() - start < 20000) {
    }
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n;
         i += size_t(gridDim.x) * blockDim.x)
        data[i] = value;
}

static void after_others()
{
    constexpr size_t n = 300000;
    check::buffer<float> input(n), output(1);
    fastreduce_config config = {};
    config.workspace_bytes = fastreduce_workspace_bytes(n, &config);
    check::buffer<unsigned char> workspace(config.workspace_bytes);
    workspace.fill(0);
    config.workspace = workspace.data();
    CUDA(cudaStreamCreateWithFlags(&config.stream, cudaStreamNonBlocking));
    for (int k = 1; k < 200; ++k) {
        const float value = static_cast<float>(k % 7 + 1);
        if (k % 2) {
            write_ones<<<64, 256, 0, config.stream>>>(input.data(), n, value);
            CUDA(cudaGetLastError());
        } else {
            CUDA(cudaMemsetAsync(input.data(), 0, n * sizeof(float), config.stream));
        }
        check::that(fastreduce_sum_f32(input.data(), output.data(), n, &config) == 0,
                    "after others: status");
        float got;
        CUDA(cudaMemcpyAsync(&got, output.data(), sizeof got, cudaMemcpyDeviceToHost,
                             config.stream));
        CUDA(cudaStreamSynchronize(config.stream));
        check::that(got == (k % 2 ? value * n : 0), "after others: %.9g in round %d", got, k);
    }
    CUDA(cudaStreamDestroy(config.stream));
}
#endif

int main(int argc, char **)
{
    check::need_device();
    thorough = on_gpu && argc == 1;
    small_blocks();
#ifndef SIMT_MACHINE
    after_others();
    if (thorough) {
        replays();
        crowd();
    }
#endif
    return check::finish("auto");
}
