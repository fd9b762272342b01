/* How fast, by shape: many results in one call, of rows, columns, middle axes and ragged segments,
 * beside CUB's segmented reduction and AUTO's one result of the same elements; dot products beside
 * cuBLAS. Device time, in graphs of calls on inputs out of L2; with --isolated, of single calls on
 * an idle GPU, where planning on the CPU counts.
 *
 *     nvcc -O3 -std=c++17 -arch=native bench_shapes.cu -o bench_shapes && ./bench_shapes
 *
 * With cuBLAS: -DBENCH_CUBLAS -lcublas. Without EXACT, for a shorter build: -DFASTREDUCE_NO_EXACT.
 * Other types and operators than these few: a list for each of these macros, with F32 and SUM in it
 * (nvcc splits at a comma without a backslash); -DBENCH_NO_CUB, or CUB before CCCL 3.0: without
 * peers, and nothing to compare results with.
 *
 *     -DFASTREDUCE_TYPES='FASTREDUCE_F32\,FASTREDUCE_F64' -DFASTREDUCE_OPERATORS=FASTREDUCE_SUM
 */
#define PROGRAM "bench_shapes"
#define FASTREDUCE_NO_LADDER
#define FASTREDUCE_WITH_SHAPES
#define FASTREDUCE_IMPLEMENTATION
#ifndef FASTREDUCE_TYPES
#define FASTREDUCE_TYPES FASTREDUCE_F32, FASTREDUCE_F16, FASTREDUCE_U8
#endif
#ifndef FASTREDUCE_OPERATORS
#define FASTREDUCE_OPERATORS FASTREDUCE_SUM, FASTREDUCE_MAX, FASTREDUCE_ARGMAX
#endif
#include "../fastreduce.cuh"
#include "common.h"
#include "measure.cuh"
#include "calls.cuh"
#include "elements.cuh"
#include <cstring>
#ifdef BENCH_CUBLAS
#include <cublas_v2.h>
#endif
#if __has_include(<cub/cub.cuh>) && !defined(BENCH_NO_CUB)
#include <cub/cub.cuh>
#if CUB_VERSION >= 300000
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#define BENCH_CUB
#if CUB_VERSION >= 300200 /* the first with segments of one size */
#define BENCH_CUB_FIXED
#endif
#endif
#endif

/* clang-format off */
static const char help[] =
    "usage: bench_shapes [OPTIONS] [shape=OUTERxNxINNER ...]\n"
    "\n"
    "Device time of fastreduce_reduce_axis and fastreduce_reduce_segments with AUTO: graphs of\n"
    "calls, replayed in turns; median over replays. Inputs are out of L2.\n"
    "\n"
    "  --table TABLE  rows, columns (and middle axes), segments (ragged), small, dot (products\n"
    "                 of two arrays); several: --table rows,small; all (default)\n"
    "  shape=...      arrays of OUTER x N x INNER elements, reduced along N, instead of tables:\n"
    "                 shape=2^18x1000x1\n"
    "  --elements N   of the array, but in the table small (default 2^28);\n"
    "                 " SIZE_FORMS "\n"
    "  --type TYPE    f32 (default), f64, f16, bf16, i8, i16, i32, i64, u8, u16, u32, u64;\n"
    "                 several: --type f32,f16; all: those built in\n"
    "  --op OPERATOR  sum (default), product, min, max, argmin, argmax, sum_abs, sum_squares,\n"
    "                 max_abs, norm2, mean, variance, count_nonzero; several, or all\n"
    "  --exact        EXACT in place of AUTO, of sums; of flat stays AUTO's\n"
    "  --isolated     one call at a time on an idle GPU, not in a graph, so that the time holds\n"
    "                 what the CPU does first, planning and launch; L2 holds other data, just\n"
    "                 written\n"
    "  --replays N    timed replays of each graph (default 15), or calls with --isolated\n"
    "                 (default 41 up to 2^26 elements, 15 beyond)\n"
    "  --no-peers     CUB is not timed, for a shorter run; results are compared all the same\n"
    "  --csv          machine-readable rows instead of the tables\n"
    "  -h, --help, --version  print and do nothing else\n"
    "\n"
    "Columns: the shape (of segments their number and average length), microseconds (median),\n"
    "spread (half the interquartile range, percent of it), GB/s of traffic (elements and\n"
    "offsets read, results written), that over the GB/s of fastreduce_reduce on the same\n"
    "elements, and CUB's times over ours: cub::DeviceSegmentedReduce with segments of one size\n"
    "(CCCL 3.2 or later) and with offsets, which are in memory where segments are ragged, and\n"
    "computed elsewhere. It reads columns through an iterator. Its norm2 is the sum of squares,\n"
    "its mean the sum, and variance has none. Results are compared with CUB's; the first wrong\n"
    "one is named on standard error. Of dot products, of floats: cuBLAS's\n"
    "time over ours, and of flat is beside one sum of both arrays. With --isolated, host us:\n"
    "microseconds that our call takes on the CPU, until it returns (median).\n"
    "Exit status: 0; 1 for a wrong result or a failed call; 2 for a wrong command line;\n"
    "77 where there is no GPU.\n";
/* clang-format on */

/* ---- Shapes ---------------------------------------------------------------------------------- */

enum class lengths { equal, ragged, half_in_one, dot };

struct shape {
    size_t outer, n, inner; /* of ragged segments: how many, their average length, 1; of dot: 2 */
    lengths kind = lengths::equal;

    size_t results() const { return kind == lengths::dot ? 1 : outer * inner; }
    size_t elements() const { return outer * n * inner; }
};

static bool is_ragged(const shape &s)
{
    return s.kind == lengths::ragged || s.kind == lengths::half_in_one;
}

static std::string name_of(const shape &s)
{
    return s.kind == lengths::dot           ? "dot"
           : s.kind == lengths::ragged      ? "ragged"
           : s.kind == lengths::half_in_one ? "half in one"
                                            : std::to_string(s.inner);
}

static std::vector<shape> rows_of(size_t elements)
{
    std::vector<shape> all;
    for (size_t columns :
         {1,   2,   3,   4,   7,   8,   15,   16,   17,   31,   32,   33,   63,    64,    65,
          100, 127, 128, 129, 256, 300, 1000, 1023, 1024, 1025, 2048, 4096, 10000, 65536, 1000000})
        if (columns < elements) all.push_back({elements / columns, columns, 1});
    all.push_back({1, elements, 1});
    return all;
}

/* Columns, the widest last, and middle axes. */
static std::vector<shape> columns_of(size_t elements)
{
    std::vector<shape> all;
    for (size_t inner : {3, 4, 16, 100, 256, 1024, 4096, 1 << 14, 1 << 16, 1 << 18, 1000000,
                         1 << 20, 1 << 24, 1 << 26})
        if (inner <= elements) all.push_back({1, elements / inner, inner});
    const size_t middle[][2] = {{256, 256},   {64, 64}, {64, 16}, {1 << 16, 64},
                                {1000, 1000}, {33, 7},  {4, 4}};
    for (const auto &m : middle)
        if (m[0] * m[1] <= elements) all.push_back({elements / m[0] / m[1], m[0], m[1]});
    return all;
}

static std::vector<shape> segments_of(size_t elements)
{
    std::vector<shape> all;
    for (size_t average :
         {4, 16, 32, 64, 128, 256, 512, 1000, 2000, 4000, 10000, 30000, 100000, 1000000})
        if (average <= elements) all.push_back({elements / average, average, 1, lengths::ragged});
    if (elements >= 128) all.push_back({elements / 64, 64, 1, lengths::half_in_one});
    return all;
}

static std::vector<shape> small_ones(size_t)
{
    return {{10, 10, 1},
            {64, 4096, 1},
            {256, 256, 1},
            {1000, 1000, 1},
            {8, 1 << 16, 1},
            {1, 4096, 64},
            {1, 64, 4096},
            {1, 1000, 1000},
            {16, 64, 64},
            {64, 4096, 1, lengths::ragged},
            {1000, 100, 1, lengths::ragged},
            {1000, 1000, 1, lengths::half_in_one}};
}

static std::vector<shape> dots_of(size_t elements)
{
    std::vector<shape> all;
    for (size_t n = 1024; 2 * n <= elements; n *= 8) all.push_back({2, n, 1, lengths::dot});
    all.push_back({2, elements / 2, 1, lengths::dot});
    return all;
}

/* Where each segment begins, and the end: lengths from 0 to twice the average, scaled so that they
 * fill the array. The long one is a third of the way through. */
static std::vector<int64_t> offsets_of(const shape &s)
{
    std::vector<double> ends(s.outer + 1);
    const double stretch = s.kind == lengths::half_in_one ? 2 : 1,
                 all = static_cast<double>(s.elements());
    for (size_t k = 0; k < s.outer; ++k)
        ends[k + 1] = ends[k] + static_cast<double>(hash(k) % (2 * s.n + 1));
    std::vector<int64_t> offsets(s.outer + 1);
    for (size_t k = 0; k <= s.outer; ++k) {
        const double share = ends[s.outer] > 0 ? ends[k] / ends[s.outer] : 0;
        offsets[k] = static_cast<int64_t>(share * (all / stretch));
        if (stretch > 1 && k > s.outer / 3) offsets[k] += static_cast<int64_t>(all / 2);
    }
    offsets[s.outer] = static_cast<int64_t>(s.elements());
    return offsets;
}

/* ---- Memory, allocated once for all rows ----------------------------------------------------- */

constexpr size_t peers_bytes = size_t(64) << 20;

struct scratch {
    void *workspace, *peers, *results, *of_peers;
    int64_t *offsets;
    unsigned long long *wrong; /* how many, and the first */

    scratch(size_t result_bytes, size_t peer_bytes, size_t segments)
    {
        CHECK(cudaMalloc(&workspace, FASTREDUCE_WORKSPACE_BYTES));
        CHECK(cudaMalloc(&peers, peers_bytes));
        CHECK(cudaMalloc(&results, result_bytes));
        CHECK(cudaMalloc(&of_peers, peer_bytes));
        CHECK(cudaMalloc(&offsets, (segments + 1) * sizeof *offsets));
        CHECK(cudaMalloc(&wrong, 2 * sizeof *wrong));
        CHECK(fastreduce_workspace_init(workspace, FASTREDUCE_WORKSPACE_BYTES, nullptr));
        CHECK(cudaDeviceSynchronize());
    }
};

/* ---- CUB ------------------------------------------------------------------------------------- */

using peer = void (*)(const scratch &memory, const void *input, const shape &s,
                      cudaStream_t stream);
using comparison = bool (*)(const scratch &memory, const shape &s, fastreduce_type type,
                            cudaStream_t stream);

#ifdef BENCH_CUB
/* Where segment s of n elements each begins. */
struct times_n {
    long long n;
    __host__ __device__ long long operator()(long long s) const { return s * n; }
};

/* Elements in the order of their results: number k of result s is element s * n + k. In 32 bits, as
 * long as those do: division takes long. */
template <class T>
struct of_columns {
    const T *x;
    unsigned n, inner;
    __host__ __device__ T operator()(long long index) const
    {
        const unsigned i = static_cast<unsigned>(index), s = i / n, k = i % n;
        return x[(size_t(s / inner) * n + k) * inner + s % inner];
    }
};

/* What CUB stores for an index: it and the value. */
template <class T, bool Fixed>
using place_by_cub = std::conditional_t<Fixed, cuda::std::pair<int, T>, cub::KeyValuePair<int, T>>;

/* `bounds`: their begins and ends, or the size of all. */
template <fastreduce_operator Op, class T, class Input, class... Bounds>
static void by_cub(const scratch &memory, Input x, size_t count, cudaStream_t stream,
                   Bounds... bounds)
{
    using segmented = cub::DeviceSegmentedReduce;
    using value = result<Op, T>;
    [[maybe_unused]] value *out = static_cast<value *>(memory.of_peers);
    [[maybe_unused]] auto *places =
        static_cast<place_by_cub<T, sizeof...(Bounds) == 1> *>(memory.of_peers);
    const auto segments = static_cast<int64_t>(count);
    size_t bytes = peers_bytes;
    if constexpr (Op == FASTREDUCE_MIN)
        CHECK(segmented::Min(memory.peers, bytes, x, out, segments, bounds..., stream));
    else if constexpr (Op == FASTREDUCE_MAX)
        CHECK(segmented::Max(memory.peers, bytes, x, out, segments, bounds..., stream));
    else if constexpr (Op == FASTREDUCE_ARGMIN)
        CHECK(segmented::ArgMin(memory.peers, bytes, x, places, segments, bounds..., stream));
    else if constexpr (Op == FASTREDUCE_ARGMAX)
        CHECK(segmented::ArgMax(memory.peers, bytes, x, places, segments, bounds..., stream));
    else if constexpr (Op == FASTREDUCE_SUM && std::is_arithmetic_v<T>)
        CHECK(segmented::Sum(memory.peers, bytes, x, out, segments, bounds..., stream));
    else
        CHECK(segmented::Reduce(
            memory.peers, bytes, thrust::make_transform_iterator(x, term<Op, value>()), out,
            segments, bounds..., combine<Op>(), value(Op == FASTREDUCE_PRODUCT), stream));
}

template <class T>
static auto columns_in(const void *input, const shape &s)
{
    const of_columns<T> order = {static_cast<const T *>(input), static_cast<unsigned>(s.n),
                                 static_cast<unsigned>(s.inner)};
    return thrust::make_transform_iterator(thrust::make_counting_iterator(0ll), order);
}

template <fastreduce_operator Op, class T>
static void with_offsets(const scratch &memory, const void *input, const shape &s,
                         cudaStream_t stream)
{
    const T *x = static_cast<const T *>(input);
    const auto begins = thrust::make_transform_iterator(thrust::make_counting_iterator(0ll),
                                                        times_n{static_cast<long long>(s.n)});
    const int64_t *offsets = memory.offsets;
    if (s.kind != lengths::equal)
        by_cub<Op, T>(memory, x, s.results(), stream, offsets, offsets + 1);
    else if (s.inner == 1)
        by_cub<Op, T>(memory, x, s.results(), stream, begins, begins + 1);
    else
        by_cub<Op, T>(memory, columns_in<T>(input, s), s.results(), stream, begins, begins + 1);
}

#ifdef BENCH_CUB_FIXED
template <fastreduce_operator Op, class T>
static void with_one_size(const scratch &memory, const void *input, const shape &s,
                          cudaStream_t stream)
{
    const int n = static_cast<int>(s.n);
    if (s.inner == 1)
        by_cub<Op, T>(memory, static_cast<const T *>(input), s.results(), stream, n);
    else
        by_cub<Op, T>(memory, columns_in<T>(input, s), s.results(), stream, n);
}
#endif

/* Orders of addition differ, and CUB's rounds the more often the longer a segment is. Indices,
 * integers and extremes have to be equal. */
template <fastreduce_operator Op, class Ours, class Peer>
__global__ void compare(const Ours *ours, const Peer *peers, size_t results, size_t n,
                        const int64_t *offsets, unsigned long long *wrong)
{
    constexpr bool of_nothing = is_extreme(Op) || is_index(Op) || Op == FASTREDUCE_MEAN;
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < results;
         i += size_t(gridDim.x) * blockDim.x) {
        const auto count = static_cast<double>(offsets ? offsets[i + 1] - offsets[i] : n);
        bool good;
        if (count == 0 && of_nothing) continue; /* CUB gives other results of no elements */
        if constexpr (is_index(Op)) {
            good = static_cast<long long>(ours[i]) == peers[i].key;
        } else if constexpr (std::is_integral_v<Ours>) {
            good = ours[i] == peers[i];
        } else {
            double x = static_cast<double>(number(ours[i])), y;
            if constexpr (std::is_integral_v<Peer>)
                y = static_cast<double>(static_cast<long long>(peers[i]));
            else
                y = static_cast<double>(number(peers[i]));
            if (Op == FASTREDUCE_MEAN) x *= count;
            if (Op == FASTREDUCE_NORM2) x *= x;
            const double unit = sizeof(Ours) == 8 ? 1e-10 : 2e-6, root = sqrt(count);
            good =
                is_extreme(Op) ? x == y : fabs(x - y) <= unit * (1 + root / 256) * (fabs(y) + root);
        }
        if (!good) {
            atomicAdd(&wrong[0], 1);
            atomicMin(&wrong[1], i);
        }
    }
}

template <class Number>
static std::string text_of(const Number *x)
{
    Number y;
    CHECK(cudaMemcpy(static_cast<void *>(&y), x, sizeof y, cudaMemcpyDeviceToHost));
    if constexpr (std::is_integral_v<Number>) {
        return std::to_string(y);
    } else {
        char text[40];
        std::snprintf(text, sizeof text, "%.17g", static_cast<double>(number(y)));
        return text;
    }
}

/* What is compared with ours: CUB's result with offsets. */
template <fastreduce_operator Op, class T>
auto result_by_cub()
{
    if constexpr (is_index(Op))
        return cub::KeyValuePair<int, T>();
    else
        return result<counterpart(Op), T>();
}

template <class Peer>
static std::string text_of_peer(const Peer *x)
{
    return text_of(x);
}
template <class T>
static std::string text_of_peer(const cub::KeyValuePair<int, T> *x)
{
    return text_of(&x->key);
}

/* CUB's results with offsets and ours are both there. */
template <fastreduce_operator Op, class T>
static bool are_alike(const scratch &memory, const shape &s, fastreduce_type type,
                      cudaStream_t stream)
{
    const auto *ours = static_cast<const result<Op, T> *>(memory.results);
    const auto *peers = static_cast<const decltype(result_by_cub<Op, T>()) *>(memory.of_peers);
    unsigned long long wrong[2] = {0, ~0ull};
    /* sums of CUB's that can overflow have no mean */
    if constexpr (std::is_integral_v<T> && is_real(Op) && sizeof(T) > 2) return true;
    CHECK(cudaMemcpyAsync(memory.wrong, wrong, sizeof wrong, cudaMemcpyHostToDevice, stream));
    compare<Op><<<2048, 256, 0, stream>>>(ours, peers, s.results(), s.n,
                                          s.kind == lengths::equal ? nullptr : memory.offsets,
                                          memory.wrong);
    CHECK(cudaGetLastError());
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(wrong, memory.wrong, sizeof wrong, cudaMemcpyDeviceToHost));
    if (wrong[0] == 0) return true;
    std::fprintf(stderr,
                 PROGRAM ": wrong: %s of %s, %zu x %zu x %s: %llu results; number %llu is %s, "
                         "CUB's %s is %s\n",
                 fastreduce_operator_name(Op), fastreduce_type_name(type), s.outer, s.n,
                 name_of(s).c_str(), wrong[0], wrong[1], text_of(ours + wrong[1]).c_str(),
                 fastreduce_operator_name(counterpart(Op)), text_of_peer(peers + wrong[1]).c_str());
    return false;
}
#endif

/* ---- cuBLAS ---------------------------------------------------------------------------------- */

#ifdef BENCH_CUBLAS
static cublasHandle_t cublas_of(cudaStream_t stream)
{
    static cublasHandle_t handle = nullptr;
    if ((handle == nullptr &&
         (cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS ||
          cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE) != CUBLAS_STATUS_SUCCESS)) ||
        cublasSetStream(handle, stream) != CUBLAS_STATUS_SUCCESS)
        fail(1, "cuBLAS does not start");
    return handle;
}

/* Both arrays behind each other. The result is of the elements' type; of halves it is added up in
 * float. */
template <class T>
static void dot_by_cublas(const scratch &memory, const void *input, const shape &s,
                          cudaStream_t stream)
{
    constexpr cudaDataType_t type = std::is_same_v<T, double>   ? CUDA_R_64F
                                    : std::is_same_v<T, float>  ? CUDA_R_32F
                                    : std::is_same_v<T, __half> ? CUDA_R_16F
                                                                : CUDA_R_16BF;
    const T *const x = static_cast<const T *>(input);
    if (cublasDotEx_64(cublas_of(stream), static_cast<int64_t>(s.n), x, type, 1, x + s.n, type, 1,
                       memory.of_peers, type,
                       std::is_same_v<T, double> ? CUDA_R_64F : CUDA_R_32F) !=
        CUBLAS_STATUS_SUCCESS)
        fail(1, "cublasDotEx failed");
}
#endif

/* ---- Contenders ------------------------------------------------------------------------------ */

struct reduction {
    fastreduce_type type;
    fastreduce_operator op;
    void (*fill)(void *memory, size_t bytes, filling kind);
    peer offsets, fixed, dot;
    comparison are_alike;
};

template <fastreduce_operator Op, class T>
static reduction reduction_of(fastreduce_type type)
{
    reduction r = {type, Op, fill_with<T>, nullptr, nullptr, nullptr, nullptr};
#ifdef BENCH_CUB
    if constexpr (Op != FASTREDUCE_VARIANCE) {
        r.offsets = with_offsets<counterpart(Op), T>;
        r.are_alike = are_alike<Op, T>;
#ifdef BENCH_CUB_FIXED
        r.fixed = with_one_size<counterpart(Op), T>;
#endif
    }
#endif
#ifdef BENCH_CUBLAS
    if constexpr (!std::is_integral_v<T>) r.dot = dot_by_cublas<T>;
#endif
    return r;
}

template <fastreduce_type Type, fastreduce_operator... Ops>
static void add(std::vector<reduction> &all, list<Ops...>)
{
    (all.push_back(reduction_of<Ops, element<Type>>(Type)), ...);
}

template <fastreduce_type... Types>
static std::vector<reduction> reductions(list<Types...>)
{
    std::vector<reduction> all;
    (add<Types>(all, list<FASTREDUCE_OPERATORS>()), ...);
    return all;
}

static fastreduce_kernel kernel_wanted = FASTREDUCE_AUTO;

static fastreduce_config config_for(const scratch &memory, cudaStream_t stream)
{
    fastreduce_config config = {};
    config.workspace = memory.workspace;
    config.workspace_bytes = FASTREDUCE_WORKSPACE_BYTES;
    config.stream = stream;
    return config;
}

static void reduce_shape(const reduction &r, const scratch &memory, const void *input,
                         const shape &s, cudaStream_t stream)
{
    fastreduce_config config = config_for(memory, stream);
    const fastreduce_shape axis = {s.outer, s.n, s.inner, 0, 0};
    config.kernel = kernel_wanted;
    if (s.kind == lengths::dot)
        CHECK(fastreduce_dot(input,
                             static_cast<const char *>(input) + s.n * fastreduce_type_size(r.type),
                             memory.results, s.n, r.type, &config));
    else if (s.kind == lengths::equal)
        CHECK(fastreduce_reduce_axis(input, memory.results, &axis, r.type, r.op, &config));
    else
        CHECK(fastreduce_reduce_segments(input, memory.results, s.outer, memory.offsets, r.type,
                                         r.op, &config));
}

/* Whether CUB's iterator over columns, and its ints, hold the shape. */
static bool fits(const shape &s, bool fixed)
{
    if (s.inner > 1 && s.elements() >= size_t(1) << 32) return false;
    return s.n < size_t(1) << 31 && !(fixed && s.kind != lengths::equal);
}

/* Ours, one result of all elements, and CUB's forms; where[k]: which is CUB's form k, or 0. */
static std::vector<contender> contenders(const reduction &r, const scratch &memory, const shape &s,
                                         bool peers, size_t where[2])
{
    std::vector<contender> all = {
        {"axis", 0, true, false, true,
         [=, &memory](const float *input, float *, size_t, cudaStream_t stream) {
             reduce_shape(r, memory, input, s, stream);
         }},
        {"flat", 0, true, false, true,
         [=, &memory](const float *input, float *output, size_t n, cudaStream_t stream) {
             const fastreduce_config config = config_for(memory, stream);
             CHECK(fastreduce_reduce(input, output, n, r.type, r.op, &config));
         }}};
    const bool of_dot = s.kind == lengths::dot;
    const peer forms[2] = {of_dot ? r.dot : r.fixed, of_dot ? nullptr : r.offsets};
    for (int k = 0; k < 2; ++k) {
        const peer form = forms[k];
        where[k] = 0;
        if (!peers || !form || !(of_dot || fits(s, k == 0))) continue;
        where[k] = all.size();
        all.push_back({"cub", 0, true, false, true,
                       [=, &memory](const float *input, float *, size_t, cudaStream_t stream) {
                           form(memory, input, s, stream);
                       }});
    }
    return all;
}

/* Once for each row, into memory that holds no result of an earlier one. */
static bool results_are_right(const reduction &r, const scratch &memory, const shape &s,
                              const void *input, cudaStream_t stream)
{
    const size_t ours = fastreduce_type_size(fastreduce_output_type(r.type, r.op));
    if (!r.are_alike || s.kind == lengths::dot || !fits(s, false)) return true;
    CHECK(cudaMemsetAsync(memory.results, 0xff, s.results() * ours, stream));
    reduce_shape(r, memory, input, s, stream);
    r.offsets(memory, input, s, stream);
    return r.are_alike(memory, s, r.type, stream);
}

/* ---- The tables ------------------------------------------------------------------------------ */

struct table {
    const char *name;
    std::vector<shape> (*shapes)(size_t elements);
};
static const table tables[] = {{"rows", rows_of},
                               {"columns", columns_of},
                               {"segments", segments_of},
                               {"small", small_ones},
                               {"dot", dots_of}};
enum table_number { ROWS, COLUMNS, SEGMENTS, SMALL, DOT };

static const char *table_name(table_number number)
{
    return tables[number].name;
}

struct options : request {
    std::vector<fastreduce_type> types;
    std::vector<fastreduce_operator> ops;
    std::vector<table_number> tables;
    std::vector<shape> shapes;
    size_t elements = size_t(1) << 28;
    bool peers = true;
};

struct row {
    const char *table;
    shape what;
};

static std::vector<row> rows_for(const options &wanted)
{
    std::vector<row> rows;
    for (const shape &s : wanted.shapes) rows.push_back({"shape", s});
    for (table_number number : wanted.tables)
        for (const shape &s : tables[number].shapes(wanted.elements))
            rows.push_back({tables[number].name, s});
    return rows;
}

static void print_head(const options &wanted, const device &gpu)
{
    if (wanted.csv)
        std::printf("gpu,table,type,op,outer,n,inner,us,spread,gbs,flat_us,of_flat,cub_fixed_us,"
                    "cub_offsets_us,cub_fixed_over_ours,cub_offsets_over_ours,cache,host_us\n");
    else
        std::printf("%s, inputs %s\n", gpu.name.c_str(), in_words(wanted.how));
}

static void print_table_head(const options &wanted, const reduction &r, const char *table)
{
    std::printf("\n%s %s, %s\n%11s %11s %11s %11s %7s %8s %8s %10s %12s%s\n",
                fastreduce_type_name(r.type), fastreduce_operator_name(r.op), table, "outer", "n",
                "inner", "us", "spread", "GB/s", "of flat",
                std::strcmp(table, table_name(DOT)) == 0 ? "cuBLAS" : "CUB fixed", "CUB offsets",
                wanted.how == mode::isolated ? "    host us" : "");
}

static void print_row(const options &wanted, const device &gpu, const reduction &r, const row &w,
                      const std::vector<timing> &times, const size_t where[2])
{
    const shape &s = w.what;
    const double us = times[0].microseconds, flat = times[1].microseconds,
                 fixed = where[0] ? times[where[0]].microseconds : 0,
                 offsets = where[1] ? times[where[1]].microseconds : 0;
    const size_t read = s.elements() * fastreduce_type_size(r.type),
                 written = s.results() * fastreduce_type_size(fastreduce_output_type(r.type, r.op)),
                 of_offsets = is_ragged(s) ? (s.outer + 1) * sizeof(int64_t) : 0;
    const double gbs = 1e-3 * static_cast<double>(read + written + of_offsets) / us,
                 of_flat = gbs / (1e-3 * static_cast<double>(read) / flat);
    if (wanted.csv)
        std::printf("\"%s\",%s,%s,%s,%zu,%zu,%s,%.4f,%.4f,%.2f,%.4f,%.4f,%s,%s,%s,%s,%s,%s\n",
                    gpu.name.c_str(), w.table, fastreduce_type_name(r.type),
                    fastreduce_operator_name(r.op), s.outer, s.n, name_of(s).c_str(), us,
                    times[0].spread, gbs, flat, of_flat, cell(fixed, "%.4f", "").c_str(),
                    cell(offsets, "%.4f", "").c_str(), cell(fixed / us, "%.4f", "").c_str(),
                    cell(offsets / us, "%.4f", "").c_str(),
                    wanted.how == mode::isolated ? "isolated" : "cold",
                    cell(times[0].host, "%.4f", "").c_str());
    else
        std::printf("%11zu %11zu %11s %11.2f %6.1f%% %8.1f %8.2f %10s %12s%s\n", s.outer, s.n,
                    name_of(s).c_str(), us, 100 * times[0].spread, gbs, of_flat,
                    cell(fixed / us, "%.2f", "").c_str(), cell(offsets / us, "%.2f", "").c_str(),
                    cell(times[0].host, " %10.2f", "").c_str());
    std::fflush(stdout);
}

static bool measure(const options &wanted, const device &gpu, const reduction &r, const row &w,
                    const scratch &memory, field &inputs)
{
    const shape &s = w.what;
    size_t where[2];
    progress(std::string(fastreduce_type_name(r.type)) + " " + fastreduce_operator_name(r.op) +
             ", " + std::to_string(s.outer) + " x " + std::to_string(s.n) + " x " + name_of(s));
    if (is_ragged(s)) {
        const std::vector<int64_t> offsets = offsets_of(s);
        CHECK(cudaMemcpy(memory.offsets, offsets.data(), offsets.size() * sizeof offsets[0],
                         cudaMemcpyHostToDevice));
        CHECK(cudaDeviceSynchronize()); /* the stream waits for no other */
    }
    inputs.set(s.elements(), fastreduce_type_size(r.type));
    const bool good = results_are_right(r, memory, s, inputs.input(0), gpu.stream);
    const auto times = times_of(contenders(r, memory, s, wanted.peers, where), inputs, gpu.stream,
                                replays_of(wanted, s.elements()));
    progress("");
    print_row(wanted, gpu, r, w, times, where);
    return good;
}

static bool measure_all(const options &wanted, const std::vector<reduction> &chosen)
{
    const std::vector<row> rows = rows_for(wanted);
    const device gpu;
    field inputs;
    size_t bytes = 0, results = 0, segments = 0, result_bytes = 0, peer_bytes = 1;
    bool good = true;
    for (const row &w : rows) {
        results = std::max(results, w.what.results());
        if (is_ragged(w.what)) segments = std::max(segments, w.what.outer);
        for (const reduction &r : chosen)
            bytes = std::max(bytes, w.what.elements() * fastreduce_type_size(r.type));
    }
    for (const reduction &r : chosen) {
        result_bytes =
            std::max(result_bytes, fastreduce_type_size(fastreduce_output_type(r.type, r.op)));
        /* an index comes with its value */
        if (r.offsets)
            peer_bytes = std::max<size_t>({peer_bytes, result_bytes, is_index(r.op) ? 16u : 0u});
    }
    inputs.prepare(gpu, (bytes + sizeof(float) - 1) / sizeof(float), wanted.how, 0);
    const scratch memory(results * result_bytes, results * peer_bytes, segments);
    print_head(wanted, gpu);
    for (const reduction &r : chosen) {
        const char *table = "";
        r.fill(inputs.inputs, inputs.floats * sizeof(float), filling_for(r.op));
        for (const row &w : rows) {
            if (w.what.kind == lengths::dot &&
                (r.op != FASTREDUCE_SUM || kernel_wanted == FASTREDUCE_EXACT))
                continue;
            if (!wanted.csv && std::strcmp(table, w.table) != 0)
                print_table_head(wanted, r, w.table);
            table = w.table;
            good &= measure(wanted, gpu, r, w, memory, inputs);
        }
    }
    return good;
}

/* ---- Command line ---------------------------------------------------------------------------- */

static void take_shape(const arguments &a, const char *text, std::vector<shape> &shapes)
{
    size_t extents[3];
    std::string rest = text;
    for (int k = 0; k < 3; ++k) {
        const size_t end = std::min(rest.find('x'), rest.size());
        if ((end == rest.size()) != (k == 2)) wrong_usage(&a, "no such shape: ", text);
        extents[k] = size_argument(&a, "no such size: ", rest.substr(0, end).c_str());
        if (extents[k] == 0 || extents[k] >= uint64_t(1) << 40)
            wrong_usage(&a, "no such shape: ", text);
        if (k < 2) rest = rest.substr(end + 1);
    }
    if (static_cast<double>(extents[0]) * static_cast<double>(extents[1]) *
            static_cast<double>(extents[2]) >=
        0x1p40)
        wrong_usage(&a, "no such shape: ", text);
    shapes.push_back({extents[0], extents[1], extents[2]});
}

static options parse(char **argv)
{
    arguments a = arguments_of(argv);
    options wanted;
    while (next_argument(&a, help)) {
        if (is_option_with_value(&a, "--replays")) {
            take_replays(a, wanted);
        } else if (is_option_with_value(&a, "--elements")) {
            wanted.sizes.clear();
            take_sizes(a, a.value, wanted.sizes);
            if (wanted.sizes.size() > 1) wrong_usage(&a, "one number, not ", a.value);
            wanted.elements = wanted.sizes[0];
        } else if (is_option_with_value(&a, "--table")) {
            take_names(a, a.value, "no such table: ", ROWS, DOT, table_name, wanted.tables);
        } else if (is_option_with_value(&a, "--type")) {
            take_names(a, a.value, "no such type: ", FASTREDUCE_F32, FASTREDUCE_U64,
                       fastreduce_type_name, wanted.types);
        } else if (is_option_with_value(&a, "--op")) {
            take_names(a, a.value, "no such operator: ", FASTREDUCE_SUM, FASTREDUCE_COUNT_NONZERO,
                       fastreduce_operator_name, wanted.ops);
        } else if (is_option(&a, "--no-peers")) {
            wanted.peers = false;
        } else if (is_option(&a, "--isolated")) {
            wanted.how = mode::isolated;
        } else if (is_option(&a, "--exact")) {
            kernel_wanted = FASTREDUCE_EXACT;
        } else if (is_option(&a, "--csv")) {
            wanted.csv = true;
        } else if (std::strncmp(a.word, "shape=", 6) == 0) {
            take_shape(a, a.word + 6, wanted.shapes);
        } else {
            wrong_usage(&a, "not understood: ", a.word);
        }
    }
    if (wanted.tables.empty() && wanted.shapes.empty())
        wanted.tables = {ROWS, COLUMNS, SEGMENTS, SMALL, DOT};
    if (wanted.types.empty()) wanted.types = {FASTREDUCE_F32};
    if (wanted.ops.empty()) wanted.ops = {FASTREDUCE_SUM};
    return wanted;
}

int main(int, char **argv)
{
    const options wanted = parse(argv);
    const auto chosen = chosen_of(reductions(list<FASTREDUCE_TYPES>()), wanted);
    for (const reduction &r : chosen)
        if (!fastreduce_supports(r.type, r.op, kernel_wanted))
            fail(2, "no EXACT %s of %s in this build", fastreduce_operator_name(r.op),
                 fastreduce_type_name(r.type));
    (void)count_gpus();
    const bool good = measure_all(wanted, chosen);
    finish_output();
    return good ? 0 : 1;
}
