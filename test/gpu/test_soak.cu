/* Random calls of every function, one after the other with one workspace: what one call leaves
 * behind, or one block hands to another, shows as one wrong result among thousands. Each result is
 * compared, by bits, with what the host makes of its elements alone: AUTO's by pairwise.h and
 * elements.h, EXACT's by fastreduce_host_reduce. Workspaces have to be zero after each step.
 *
 *     nvcc -O3 -std=c++17 -arch=native -split-compile 0 test_soak.cu -o test_soak && ./test_soak
 *     test_soak [SECONDS] [SEED] [CALLS] [ELEMENTS] [FIRST]
 *
 * Default: 20 s, seed 1, any number of calls, of up to 10^8 elements (400 MB) each, from step 0 on.
 * A step is one to three calls without a wait between them, at times in a graph that is replayed,
 * at times beside a kernel that takes part of the GPU. A seed gives the same steps where ELEMENTS
 * and the build are the same. To build faster, -DFASTREDUCE_TYPES and _OPERATORS leave some out.
 * On the CPU machine:
 *
 *     g++ -std=c++17 -O1 -w -Itest/simt -I. -x c++ test/gpu/test_soak.cu -ldl -pthread
 */
#include <cuda_runtime.h>
#define FASTREDUCE_WITH_SHAPES
#define FASTREDUCE_WITH_EXACT_PRODUCTS
#define FASTREDUCE_IMPLEMENTATION
#include "../../fastreduce.cuh"
#include "../common/dynamic_shared.h"
#include "../common/elements.h"
#include "../common/order.h"
#include "../common/pairwise.h"
#include "../common/turns.h"
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

using device_bytes = std::unique_ptr<check::buffer<unsigned char>>;

static size_t most_elements = on_gpu ? 100000000 : 1 << 16; /* of a call, each time it reads one */

/* Calls work(0) .. work(n - 1), on all processors. */
template <class Work>
static void in_parallel(size_t n, size_t grain, const Work &work)
{
    std::atomic<size_t> next(0);
    const auto run = [&] {
        for (size_t first; (first = next.fetch_add(grain)) < n;)
            for (size_t k = first; k < std::min(first + grain, n); ++k) work(k);
    };
    std::vector<std::thread> threads;
    for (size_t t = 1; t < std::thread::hardware_concurrency() && t * grain < n; ++t)
        threads.emplace_back(run);
    run();
    for (std::thread &thread : threads) thread.join();
}

/* Random numbers that depend on a seed alone. */
struct draws {
    u64 seed, turn = 0;

    size_t below(size_t bound) { return check::mix(turn++, seed) % bound; }
    bool one_in(size_t times) { return below(times) == 0; }
    size_t magnitude(unsigned bits) /* up to 2^bits - 1; each number of bits is as frequent */
    {
        const size_t power = size_t(1) << below(bits);
        return power - 1 + below(power + 1);
    }
};

/* ---- Data ------------------------------------------------------------------------------------ */

enum class content { integers, near_one, wide, any_exponent, specials, cancelling };
constexpr const char *content_names[] = {"small integers", "near one", "2^-90 to 2^90",
                                         "all exponents",  "specials", "cancelling"};

/* Returns element i. */
template <class T>
static T datum(content kind, size_t i, u64 seed)
{
    const bool pairs = kind == content::cancelling;
    const u64 z = check::mix(pairs ? i / 2 : i, seed);
    const long long integer = static_cast<long long>(z % 20) - 7;
    if constexpr (!is_float<T>) {
        return kind == content::integers ? static_cast<T>(integer) : static_cast<T>(z >> 8);
    } else {
        constexpr u64 infinity = infinity_bits<T>, unit = infinity & (~infinity + 1),
                      most = infinity / unit - 1, bias = most / 2, far = bias < 90 ? bias - 1 : 90;
        const bool cancels = pairs && z % 64 != 0;
        u64 exponent = bias - z / 64 % 2;
        if (kind == content::integers) return number<T>(static_cast<double>(integer));
        if (kind == content::wide || cancels)
            exponent = bias - far + z / 256 % (2 * far + 1);
        else if (kind == content::any_exponent)
            exponent = z / 256 % (most + 1);
        else if (kind == content::specials && z / 256 % (256u << seed % 12) == 0)
            return from_bits<T>((z & sign_bit<T>) | infinity | (z % 3 == 0));
        const u64 sign = cancels && i % 2 ? sign_bit<T> : 0;
        return from_bits<T>(((z & (sign_bit<T> | (unit - 1))) ^ sign) | exponent * unit);
    }
}

/* ---- Calls ----------------------------------------------------------------------------------- */

enum class entry { flat, dot, axis, segments };
constexpr const char *entry_names[] = {"flat", "dot", "axis", "segments"};

struct span {
    size_t first, n, step; /* elements of a result */
};

struct call {
    entry function;
    fastreduce_kernel kernel;
    fastreduce_operator op;
    fastreduce_type type, output_type, offset_type;
    size_t first, y; /* elements before the input, and before the other one of a dot product */
    fastreduce_shape shape;
    size_t n, n_on_device; /* of one result */
    bool counted;          /* n is on the device */
    std::vector<long long> begins, ends;
    std::vector<span> spans; /* those that differ */
    std::vector<u64> which;  /* a result's span; empty: each has its own */
    device_bytes output, device_begins, device_ends, device_n;

    size_t results() const { return which.empty() ? spans.size() : which.size(); }
    fastreduce_type result_type() const
    {
        return output_type ? output_type : fastreduce_output_type(type, op);
    }
};

/* Returns a length that is too long for a warp, and so is listed; on the CPU machine barely. */
static size_t long_length(draws &draw) { return 4097 + draw.below(on_gpu ? 35904 : 100); }

static void draw_flat(call &c, draws &draw, size_t room)
{
    c.n = std::min(draw.magnitude(27), room / 2);
    c.y = draw.below(room / 2 + 1);
    c.counted = draw.one_in(4);
    c.n_on_device = draw.one_in(2) ? c.n : draw.magnitude(28);
    c.spans = {{0, c.counted ? std::min(c.n, c.n_on_device) : c.n, 1}};
}

static void draw_axis(call &c, draws &draw, size_t room)
{
    const size_t any = draw.magnitude(17), many = draw.magnitude(18),
                 crowd = 500 + draw.below(4500), length = long_length(draw);
    const fastreduce_shape shapes[] = {{many, any, 1, 0, 0},
                                       {crowd, length, 1, 0, 0},
                                       {1, any, many, 0, 0},
                                       {1, length, crowd, 0, 0},
                                       {many % 41, any, crowd % 301, 0, 0}};
    fastreduce_shape &s = c.shape = shapes[draw.below(5)];
    s.stride = s.inner > 1 && draw.one_in(6) ? 1 + draw.below(s.inner) : s.inner;
    if (draw.one_in(3)) s.stride += draw.below(9);
    s.stride = std::max(s.stride, size_t(1));
    s.outer_stride = s.n * s.stride + (draw.one_in(3) ? draw.below(9) : 0);
    if (draw.one_in(4) || s.outer * s.outer_stride > room) s.outer_stride = draw.below(64);
    s.outer_stride = std::max(s.outer_stride, size_t(1));
    while (s.outer * s.n * s.inner > most_elements ||
           (s.outer - (s.outer > 0)) * s.outer_stride + s.n * s.stride + s.inner > room)
        (s.outer > 1 ? s.outer : s.n > s.inner ? s.n : s.inner) /= 2;
    for (size_t o = 0; o < s.outer; ++o)
        for (size_t i = 0; i < s.inner; ++i)
            c.spans.push_back({o * s.outer_stride + i, s.n, s.stride});
    if (s.outer_stride == s.n * s.stride && draw.one_in(2)) s.outer_stride = 0;
    if (s.stride == s.inner && draw.one_in(2)) s.stride = 0;
}

/* Draws neighbours; or up to 97 spans, each for many results, in any order, some of them empty. */
static void draw_segments(call &c, draws &draw, size_t room)
{
    enum { any, crowd, one_huge, skewed, enormous };
    const size_t kind = draw.below(5),
                 counts[] = {draw.magnitude(18), 500 + draw.below(4500), draw.magnitude(18),
                             draw.magnitude(18), 8192 + draw.below(4096)};
    const size_t results = counts[kind], huge = draw.below(results + 1),
                 beyond_a_block = (512 << 10) / fastreduce_type_size(c.type);
    const auto length = [&](size_t k) {
        const size_t n = kind == any        ? draw.magnitude(16)
                         : kind == crowd    ? long_length(draw)
                         : kind == enormous ? beyond_a_block + draw.below(999)
                         : kind == one_huge ? k == huge ? room / 2 : draw.below(300)
                                            : draw.magnitude(draw.one_in(50) ? 20 : 9);
        return std::min(n, room);
    };
    if (kind != enormous && draw.one_in(2)) {
        size_t first = std::min(draw.below(9), room);
        for (size_t k = 0, n; k < results && (n = length(k)) <= room - first; ++k, first += n) {
            c.spans.push_back({first, n, 1});
            c.begins.push_back(static_cast<long long>(first));
        }
        c.begins.push_back(static_cast<long long>(first));
        return;
    }
    for (size_t k = 0, total = 0; k < 97 && total < most_elements; total += c.spans[k++].n) {
        const size_t n = length(k);
        c.spans.push_back({draw.below(room - n + 1), draw.one_in(16) ? 0 : n, 1});
    }
    const size_t most_read = most_elements * (on_gpu ? 100 : 8) / fastreduce_type_size(c.type);
    for (size_t k = 0, total = 0; k < results && total < most_read; ++k) {
        c.which.push_back(draw.below(c.spans.size()));
        const span &one = c.spans[c.which[k]];
        const long long begin = static_cast<long long>(one.first),
                        less = static_cast<long long>(draw.below(9));
        const bool empty = one.n == 0, below_zero = empty && draw.one_in(2);
        c.begins.push_back(below_zero ? -1 - less : begin);
        c.ends.push_back(empty ? begin - less : begin + static_cast<long long>(one.n));
        total += one.n;
    }
    if (results == 0) c.spans.clear();
}

static bool is_supported(const call &c)
{
    return c.function == entry::dot    ? fastreduce_supports_dot(c.type, c.kernel)
           : c.function == entry::flat ? fastreduce_supports(c.type, c.op, c.kernel)
                                       : fastreduce_supports_shapes(c.type, c.op, c.kernel);
}

/* Draws a call of the type that reads no more than so many elements of data. */
static call draw_call(fastreduce_type type, size_t elements, draws &draw)
{
    call c = {};
    c.type = type;
    const bool exact = draw.one_in(2);
    for (unsigned k = 0; k == 0 || !is_supported(c); ++k) { /* many results as often as one */
        c.function = static_cast<entry>(draw.below(8) % 6 < 4 ? draw.below(2) + 2 : draw.below(2));
        c.kernel = exact && k < 999 ? FASTREDUCE_EXACT : FASTREDUCE_AUTO;
        c.op = c.function == entry::dot ? FASTREDUCE_SUM : operator_of(draw.below(operators));
    }
    c.first = draw.below(9);
    const size_t room = elements - c.first;
    if (c.function == entry::axis)
        draw_axis(c, draw, room);
    else if (c.function == entry::segments)
        draw_segments(c, draw, room);
    else
        draw_flat(c, draw, room);
    if (draw.one_in(4)) c.output_type = c.result_type();
    if (c.kernel == FASTREDUCE_EXACT && draw.one_in(4)) c.output_type = FASTREDUCE_F64;
    const fastreduce_type offset_types[] = {FASTREDUCE_DEFAULT_TYPE, FASTREDUCE_I64,
                                            FASTREDUCE_I32};
    c.offset_type = offset_types[draw.below(3)];
    return c;
}

/* ---- What is right --------------------------------------------------------------------------- */

/* Returns the result of a span: its bits, or that it is a NaN. */
template <class T>
static answer answer_of(const call &c, const span &where, const T *data)
{
    static thread_local std::vector<T> row;
    const T *const x = data + c.first + where.first, *const y = x + c.y;
    row.resize(where.n);
    for (size_t k = 0; k < where.n; ++k) row[k] = x[k * where.step];
    u64 bits = 0;
    bool done = true;
    if (c.kernel == FASTREDUCE_EXACT && c.function == entry::dot)
        fastreduce_host_dot(x, y, &bits, where.n, c.type, c.output_type);
    else if (c.kernel == FASTREDUCE_EXACT)
        fastreduce_host_reduce(row.data(), &bits, where.n, c.type, c.op, c.output_type);
    else if (c.function != entry::dot)
        done = pairwise::result(c.type, c.op, row.data(), where.n, &bits);
    else if constexpr (is_float<T>)
        pairwise::dot(c.type, x, y, where.n, &bits);
    else
        for (size_t k = 0; k < where.n; ++k)
            bits += static_cast<u64>(x[k]) * static_cast<u64>(y[k]);
    const fastreduce_type type = c.result_type();
    if (!done) return oracle<T>(row).of(c.op, 0);
    if (type < FASTREDUCE_I8 && std::isnan(result_of(type, bits))) return {false, 0, NAN, 0};
    return {true, bits, 0, 0};
}

/* Compares all results, up to the third wrong one. */
template <class T>
static void compare(const call &c, const T *data, const std::string &what)
{
    const size_t size = fastreduce_type_size(c.result_type());
    const std::vector<unsigned char> got = c.output->get();
    std::vector<answer> wanted(c.spans.size());
    size_t longest = 1;
    for (const span &one : c.spans) longest = std::max(longest, one.n);
    in_parallel(wanted.size(), (1 << 16) / longest + 1,
                [&](size_t k) { wanted[k] = answer_of(c, c.spans[k], data); });
    for (size_t r = 0, wrong = 0; r < c.results() && wrong < 3; ++r) {
        const size_t of = c.which.empty() ? r : c.which[r];
        u64 bits = 0;
        std::memcpy(&bits, &got[r * size], size);
        wrong += !check::that(agrees(wanted[of], c.result_type(), bits),
                              "%s: result %zu, of %zu elements: %llx, not %llx", what.c_str(), r,
                              c.spans[of].n, bits, wanted[of].bits);
    }
    check::that(c.output->canaries_alive(), "%s: a write outside the output", what.c_str());
}

static std::string text_of(const call &c)
{
    char text[300];
    const fastreduce_shape &s = c.shape;
    std::snprintf(text, sizeof text,
                  "%s %s of %s, %s, %zu results, from element %zu on, y %zu, n %zu%s, shape %zu x "
                  "%zu x %zu, strides %zu %zu, output type %d, offset type %d, %zu ends",
                  fastreduce_kernel_name(c.kernel), fastreduce_operator_name(c.op),
                  fastreduce_type_name(c.type), entry_names[static_cast<int>(c.function)],
                  c.results(), c.first, c.y, c.n, c.counted ? " (on the device)" : "", s.outer, s.n,
                  s.inner, s.outer_stride, s.stride, c.output_type, c.offset_type, c.ends.size());
    return text;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static device_bytes on_device(const void *values, size_t bytes)
{
    device_bytes to(new check::buffer<unsigned char>(bytes));
    if (bytes > 0) to->set(static_cast<const unsigned char *>(values));
    return to;
}

static device_bytes offsets_on_device(const std::vector<long long> &values, fastreduce_type type)
{
    const std::vector<int> narrow(values.begin(), values.end());
    return type == FASTREDUCE_I32 ? on_device(narrow.data(), narrow.size() * sizeof(int))
                                  : on_device(values.data(), values.size() * sizeof(long long));
}

static void prepare(call &c)
{
    c.output.reset(
        new check::buffer<unsigned char>(c.results() * fastreduce_type_size(c.result_type())));
    c.device_begins = offsets_on_device(c.begins, c.offset_type);
    c.device_ends = offsets_on_device(c.ends, c.offset_type);
    c.device_n = on_device(&c.n_on_device, sizeof c.n_on_device);
}

static fastreduce_status launch(const call &c, const unsigned char *data, fastreduce_config config)
{
    const size_t size = fastreduce_type_size(c.type);
    const unsigned char *const input = data + c.first * size;
    config.kernel = c.kernel;
    config.output_type = c.output_type;
    config.offset_type = c.offset_type;
    if (c.counted) config.n_on_device = reinterpret_cast<const size_t *>(c.device_n->data());
    if (!c.ends.empty()) config.end_offsets = c.device_ends->data();
    switch (c.function) {
    case entry::axis:
        return fastreduce_reduce_axis(input, c.output->data(), &c.shape, c.type, c.op, &config);
    case entry::segments:
        return fastreduce_reduce_segments(input, c.output->data(), c.results(),
                                          c.device_begins->data(), c.type, c.op, &config);
    case entry::dot:
        return fastreduce_dot(input, input + c.y * size, c.output->data(), c.n, c.type, &config);
    default: return fastreduce_reduce(input, c.output->data(), c.n, c.type, c.op, &config);
    }
}

#ifndef SIMT_MACHINE
/* Occupies a part of the GPU; some blocks stay longer. */
__global__ void keep_busy(long long cycles)
{
    const long long begin = clock64();
    while (clock64() - begin < cycles * (1 + blockIdx.x % 7)) {
    }
}
#endif

/* Launches the calls, or replays them as a graph, and waits for the GPU. */
static void run(const std::vector<call> &calls, const unsigned char *data, void *workspace,
                draws &draw, const std::string &what)
{
    CUDA(cudaDeviceSynchronize()); /* the streams do not wait for the default one */
    fastreduce_config config = {};
    const auto launch_all = [&](bool pools) {
        for (const call &c : calls) {
            config.workspace = nullptr;
            take_turns(config, workspace, pools ? 8 : ~0u);
#ifdef SIMT_MACHINE
            simt::settings().resident = static_cast<unsigned>(draw.below(20));
            simt::settings().seed = static_cast<unsigned>(draw.below(1000));
            simt::settings().blocks_in_order = true;
#endif
            const fastreduce_status status = launch(c, data, config);
            check::that(status == 0, "%sstatus %d %s", what.c_str(), status, order::report());
        }
    };
#ifdef SIMT_MACHINE
    launch_all(draw.one_in(2));
#else
    static cudaStream_t stream, other;
    if (!stream) CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    if (!other) CUDA(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    config.stream = stream;
    if (draw.one_in(3))
        for (size_t k = draw.below(4); k-- > 0;) {
            const unsigned blocks = static_cast<unsigned>(1 + draw.below(1500)),
                           threads = 32u << draw.below(6);
            keep_busy<<<blocks, threads, draw.below(48) << 10, other>>>(
                static_cast<long long>(draw.magnitude(18)));
            CUDA(cudaGetLastError());
        }
    if (draw.one_in(4)) {
        cudaGraph_t graph;
        cudaGraphExec_t executable;
        CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
        launch_all(false);
        CUDA(cudaStreamEndCapture(stream, &graph));
        CUDA(cudaGraphInstantiateWithFlags(&executable, graph, 0));
        for (size_t k = 1 + draw.below(3); k-- > 0;) CUDA(cudaGraphLaunch(executable, stream));
        CUDA(cudaDeviceSynchronize());
        CUDA(cudaGraphExecDestroy(executable));
        CUDA(cudaGraphDestroy(graph));
    } else {
        launch_all(true);
    }
#endif
    CUDA(cudaDeviceSynchronize());
}

/* Draws, runs and checks one to three calls; returns how many. */
static size_t step(u64 seed, u64 number, std::vector<u64> &memory,
                   check::buffer<unsigned char> &input, check::buffer<unsigned char> &workspace)
{
    draws draw = {check::mix(number, seed)};
    call any = {};
    do { /* a type that this build has: floats as often as all */
        any.type = static_cast<fastreduce_type>(1 + draw.below(draw.one_in(2) ? 4 : 12));
        any.op = operator_of(static_cast<unsigned>(draw.below(operators)));
    } while (!is_supported(any));
    const auto kind = static_cast<content>(draw.below(6));
    const size_t size = fastreduce_type_size(any.type),
                 elements =
                     (std::min(most_elements, 4 * most_elements / size) >> draw.below(8)) + 9;
    std::vector<call> calls(1 + draw.below(3));
    for (call &c : calls) c = draw_call(any.type, elements, draw);
    const std::string what = "seed " + std::to_string(seed) + ", step " + std::to_string(number) +
                             ", " + content_names[static_cast<int>(kind)] + ": ";
    for_each_type<::f16, ::bf16>([&](auto zero) {
        using T = decltype(zero);
        if (type_of<T> != any.type) return;
        T *const data = reinterpret_cast<T *>(memory.data());
        in_parallel(elements, 4096, [&](size_t i) { data[i] = datum<T>(kind, i, draw.seed); });
        CUDA(cudaMemcpy(input.data(), data, elements * size, cudaMemcpyHostToDevice));
        for (call &c : calls) prepare(c);
        run(calls, input.data(), workspace.data(), draw, what);
        for (const call &c : calls) compare(c, data, what + text_of(c));
    });
    if (!check::that(workspace.every_byte_is(0), "%sworkspace left dirty", what.c_str()))
        workspace.fill(0);
    return calls.size();
}

int main(int argc, char **argv)
{
    const auto argument = [&](int k, double usual) { return argc > k ? atof(argv[k]) : usual; };
    const double seconds = argument(1, 20), seed = argument(2, 1), most_calls = argument(3, 1e9);
    most_elements = static_cast<size_t>(argument(4, static_cast<double>(most_elements)));
    check::need_device();
    check::buffer<unsigned char> input(4 * most_elements + 4096),
        workspace(FASTREDUCE_WORKSPACE_BYTES);
    workspace.fill(0);
    std::vector<u64> memory(input.bytes() / sizeof(u64));
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    double calls = 0;
    for (u64 k = static_cast<u64>(argument(5, 0));
         calls < most_calls && std::chrono::steady_clock::now() < end; ++k)
        calls += static_cast<double>(step(static_cast<u64>(seed), k, memory, input, workspace));
    check::that(workspace.canaries_alive() && input.canaries_alive(), "a write outside");
    std::printf("%.0f calls\n", calls);
    return check::finish("soak");
}
