/* The tuned kernels in blocks of 32 and 64 threads, which the library itself never launches:
 * what takes 2^28 floats in one of its blocks (a 64-bit sum about to overflow, the second
 * settling) takes thousands here, and data can be put at the very limits of the window. Compiles
 * and runs within seconds, so that test/quality/mutants.py can do it for each of its changes;
 * -DSMALL_FLOAT, -DSMALL_EXACT and -DSMALL_LONG, the exact sum's long runs, choose parts. */
#if !defined(SMALL_FLOAT) && !defined(SMALL_EXACT) && !defined(SMALL_LONG)
#define SMALL_FLOAT
#define SMALL_EXACT
#define SMALL_LONG
#endif
#define FASTREDUCE_HOST_IMPLEMENTATION
#include "../../fastreduce.cuh"
#include "../common/exact_data.h"
namespace fastreduce::FASTREDUCE_DETAIL_ABI::detail
{
SIMT_DYNAMIC_SHARED(dynamic_shared_bytes)
}

using namespace fastreduce;
using namespace fastreduce::detail;

/* The same launch twice, the second with the slots that the first left. */
template <class Output, class Check>
static void launch_twice(const char *what, const tuned_launch<Output> &made, unsigned blocks,
                         const std::vector<float> &values, size_t offset, size_t slot_count,
                         const Output &output, Check check_result)
{
    const size_t n = values.size();
    check::buffer<float> input(n, offset);
    check::buffer<published> slots(slot_count);
    input.set(values);
    slots.fill(0);
    for (int turn = 0; turn < 2; ++turn) {
        const cudaError_t error =
            launch_tuned(made, blocks, 0, static_cast<const float *>(input.data()), output, n,
                         slots.data(), nullptr);
        check::that(error == cudaSuccess, "%s, %u blocks, n %zu, offset %zu: %s", what, blocks, n,
                    offset, cudaGetErrorString(error));
        check_result(turn);
        check::that(slots.every_byte_is(0) && slots.canaries_alive(),
                    "%s, %u blocks, n %zu, offset %zu: slots left dirty, or a write outside", what,
                    blocks, n, offset);
    }
}

static const simt::order schedules[] = {simt::order::forward, simt::order::reverse,
                                        simt::order::random};

#ifdef SMALL_FLOAT
/* ---- Slots and sums of floats ---------------------------------------------------------------- */

/* Lane 5's are the slots. */
__global__ void await_three(published *slots, unsigned first, unsigned end,
                            unsigned long long *values)
{
    unsigned long long three[3];
    await(slots, threadIdx.x == 5 ? first : end, 2, end, three);
    if (threadIdx.x == 5)
        for (unsigned k = 0; k < 3; ++k) values[k] = three[k];
}

__global__ void publish_one(published *slots, unsigned k, unsigned long long value)
{
    publish(slots + k, value);
}

/* Slots 1, 3 and 5 of 7 are awaited, as far as they lie before `end`; a bit of `missing` leaves
 * one unpublished. */
static void slots()
{
    const unsigned long long given[7] = {11, 3, 22, (1ull << 63) - 1, 33, 1ull << 62, 44};
    for (unsigned end = 2; end <= 7; ++end) {
        for (unsigned missing : {0u, 1u, 2u, 4u}) {
            check::buffer<published> memory(7);
            check::buffer<unsigned long long> values(3);
            memory.fill(0);
            published *data = memory.data();
            unsigned long long *out = values.data();
            for (unsigned k = 0; k < 7; ++k) {
                if (k % 2 && missing >> k / 2 & 1) continue;
                unsigned long long value = given[k];
                void *arguments[] = {&data, &k, &value};
                CUDA(cudaLaunchKernel(publish_one, dim3(1), dim3(1), arguments));
            }
            const std::vector<published> before = memory.get();
            unsigned first = 1;
            void *arguments[] = {&data, &first, &end, &out};
            const cudaError_t error = cudaLaunchKernel(await_three, dim3(1), dim3(32), arguments);
            bool waits = false;
            for (unsigned k = 0; k < 3; ++k) waits |= 1 + 2 * k < end && (missing >> k & 1);
            if (waits) {
                check::that(error != cudaSuccess && simt::report().find("deadlock") == 0,
                            "await, end %u, missing %u: did not wait", end, missing);
                continue;
            }
            check::that(error == cudaSuccess, "await, end %u, missing %u: %s", end, missing,
                        simt::report().c_str());
            for (unsigned k = 0; k < 7; ++k) {
                const bool taken = k % 2 && k < end;
                check::that(memory.get()[k] == (taken ? 0 : before[k]), "await, end %u: slot %u",
                            end, k);
            }
            for (unsigned k = 0; k < 3; ++k)
                check::that(values.get()[k] == (1 + 2 * k < end ? given[1 + 2 * k] : 0),
                            "await, end %u: value %u", end, k);
        }
    }
}

static void float_case(const char *what, const tuned_launch<float *> &made, unsigned blocks,
                       size_t n, size_t offset)
{
    const std::vector<float> values = check::make(check::data::integers, n, n + offset);
    const float wanted = fastreduce_host_sum_f32(values.data(), n);
    check::buffer<float> output(1, offset);
    output.fill(0x7f);
    launch_twice(what, made, blocks, values, offset, blocks, output.data(), [&](int) {
        check::that(output.get()[0] == wanted && output.canaries_alive(),
                    "%s, %u blocks, n %zu, offset %zu: %.9g instead of %.9g", what, blocks, n,
                    offset, static_cast<double>(output.get()[0]), static_cast<double>(wanted));
        output.fill(0x7f);
    });
}

static void float_sums()
{
    const size_t tile = 4 * 64 * 2, ring_tile = 4 * 512;
    for (simt::order schedule : schedules) {
        simt::settings().schedule = schedule;
        for (size_t offset = 0; offset < 4; ++offset) {
            for (size_t n : {size_t(0), size_t(1), size_t(3), size_t(4), size_t(6), size_t(127),
                             tile - 1, tile, tile + 1, 2 * tile, 3 * tile + 77, 150 * tile + 5})
                float_case("tile", tile_launch<float_sum<64, 2>, 64, 2>(),
                           static_cast<unsigned>(blocks_for(n / 4, 128)), n, offset);
            for (unsigned blocks : {1u, 3u, 40u, 300u})
                for (size_t n : {size_t(2), size_t(259), 5 * tile, 41 * tile + 7})
                    float_case("dealt", dealt_launch<float_sum<32, 4>, 32, 2>(), blocks, n, offset);
            for (unsigned blocks : {1u, 2u, 3u})
                for (size_t n : {size_t(0), size_t(5), size_t(31), size_t(255), size_t(256),
                                 size_t(256) * blocks + 3, ring_tile, ring_tile + 257,
                                 5 * ring_tile + 700, 9 * ring_tile - 256})
                    float_case("ring", ring_launch<float_sum<64>, 64, 512, 2>(), blocks, n,
                               offset + (n % 5) * 7);
        }
    }
}

/* ---- Sums and greatest values over a warp, and the copy engine's twin --------------------------- */

__global__ void over_lanes(const unsigned *values, unsigned *results)
{
    const unsigned sum = warp_add(values[threadIdx.x]), most = warp_max(values[threadIdx.x]);
    results[threadIdx.x] = sum;
    results[warp_size + threadIdx.x] = most;
}

static void lanes()
{
    check::that(ieee_add(3, 1) == 4 && ieee_subtract(3, 1) == 2 &&
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

/* Thread 0 fills the same memory again and again; another warp's first thread waits each time. */
__global__ void copies(const float4 *from, float4 *seen, unsigned vectors, unsigned turns)
{
    __shared__ copy_barrier barrier;
    float4 *const to = dynamic_shared<float4>();
    if (threadIdx.x == 0) init_copy_barrier(&barrier);
    __syncthreads();
    for (unsigned turn = 0; turn < turns; ++turn) {
        if (threadIdx.x == 0) bulk_copy(to, from + turn * vectors, vectors, &barrier);
        if (threadIdx.x == warp_size) {
            wait_for_copy(&barrier, turn % 2);
            for (unsigned k = 0; k < vectors; ++k) seen[turn * vectors + k] = to[k];
        }
        __syncthreads();
    }
}

static void copied()
{
    unsigned vectors = 8, turns = 5;
    const std::vector<float> values = check::make(check::data::integers, 4 * vectors * turns, 1);
    check::buffer<float4> input(vectors * turns), output(vectors * turns);
    input.set(reinterpret_cast<const float4 *>(values.data()));
    const float4 *from = input.data();
    float4 *seen = output.data();
    void *arguments[] = {&from, &seen, &vectors, &turns};
    for (simt::order schedule : schedules) {
        simt::settings().schedule = schedule;
        output.fill(0x7f);
        CUDA(cudaLaunchKernel(copies, dim3(1), dim3(2 * warp_size), arguments,
                              vectors * sizeof(float4), nullptr));
        check::that(std::memcmp(seen, values.data(), output.bytes()) == 0,
                    "a copy was read before it had ended, or is not what was to be copied");
    }
}

/* Where nothing but -0 is added, not even the edge's +0. */
static void negative_zeros()
{
    check::buffer<float> output(1);
    for (unsigned blocks : {1u, 2u})
        launch_twice("-0", dealt_launch<float_sum<32>, 32, 2>(), blocks,
                     std::vector<float>(2048, -0.0f), 0, 1, output.data(), [&](int) {
                         check::that(output.every_byte_is(0), "%u blocks: the sum of -0 is not +0",
                                     blocks);
                         output.fill(0x7f);
                     });
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
    exact_sum<32> sum(dynamic_shared<void>());
    for (unsigned k = 0; k < times * groups; ++k) {
        const float x = script[k % groups * 32 + threadIdx.x];
        float4 group[exact_group_limit];
        for (unsigned j = 0; j < exact_group_limit; ++j)
            group[j] = make_float4(4 * j < copies ? x : 0, 4 * j + 1 < copies ? x : 0,
                                   4 * j + 2 < copies ? x : 0, 4 * j + 3 < copies ? x : 0);
        sum.add(group);
    }
    sum.finish(nullptr, output);
}

constexpr unsigned all_copies = 4 * exact_group_limit;

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
         {exact_output{rounded.data(), nullptr}, exact_output{nullptr, total.data()}}) {
        void *arguments[] = {&in, &groups, &copies, &times, &output};
        CUDA(cudaLaunchKernel(drive, dim3(1), dim3(32), arguments, exact_sum<32>::shared_bytes,
                              nullptr));
    }
    exact_result(what, script, rounded.get()[0], total.get()[0], wanted);
}

/* Groups in which all lanes have the same, but for the first ones, as listed. */
static std::vector<float> group_of(float usual, std::initializer_list<float> first)
{
    std::vector<float> group(32, usual);
    std::copy(first.begin(), first.end(), group.begin());
    return group;
}

static std::vector<float> operator+(std::vector<float> a, const std::vector<float> &b)
{
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

/* So many groups that a 64-bit sum overflows unless the sums are
 * settled in time, again and again. */
static void long_runs()
{
    const float nan = std::nanf(""), infinity = INFINITY;
    for (float sign : {1.0f, -1.0f})
        drive_case("the window's greatest", group_of(sign, {}) + group_of(sign * 0x1.fffffep1f, {}),
                   all_copies, 20000);
    drive_case("columns, settled often",
               group_of(1.0f, {0x1.fffffep+110f, -0x1.fffffep-60f, 0x1p-149f}), all_copies, 9000);
    drive_case("the columns' greatest",
               group_of(FLT_MAX, {-FLT_MAX, 0x1p-149f}) + group_of(1.0f, {}), all_copies, 5000);
    drive_case("specials", group_of(nan, {1.0f, infinity, infinity, -infinity, nan, -nan}),
               all_copies, 9000);
    drive_case("many infinities", group_of(infinity, {-infinity}), all_copies, 9000);
    drive_case("one special a vector",
               group_of(1.0f, {nan, -infinity, 0x1.8p-140f}) + group_of(-3.0f, {infinity}), 5, 3);
    drive_case("scales by turns",
               group_of(0x1p50f, {}) + group_of(-0x1.8p-50f, {}) + group_of(-0x1p50f, {}),
               all_copies, 3000);
}

/* Floats at the limits of the window at each of some positions: its first group sets it, a few
 * lanes test it. */
static void window_limits()
{
    for (int position : {0, 1, 2, 5, 21, 107, 180, 228, 229, 230}) {
        /* the group's greatest exponent decides */
        const float usual = std::ldexp(1.0f, position + 20 - 127);
        std::vector<float> tests = {0.0f, -0.0f, FLT_MAX, 0x1p-149f, FLT_MIN};
        for (float x : {1.0f, 1.5f, 0x1.fffffep0f, 0x1.000002p0f})
            for (int exponent :
                 {-24, -23, -1, 0, 1, 20, 21, 22, 23, 24, 42, 43, 44, 45, 46, 47, 64, 67})
                tests.push_back(std::ldexp(x, exponent + position - 149));
        for (float x : tests) {
            if (!std::isfinite(x)) continue;
            drive_case("window limits",
                       group_of(usual, {}) + group_of(usual, {x}) + group_of(usual, {-x, x}), 1, 2);
            drive_case("window limits, all lanes",
                       group_of(usual, {}) + group_of(-x, {x, x}) + group_of(x, {}), 1, 1);
        }
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

        const float base =
            std::ldexp(1.0f + static_cast<float>(check::mix(seed, 4) >> 41) * 0x1p-23f, low - 100);
        const float half = std::ldexp(1.0f, low - 100 - 24); /* of base's last place */
        if (low - 124 < -149 || low > 226) continue;
        for (float tiny : {0.0f, 0x1p-149f, -0x1p-149f, half * 0x1p-9f, -half * 0x1p-40f})
            for (float sign : {1.0f, -1.0f})
                drive_case("ties", group_of(0.0f, {sign * base, sign * half, tiny}), 1, 1);
    }
    /* the sums 2^a - 2^b, all ones between */
    for (int a = -140; a < 128; a += 9)
        for (int b = -149; b < a; b += 13)
            drive_case("all ones", group_of(0.0f, {std::ldexp(1.0f, a), -std::ldexp(1.0f, b)}), 1,
                       1);
}

/* An accumulator with limbs as large as merging without carries
 * makes them: each is taken as it is. */
static void raw_accumulator()
{
    check::buffer<float> input(64);
    check::buffer<fastreduce_accumulator> total(1);
    for (int turn = 0; turn < 6; ++turn) {
        const float x = turn % 2 ? 0x1.fffffep100f : -0x1.fffffep100f;
        fastreduce_accumulator raw = {}, wanted = {};
        for (int k = 0; k < 11; ++k) raw.limb[k] = (turn / 2 - 1) * (0xffffffffll << 31);
        raw.limb[11] = -(1ll << 31);
        for (int k = 12; k < 15; ++k) raw.limb[k] = turn == k - 12 ? 1ll << 62 : turn > 3 ? k : 0;
        std::vector<float> values(64, x);
        if (turn == 3) { /* counts that are full by one more */
            values[5] = NAN, values[7] = INFINITY, values[40] = -INFINITY;
            for (int k = 12; k < 15; ++k) raw.limb[k] = FASTREDUCE_MOST_COUNTED;
        }
        fastreduce_host_accumulate_f32(values.data(), &wanted, 64);
        fastreduce_accumulator_merge(&wanted, &raw);
        input.set(values);
        total.set(&raw);
        const float *in = input.data();
        unsigned groups = 2, copies = 1, times = 1;
        exact_output output = {nullptr, total.data()};
        void *arguments[] = {&in, &groups, &copies, &times, &output};
        CUDA(cudaLaunchKernel(drive, dim3(1), dim3(32), arguments, exact_sum<32>::shared_bytes,
                              nullptr));
        check::that(std::memcmp(total.data(), &wanted, sizeof wanted) == 0,
                    "a raw accumulator, turn %d", turn);
    }
}

static void exact_case(const char *what, const tuned_launch<exact_output> &made, unsigned blocks,
                       const exact_data::pattern &p, size_t n, unsigned long long seed)
{
    const std::vector<float> values = exact_data::make(p, n, seed);
    const fastreduce_accumulator wanted = exact_data::accumulated(values.data(), n);
    check::buffer<float> rounded(1);
    check::buffer<fastreduce_accumulator> total(1);
    for (bool rounds : {true, false}) {
        rounded.fill(0x7f);
        total.fill(0);
        const exact_output output = {rounds ? rounded.data() : nullptr,
                                     rounds ? nullptr : total.data()};
        launch_twice(
            (std::string(what) + ", " + p.name).c_str(), made, blocks, values, seed % 32,
            exact_sum<32>::status_words_used + 1, output, [&](int) {
                const float got = rounded.get()[0], sum = fastreduce_accumulator_f32(&wanted);
                if (rounds)
                    check::that(exact_data::bits_of(got) == exact_data::bits_of(sum),
                                "%s, %u blocks, %s, n %zu: %.9g instead of %.9g", what, blocks,
                                p.name, n, static_cast<double>(got), static_cast<double>(sum));
                else
                    check::that(std::memcmp(total.data(), &wanted, sizeof wanted) == 0,
                                "%s, %u blocks, %s, n %zu: another accumulator", what, blocks,
                                p.name, n);
                total.fill(0);
            });
    }
}

/* Of three blocks so many add to the totals; the last awaits both others. */
__global__ void last_of_three(published *totals, unsigned adding, exact_output output)
{
    exact_sum<32> sum(dynamic_shared<void>());
    const float4 group[1] = {make_float4(1, -3, 0, 0)};
    sum.add(group);
    if (blockIdx.x < adding || blockIdx.x == 2) sum.finish(totals, output);
}

static void waits_for_all()
{
    for (unsigned adding : {0u, 1u, 2u}) {
        check::buffer<published> totals(exact_sum<32>::status_words_used);
        check::buffer<float> rounded(1);
        totals.fill(0);
        published *data = totals.data();
        exact_output output = {rounded.data(), nullptr};
        void *arguments[] = {&data, &adding, &output};
        const cudaError_t error = cudaLaunchKernel(last_of_three, dim3(3), dim3(32), arguments,
                                                   exact_sum<32>::shared_bytes, nullptr);
        if (adding == 2)
            check::that(error == cudaSuccess && rounded.get()[0] == -192 && totals.every_byte_is(0),
                        "three blocks: error %d, %g", error, static_cast<double>(rounded.get()[0]));
        else
            check::that(error != cudaSuccess && simt::report().find("deadlock") == 0,
                        "the last block did not wait for %u of two others", 2 - adding);
    }
}

static void exact_sums()
{
    unsigned long long seed = 0;
    for (const exact_data::pattern &p : exact_data::patterns()) {
        for (unsigned blocks : {1u, 3u, 40u}) {
            simt::settings().schedule = schedules[++seed % 3];
            const size_t n = blocks == 40 ? 30011 : seed % 7 * 777 + 5;
            exact_case("dealt", dealt_launch<exact_sum<32>, 32, 4>(), blocks, p, n, seed);
            if (blocks < 40)
                exact_case("ring", ring_launch<exact_sum<64>, 64, 512, 2>(), blocks, p, n * 4,
                           seed);
        }
        exact_case("dealt, five warps", dealt_launch<exact_sum<160>, 160, 1>(), 2, p, 2222, seed);
    }
    /* vectors that have everything */
    const exact_data::pattern beside = {
        "specials beside denormals", [](size_t i, size_t, unsigned long long variant) {
            if (i % 4 == variant % 4)
                return i / 4 % 3 == 0 ? std::nanf("") : i / 4 % 3 == 1 ? -INFINITY : INFINITY;
            return std::ldexp(exact_data::in_unit(i, variant), -120 - static_cast<int>(i % 11));
        }};
    for (int turn = 0; turn < 4; ++turn)
        exact_case("dealt", dealt_launch<exact_sum<32>, 32, 4>(), 1, beside, 3000, ++seed);
    /* runs and shared tiles of the ring, by sizes about its rows and tiles */
    for (unsigned blocks : {1u, 2u})
        for (size_t rows : {0, 1, 8, 9, 95, 96, 97, 193, 205, 250})
            exact_case("ring", ring_launch<exact_sum<64>, 64, 512, 2>(), blocks,
                       exact_data::patterns()[0], rows * 256 + (rows % 3) * 50 + 1, ++seed);
}
#endif

int main()
{
#ifdef SMALL_FLOAT
    lanes();
    copied();
    slots();
    float_sums();
    negative_zeros();
#endif
#ifdef SMALL_EXACT
    window_limits();
    raw_accumulator();
    waits_for_all();
    exact_sums();
    rounding();
#endif
#ifdef SMALL_LONG
    long_runs();
#endif
    return check::finish("small blocks");
}
