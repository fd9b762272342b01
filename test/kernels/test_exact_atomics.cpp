/* Exact atomics, and exact sums of blocks, in kernels of your own: whatever the order, the bits
 * and, carried, the limbs of the exact sum on the CPU, which test_host.c compares with MPFR. As
 * many additions as fit without a carry, and more with carries. */
#include <cuda_runtime.h>
#define FASTREDUCE_IMPLEMENTATION
#define FASTREDUCE_TYPES FASTREDUCE_F32
#define FASTREDUCE_OPERATORS FASTREDUCE_SUM
#define FASTREDUCE_NO_LADDER
#include "../../fastreduce.cuh"
#include "../common/dynamic_shared.h"
#include "../common/exact_data.h"
#include "../common/parts.h"
#include <algorithm>
#include <type_traits>

using exact_data::bits_of;
using fastreduce::detail::bf16;
using fastreduce::detail::f16;
using ull = unsigned long long;

static bool thorough = on_gpu; /* the CPU machine and sanitizers take too long for all of it */

constexpr unsigned shared_bins = 4;

/* ---- Kernels --------------------------------------------------------------------------------- */

template <class Accumulator, class Number>
__global__ void scatter(const Number *values, size_t n, Accumulator *bins, unsigned count)
{
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        fastreduce::exact_atomic_add(bins + i % count, values[i]);
}

/* By accumulators in shared memory, which each block carries and adds to its own in `bins`. */
template <class Accumulator, class Number>
__global__ void scatter_shared(const Number *values, size_t n, Accumulator *bins)
{
    __shared__ Accumulator own[shared_bins];
    const unsigned t = threadIdx.x;
    for (unsigned b = t; b < shared_bins; b += blockDim.x)
        for (int64_t &limb : own[b].limb) limb = 0;
    __syncthreads();
    for (size_t i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x)
        fastreduce::exact_atomic_add(own + i % shared_bins, values[i]);
    __syncthreads();
    if (t < shared_bins) fastreduce::exact_carry(own + t);
    __syncthreads();
    for (unsigned b = t; b < shared_bins; b += blockDim.x)
        bins[blockIdx.x * shared_bins + b] = own[b];
}

template <class Accumulator>
__global__ void carry_each(Accumulator *bins)
{
    fastreduce::exact_carry(bins + blockIdx.x);
}

template <class Accumulator>
__global__ void read_each(const Accumulator *bins, float *floats, double *doubles)
{
    floats[blockIdx.x] = fastreduce::exact_value<float>(bins + blockIdx.x);
    doubles[blockIdx.x] = fastreduce::exact_value<double>(bins + blockIdx.x);
}

/* What exact_value gives where nobody says of which type. */
__global__ void read_one(const fastreduce_accumulator *sum, const fastreduce_wide_accumulator *wide,
                         float *of_sum, double *of_wide)
{
    *of_sum = fastreduce::exact_value(sum);
    *of_wide = fastreduce::exact_value(wide);
}

/* Each thread adds x so often, and carries now and then, while others add. */
template <class Accumulator, class Number>
__global__ void add_often(Accumulator *sum, Number x, ull times, ull carry_after)
{
    for (ull k = 1; k <= times; ++k) {
        fastreduce::exact_atomic_add(sum, x);
        if (carry_after != 0 && k % carry_after == 0) fastreduce::exact_carry(sum);
    }
}

/* Tiles in turn, so that shared memory is used again; it begins with rubbish. */
template <unsigned BlockSize, unsigned Items>
__global__ void sums_of_blocks(const float *values, unsigned tiles, float *results,
                               fastreduce_accumulator *total)
{
    __shared__ fastreduce_accumulator warp_sums[BlockSize / fastreduce::warp_size];
    if (threadIdx.x < BlockSize / fastreduce::warp_size)
        for (int64_t &limb : warp_sums[threadIdx.x].limb) limb = -0x5a5a5a5a5a5a5a5a;
    __syncthreads();
    for (unsigned tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const size_t first = size_t(tile) * BlockSize * Items + threadIdx.x;
        float x[Items];
        for (unsigned k = 0; k < Items; ++k) x[k] = values[first + k * BlockSize];
        float sum;
        if constexpr (Items == 1)
            sum = fastreduce::exact_block_reduce<BlockSize>(x[0], warp_sums);
        else
            sum = fastreduce::exact_block_reduce<BlockSize>(x, warp_sums);
        if (threadIdx.x == 0) results[tile] = sum;
        __syncthreads();
        if constexpr (Items == 1)
            fastreduce::exact_block_add<BlockSize>(total, x[0], warp_sums);
        else
            fastreduce::exact_block_add<BlockSize>(total, x, warp_sums);
        __syncthreads();
    }
}

template <class... P>
static void launch(void (*kernel)(P...), unsigned blocks, unsigned threads,
                   std::common_type_t<P>... p)
{
#ifdef SIMT_MACHINE
    static unsigned turn = 0; /* forward, reverse, random */
    simt::settings().schedule = static_cast<simt::order>(turn++ % 3);
#endif
    void *arguments[] = {&p...};
    CUDA(cudaLaunchKernel(fastreduce::detail::kernel_address(kernel), dim3(blocks), dim3(threads),
                          arguments, 0, nullptr));
    CUDA(cudaDeviceSynchronize());
}

/* ---- What is right --------------------------------------------------------------------------- */

static void add_on_host(fastreduce_accumulator *sum, const std::vector<float> &values)
{
    fastreduce_host_accumulate_f32(values.data(), sum, values.size());
}
template <class Half>
static void add_on_host(fastreduce_accumulator *sum, const std::vector<Half> &values)
{
    constexpr fastreduce_type type =
        std::is_same<Half, f16>::value ? FASTREDUCE_F16 : FASTREDUCE_BF16;
    fastreduce_host_accumulate(values.data(), sum, values.size(), type);
}
static void add_on_host(fastreduce_wide_accumulator *sum, const std::vector<double> &values)
{
    fastreduce_host_accumulate_f64(values.data(), sum, values.size());
}
static void add_on_host(fastreduce_wide_accumulator *sum, const std::vector<float> &values)
{
    const std::vector<double> doubles(values.begin(), values.end());
    add_on_host(sum, doubles);
}
static void merge(fastreduce_accumulator *into, const fastreduce_accumulator &from)
{
    fastreduce_accumulator_merge(into, &from);
}
static void merge(fastreduce_wide_accumulator *into, const fastreduce_wide_accumulator &from)
{
    fastreduce_wide_accumulator_merge(into, &from);
}
static float f32_of(const fastreduce_accumulator &sum) { return fastreduce_accumulator_f32(&sum); }
static float f32_of(const fastreduce_wide_accumulator &sum)
{
    return fastreduce_wide_accumulator_f32(&sum);
}
static double f64_of(const fastreduce_accumulator &sum) { return fastreduce_accumulator_f64(&sum); }
static double f64_of(const fastreduce_wide_accumulator &sum)
{
    return fastreduce_wide_accumulator_f64(&sum);
}
static ull bits_of(double x)
{
    ull bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits;
}

template <class Accumulator>
static bool same(const Accumulator &a, const Accumulator &b)
{
    return std::memcmp(&a, &b, sizeof a) == 0;
}

/* What was added, not carried, reads and merges on the host as the limbs that are right; and so it
 * does on the GPU, which then carries. */
template <class Accumulator>
static void expect(const char *what, check::buffer<Accumulator> &bins,
                   const std::vector<Accumulator> &wanted)
{
    const std::vector<Accumulator> raw = bins.get();
    const unsigned count = static_cast<unsigned>(wanted.size());
    check::buffer<float> floats(count);
    check::buffer<double> doubles(count);
    launch(read_each<Accumulator>, count, 1, bins.data(), floats.data(), doubles.data());
    launch(carry_each<Accumulator>, count, 1, bins.data());
    const std::vector<Accumulator> carried = bins.get();
    const std::vector<float> f32 = floats.get();
    const std::vector<double> f64 = doubles.get();
    for (unsigned b = 0; b < count; ++b) {
        Accumulator merged = {};
        merge(&merged, raw[b]);
        const float f32_wanted = f32_of(wanted[b]);
        const double f64_wanted = f64_of(wanted[b]);
        check::that(same(merged, wanted[b]), "%s, bin %u: other limbs, carried on the host", what,
                    b);
        check::that(same(carried[b], wanted[b]), "%s, bin %u: other limbs", what, b);
        check::that(bits_of(f32_of(raw[b])) == bits_of(f32_wanted) &&
                        bits_of(f64_of(raw[b])) == bits_of(f64_wanted),
                    "%s, bin %u: the host reads %a, not %a", what, b, f64_of(raw[b]), f64_wanted);
        check::that(bits_of(f32[b]) == bits_of(f32_wanted), "%s, bin %u: float %a, not %a", what, b,
                    static_cast<double>(f32[b]), static_cast<double>(f32_wanted));
        check::that(bits_of(f64[b]) == bits_of(f64_wanted), "%s, bin %u: double %a, not %a", what,
                    b, f64[b], f64_wanted);
    }
    check::that(bins.canaries_alive() && floats.canaries_alive() && doubles.canaries_alive(),
                "%s: a write outside", what);
}

/* ---- Cases ----------------------------------------------------------------------------------- */

/* In global and in shared memory; after something, in an accumulator with many carries to come. */
template <class Accumulator, class Number>
static void scatter_case(const char *what, const std::vector<Number> &values, unsigned blocks,
                         unsigned threads)
{
    const size_t n = values.size();
    check::buffer<Number> input(n, n % 7);
    input.set(values);
    for (unsigned count : {1u, shared_bins}) {
        std::vector<std::vector<Number>> parts(count);
        for (size_t i = 0; i < n; ++i) parts[i % count].push_back(values[i]);
        std::vector<Accumulator> start(count), wanted(count);
        for (unsigned b = 0; b < count; ++b) {
            if (b % 2)
                for (unsigned k = 0; k < 9; ++k) start[b].limb[k] = 0xffffffff;
            wanted[b] = start[b];
            add_on_host(&wanted[b], parts[b]);
        }
        check::buffer<Accumulator> bins(count);
        bins.set(start);
        launch(scatter<Accumulator, Number>, blocks, threads, input.data(), n, bins.data(), count);
        expect(what, bins, wanted);
        if (count == 1) continue;

        check::buffer<Accumulator> of_blocks(blocks * count);
        launch(scatter_shared<Accumulator, Number>, blocks, threads, input.data(), n,
               of_blocks.data());
        const std::vector<Accumulator> rows = of_blocks.get();
        for (unsigned b = 0; b < count; ++b) { /* limbs added, as MPI and NCCL would */
            Accumulator sum = start[b], all = {};
            for (unsigned block = 0; block < blocks; ++block)
                for (size_t k = 0; k < sizeof sum / sizeof *sum.limb; ++k)
                    sum.limb[k] += rows[block * count + b].limb[k];
            merge(&all, sum);
            check::that(same(all, wanted[b]), "%s, shared, bin %u: other limbs", what, b);
        }
    }
    check::that(input.canaries_alive(), "%s: a write outside", what);
}

static void floats()
{
    ull seed = 0;
    for (const exact_data::pattern &p : exact_data::patterns())
        for (size_t n : {1, 2, 33, 1000, thorough ? 300007 : 5003}) {
            std::vector<float> values = exact_data::make(p, n, ++seed);
            const unsigned blocks = static_cast<unsigned>(1 + seed % 5), threads = 32 << seed % 4;
            scatter_case<fastreduce_accumulator>(p.name, values, blocks, threads);
            for (size_t i = n; i > 1; --i)
                std::swap(values[i - 1], values[check::mix(i, seed) % i]);
            scatter_case<fastreduce_accumulator>(p.name, values, blocks, threads);
            if (n < 5000 || thorough)
                scatter_case<fastreduce_wide_accumulator>(p.name, values, blocks, threads);
        }
    /* every exponent, alone: the least and the greatest significand of either sign */
    for (unsigned exponent = 0; exponent < 256; ++exponent)
        for (unsigned fraction : {0u, 1u, 0x400000u, 0x7fffffu})
            for (unsigned sign : {0u, 1u}) {
                const unsigned bits = sign << 31 | exponent << 23 | fraction;
                float x;
                std::memcpy(&x, &bits, sizeof x);
                fastreduce_accumulator sum = {}, wanted = {};
                add_on_host(&wanted, std::vector<float>{x, x, x});
                check::buffer<fastreduce_accumulator> bin(1);
                bin.set(&sum);
                launch(add_often<fastreduce_accumulator, float>, 1, 3, bin.data(), x, 1, 0);
                launch(carry_each<fastreduce_accumulator>, 1, 1, bin.data());
                check::that(same(bin.get()[0], wanted), "three times %08x: other limbs", bits);
            }
}

template <class Half>
static void halves(const char *what)
{
    std::vector<Half> all;
    for (unsigned bits = 0; bits < 0x10000; ++bits)
        all.push_back({static_cast<unsigned short>(bits)});
    /* the finite ones do not all cancel */
    constexpr unsigned infinity = std::is_same<Half, f16>::value ? 0x7c00 : 0x7f80;
    std::vector<Half> finite;
    for (Half x : all)
        if ((x.bits & 0x7fff) < infinity && x.bits % 3) finite.push_back(x);
    scatter_case<fastreduce_accumulator>(what, all, 3, 128);
    scatter_case<fastreduce_accumulator>(what, finite, 2, 256);
}

static double any_double(size_t i, ull seed)
{
    ull bits = check::mix(i, seed);
    if ((bits >> 52 & 2047) == 2047) bits ^= 1ull << (52 + check::mix(i, seed + 1) % 11);
    double x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
}

static void doubles()
{
    const size_t n = thorough ? 200003 : 4001;
    std::vector<double> values(n);
    for (ull kind = 0; kind < 8; ++kind) {
        for (size_t i = 0; i < n; ++i) {
            const double x = any_double(i, kind);
            values[i] = kind == 0   ? x
                        : kind == 1 ? (i < n / 2 ? x : -any_double(n - 2 - i, kind))
                        : kind == 2 ? std::ldexp(x, -1074 - std::ilogb(x) + int(i % 53))
                        : kind == 3 ? (i < n / 2       ? DBL_MAX
                                       : i < n / 2 * 2 ? -DBL_MAX
                                                       : 5e-324)
                        : kind == 4 ? exact_data::in_unit(i, 5) + exact_data::in_unit(i, 6) * 1e-9
                        : kind == 5 ? (i % 100 ? x : double(INFINITY))
                        : kind == 6 ? (i % 50    ? x
                                       : i % 100 ? double(INFINITY)
                                                 : -double(INFINITY))
                                    : (i % 999 ? -0.0
                                       : i     ? double(NAN)
                                               : 0x1p-1074);
        }
        scatter_case<fastreduce_wide_accumulator>("doubles", values, 2 + unsigned(kind % 3), 128);
    }
    for (unsigned exponent = 0; exponent < 2048; exponent += thorough ? 1 : 3) {
        values.clear();
        for (ull fraction : {0ull, 1ull, (1ull << 52) - 1})
            for (ull sign : {0ull, 1ull}) {
                const ull bits =
                    sign << 63 | ull(exponent) << 52 | (sign ? fraction / 3 : fraction);
                double x;
                std::memcpy(&x, &bits, sizeof x);
                values.push_back(x);
            }
        fastreduce_wide_accumulator wanted = {};
        add_on_host(&wanted, values);
        check::buffer<double> input(values.size());
        check::buffer<fastreduce_wide_accumulator> bin(1);
        input.set(values);
        bin.fill(0);
        launch(scatter<fastreduce_wide_accumulator, double>, 1, 6, input.data(), values.size(),
               bin.data(), 1);
        launch(carry_each<fastreduce_wide_accumulator>, 1, 1, bin.data());
        check::that(same(bin.get()[0], wanted), "doubles of exponent %u: other limbs", exponent);
    }
}

/* Products of doubles, also of the greatest and the least, and of what is not finite. */
__global__ void scatter_products(const double *x, const double *y, size_t n,
                                 fastreduce_product_accumulator *sum)
{
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        fastreduce::exact_atomic_add(sum, x[i], y[i]);
}
__global__ void read_products(const fastreduce_product_accumulator *sum, double *value)
{
    *value = fastreduce::exact_value(sum);
}

static void products()
{
    constexpr size_t n = 999;
    std::vector<double> x(n), y(n);
    check::buffer<double> of_x(n), of_y(n), value(1);
    for (ull kind = 0; kind < 24; ++kind) {
        for (size_t i = 0; i < n; ++i) {
            const ull z = check::mix(i, kind);
            x[i] = any_double(i, kind);
            y[i] = std::ldexp((z & 1 ? -1.1 : 1.7) + exact_data::in_unit(i, kind) * 0x1p-20,
                              static_cast<int>(z >> 20 & 1023) - (kind % 4 == 1 ? 2000 : 0));
            if (kind > 17 && i % 300 == 7) x[i] = kind % 2 ? double(INFINITY) : -0.0;
            if (kind > 20 && i % 300 == 7) y[i] = kind % 3 ? double(INFINITY) : double(NAN);
        }
        fastreduce_product_accumulator wanted = {};
        fastreduce_host_accumulate_dot_f64(x.data(), y.data(), &wanted, n);
        check::buffer<fastreduce_product_accumulator> bin(1);
        bin.fill(0);
        of_x.set(x);
        of_y.set(y);
        launch(scatter_products, 2, 128, of_x.data(), of_y.data(), n, bin.data());
        launch(read_products, 1, 1, bin.data(), value.data());
        launch(carry_each<fastreduce_product_accumulator>, 1, 1, bin.data());
        check::that(same(bin.get()[0], wanted), "products, %llu: other limbs", kind);
        check::that(bits_of(value.get()[0]) == bits_of(fastreduce_product_accumulator_f64(&wanted)),
                    "products, %llu: another value", kind);
    }
}

/* The sum of `times` times x; the limbs after as many additions, where they hold it. */
template <class Accumulator, class Number>
static Accumulator repeated_sum(Number x, ull times)
{
    Accumulator power = {}, sum = {};
    add_on_host(&power, std::vector<Number>{x});
    for (; times > 0; times /= 2) {
        if (times % 2) merge(&sum, power);
        merge(&power, power);
    }
    return sum;
}
template <class Accumulator, class Number>
static Accumulator uncarried_limbs(Number x, ull times)
{
    check::buffer<Accumulator> bin(1);
    bin.fill(0);
    launch(add_often<Accumulator, Number>, 1, 1, bin.data(), x, 1, 0);
    Accumulator once = bin.get()[0];
    for (int64_t &limb : once.limb) limb = static_cast<int64_t>(static_cast<ull>(limb) * times);
    return once;
}

/* All additions that fit after a carry, the last of them one by one; and after that, with a carry
 * before the next, as many again. */
template <class Accumulator, class Number>
static void room_case(const char *what, Number x)
{
    constexpr ull room = (1ull << 31) - 1, last = 96;
    const Accumulator most = uncarried_limbs<Accumulator>(x, room - last);
    std::vector<Accumulator> sum(1, most), wanted(1);
    /* a carried start, as full as possible on the side to which limbs go */
    Accumulator full = {};
    if (x > 0)
        for (unsigned k = 0; k < fastreduce::detail::accumulator_format<Accumulator>::digits - 3;
             ++k)
            full.limb[k] = 0xffffffff;
    for (size_t k = 0; k < sizeof full / sizeof *full.limb; ++k) sum[0].limb[k] += full.limb[k];
    wanted[0] = repeated_sum<Accumulator>(x, room);
    merge(&wanted[0], full);
    check::buffer<Accumulator> bin(1);
    bin.set(sum);
    launch(add_often<Accumulator, Number>, 1, static_cast<unsigned>(last), bin.data(), x, 1, 0);
    expect(what, bin, wanted); /* which carries at its end */

    std::vector<Accumulator> next = bin.get();
    for (size_t k = 0; k < sizeof most / sizeof *most.limb; ++k) next[0].limb[k] += most.limb[k];
    bin.set(next);
    launch(add_often<Accumulator, Number>, 1, static_cast<unsigned>(last), bin.data(), x, 1, 0);
    merge(&wanted[0], repeated_sum<Accumulator>(x, room));
    expect(what, bin, wanted);
}

/* Counts stay at the most that they count. */
static void counts()
{
    fastreduce_accumulator sum = {}, wanted = {};
    for (unsigned k = FASTREDUCE_DETAIL_NAN_COUNT; k <= FASTREDUCE_DETAIL_NEGATIVE_INFINITY_COUNT;
         ++k)
        sum.limb[k] =
            k == FASTREDUCE_DETAIL_NAN_COUNT ? FASTREDUCE_DETAIL_MOST_COUNTED - 2 : 1ll << 40;
    wanted = sum;
    merge(&wanted, fastreduce_accumulator());
    wanted.limb[FASTREDUCE_DETAIL_NAN_COUNT] += 2;
    check::buffer<fastreduce_accumulator> bin(1);
    bin.set(&sum);
    launch(add_often<fastreduce_accumulator, float>, 1, 2, bin.data(), float(NAN), 1, 0);
    expect("counts", bin, std::vector<fastreduce_accumulator>(1, wanted));
    launch(add_often<fastreduce_accumulator, float>, 1, 9, bin.data(), float(NAN), 1, 0);
    expect("counts at their limit", bin, std::vector<fastreduce_accumulator>(1, wanted));
}

static void carries()
{
    /* the largest float; one that adds the most to a limb; one in one limb; a denormal */
    for (float x : {FLT_MAX, 0x1.fffffep-22f, 0x1.fffffep+3f, 0x1.fffffcp-127f})
        for (float sign : {1.0f, -1.0f}) {
            room_case<fastreduce_accumulator>("room for floats", sign * x);
            room_case<fastreduce_wide_accumulator>("room for floats, wide", sign * x);
        }
    for (double x : {DBL_MAX, 0x1.fffffffffffffp-53, 0x1.fffffffffffffp-40, 0x1p-1074})
        for (double sign : {1.0, -1.0})
            room_case<fastreduce_wide_accumulator>("room for doubles", sign * x);
    counts();

    /* threads that carry while others add; without carries a limb would overflow: on the CPU
     * machine, as if 2^31 - 2^16 had been added before */
    const ull times = thorough ? 1 << 15 : 600, before = thorough ? 0 : (1ull << 31) - (1 << 16);
    const unsigned blocks = thorough ? 512 : 4, threads = thorough ? 256 : 64;
    for (bool carrying : {true, false}) {
        std::vector<fastreduce_accumulator> sum(1), wanted(1);
        sum[0] = uncarried_limbs<fastreduce_accumulator>(0x1.fffffep-22f, before);
        wanted[0] = repeated_sum<fastreduce_accumulator>(0x1.fffffep-22f,
                                                         before + times * blocks * threads);
        check::buffer<fastreduce_accumulator> bin(1);
        bin.set(sum);
        launch(add_often<fastreduce_accumulator, float>, blocks, threads, bin.data(),
               0x1.fffffep-22f, times, carrying ? times / 4 : 0);
        if (carrying)
            expect("carries meanwhile", bin, wanted);
        else
            check::that(bits_of(f32_of(bin.get()[0])) != bits_of(f32_of(wanted[0])),
                        "2^31 additions and more fit without a carry");
    }
}

/* fastreduce_accumulate_f32 takes limbs that are not carried, and carries them, also of nothing. */
static void others()
{
    const std::vector<float> values = exact_data::make(exact_data::patterns()[0], 4099, 77);
    check::buffer<float> input(values.size()), of_sum(1);
    check::buffer<double> of_wide(1);
    input.set(values);
    for (size_t n : {size_t(0), values.size()}) {
        fastreduce_accumulator sum = uncarried_limbs<fastreduce_accumulator>(-FLT_MAX, 1u << 30),
                               wanted = {};
        merge(&wanted, sum);
        fastreduce_host_accumulate_f32(values.data(), &wanted, n);
        check::buffer<fastreduce_accumulator> bin(1);
        bin.set(&sum);
        CUDA(static_cast<cudaError_t>(
            fastreduce_accumulate_f32(input.data(), bin.data(), n, nullptr)));
        CUDA(cudaDeviceSynchronize());
        check::that(same(bin.get()[0], wanted), "fastreduce_accumulate_f32 of %zu: other limbs", n);

        check::buffer<fastreduce_wide_accumulator> wide(1);
        wide.fill(0);
        launch(scatter<fastreduce_wide_accumulator, float>, 1, 64, input.data(), n, wide.data(), 1);
        launch(read_one, 1, 1, bin.data(), wide.data(), of_sum.data(), of_wide.data());
        check::that(bits_of(of_sum.get()[0]) == bits_of(f32_of(wanted)) &&
                        bits_of(of_wide.get()[0]) == bits_of(f64_of(wide.get()[0])),
                    "exact_value is not a float, or a double of a wide accumulator");
    }
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

/* The greatest of a tile has one exponent, and the others' lowest bits lie `depth` below: about
 * where the window and its extension end. */
static float about_window(size_t i, unsigned top, unsigned depth, ull seed)
{
    const ull z = check::mix(i, seed);
    const unsigned exponent = z % 8 == 0 || top < depth ? top : top - depth;
    const unsigned bits = static_cast<unsigned>(z >> 63) << 31 | exponent << 23 |
                          (static_cast<unsigned>(z >> 8) & 0x7fffff) | 1;
    float x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
}

template <unsigned BlockSize, unsigned Items>
static void block_case(const char *what, const std::vector<float> &values, unsigned blocks)
{
    constexpr size_t tile = BlockSize * Items;
    const unsigned tiles = static_cast<unsigned>(values.size() / tile);
    check::buffer<float> input(values.size(), tiles % 5), results(tiles);
    check::buffer<fastreduce_accumulator> total(1);
    input.set(values);
    total.fill(0);
    launch(sums_of_blocks<BlockSize, Items>, blocks, BlockSize, input.data(), tiles, results.data(),
           total.data());
    const std::vector<float> got = results.get();
    for (unsigned k = 0; k < tiles; ++k) {
        const float wanted = fastreduce_host_sum_f32(values.data() + k * tile, tile);
        check::that(bits_of(got[k]) == bits_of(wanted),
                    "block of %u, %u items, %s, tile %u: %a, not %a", BlockSize, Items, what, k,
                    static_cast<double>(got[k]), static_cast<double>(wanted));
    }
    for (unsigned k = 0; k < FASTREDUCE_DETAIL_DIGITS; ++k)
        check::that(std::llabs(total.get()[0].limb[k]) < tiles * (1ll << 32),
                    "block of %u, %u items, %s: limb %u changes by 2^32", BlockSize, Items, what,
                    k);
    expect(what, total,
           std::vector<fastreduce_accumulator>(
               1, exact_data::accumulated(values.data(), tiles * tile)));
    check::that(input.canaries_alive() && results.canaries_alive(), "%s: a write outside", what);
}

template <unsigned BlockSize, unsigned Items>
static void blocks_of(bool everything)
{
    constexpr size_t tile = BlockSize * Items;
    ull seed = BlockSize + Items;
    for (const exact_data::pattern &p : exact_data::patterns())
        for (unsigned variant = 0; variant < (everything ? 5u : 2u); ++variant) {
            const unsigned tiles = 1 + variant;
            std::vector<float> values;
            for (unsigned k = 0; k < tiles; ++k) {
                const std::vector<float> more = exact_data::make(p, tile, ++seed);
                values.insert(values.end(), more.begin(), more.end());
            }
            block_case<BlockSize, Items>(p.name, values, 1 + variant % 2);
        }
    for (unsigned top : {0u, 1u, 20u, 21u, 22u, 44u, 66u, 127u, 250u, 251u, 252u, 254u}) {
        std::vector<float> values;
        for (unsigned depth = 0; depth < 70; depth += everything ? 1 : 7)
            for (size_t i = 0; i < tile; ++i) values.push_back(about_window(i, top, depth, ++seed));
        block_case<BlockSize, Items>("about the window", values, 2);
    }
}

/* Every lane has one unit of the least that the window's extension catches. */
static void least_units()
{
    std::vector<float> values(96, 1.0f);
    for (size_t i = 0; i < 32; ++i) {
        values[32 + i] = 0x1p-65f;
        values[64 + i] = -1.0f;
    }
    block_case<32, 3>("least units", values, 1);
}

/* A sum of either sign is in few limbs. */
static void few_atomics()
{
    for (float sign : {1.0f, -1.0f}) {
        std::vector<float> values(256);
        for (size_t i = 0; i < values.size(); ++i)
            values[i] = sign * (1.5f + exact_data::in_unit(i, 3));
        check::buffer<float> input(values.size()), results(1);
        check::buffer<fastreduce_accumulator> total(1);
        input.set(values);
        total.fill(0);
        launch(sums_of_blocks<256, 1>, 1, 256, input.data(), 1, results.data(), total.data());
        unsigned used = 0;
        const fastreduce_accumulator sum = total.get()[0];
        for (int64_t limb : sum.limb) used += limb != 0;
        check::that(used <= 2, "a block's sum goes to %u limbs", used);
    }
}

static void blocks()
{
    blocks_of<32, 1>(true);
    blocks_of<64, 1>(thorough);
    blocks_of<128, 1>(thorough);
    blocks_of<256, 1>(thorough);
    blocks_of<512, 1>(thorough);
    blocks_of<1024, 1>(thorough);
    blocks_of<32, 3>(thorough);
    blocks_of<32, 6>(thorough);
    blocks_of<128, 8>(thorough);
    blocks_of<32, 64>(thorough);
    least_units();
    few_atomics();
}

int main(int argc, char **argv)
{
    check::need_device();
    thorough = !parse_parts(argc, argv) && on_gpu;
    if (asked_for("floats")) floats();
    if (asked_for("halves")) halves<f16>("f16");
    if (asked_for("halves")) halves<bf16>("bf16");
    if (asked_for("doubles")) doubles();
    if (asked_for("products")) products();
    if (asked_for("carries")) carries();
    if (asked_for("others")) others();
    if (asked_for("blocks")) blocks();
    return check::finish("exact atomics");
}
