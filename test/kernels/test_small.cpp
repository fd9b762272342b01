/* The engine's kernels in blocks of 32 and 64 threads, which the library itself never launches:
 * what takes 2^28 floats in one of its blocks (a 64-bit sum about to overflow, the second
 * flush) takes thousands here, and data can be put at the very limits of the window. Compiles
 * and runs within seconds, so that test/quality/mutants.py can do it for each of its changes;
 * -DSMALL_FLOAT, -DSMALL_EXACT and -DSMALL_LONG, the exact sum's long runs, choose parts. */
#if !defined(SMALL_FLOAT) && !defined(SMALL_EXACT) && !defined(SMALL_LONG)
#define SMALL_FLOAT
#define SMALL_EXACT
#define SMALL_LONG
#endif
#define FASTREDUCE_HOST_IMPLEMENTATION
#include "../../fastreduce.cuh"
#include "../common/dynamic_shared.h"
#include "../common/exact_data.h"
#include "../common/one_row.h"
#include "../common/order.h"

using namespace fastreduce;
using namespace fastreduce::detail;

static const simt::order schedules[] = {simt::order::forward, simt::order::reverse,
                                        simt::order::random};

#ifdef SMALL_FLOAT
/* ---- Words and sums of floats ---------------------------------------------------------------- */

/* Lane 5's are the words. */
template <class Value>
__global__ void await_three(status_word *words, unsigned first, unsigned end, Value *values)
{
    Value three[3] = {};
    const auto awaited = [&](unsigned k) {
        return threadIdx.x == 5 && first + 2 * k > 0 && first + 2 * k < end;
    };
    partial_words<Value>::await(words + size_t(first) * partial_words<Value>::count, 2, awaited,
                                three);
    if (threadIdx.x == 5)
        for (unsigned k = 0; k < 3; ++k) values[k] = three[k];
}

template <class Value>
__global__ void publish_one(status_word *words, unsigned k, Value value)
{
    partial_words<Value>::publish(words, k, value);
}

/* Partials first, first + 2 and first + 4 of 7 are awaited, as far as they lie before `end`, but
 * number 0 is not; a bit of `missing` leaves one unpublished, or the word `lost` of it alone. */
template <unsigned Words, class Value>
static void words_from(unsigned first, const Value (&given)[7])
{
    constexpr unsigned each = partial_words<Value>::count;
    static_assert(each == Words, "63 bits a word");
    for (unsigned end = 2; end <= 7; ++end) {
        const auto awaited = [&](unsigned k) {
            return k > 0 && k % 2 == first && k < end && k < 6;
        };
        for (unsigned missing : {0u, 1u, 2u, 4u}) {
            bool waits = false;
            for (unsigned k = 0; k < 3; ++k) waits |= awaited(first + 2 * k) && (missing >> k & 1);
            /* to find that nobody comes takes long: one type for all ends is enough */
            if (waits && end != 7 && sizeof(Value) != sizeof(unsigned)) continue;
            /* any word that is missing is enough */
            for (unsigned lost = 0; lost < (missing ? each : 1);
                 lost += missing < 4 && each > 1 ? each - 1 : 1) {
                check::buffer<status_word> memory(7 * each);
                check::buffer<Value> values(3);
                memory.fill(0);
                values.fill(0x33);
                status_word *data = memory.data();
                Value *out = values.data();
                for (unsigned k = 0; k < 7; ++k) {
                    Value value = given[k];
                    void *arguments[] = {&data, &k, &value};
                    CUDA(cudaLaunchKernel(publish_one<Value>, dim3(1), dim3(1), arguments));
                    if (k % 2 == first && missing >> k / 2 & 1) data[k * each + lost] = 0;
                }
                const std::vector<status_word> before = memory.get();
                void *arguments[] = {&data, &first, &end, &out};
                const cudaError_t error =
                    cudaLaunchKernel(await_three<Value>, dim3(1), dim3(32), arguments);
                if (waits) {
                    check::that(error != cudaSuccess && simt::report().find("deadlock") == 0,
                                "await %u, end %u, missing %u: did not wait", first, end, missing);
                    check::that(memory.get() == before, "await %u, end %u: words taken early",
                                first, end);
                    continue;
                }
                check::that(error == cudaSuccess, "await %u, end %u, missing %u: %s", first, end,
                            missing, simt::report().c_str());
                for (unsigned k = 0; k < 7 * each; ++k)
                    check::that(memory.get()[k] == (awaited(k / each) ? 0 : before[k]),
                                "await %u, end %u: word %u", first, end, k);
                const Value nothing = {};
                for (unsigned k = 0; k < 3; ++k)
                    check::that(
                        std::memcmp(&out[k],
                                    awaited(first + 2 * k) ? &given[first + 2 * k] : &nothing,
                                    sizeof(Value)) == 0,
                        "await %u, end %u: value %u", first, end, k);
                check::that(memory.canaries_alive() && values.canaries_alive(),
                            "await %u, end %u: a write outside", first, end);
            }
        }
    }
}

template <unsigned Words, class Value>
static void words(const Value (&given)[7])
{
    words_from<Words>(0, given);
    words_from<Words>(1, given);
}

struct five_bytes {
    unsigned char part[5];
};
struct four_longs {
    unsigned long long part[4];
};
struct three_shorts_and_a_long {
    unsigned short part[4];
    unsigned long long last;
};

static void all_words()
{
    words<1, unsigned>({11, 3, 22, ~0u, 33, 1u << 31, 44});
    words<2, unsigned long long>({11, 3, 22, ~0ull, 33, 1ull << 63, 44});
    words<1, unsigned char>({1, 0, 2, 255, 4, 128, 6});
    words<1, five_bytes>({{{1, 2, 3, 4, 5}},
                          {{0, 0, 0, 0, 0}},
                          {{2}},
                          {{255, 255, 255, 255, 255}},
                          {{4}},
                          {{9, 8, 7, 6, 128}},
                          {{6}}});
    /* each word's first and last bits */
    words<5, four_longs>({{{1}},
                          {{~0ull, ~0ull, ~0ull, ~0ull}},
                          {{2}},
                          {{1ull << 63 | 1, 3ull << 62, 7ull << 61, 15ull << 60}},
                          {{3}},
                          {{0, 1ull << 62, 1ull << 61, 1ull << 63}},
                          {{4}}});
    words<3, three_shorts_and_a_long>({{{1}, 1},
                                       {{0, 0, 0}, ~0ull},
                                       {{2}, 2},
                                       {{65535, 65535, 65535}, 1ull << 63},
                                       {{3}, 3},
                                       {{1, 2, 32768}, 7},
                                       {{4}, 4}});
    using place = key_and_index<unsigned long long>;
    words<3, place>({{1, 1},
                     {~0ull, ~0ull},
                     {2, 2},
                     {1ull << 63, 1ull << 60},
                     {3, 3},
                     {1ull << 62, 5},
                     {4, 4}});
}

/* ---- AUTO in small blocks -------------------------------------------------------------------- */

/* Integers, whose sums are exact: a lost, doubled or foreign one shows. Twice, the second time with
 * the words that the first left. test_auto.cpp has more of it, and takes longer. */
template <unsigned BlockSize, unsigned Packs>
static void float_case(const char *what, size_t n, size_t offset, size_t most_words,
                       size_t bound = 0, size_t on_device = 0)
{
    using sum = reducer_t<plus, float>;
    const std::vector<float> values = check::make(check::data::integers, n, n + offset);
    const size_t reduced = bound ? std::min(bound, on_device) : n;
    const float wanted = fastreduce_host_sum_f32(values.data(), reduced);
    check::buffer<float> input(n, offset), output(1, offset);
    check::buffer<size_t> count(1);
    const size_t bytes =
        array_workspace_bytes(sizes_of<sum, BlockSize, Packs, BlockSize, Packs>(), n);
    check::buffer<unsigned char> memory(bytes);
    input.set(values);
    memory.fill(0);
    count.set(&on_device);
    one_row::pairwise_call call;
    call.most_words = most_words;
    if (bound) call.n_on_device = count.data();
    for (unsigned turn = 0; turn < 2; ++turn) {
        const char *const in_order = order::next();
        output.fill(0x7f);
        const fastreduce_status status = one_row::reduce_pairwise_in<sum, BlockSize, Packs>(
            input.data(), n, output.data(), sum(), {bytes ? memory.data() : nullptr, bytes}, call);
        order::usual();
        check::that(status == 0 && output.get()[0] == wanted && output.canaries_alive(),
                    "%s, n %zu of %zu, offset %zu, %zu words, blocks %s: %.9g instead of %.9g %s",
                    what, reduced, n, offset, most_words, in_order,
                    static_cast<double>(output.get()[0]), static_cast<double>(wanted),
                    order::report());
        check::that(memory.every_byte_is(0) && memory.canaries_alive(),
                    "%s, n %zu: words left dirty, or a write outside", what, reduced);
        if (status != 0) memory.fill(0);
    }
}

static void float_sums()
{
    const size_t tile = 4 * 64 * 2, smallest = 4 * 32;
    for (size_t offset = 0; offset < 4; ++offset)
        for (size_t n : {size_t(0), size_t(1), size_t(3), size_t(4), size_t(6), size_t(127),
                         tile - 1, tile, tile + 1, 2 * tile, 3 * tile + 77, 150 * tile + 5})
            if (n < 100 * tile || offset == 1)
                float_case<64, 2>("tiles of 64 x 2", n, offset, workspace_words);
    /* groups of 64 and groups of groups; runs of two, four and eight tiles, the last incomplete */
    for (size_t tiles : {64, 65, 129, 4097})
        float_case<32, 1>("groups", tiles * smallest - 1, tiles % 4, workspace_words);
    for (size_t words : {100, 40, 20, 12})
        for (size_t tiles : {9, 57, 64, 77})
            float_case<32, 1>("runs", tiles * smallest - 77, 1, words);
    for (size_t bound : {5 * smallest, 1200 * smallest + 3})
        for (size_t n : {size_t(0), size_t(1), 3 * smallest, 140 * smallest + 1, bound, bound + 1})
            float_case<32, 1>("counted", bound, 1, workspace_words, bound, n);
    /* several warps take part in a group */
    float_case<64, 1>("a group of 65", 4 * 64 * 65, 0, workspace_words);
}

/* ---- Values over a warp, halves, and the copy engine's twin ---- */

__global__ void over_lanes(const unsigned *values, unsigned *results)
{
    const unsigned sum = warp_add(values[threadIdx.x]), most = warp_max(values[threadIdx.x]);
    results[threadIdx.x] = sum;
    results[warp_size + threadIdx.x] = most;
}

static void lanes()
{
    check::that(ieee_add(3.0f, 1.0f) == 4 && ieee_subtract(3.0f, 1.0f) == 2 &&
                    ieee_add(0x1p-149f, 0x1p-149f) == 0x1p-148f &&
                    ieee_subtract(0x1p-148f, 0x1p-149f) == 0x1p-149f,
                "a sum or difference of two floats");
    check::buffer<unsigned> input(warp_size), output(2 * warp_size);
    const unsigned *in = input.data();
    unsigned *out = output.data();
    void *arguments[] = {&in, &out};
    for (unsigned greatest = 0; greatest < warp_size; ++greatest) {
        for (unsigned least : {0u, 1u, 1000u, 1u << 31}) {
            std::vector<unsigned> values(warp_size, least);
            values[greatest] = least + 1; /* the others are almost as great */
            input.set(values);
            CUDA(cudaLaunchKernel(over_lanes, dim3(1), dim3(warp_size), arguments));
            const std::vector<unsigned> got = output.get();
            for (unsigned lane = 0; lane < warp_size; ++lane)
                check::that(got[lane] == warp_size * least + 1 &&
                                got[warp_size + lane] == least + 1,
                            "the sum and the greatest of 32 lanes, lane %u: %u and %u", lane,
                            got[lane], got[warp_size + lane]);
        }
    }
}

/* Every 16-bit float. */
static void halves()
{
    for (unsigned bits = 0; bits < 1u << 16; ++bits) {
        const int exponent = bits >> 10 & 31, fraction = bits & 1023;
        const float magnitude =
            exponent == 31 ? (fraction ? NAN : INFINITY)
                           : std::ldexp(static_cast<float>(fraction + (exponent ? 1024 : 0)),
                                        (exponent ? exponent : 1) - 25);
        const float wanted = bits >> 15 ? -magnitude : magnitude,
                    got = half_to_float(static_cast<unsigned short>(bits));
        check::that(std::isnan(wanted) ? std::isnan(got)
                                       : bits_as<unsigned>(got) == bits_as<unsigned>(wanted),
                    "the half %04x: %g, not %g", bits, got, wanted);
    }
}

template <class Element, class Value>
__global__ void first_of_lanes(const Value *values, Value *found)
{
    found[threadIdx.x] = index_reducer<Element>::warp_value(values[threadIdx.x]);
}

/* The first index of the greatest key, past 2^32 too; some lanes have none. */
template <class Element>
static void first_indices()
{
    using Value = typename index_reducer<Element>::Value;
    using Key = typename index_reducer<Element>::Key;
    const Key half = Key(1) << 4 * sizeof(Key), keys[] = {0, 1, half, static_cast<Key>(half + 1)};
    const unsigned long long lows[] = {0, 5, 0xfffffffe, 0xffffffff};
    check::buffer<Value> input(warp_size), output(warp_size);
    const Value *in = input.data();
    Value *out = output.data();
    void *arguments[] = {&in, &out};
    for (unsigned long long seed = 0; seed < 200; ++seed) {
        std::vector<Value> values(warp_size);
        Value wanted(0, ~0ull);
        for (unsigned lane = 0; lane < warp_size; ++lane) {
            const unsigned long long z = check::mix(lane, seed);
            values[lane] =
                z % 4 ? Value(keys[z / 4 % (1 + seed % 4)], z / 16 % 4 << 32 | lows[z / 64 % 4])
                      : Value(0, ~0ull);
            const Key key = values[lane].key;
            if (key > wanted.key || (key == wanted.key && values[lane].number() < wanted.number()))
                wanted = values[lane];
        }
        input.set(values);
        auto kernel = first_of_lanes<Element, Value>;
        CUDA(cudaLaunchKernel(kernel, dim3(1), dim3(warp_size), arguments));
        for (const Value &found : output.get())
            check::that(found.key == wanted.key && found.number() == wanted.number(),
                        "seed %llu: key %llx, index %llx, not %llx, %llx", seed,
                        static_cast<unsigned long long>(found.key), found.number(),
                        static_cast<unsigned long long>(wanted.key), wanted.number());
    }
}

/* Packs larger than a vector, aligned as one: loaded as they are. */
static void large_packs()
{
    struct alignas(32) eight_words {
        unsigned part[8];
    };
    const pack<eight_words> given = {{{{1, 2, 3, 4, 5, 6, 7, 8}}}},
                            loaded = load_pack<true>(&given);
    check::that(std::memcmp(&given, &loaded, sizeof given) == 0, "a pack of 32 bytes");
}

/* The sum of nothing but -0 is -0, whatever is not there; that of nothing is +0. */
static void negative_zeros()
{
    using sum = reducer_t<plus, float>;
    check::buffer<float> output(1);
    for (size_t n : {0, 1, 5, 127, 128, 300, 2049}) {
        check::buffer<float> input(n, 1);
        check::buffer<unsigned char> memory(4096);
        input.set(std::vector<float>(n, -0.0f));
        memory.fill(0);
        output.fill(0x7f);
        const fastreduce_status status = one_row::reduce_pairwise_in<sum, 32, 1>(
            input.data(), n, output.data(), sum(), {memory.data(), memory.bytes()});
        check::that(status == 0 && bits_as<unsigned>(output.get()[0]) == (n > 0 ? 1u << 31 : 0),
                    "the sum of %zu of -0: %08x", n, bits_as<unsigned>(output.get()[0]));
    }
}
#endif

#if defined(SMALL_EXACT) || defined(SMALL_LONG)
/* ---- Exact sums ------------------------------------------------------------------------------ */

static void exact_result(const char *what, const std::vector<float> &values, float got,
                         const fastreduce_accumulator &total, const fastreduce_accumulator &wanted)
{
    const float sum = fastreduce_accumulator_f32(&wanted);
    check::that(exact_data::bits_of(got) == exact_data::bits_of(sum),
                "%s, n %zu: %.9g (%08x) instead of %.9g (%08x)", what, values.size(),
                static_cast<double>(got), exact_data::bits_of(got), static_cast<double>(sum),
                exact_data::bits_of(sum));
    check::that(std::memcmp(&total, &wanted, sizeof total) == 0, "%s, n %zu: another accumulator",
                what, values.size());
}

/* One block of a warp. Thread t adds `copies` times script[32 * g + t] in group g, and all of
 * that `times` times. */
__global__ void drive(const float *script, unsigned groups, unsigned copies, unsigned times,
                      exact_output output)
{
    superaccumulator<32> sum({});
    for (unsigned k = 0; k < times * groups; ++k) {
        const float x = script[k % groups * 32 + threadIdx.x];
        float group[exact_group_limit];
        for (unsigned j = 0; j < exact_group_limit; ++j) group[j] = j < copies ? x : 0;
        sum.add_group(group);
    }
    sum.reduce_blocks(nullptr, output, 0);
}

constexpr unsigned all_copies = exact_group_limit;

static void drive_case(const char *what, const std::vector<float> &script, unsigned copies,
                       unsigned times)
{
    check::buffer<float> input(script.size()), rounded(1);
    check::buffer<fastreduce_accumulator> total(1);
    const fastreduce_accumulator wanted =
        exact_data::repeated(exact_data::accumulated(script.data(), script.size()),
                             static_cast<long long>(copies) * times);
    input.set(script);
    total.fill(0);
    const float *in = input.data();
    unsigned groups = static_cast<unsigned>(script.size() / 32);
    for (exact_output output :
         {exact_output{rounded.data(), nullptr}, exact_output{nullptr, total.data()->limb}}) {
        void *arguments[] = {&in, &groups, &copies, &times, &output};
        CUDA(cudaLaunchKernel(drive, dim3(1), dim3(32), arguments,
                              superaccumulator<32>::shared_bytes, nullptr));
    }
    exact_result(what, script, rounded.get()[0], total.get()[0], wanted);
}

/* Groups in which all lanes have the same, but for the first ones, as listed. */
static std::vector<float> lanes_of(float usual, std::initializer_list<float> first)
{
    std::vector<float> group(32, usual);
    std::copy(first.begin(), first.end(), group.begin());
    return group;
}

template <class T>
std::vector<T> operator+(std::vector<T> a, const std::vector<T> &b)
{
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

/* So many groups that a 64-bit sum overflows unless the sums are
 * flushed in time, again and again. */
static void long_runs()
{
    const float nan = std::nanf(""), infinity = INFINITY;
    for (float sign : {1.0f, -1.0f})
        drive_case("the window's greatest", lanes_of(sign, {}) + lanes_of(sign * 0x1.fffffep1f, {}),
                   all_copies, 20000);
    /* in few lanes, something below the window, which its extension takes */
    for (float sign : {1.0f, -1.0f}) {
        drive_case("the extension's greatest",
                   lanes_of(sign, {sign * 0x1.fffffep-22f, sign * 0x1.fffffep-21f,
                                   -sign * 0x1.fffffep-23f}),
                   all_copies, 20000);
        drive_case("the extension and the bins by turns",
                   lanes_of(sign, {sign * 0x1.fffffep-21f, 0x1.8p-43f}) +
                       lanes_of(sign, {0x1.000002p-60f, sign * 0x1.fffffep-19f}) +
                       lanes_of(0x1p30f, {0x1.fffffep8f}),
                   all_copies, 3000);
    }
    drive_case("bins, flushed often",
               lanes_of(1.0f, {0x1.fffffep+110f, -0x1.fffffep-60f, 0x1p-149f}), all_copies, 9000);
    drive_case("the bins' greatest", lanes_of(FLT_MAX, {-FLT_MAX, 0x1p-149f}) + lanes_of(1.0f, {}),
               all_copies, 5000);
    drive_case("specials", lanes_of(nan, {1.0f, infinity, infinity, -infinity, nan, -nan}),
               all_copies, 9000);
    drive_case("many infinities", lanes_of(infinity, {-infinity}), all_copies, 9000);
    drive_case("one special a vector",
               lanes_of(1.0f, {nan, -infinity, 0x1.8p-140f}) + lanes_of(-3.0f, {infinity}), 5, 3);
    drive_case("scales by turns",
               lanes_of(0x1p50f, {}) + lanes_of(-0x1.8p-50f, {}) + lanes_of(-0x1p50f, {}),
               all_copies, 3000);
}

/* Floats at the limits of the window at each of some positions: its first group sets it, a few
 * lanes test it. */
static void window_limits()
{
    for (int position : {0, 1, 2, 5, 21, 22, 23, 107, 180, 228, 229, 230}) {
        /* the group's greatest exponent decides */
        const float usual = std::ldexp(1.0f, position + 20 - 127);
        std::vector<float> tests = {0.0f, -0.0f, FLT_MAX, 0x1p-149f, FLT_MIN};
        for (float x : {1.0f, 1.5f, 0x1.fffffep0f, 0x1.000002p0f})
            for (int exponent : {-47, -46, -45, -24, -23, -22, -21, -1, 0,  1,  20, 21,
                                 22,  23,  24,  42,  43,  44,  45,  46, 47, 64, 67})
                tests.push_back(std::ldexp(x, exponent + position - 149));
        for (float x : tests) {
            if (!std::isfinite(x)) continue;
            drive_case("window limits",
                       lanes_of(usual, {}) + lanes_of(usual, {x}) + lanes_of(usual, {-x, x}), 1, 2);
            drive_case("window limits, all lanes",
                       lanes_of(usual, {}) + lanes_of(-x, {x, x}) + lanes_of(x, {}), 1, 1);
        }
    }
}

/* What a warp decides on: it does not show in results, but takes less time or more. */
struct decision {
    unsigned position, bins_used, groups_to_skip;
};
static bool operator==(const decision &a, const decision &b)
{
    return a.position == b.position && a.bins_used == b.bins_used &&
           a.groups_to_skip == b.groups_to_skip;
}

/* A float of each thread a group; what is decided after each. */
__global__ void decide(const float *script, unsigned groups, decision *decisions)
{
    superaccumulator<32> sum({});
    for (unsigned k = 0; k < groups; ++k) {
        const float group[4] = {script[k * 32 + threadIdx.x], 0, 0, 0};
        sum.add_group(group);
        if (threadIdx.x == 0) decisions[k] = {sum.position, sum.bins_used, sum.groups_to_skip};
    }
}

static void decided(const char *what, const std::vector<float> &script,
                    const std::vector<decision> &wanted)
{
    check::buffer<float> input(script.size());
    check::buffer<decision> output(wanted.size());
    input.set(script);
    const float *in = input.data();
    decision *out = output.data();
    unsigned groups = static_cast<unsigned>(wanted.size());
    void *arguments[] = {&in, &groups, &out};
    CUDA(cudaLaunchKernel(decide, dim3(1), dim3(32), arguments, superaccumulator<32>::shared_bytes,
                          nullptr));
    for (unsigned k = 0; k < groups; ++k)
        check::that(out[k] == wanted[k], "%s, group %u: position %u, %s bins, %u groups in bins",
                    what, k, out[k].position, out[k].bins_used ? "some" : "no",
                    out[k].groups_to_skip);
}

static void decisions()
{
    /* the group's greatest, be it negative, or beside what is not finite */
    for (int exponent = 0; exponent < 255; ++exponent) {
        const float x = exponent == 0 ? 0x1p-149f : std::ldexp(1.0f, exponent - 127);
        const unsigned position = exponent < 20    ? 0
                                  : exponent < 250 ? static_cast<unsigned>(exponent) - 20
                                                   : 230;
        const unsigned beyond = exponent > 251; /* above the highest window */
        decided("the window's place", lanes_of(x, {}), {{position, beyond, 16 * beyond}});
        decided("the window's place", lanes_of(0, {0, 0, 0, 0, -1.5f * x}),
                {{position, beyond, 0}});
        decided("the window's place", lanes_of(x, {NAN, -INFINITY, -NAN}),
                {{position, 1, 16 * beyond}});
    }
    const std::vector<float> ones = lanes_of(1.0f, {}), above = lanes_of(0x1p30f, {}),
                             small = lanes_of(0x1.8p-60f, {});
    const decision usual = {107, 0, 0};
    decided("all fits", ones + lanes_of(0x1p-42f, {-0x1.fffffep1f}), {usual, usual});
    decided("a few fit the extension",
            ones + lanes_of(1.0f, {0x1p-64f, 0x1p-43f, -0x1.8p-60f}) + above,
            {usual, usual, {137, 0, 0}});
    decided("a few fit neither",
            ones + lanes_of(1.0f, {0x1p-65f}) + lanes_of(1.0f, {0x1p24f, 0x1p24f, 0x1p24f}),
            {usual, {107, 1, 0}, {107, 1, 0}});
    decided("the lowest extension", lanes_of(0x1p-85f, {0x1p-149f}), {{22, 0, 0}});
    decided("no extension", lanes_of(0x1p-86f, {0x1p-149f}), {{21, 1, 0}});
    decided("up and down", ones + above + small + above,
            {usual, {137, 0, 0}, {47, 0, 0}, {137, 0, 0}});
    for (int least : {8, 9}) { /* a window eight binades lower is not better */
        const unsigned place = least == 8 ? 107 : 98;
        std::vector<float> script =
            ones + lanes_of(std::ldexp(1.0f, -least), {0x1p-90f, 0x1p-90f, 0x1p-90f, 0x1p-90f});
        std::vector<decision> wanted = {usual, {place, 1, 16}};
        for (unsigned k = 16; k-- > 0;) {
            script = script + above;
            wanted.push_back({place, 1, k});
        }
        decided("many fit nowhere, and the next ones are not tried", script + above,
                wanted + std::vector<decision>{{137, 1, 0}});
    }
}

/* Few floats, of exponents far apart or near: every length of a carry, every place of the
 * leading bit, ties. */
static void rounding()
{
    for (unsigned long long seed = 0; seed < 400; ++seed) {
        const int low = static_cast<int>(check::mix(seed, 1) % 250),
                  spread = 1 + static_cast<int>(check::mix(seed, 2) % 60);
        std::vector<float> few(32, 0.0f);
        for (unsigned lane = 0; lane < 1 + seed % 5; ++lane) {
            const int exponent =
                low + static_cast<int>(check::mix(lane, seed) % static_cast<unsigned>(spread));
            few[lane] = std::ldexp(exact_data::in_unit(lane, seed),
                                   (exponent < 250 ? exponent : 250) - 126);
        }
        drive_case("few", few, 1, 1);

        /* from the least with 24 bits and a half of the last one */
        const int exponent = low - 125;
        const float base =
            std::ldexp(1.0f + static_cast<float>(check::mix(seed, 4) >> 41) * 0x1p-23f, exponent);
        const float half = std::ldexp(1.0f, exponent - 24);
        for (float tiny :
             {0.0f, 0x1p-149f, -0x1p-149f, 0x1p-100f, -0x1p-70f, half * 0x1p-9f, -half * 0x1p-40f})
            for (float sign : {1.0f, -1.0f})
                drive_case("ties", lanes_of(0.0f, {sign * base, sign * half, tiny}), 1, 1);
    }
    /* the sums 2^a - 2^b, all ones between, and less than 0 */
    for (int a = -140; a < 128; a += 9)
        for (int b = -149; b < a; b += 13)
            for (float sign : {1.0f, -1.0f})
                drive_case(
                    "all ones",
                    lanes_of(0.0f, {sign * std::ldexp(1.0f, a), -sign * std::ldexp(1.0f, b)}), 1,
                    1);
}

/* An accumulator with limbs as large as merging without carries
 * makes them: each is taken as it is. */
static void raw_accumulator()
{
    check::buffer<float> input(64);
    fastreduce_accumulator *total = nullptr; /* right before memory that cannot be read */
    CUDA(cudaMalloc(reinterpret_cast<void **>(&total), sizeof *total));
    for (int turn = 0; turn < 9; ++turn) {
        const float x = turn % 2 ? 0x1.fffffep100f : -0x1.fffffep100f;
        fastreduce_accumulator raw = {}, wanted = {};
        for (int k = 0; k < 11; ++k) raw.limb[k] = (turn / 2 % 3 - 1) * (0xffffffffll << 31);
        raw.limb[11] = -(1ll << 31);
        if (turn > 5) { /* a carry that goes through all digits, the highest one too */
            for (int k = 0; k < 12; ++k) raw.limb[k] = 0xffffffff;
            if (turn == 6) raw.limb[9] = 0x1ffffffff, raw.limb[11] = -1;
            if (turn == 8) raw.limb[11] = 1ll << 40;
        }
        for (int k = 12; k < 15; ++k) raw.limb[k] = turn == k - 12 ? 1ll << 62 : turn > 3 ? k : 0;
        std::vector<float> values(64, x);
        if (turn == 3) { /* counts that are full by one more */
            values[5] = NAN, values[7] = INFINITY, values[40] = -INFINITY;
            for (int k = 12; k < 15; ++k) raw.limb[k] = FASTREDUCE_DETAIL_MOST_COUNTED;
        }
        fastreduce_host_accumulate_f32(values.data(), &wanted, 64);
        fastreduce_accumulator_merge(&wanted, &raw);
        input.set(values);
        *total = raw;
        const float *in = input.data();
        unsigned groups = 2, copies = 1, times = 1;
        exact_output output = {nullptr, total->limb};
        void *arguments[] = {&in, &groups, &copies, &times, &output};
        CUDA(cudaLaunchKernel(drive, dim3(1), dim3(32), arguments,
                              superaccumulator<32>::shared_bytes, nullptr));
        check::that(std::memcmp(total, &wanted, sizeof wanted) == 0, "a raw accumulator, turn %d",
                    turn);
    }
    CUDA(cudaFree(total));
}

/* The same call twice, the second with the words that the first left; to a float and limbs. */
template <unsigned BlockSize, unsigned Packs>
static void exact_case(unsigned blocks, const exact_data::pattern &p, size_t n,
                       unsigned long long seed)
{
    const std::vector<float> values = exact_data::make(p, n, seed);
    const fastreduce_accumulator wanted = exact_data::accumulated(values.data(), n);
    check::buffer<float> input(n, seed % 36), rounded(1);
    check::buffer<fastreduce_accumulator> total(1);
    check::buffer<status_word> words(superaccumulator<BlockSize>::status_words);
    input.set(values);
    words.fill(0);
    for (int turn = 0; turn < 4; ++turn) {
        const bool rounds = turn < 2;
        rounded.fill(0x7f);
        total.fill(0);
        const fastreduce_status status =
            one_row::reduce_exact_in<superaccumulator<BlockSize>, Packs>(
                blocks, input.data(), n,
                {rounds ? rounded.data() : nullptr, rounds ? nullptr : total.data()->limb},
                words.data());
        const float got = rounded.get()[0], sum = fastreduce_accumulator_f32(&wanted);
        check::that(
            status == 0 && (rounds ? exact_data::bits_of(got) == exact_data::bits_of(sum)
                                   : std::memcmp(total.data(), &wanted, sizeof wanted) == 0),
            "%u blocks of %u x %u, %s, n %zu: status %d, %.9g instead of %.9g", blocks, BlockSize,
            Packs, p.name, n, status, static_cast<double>(got), static_cast<double>(sum));
        check::that(words.every_byte_is(0) && words.canaries_alive(),
                    "%u blocks of %u x %u, %s, n %zu: words left dirty, or a write outside", blocks,
                    BlockSize, Packs, p.name, n);
    }
}

/* Of three blocks so many add to the totals; the last awaits both others. */
__global__ void last_of_three(status_word *totals, unsigned adding, exact_output output)
{
    superaccumulator<32> sum({});
    const float group[4] = {1, -3, 0, 0};
    sum.add_group(group);
    if (blockIdx.x < adding || blockIdx.x == 2) sum.reduce_blocks(totals, output, 0);
}

static void waits_for_all()
{
    for (unsigned adding : {0u, 1u, 2u}) {
        check::buffer<status_word> totals(superaccumulator<32>::status_words);
        check::buffer<float> rounded(1);
        totals.fill(0);
        status_word *data = totals.data();
        exact_output output = {rounded.data(), nullptr};
        void *arguments[] = {&data, &adding, &output};
        const cudaError_t error = cudaLaunchKernel(last_of_three, dim3(3), dim3(32), arguments,
                                                   superaccumulator<32>::shared_bytes, nullptr);
        if (adding == 2)
            check::that(error == cudaSuccess && rounded.get()[0] == -192 && totals.every_byte_is(0),
                        "three blocks: error %d, %g", error, static_cast<double>(rounded.get()[0]));
        else
            check::that(error != cudaSuccess && simt::report().find("deadlock") == 0,
                        "the last block did not wait for %u of two others", 2 - adding);
    }
}

struct seventy_limbs {
    static constexpr unsigned limbs = 70;
    static bool carries(unsigned) { return false; }
};
/* Three limbs a lane, as far as there are so many, of two blocks; the first adds all but one. */
__global__ void all_but(status_word *totals, unsigned missing, long long *sums)
{
    constexpr unsigned limbs = seventy_limbs::limbs;
    long long limb[3];
    for (unsigned j = 0; j < 3; ++j) limb[j] = threadIdx.x + 32 * j;
    if (blockIdx.x == 0) {
        for (unsigned k = threadIdx.x; k < limbs; k += 32)
            if (k != missing) totals[k] += exact_one_block + 1000;
    } else if (sum_of_blocks<seventy_limbs>(totals, limb)) {
        for (unsigned j = 0; j < 3; ++j)
            if (threadIdx.x + 32 * j < limbs) sums[threadIdx.x + 32 * j] = limb[j];
    }
}

static void waits_for_every_limb()
{
    for (unsigned missing : {70u, 0u, 31u, 32u, 69u}) {
        check::buffer<status_word> totals(exact_totals * 70);
        check::buffer<long long> sums(70);
        totals.fill(0);
        status_word *data = totals.data();
        long long *out = sums.data();
        void *arguments[] = {&data, &missing, &out};
        const cudaError_t error = cudaLaunchKernel(all_but, dim3(2), dim3(32), arguments);
        if (missing < 70) {
            check::that(error != cudaSuccess && simt::report().find("deadlock") == 0,
                        "the last block did not wait for limb %u", missing);
            continue;
        }
        check::that(error == cudaSuccess && totals.every_byte_is(0), "two blocks: error %d", error);
        for (unsigned k = 0; k < 70; ++k)
            check::that(sums.get()[k] == 1000 + static_cast<long long>(k), "limb %u: %lld", k,
                        sums.get()[k]);
    }
}

static void exact_sums()
{
    unsigned long long seed = 0;
    for (const exact_data::pattern &p : exact_data::patterns()) {
        for (unsigned blocks : {1u, 3u, 40u}) {
            simt::settings().schedule = schedules[++seed % 3];
            const size_t n = blocks == 40 ? 30011 : seed % 7 * 777 + 5;
            exact_case<32, 4>(blocks, p, n, seed);
            if (blocks < 40) exact_case<64, 4>(blocks, p, n * 4, seed);
        }
        exact_case<160, 1>(2, p, 2222, seed);
    }
    /* packs that have everything */
    const exact_data::pattern beside = {
        "specials beside denormals", [](size_t i, size_t, unsigned long long variant) {
            if (i % 4 == variant % 4)
                return i / 4 % 3 == 0 ? std::nanf("") : i / 4 % 3 == 1 ? -INFINITY : INFINITY;
            return std::ldexp(exact_data::in_unit(i, variant), -120 - static_cast<int>(i % 11));
        }};
    for (int turn = 0; turn < 4; ++turn) exact_case<32, 4>(1, beside, 3000, ++seed);
    /* sizes about the tiles */
    for (unsigned blocks : {1u, 2u})
        for (size_t quarters : {0, 1, 2, 3, 4, 5, 8, 12, 24, 25, 48, 63})
            exact_case<64, 4>(blocks, exact_data::patterns()[0],
                              quarters * 256 + (quarters % 3) * 50 + 1, ++seed);
}
#endif

int main()
{
#ifdef SMALL_FLOAT
    lanes();
    halves();
    first_indices<float>();
    first_indices<double>();
    large_packs();
    float_sums();
    negative_zeros();
    all_words();
#endif
#ifdef SMALL_EXACT
    window_limits();
    decisions();
    raw_accumulator();
    waits_for_all();
    waits_for_every_limb();
    exact_sums();
    rounding();
#endif
#ifdef SMALL_LONG
    long_runs();
#endif
    return check::finish("small blocks");
}
