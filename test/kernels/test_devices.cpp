/* Devices that nobody here has: whatever a block may have of shared memory, and however many
 * multiprocessors there are, every call is launched as CUDA allows it, and in no more launches than
 * it says. Then some that run: the same bits on each, and nothing left in the workspace. */
#define FASTREDUCE_WITH_SHAPES
#define FASTREDUCE_WITH_EXACT_PRODUCTS
#define FASTREDUCE_IMPLEMENTATION
#include "../../fastreduce.cuh"
#include "../common/check.h"
#include "../common/dynamic_shared.h"
#include <unordered_set>

constexpr int limits_in_kib[] = {48, 64, 99, 163, 227};
constexpr int multiprocessors[] = {1, 2, 14, 132, 200};
constexpr fastreduce_kernel kernels_of_all[] = {FASTREDUCE_AUTO, FASTREDUCE_EXACT};

/* Each by a number of its own, as the library remembers what it has asked. */
static simt::gpu device_of(unsigned limit, unsigned size, bool hopper)
{
    simt::gpu gpu;
    gpu.number = static_cast<int>((limit * 5 + size) * 2 + hopper);
    gpu.multiprocessors = multiprocessors[size];
    gpu.shared_bytes = limits_in_kib[limit] * 1024;
    gpu.ptx_version = hopper ? 90 : 0;
    return gpu;
}

static std::string words_of(const char *what, fastreduce_type type, fastreduce_operator op,
                            fastreduce_kernel kernel)
{
    return std::string(what) + ", " + fastreduce_operator_name(op) + " of " +
           fastreduce_type_name(type) + " by " + fastreduce_kernel_name(kernel) + ", " +
           std::to_string(simt::host().device.shared_bytes / 1024) + " KiB";
}

/* Places that are nobody's, as nothing runs there; far enough from each other for any call. */
static const void *const some_input = reinterpret_cast<const void *>(size_t(1) << 44);
static const void *const other_input = reinterpret_cast<const void *>(size_t(1) << 45);
static void *const some_output = reinterpret_cast<void *>(size_t(1) << 46);
static const size_t *const some_count = static_cast<const size_t *>(some_output) - 1;
constexpr size_t most_input = size_t(1) << 42; /* bytes */

/* A call is taken, in so many launches at most; of each kind one failure is enough. Each eighth has
 * memory of the pool. */
template <class Call>
static void launches(const std::string &what, const fastreduce_shape &all, size_t most,
                     const Call &call)
{
    static std::unordered_set<std::string> failed;
    static check::buffer<unsigned char> *const workspace = [] {
        auto *made = new check::buffer<unsigned char>(FASTREDUCE_WORKSPACE_BYTES);
        made->fill(0);
        return made;
    }();
    static unsigned turn = 0;
    fastreduce_config config = {};
    config.workspace = ++turn % 8 ? workspace->data() : nullptr;
    config.workspace_bytes = FASTREDUCE_WORKSPACE_BYTES;
    const unsigned long long before = simt::statistics().launches;
    const fastreduce_status status = call(&config);
    const unsigned long long done = simt::statistics().launches - before;
    const bool good = status == FASTREDUCE_SUCCESS && done >= 1 && done <= most;
    if (good || failed.insert(what).second)
        check::that(good,
                    "%s, %d multiprocessors, PTX %d, %zu x %zu x %zu: status %d, %llu launches, "
                    "%zu at most",
                    what.c_str(), simt::host().device.multiprocessors,
                    simt::host().device.ptx_version, all.outer, all.n, all.inner, status, done,
                    most);
}

/* What this build has: use(type, operator, kernel). */
template <class Use>
static void for_all_built(const Use &use)
{
    for (int number = FASTREDUCE_F32; number <= FASTREDUCE_U64; ++number)
        for (int which = FASTREDUCE_SUM; which <= FASTREDUCE_ARGMAX_ABS; ++which)
            for (fastreduce_kernel kernel : kernels_of_all) {
                const auto type = static_cast<fastreduce_type>(number);
                const auto op = static_cast<fastreduce_operator>(which);
                if (fastreduce_supports(type, op, kernel)) use(type, op, kernel);
            }
}

static void flat()
{
    for_all_built([](fastreduce_type type, fastreduce_operator op, fastreduce_kernel kernel) {
        const std::string what = words_of("flat", type, op, kernel),
                          dot = words_of("dot", type, op, kernel),
                          accumulated = words_of("accumulated", type, op, kernel);
        for (unsigned k = 0; k < 40; ++k)
            for (size_t n : {(size_t(1) << k) - 1, size_t(1) << k, (size_t(1) << k) + 1})
                for (const size_t *count : {static_cast<const size_t *>(nullptr), some_count}) {
                    const auto with = [&](fastreduce_config *config) {
                        config->kernel = kernel;
                        config->n_on_device = count;
                        return config;
                    };
                    const size_t most = count ? 2 : 1;
                    launches(what, {1, n, 1, 0, 0}, most, [&](fastreduce_config *config) {
                        return fastreduce_reduce(some_input, some_output, n, type, op,
                                                 with(config));
                    });
                    if (op != FASTREDUCE_SUM) continue;
                    launches(dot, {1, n, 1, 0, 0}, most, [&](fastreduce_config *config) {
                        return fastreduce_dot(some_input, other_input, some_output, n, type,
                                              with(config));
                    });
                    if (kernel != FASTREDUCE_EXACT) continue;
                    launches(dot, {1, n, 1, 0, 0}, most, [&](fastreduce_config *config) {
                        return type == FASTREDUCE_F64
                                   ? fastreduce_accumulate_dot_f64(
                                         static_cast<const double *>(some_input),
                                         static_cast<const double *>(other_input),
                                         static_cast<fastreduce_product_accumulator *>(some_output),
                                         n, with(config))
                                   : fastreduce_accumulate_dot(
                                         some_input, other_input,
                                         static_cast<fastreduce_wide_accumulator *>(some_output), n,
                                         type, with(config));
                    });
                    launches(accumulated, {1, n, 1, 0, 0}, most, [&](fastreduce_config *config) {
                        return type == FASTREDUCE_F64
                                   ? fastreduce_accumulate_f64(
                                         static_cast<const double *>(some_input),
                                         static_cast<fastreduce_wide_accumulator *>(some_output), n,
                                         with(config))
                                   : fastreduce_accumulate(
                                         some_input,
                                         static_cast<fastreduce_accumulator *>(some_output), n,
                                         type, with(config));
                    });
                }
    });
}

/* One launch, or as many as the workspace is enough for, of 4 MiB at least; by EXACT one more, or
 * long rows one by one. */
static void shapes()
{
    for_all_built([](fastreduce_type type, fastreduce_operator op, fastreduce_kernel kernel) {
        const std::string what = words_of("shape", type, op, kernel);
        const size_t least = kernel == FASTREDUCE_AUTO ? 4 << 20 : 256 << 10;
        for (size_t outer : {1, 3, 33, 1000, 70000, 1 << 20})
            for (size_t n : {0, 1, 5, 40, 300, 3000, 20000, 1 << 18, 1 << 23})
                for (size_t inner : {1, 2, 7, 32, 500, 70000}) {
                    const size_t bytes = outer * n * inner * fastreduce_type_size(type);
                    if (bytes > most_input || outer * inner > size_t(1) << 28) continue;
                    const fastreduce_shape shape = {outer, n, inner, 0, 0};
                    const size_t more = kernel == FASTREDUCE_EXACT && bytes > 0;
                    launches(what, shape, 1 + more + bytes / least, [&](fastreduce_config *config) {
                        config->kernel = kernel;
                        return fastreduce_reduce_axis(some_input, some_output, &shape, type, op,
                                                      config);
                    });
                }
    });
}

static void segments()
{
    for_all_built([](fastreduce_type type, fastreduce_operator op, fastreduce_kernel kernel) {
        const std::string what = words_of("segments", type, op, kernel);
        for (size_t count : {1, 2, 40, 1023, 1024, 1025, 5000, 1 << 20, 1 << 27})
            launches(what, {count, 1, 1, 0, 0}, kernel == FASTREDUCE_EXACT ? 2 : 1,
                     [&](fastreduce_config *config) {
                         config->kernel = kernel;
                         return fastreduce_reduce_segments(some_input, some_output, count,
                                                           other_input, type, op, config);
                     });
    });
}

/* ---- Some that run --------------------------------------------------------------------------- */

using bytes = std::vector<unsigned char>;

enum class ways { flat, shape, segments };
struct run_call {
    ways way;
    size_t outer, n, inner; /* segments: `outer` of n elements, but for a long one; flat: n */
    fastreduce_operator op;
    fastreduce_kernel kernel;
};
constexpr run_call all_runs[] = {
    {ways::flat, 1, 3000, 1, FASTREDUCE_SUM, FASTREDUCE_AUTO},
    {ways::flat, 1, 70000, 1, FASTREDUCE_VARIANCE, FASTREDUCE_AUTO},
    {ways::flat, 1, 20000, 1, FASTREDUCE_SUM, FASTREDUCE_EXACT},
    {ways::flat, 1, 20000, 1, FASTREDUCE_NORM2, FASTREDUCE_EXACT},
    {ways::flat, 1, 20000, 1, FASTREDUCE_VARIANCE, FASTREDUCE_EXACT},
    {ways::shape, 3, 300, 40, FASTREDUCE_SUM, FASTREDUCE_AUTO},
    {ways::shape, 50, 40, 1, FASTREDUCE_ARGMAX, FASTREDUCE_AUTO},
    {ways::shape, 3, 20000, 1, FASTREDUCE_NORM2, FASTREDUCE_AUTO},
    {ways::shape, 2, 3000, 5, FASTREDUCE_SUM, FASTREDUCE_EXACT},
    {ways::segments, 40, 100, 1, FASTREDUCE_SUM, FASTREDUCE_AUTO},
    {ways::segments, 1025, 20, 1, FASTREDUCE_ARGMAX, FASTREDUCE_AUTO},
    {ways::segments, 1025, 20, 1, FASTREDUCE_VARIANCE, FASTREDUCE_AUTO},
    {ways::segments, 1025, 20, 1, FASTREDUCE_SUM, FASTREDUCE_EXACT},
    {ways::segments, 1025, 20, 1, FASTREDUCE_VARIANCE, FASTREDUCE_EXACT},
};
constexpr size_t long_one = 30000;

/* Its results. */
static bytes results_of(const run_call &run, const std::string &what)
{
    const size_t results = run.outer * run.inner,
                 size = fastreduce_type_size(fastreduce_output_type(FASTREDUCE_F32, run.op)),
                 elements = results * run.n + long_one;
    check::buffer<float> input(elements);
    check::buffer<int64_t> offsets(results + 1);
    check::buffer<unsigned char> output(results * size, size),
        workspace(FASTREDUCE_WORKSPACE_BYTES);
    std::vector<int64_t> begins(results + 1);
    for (size_t k = 0; k <= results; ++k)
        begins[k] = static_cast<int64_t>(k * run.n + (k > results / 2 ? long_one : 0));
    input.set(check::make(check::data::uniform, elements, run.n));
    offsets.set(begins);
    output.fill(0x7b);
    workspace.fill(0);
    fastreduce_config config = {};
    config.kernel = run.kernel;
    config.workspace = workspace.data();
    config.workspace_bytes = FASTREDUCE_WORKSPACE_BYTES;
    const fastreduce_shape shape = {run.outer, run.n, run.inner, 0, 0};
    const fastreduce_status status =
        run.way == ways::flat
            ? fastreduce_reduce(input.data(), output.data(), run.n, FASTREDUCE_F32, run.op, &config)
        : run.way == ways::shape
            ? fastreduce_reduce_axis(input.data(), output.data(), &shape, FASTREDUCE_F32, run.op,
                                     &config)
            : fastreduce_reduce_segments(input.data(), output.data(), results, offsets.data(),
                                         FASTREDUCE_F32, run.op, &config);
    check::that(status == FASTREDUCE_SUCCESS, "%s: status %d, '%s'", what.c_str(), status,
                simt::report().c_str());
    check::that(workspace.every_byte_is(0) && workspace.canaries_alive() && output.canaries_alive(),
                "%s: workspace left dirty, or a write outside", what.c_str());
    return output.get();
}

static void runs()
{
    bytes wanted[sizeof all_runs / sizeof *all_runs];
    for (unsigned limit = 0; limit < 5; ++limit) {
        simt::set_gpu(device_of(limit, limit * 2 % 5, false));
        for (size_t k = 0; k < sizeof all_runs / sizeof *all_runs; ++k) {
            const run_call &run = all_runs[k];
            if (!fastreduce_supports(FASTREDUCE_F32, run.op, run.kernel)) continue;
            const char *const way = run.way == ways::flat    ? "flat, run"
                                    : run.way == ways::shape ? "shape, run"
                                                             : "segments, run";
            const std::string what = words_of(way, FASTREDUCE_F32, run.op, run.kernel);
            const bytes got = results_of(run, what);
            if (limit == 0) wanted[k] = got;
            check::that(got == wanted[k], "%s: other bits", what.c_str());
        }
    }
}

int main()
{
    simt::set_runs(false);
    for (unsigned limit = 0; limit < 5; ++limit)
        for (unsigned size = 0; size < 5; ++size)
            for (bool hopper : {false, true}) {
                simt::set_gpu(device_of(limit, size, hopper));
                flat();
                if (hopper) continue; /* which only flat arrays are planned by */
                shapes();
                segments();
            }
    simt::set_runs(true);
    runs();
    return check::finish("devices");
}
