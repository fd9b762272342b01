/* fastreduce_reduce_axis by FASTREDUCE_EXACT: each of many results, of floats and halves, has the
 * bits of the exact sum on the CPU, which test_host.c compares with MPFR. Rows, columns and middle
 * axes of many lengths, offsets and pitches; data about the edges of the windows. */
#include <cuda_runtime.h>
#define FASTREDUCE_WITH_SHAPES
#define FASTREDUCE_IMPLEMENTATION
#define FASTREDUCE_TYPES FASTREDUCE_F32, FASTREDUCE_F64, FASTREDUCE_F16, FASTREDUCE_BF16
#define FASTREDUCE_OPERATORS FASTREDUCE_SUM, FASTREDUCE_MAX
#include "../../fastreduce.cuh"
#include "../common/dynamic_shared.h"
#include "../common/elements.h"
#include "../common/exact_data.h"
#include "../common/exact_input.h"
#include "../common/geometry.h"
#include "../common/order.h"
#include "../common/turns.h"
#include <algorithm>

using namespace fastreduce::detail;
using exact_data::bits_of;
using ull = unsigned long long;

static bool thorough = on_gpu; /* the CPU machine and sanitizers take too long for all of it */

/* ---- Data ------------------------------------------------------------------------------------ */

/* A float of that exponent (field), with all bits of its significand but the lowest `zeros`. */
static float with_exponent(int exponent, unsigned zeros, ull z)
{
    const unsigned sign = static_cast<unsigned>(z >> 40 & 1) << 31,
                   fraction = (static_cast<unsigned>(z) & 0x7fffff) >> zeros << zeros;
    const unsigned bits = sign | (exponent > 0 ? static_cast<unsigned>(exponent) : 0) << 23 |
                          (fraction | (zeros < 23 ? 1u << zeros : 0));
    float x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
}

/* The greatest is of one exponent, and the others lie so far below that the lowest bit of one or
 * some is `depth` binades below the greatest's leading one: about where windows end. Elsewhere in
 * the array come other exponents: each result's window is its own. */
template <int Depth>
static float window_edge(size_t i, size_t n, ull seed)
{
    const ull z = check::mix(i, seed);
    const int exponents[] = {1,   2,   21,  22,  23,  43,  44,  45, 60,
                             127, 200, 230, 250, 251, 252, 253, 254};
    const int top = exponents[seed % 17];
    if (i == check::mix(n, seed) % n) {
        const float x = with_exponent(top, 0, ~0ull);
        return seed % 3 ? x : -x;
    }
    const int lowest = top - Depth;
    if (i % 5 == seed % 5) /* its leading bit is its lowest */
        return with_exponent(lowest > 0 ? lowest : 0, 23, z);
    const int low = lowest + 23;
    return with_exponent(low > top ? top : low > 0 ? low : 0, z % 3 ? 0 : 22, z);
}

/* All of them the greatest that a window holds, with either sign: sums that need every bit. */
static float all_greatest(size_t i, size_t n, ull seed)
{
    const int exponents[] = {0, 1, 21, 22, 127, 251, 252, 253};
    const float x = with_exponent(exponents[seed % 8], 0, ~0ull >> 1 & 0xffffffffff);
    const bool negative = (seed / 8 % 3 == 0) || (seed / 8 % 3 == 1 && i > n / 2);
    return negative ? -x : x;
}

/* Sums that are nearly overflow, or denormal, or cancel to nothing. */
static float near_limits(size_t i, size_t n, ull seed)
{
    const float sign = seed / 7 % 2 ? -1.0f : 1.0f;
    switch (seed % 7) {
    case 0: return sign * (i == 0 ? 0x1.fffffep+126f : i == n / 2 ? 0x1p+126f : 0x1p+90f);
    case 1: return sign * (i == 0 ? FLT_MAX : i < 3 ? 0x1p+102f : i == 3 ? -0x1p+78f : 0.0f);
    case 2: return sign * (i == 0 ? FLT_MAX : i < 3 ? 0x1p+102f : 0.0f);
    case 3: return sign * (i % 2 ? -0x1.000002p-126f : 0x1p-126f);
    case 4: return sign * (i == 0 ? 0x1p-126f : i == n - 1 ? -0x1p-149f : 0.0f);
    case 5: return i % 2 ? -1.5f : 1.5f;
    default: return i == n - 1 ? -0x1p-149f : i % 2 ? -0x1p-100f : 0x1p-100f;
    }
}

/* Nothing at first, and then something, or something else by a lot: windows that have to move. */
static float late(size_t i, size_t n, ull seed)
{
    const float x = exact_data::in_unit(i, seed);
    if (i < n / 2) return seed % 3 == 0 ? 0.0f : std::ldexp(x, seed % 3 == 1 ? -70 : 70);
    return seed % 5 == 0 && i == n - 1 ? NAN : x;
}

/* Ties whose last bit decides, far below: 1, half a unit, and what breaks the tie or not. */
static float tie_far_below(size_t i, size_t n, ull seed)
{
    const int scale = static_cast<int>(seed % 200) - 100;
    const float sign = seed / 200 % 2 ? -1.0f : 1.0f;
    if (i == 0) return sign * std::ldexp(seed & 1 ? 1.0f : 1.0f + 0x1p-23f, scale);
    if (i == n / 2) return sign * std::ldexp(0x1p-24f, scale);
    if (i == n - 1) {
        const int below[] = {-25, -40, -43, -44, -45, -46, -47, -48, -55, -64, -66, -68, -70};
        const int exponent = scale + below[seed % 13];
        return seed % 4 == 3 ? 0.0f : (seed % 4 == 1 ? -1 : 1) * std::ldexp(1.0f, exponent);
    }
    return 0.0f;
}

static const std::vector<exact_data::pattern> &patterns()
{
    static const std::vector<exact_data::pattern> all = [] {
        std::vector<exact_data::pattern> list = exact_data::patterns();
        const exact_data::pattern more[] = {{"window edge, 42", window_edge<42>},
                                            {"window edge, 43", window_edge<43>},
                                            {"window edge, 44", window_edge<44>},
                                            {"window edge, 45", window_edge<45>},
                                            {"window edge, 54", window_edge<54>},
                                            {"window edge, 55", window_edge<55>},
                                            {"window edge, 56", window_edge<56>},
                                            {"window edge, 57", window_edge<57>},
                                            {"greatest", all_greatest},
                                            {"near limits", near_limits},
                                            {"late", late},
                                            {"tie far below", tie_far_below}};
        list.insert(list.end(), std::begin(more), std::end(more));
        return list;
    }();
    return all;
}

/* An element of another type like it: of halves with five bits of exponent what the eight come to,
 * so that most are finite. */
static void take(float x, float *to) { *to = x; }
static void take(float x, ::bf16 *to) { to->bits = static_cast<unsigned short>(bits_of(x) >> 16); }
static void take(float x, ::f16 *to)
{
    const unsigned bits = bits_of(x), exponent = bits >> 23 & 255,
                   own = exponent == 255 ? 31
                         : exponent == 0 ? 0
                                         : 1 + exponent % 30;
    to->bits = static_cast<unsigned short>((bits >> 16 & 0x8000) | own << 10 | (bits >> 13 & 1023));
}

/* ---- Calls ----------------------------------------------------------------------------------- */

static check::buffer<unsigned char> &workspace()
{
    static check::buffer<unsigned char> *const memory = [] {
        auto *const made = new check::buffer<unsigned char>(FASTREDUCE_WORKSPACE_BYTES);
        made->fill(0);
        return made;
    }();
    return *memory;
}

/* `first` and `count`: the pattern of result r is number first + r % count, with a seed of its
 * own. */
template <class T>
static void axis_of(const geometry &g, size_t first, size_t count)
{
    const size_t stride = g.stride ? g.stride : g.inner,
                 outer_stride = g.outer_stride ? g.outer_stride : g.n * stride,
                 results = g.outer * g.inner;
    const bool any = results > 0 && g.n > 0;
    const size_t span = any ? (g.outer - 1) * outer_stride + (g.n - 1) * stride + g.inner : 0;
    const auto at = [&](size_t r) { return r / g.inner * outer_stride + r % g.inner; };
    const auto pattern_of = [&](size_t r) -> const exact_data::pattern & {
        return patterns()[(first + r % count) % patterns().size()];
    };

    /* gaps are not to be read: NaN would show */
    T gap;
    take(NAN, &gap);
    std::vector<T> values(span, gap);
    std::vector<float> elements(g.n), wanted(results);
    static ull seed = 1;
    for (size_t r = 0; any && r < results; ++r) {
        ++seed;
        for (size_t k = 0; k < g.n; ++k)
            take(pattern_of(r).at(k, g.n, seed), &values[at(r) + k * stride]);
    }
    for (size_t r = 0; r < results; ++r) { /* where results overlap, that is another pattern */
        for (size_t k = 0; k < g.n; ++k)
            elements[k] = static_cast<float>(real_of(values[at(r) + k * stride]));
        wanted[r] = fastreduce_host_sum_f32(elements.data(), g.n);
    }

    const exact_input<T> input(values, g.offset);
    check::buffer<float> output(results, 1);
    output.fill(0x7b);
    fastreduce_config config = {};
    config.kernel = FASTREDUCE_EXACT;
    take_turns(config, workspace().data(), 3);
    order::next();
    const fastreduce_shape shape = {g.outer, g.n, g.inner, g.outer_stride, g.stride};
#ifdef SIMT_MACHINE
    const size_t allocations = simt::live_allocations();
#endif
    const fastreduce_status status = fastreduce_reduce_axis(
        any ? input.data() : nullptr, output.data(), &shape, type_of<T>, FASTREDUCE_SUM, &config);
    CUDA(cudaDeviceSynchronize());
#ifdef SIMT_MACHINE
    check::that(simt::live_allocations() == allocations, "%s: memory of the pool is lost", g.name);
    simt::set_gpu(simt::gpu());
#endif
    order::usual();
    char text[300];
    std::snprintf(text, sizeof text,
                  "%s of %s: outer %zu, n %zu, inner %zu, strides %zu and %zu, offset %zu", g.name,
                  fastreduce_type_name(type_of<T>), g.outer, g.n, g.inner, g.outer_stride, g.stride,
                  g.offset);
    check::that(status == 0, "%s: status %d", text, status);
    check::that(output.canaries_alive(), "%s: a write outside the output", text);
    const std::vector<float> got = output.get();
    for (size_t r = 0; r < results; ++r)
        check::that(bits_of(got[r]) == bits_of(wanted[r]), "%s, %s, result %zu: %a (%08x), not %a",
                    text, pattern_of(r).name, r, static_cast<double>(got[r]), bits_of(got[r]),
                    static_cast<double>(wanted[r]));
    std::vector<T> after(values.size());
    if (!values.empty())
        CUDA(cudaMemcpy(after.data(), input.data(), values.size() * sizeof(T),
                        cudaMemcpyDeviceToHost));
    check::that(values.empty() ||
                    std::memcmp(after.data(), values.data(), values.size() * sizeof(T)) == 0,
                "%s: the input was written", text);
}
/* Of floats, and of halves of one kind or the other. */
static void axis(const geometry &g, size_t first, size_t count)
{
    static unsigned turn = 0;
    axis_of<float>(g, first, count);
    if (++turn % 2)
        axis_of<::f16>(g, first, count);
    else
        axis_of<::bf16>(g, first, count);
}

static void workspace_is_clean(const char *what)
{
    check::that(workspace().every_byte_is(0) && workspace().canaries_alive(),
                "%s: workspace left dirty, or a write outside", what);
}

/* ---- Cases ----------------------------------------------------------------------------------- */

static size_t most_elements() { return thorough ? 4000000 : 40000; }

static void rows()
{
    std::vector<size_t> lengths;
    for (size_t n = 0; n <= 33; ++n) lengths.push_back(n);
    for (size_t n : {63,   64,   65,   100,  127,  128,   129,   255,   256,  257,  511,
                     512,  515,  1000, 1023, 1024, 1025,  2047,  2048,  2049, 4095, 4096,
                     4097, 5001, 8191, 8192, 8193, 12289, 16384, 16393, 20000})
        lengths.push_back(n);
    unsigned turn = 0;
    for (size_t n : lengths)
        for (size_t count : {1, 2, 3, 9, 31, 33, 100, 257, 1100, 9000, 300000}) {
            const size_t pitches[] = {0, n + 1, n + 4 - n % 4, n + 3, 2 * n + 5};
            const size_t pitch = pitches[++turn % 5];
            if (count > 3 && count * std::max({n, size_t(20), pitch}) > most_elements()) continue;
            axis({"rows", count, n, 1, pitch, turn / 2 % 2, turn / 5 % 4}, turn,
                 turn % 3 ? patterns().size() : 1);
        }
    /* every pattern at every offset */
    for (size_t n : {5, 40, 129, 1000, 1030, 3001, 6000})
        for (size_t offset = 0; offset < 5; ++offset)
            axis({"rows",
                  (thorough  ? 5
                   : n < 500 ? 2
                             : 1) *
                      patterns().size(),
                  n, 1, offset % 2 ? n + offset : (n + 3) / 4 * 4, 1, offset},
                 0, patterns().size());
}

static void long_rows()
{
    const size_t n = thorough ? 1000003 : 100003;
    axis({"a long row", 1, n, 1, 0, 0, 1}, 0, 1);
    for (size_t k = 0; k < patterns().size(); k += thorough ? 1 : 5)
        axis({"long rows", 3, thorough ? n / 2 + k : 30001 + k, 1, thorough ? n : 30050, 1, k % 4},
             k, patterns().size());
    axis({"long rows", thorough ? 1200u : 40u, 9000, 1, 0, 0, 0}, 0, patterns().size());
    if (thorough) axis({"the longest rows", 2, 70000000, 1, 0, 0, 1}, 0, 1);
}

static void columns()
{
    unsigned turn = 0;
    for (size_t outer : {1, 2, 5})
        for (size_t inner : {1, 2, 3, 4, 5, 7, 8, 16, 17, 31, 32, 33, 64, 65, 100, 257, 1000})
            for (size_t n : {0,   1,   2,   3,   4,    5,    15,   16,   17,   33,    64,
                             100, 127, 129, 257, 1000, 1024, 1025, 4096, 4097, 20000, 100000}) {
                const size_t gap = turn++ % 4 == 3 ? turn % 5 + 1 : 0, stride = inner + gap;
                if (outer * n * stride > most_elements()) continue;
                if (!thorough && turn % 2) continue;
                const size_t pitches[] = {0, n * stride, n * stride + 3, n * stride + inner};
                axis({outer == 1 ? "columns" : "middle axis", outer, n, inner,
                      pitches[turn / 4 % 4], gap || turn % 3 ? stride : 0, turn % 4},
                     turn, turn % 3 ? patterns().size() : 1);
            }
    /* every pattern by a thread for each column, by several, by several blocks */
    const size_t count = patterns().size();
    axis({"columns", 1, 100, 10 * count, 0, 0, 1}, 0, count);
    axis({"columns", 1, 700, count, 0, 0, 1}, 0, count);
    axis({"columns", 1, thorough ? 200000u : 3000u, count, 0, 0, 2}, 0, count);
    axis({"every other", 1, thorough ? 3000000u : 50000u, 1, 0, 2, 1}, 1, 1);
    for (size_t k = 0; k < count; k += thorough ? 1 : 7)
        axis({"middle axis", 40, thorough ? 3000u : 300u, 7, 0, 0, 1}, k, count);
}

static void windows()
{
    const size_t count = patterns().size();
    size_t turn = 0;
    for (const geometry &g : overlapping(thorough ? 3000 : 100)) axis(g, ++turn, count);
    for (const geometry &g : edge_cases)
        if (g.n != greatest_size) axis(g, ++turn, count);
}

/* What EXACT does not do, and a workspace that is too small. */
static void refusals()
{
    check::buffer<float> input(10000), output(64);
    output.fill(0x2e);
    fastreduce_config config = {};
    config.kernel = FASTREDUCE_EXACT;
    const fastreduce_shape shape = {3, 4, 2, 0, 0}, long_rows = {2, size_t(1) << 24, 1, 0, 0},
                           long_columns = {1, size_t(1) << 24, 3, 0, 0};
    const auto is_refused = [&](const char *what, int wanted, const fastreduce_shape &of, int type,
                                int op, const void *from) {
        const fastreduce_status status =
            fastreduce_reduce_axis(from, output.data(), &of, static_cast<fastreduce_type>(type),
                                   static_cast<fastreduce_operator>(op), &config);
        CUDA(cudaDeviceSynchronize());
        check::that(status == wanted && output.every_byte_is(0x2e), "%s: status %d, not %d", what,
                    status, wanted);
    };
    is_refused("squares of doubles", FASTREDUCE_ERROR_UNSUPPORTED, shape, FASTREDUCE_F64,
               FASTREDUCE_SUM_SQUARES, input.data());
    is_refused("integers", FASTREDUCE_ERROR_UNSUPPORTED, shape, FASTREDUCE_I32, FASTREDUCE_SUM,
               input.data());
    is_refused("maximum", FASTREDUCE_ERROR_UNSUPPORTED, shape, FASTREDUCE_F32, FASTREDUCE_MAX,
               input.data());
    config.n_on_device = reinterpret_cast<const size_t *>(workspace().data());
    is_refused("a count on the device", FASTREDUCE_ERROR_UNSUPPORTED, shape, FASTREDUCE_F32,
               FASTREDUCE_SUM, input.data());
    config.n_on_device = nullptr;
    config.output_type = FASTREDUCE_F16;
    is_refused("output type", FASTREDUCE_ERROR_UNSUPPORTED, shape, FASTREDUCE_F32, FASTREDUCE_SUM,
               input.data());
    config.output_type = static_cast<fastreduce_type>(0);
    config.workspace = workspace().data();
    config.workspace_bytes = 16;
    const void *const anywhere = reinterpret_cast<const void *>(size_t(1) << 62);
    is_refused("workspace too small", FASTREDUCE_ERROR_WORKSPACE_TOO_SMALL, long_rows,
               FASTREDUCE_F32, FASTREDUCE_SUM, anywhere);
    is_refused("workspace too small", FASTREDUCE_ERROR_WORKSPACE_TOO_SMALL, long_columns,
               FASTREDUCE_F32, FASTREDUCE_SUM, anywhere);
    config.workspace_bytes = 65536; /* enough for the first of two launches */
    for (const fastreduce_shape &of : {fastreduce_shape{2, 5000, 1, 0, 0}, {1, 5000, 2, 0, 0}})
        is_refused("workspace too small", FASTREDUCE_ERROR_WORKSPACE_TOO_SMALL, of, FASTREDUCE_F32,
                   FASTREDUCE_SUM, input.data());
    config.workspace_bytes = 16;
    is_refused("misaligned", FASTREDUCE_ERROR_INVALID_ARGUMENT, shape, FASTREDUCE_F32,
               FASTREDUCE_SUM, reinterpret_cast<const char *>(input.data()) + 2);
}

int main(int argc, char **)
{
    check::need_device();
    thorough = on_gpu && argc == 1; /* an argument leaves out what a sanitizer takes too long for */
    refusals();
    windows();
    rows();
    workspace_is_clean("rows");
    long_rows();
    workspace_is_clean("long rows");
    columns();
    workspace_is_clean("columns");
    return check::finish("exact shapes");
}
