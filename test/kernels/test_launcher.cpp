/* The C launcher: every refusal, statuses and names, configurations, the pool, failures of the
 * runtime; on a GPU also streams, graphs and pinned output. A refused call leaves output and
 * workspace as they were. */
#define FASTREDUCE_IMPLEMENTATION
#define FASTREDUCE_TYPES FASTREDUCE_F32
#define FASTREDUCE_OPERATORS FASTREDUCE_SUM
#include "../../fastreduce.cuh"
#include "../common/check.h"
#include "../common/dynamic_shared.h"
#include "../common/names.h"
#include "../common/one_row.h"
#include <algorithm>
#include <thread>

using sums = fastreduce::detail::reducer_t<fastreduce::plus, float>;

constexpr size_t n = 5000;

struct setup {
    std::vector<float> values;
    float expected;
    check::buffer<float> input, output;
    check::buffer<unsigned char> workspace;
    fastreduce_config config = {};

    explicit setup(size_t count = n)
        : values(check::make(check::data::integers, count, 4)),
          expected(fastreduce_host_sum_f32(values.data(), count)), input(count), output(1),
          workspace(1 << 16)
    {
        input.set(values);
        output.fill(0x5a);
        workspace.fill(0);
        config.kernel = FASTREDUCE_V0;
        config.workspace = workspace.data();
        config.workspace_bytes = workspace.bytes();
    }
    void untouched(const char *what)
    {
        CUDA(cudaDeviceSynchronize());
        check::that(output.every_byte_is(0x5a), "%s: the output was touched", what);
        check::that(workspace.every_byte_is(0), "%s: the workspace was touched", what);
    }
    void right(const char *what)
    {
        CUDA(cudaDeviceSynchronize());
        const float got = output.get()[0];
        check::that(got == expected, "%s: %.9g instead of %.9g", what, got, expected);
        output.fill(0x5a);
    }
};

static void refusals()
{
    setup s;
    const auto refuse = [&](const char *what, fastreduce_status wanted, const float *input,
                            float *output, size_t count) {
        const fastreduce_status status = fastreduce_sum_f32(input, output, count, &s.config);
        check::that(status == wanted, "%s: status %d instead of %d", what, status, wanted);
        s.untouched(what);
    };
    const fastreduce_status invalid = FASTREDUCE_ERROR_INVALID_ARGUMENT;
    float *in = s.input.data(), *out = s.output.data();
    const auto bytes_on = [](float *p, int k) {
        return reinterpret_cast<float *>(reinterpret_cast<char *>(p) + k);
    };

    refuse("null input", invalid, nullptr, out, n);
    refuse("null input, one element", invalid, nullptr, out, 1);
    check::that(fastreduce_sum_f32(in, nullptr, n, &s.config) == invalid, "null output");
    for (int k = 1; k < 4; ++k) {
        refuse("misaligned input", invalid, bytes_on(in, k), out, n - 1);
        check::that(fastreduce_sum_f32(in, bytes_on(out, k), n, &s.config) == invalid,
                    "misaligned output");
    }
    refuse("n past the address space", invalid, in, out, SIZE_MAX / sizeof(float) + 1);
    refuse("n past the address space", invalid, in, out, SIZE_MAX);
    refuse("input past the end of the address space", invalid, in, out, SIZE_MAX / sizeof(float));
    check::that(fastreduce_sum_f32(in, in, n, &s.config) == invalid, "output is the first element");
    check::that(fastreduce_sum_f32(in, in + n - 1, n, &s.config) == invalid,
                "output is the last element");
    check::that(std::memcmp(s.input.get().data(), s.values.data(), n * sizeof(float)) == 0,
                "a refused call wrote to the input");

    s.config.block_size = 32; /* low addresses, that no allocation has and nobody will read */
    refuse("2^31 blocks", FASTREDUCE_ERROR_UNSUPPORTED, reinterpret_cast<float *>(64), out,
           (size_t(1) << 36) - 31);
    check::that(fastreduce_workspace_bytes((size_t(1) << 36) - 31, &s.config) == 0,
                "bytes for more blocks than there can be");
    check::that(fastreduce_workspace_bytes((size_t(1) << 36) - 32, &s.config) > size_t(1) << 32,
                "no bytes for 2^31 - 1 blocks");
#ifdef SIMT_MACHINE
    s.config.workspace = nullptr;
    simt::fail_call(1); /* the pool's answer to so much */
    check::that(fastreduce_sum_f32(reinterpret_cast<float *>(64), out, (size_t(1) << 36) - 32,
                                   &s.config) > 0,
                "2^31 - 1 blocks are refused");
    simt::fail_call(0);
    s.config.workspace = s.workspace.data();
#endif
    s.config.block_size = 0;

    float *work = reinterpret_cast<float *>(s.workspace.data());
    refuse("output in the workspace", invalid, in, work + 5, n);
    refuse("input in the workspace", invalid, work, out, 100);

    for (int kernel : {-1, 10, 11, 1000}) {
        s.config.kernel = static_cast<fastreduce_kernel>(kernel);
        refuse("no such kernel", invalid, in, out, n);
        check::that(fastreduce_workspace_bytes(n, &s.config) == 0,
                    "workspace bytes of no such kernel");
    }
    for (int kernel = FASTREDUCE_AUTO; kernel <= FASTREDUCE_EXACT; ++kernel) {
        s.config.kernel = static_cast<fastreduce_kernel>(kernel);
        for (unsigned block_size = 1; block_size <= 2048; ++block_size) {
            const bool power = (block_size & (block_size - 1)) == 0;
            if (power && block_size >= 32 && block_size <= 1024) continue;
            s.config.block_size = block_size;
            check::that(fastreduce_sum_f32(in, out, n, &s.config) == invalid, "block size %u",
                        block_size);
            check::that(fastreduce_workspace_bytes(n, &s.config) == 0, "workspace bytes, block %u",
                        block_size);
        }
        s.config.block_size = 0;
    }
    s.untouched("block sizes");

    s.config.kernel = FASTREDUCE_V0;
    const size_t need = fastreduce_workspace_bytes(n, &s.config);
    check::that(need > 0, "5000 elements need no workspace");
    for (size_t bytes : {need - 1, need / 2, size_t(1), size_t(0)}) {
        s.config.workspace_bytes = bytes;
        refuse("workspace too small", FASTREDUCE_ERROR_WORKSPACE_TOO_SMALL, in, out, n);
    }
    s.config.workspace_bytes = SIZE_MAX;
    refuse("workspace past the end of the address space", invalid, in, out, n);
    /* above all that is in use */
    s.config.workspace = reinterpret_cast<void *>(UINTPTR_MAX - 4095);
    refuse("workspace past the end of the address space", invalid, in, out, n);
    s.config.workspace = nullptr; /* then its size does not count */
    check::that(fastreduce_sum_f32(in, out, n, &s.config) == FASTREDUCE_SUCCESS,
                "a size, no workspace");
    s.right("a size, no workspace");
    s.config.workspace = s.workspace.data();
    s.config.workspace_bytes = need;
    for (int k = 1; k < 16; ++k) {
        s.config.workspace = s.workspace.data() + k;
        refuse("misaligned workspace", invalid, in, out, n);
    }
    s.config.workspace = s.workspace.data();
    check::that(fastreduce_sum_f32(in, out, n, &s.config) == FASTREDUCE_SUCCESS,
                "workspace just large enough");
    s.right("workspace just large enough");
    s.untouched("workspace just large enough");

    check::that(fastreduce_workspace_init(nullptr, 16, nullptr) == invalid,
                "init of a null workspace");
    check::that(fastreduce_workspace_init(s.workspace.data() + 1, 16, nullptr) == invalid,
                "init, misaligned");
    check::that(fastreduce_workspace_init(nullptr, 0, nullptr) == FASTREDUCE_SUCCESS,
                "init of nothing");
    s.workspace.fill(0x33);
    check::that(fastreduce_workspace_init(s.workspace.data(), s.workspace.bytes(), nullptr) ==
                    FASTREDUCE_SUCCESS,
                "init");
    s.untouched("init");
    check::that(s.workspace.canaries_alive(), "init wrote past the workspace");
}

static void accumulate_refusals()
{
    setup s;
    s.config.kernel = FASTREDUCE_EXACT;
    check::buffer<fastreduce_accumulator> accumulator(1);
    accumulator.fill(0x11);
    const fastreduce_status invalid = FASTREDUCE_ERROR_INVALID_ARGUMENT;
    const auto refuse = [&](const char *what, fastreduce_status wanted, const float *input,
                            void *total, size_t count) {
        const fastreduce_status status = fastreduce_accumulate_f32(
            input, static_cast<fastreduce_accumulator *>(total), count, &s.config);
        check::that(status == wanted, "accumulate, %s: status %d instead of %d", what, status,
                    wanted);
        s.untouched(what);
        check::that(accumulator.every_byte_is(0x11), "accumulate, %s: the accumulator was touched",
                    what);
    };
    float *in = s.input.data();
    char *total = reinterpret_cast<char *>(accumulator.data());
    refuse("null input", invalid, nullptr, total, n);
    refuse("null accumulator", invalid, in, nullptr, n);
    for (int k = 1; k < 8; ++k) refuse("misaligned accumulator", invalid, in, total + k, n);
    refuse("misaligned input", invalid, reinterpret_cast<float *>(reinterpret_cast<char *>(in) + 2),
           total, n - 1);
    refuse("n past the address space", invalid, in, total, SIZE_MAX / 2);
    refuse("accumulator in the input", invalid, in, in + 8, n);
    refuse("input in the accumulator", invalid, reinterpret_cast<float *>(total + 64), total, 4);
    refuse("accumulator in the workspace", invalid, in, s.workspace.data() + 64, n);
    for (const void *count :
         {static_cast<const void *>(total + 64), static_cast<const void *>(s.workspace.data() + 64),
          static_cast<const void *>(reinterpret_cast<char *>(in) + 4)}) {
        s.config.n_on_device = static_cast<const size_t *>(count);
        refuse("count in the accumulator or workspace, or misaligned", invalid, in, total, n);
    }
    s.config.n_on_device = nullptr;
    s.config.workspace_bytes = fastreduce_workspace_bytes(n, &s.config) - 1;
    refuse("workspace too small", FASTREDUCE_ERROR_WORKSPACE_TOO_SMALL, in, total, n);
    s.config.workspace = s.workspace.data() + 8;
    refuse("misaligned workspace", invalid, in, total, n);
    s.config.workspace = s.workspace.data();
    s.config.workspace_bytes = s.workspace.bytes();
    for (const char *place :
         {reinterpret_cast<const char *>(in) + 4, static_cast<const char *>(total) + 8,
          reinterpret_cast<const char *>(s.workspace.data()) + 8}) {
        s.config.n_on_device = reinterpret_cast<const size_t *>(place);
        refuse("a count that is misaligned, or in what is written", invalid, in + 8, total, n - 8);
    }
    s.config.n_on_device = nullptr;
    accumulator.fill(0);
    check::that(fastreduce_accumulate_f32(in, accumulator.data(), n, &s.config) == 0, "accumulate");
    check::that(fastreduce_accumulate_f32(nullptr, accumulator.data(), 0, nullptr) == 0,
                "accumulate nothing");
    CUDA(cudaDeviceSynchronize());
    const fastreduce_accumulator got = accumulator.get()[0];
    check::that(fastreduce_accumulator_f32(&got) == s.expected, "accumulate: %.9g",
                static_cast<double>(fastreduce_accumulator_f32(&got)));
    check::that(s.workspace.every_byte_is(0) && accumulator.canaries_alive(),
                "accumulate: a write outside");
}

static void words()
{
    for (int k = 0; k < 11; ++k)
        check::that(std::strcmp(fastreduce_kernel_name(static_cast<fastreduce_kernel>(k)),
                                kernel_names[k]) == 0,
                    "name of kernel %d", k);
    check::that(
        std::strcmp(fastreduce_kernel_name(static_cast<fastreduce_kernel>(-1)), "unknown") == 0,
        "name of kernel -1");
    check::that(fastreduce_version() == FASTREDUCE_VERSION && FASTREDUCE_VERSION > 0, "version");
    for (int status = -6; status < 1000; ++status) {
        const char *text = fastreduce_status_string(status);
        check::that(text != nullptr && text[0] != 0 && std::strchr(text, '\n') == nullptr,
                    "status %d", status);
    }
    check::that(std::strcmp(fastreduce_status_string(cudaErrorInvalidValue),
                            cudaGetErrorString(cudaErrorInvalidValue)) == 0,
                "a CUDA error is not in the runtime's words");
    check::that(std::strcmp(fastreduce_status_string(-5), "unknown status") == 0, "status -5");
}

static void defaults()
{
    setup s;
    check::that(fastreduce_sum_f32(s.input.data(), s.output.data(), n, nullptr) ==
                    FASTREDUCE_SUCCESS,
                "no config");
    s.right("no config");
    const fastreduce_config zeros = {};
    check::that(fastreduce_sum_f32(s.input.data(), s.output.data(), n, &zeros) ==
                    FASTREDUCE_SUCCESS,
                "zeros");
    s.right("zeros");
    check::that(fastreduce_workspace_bytes(n, nullptr) == fastreduce_workspace_bytes(n, &zeros),
                "bytes, no config");
    s.config.workspace = nullptr;
    check::that(fastreduce_sum_f32(nullptr, s.output.data(), 0, &s.config) == FASTREDUCE_SUCCESS,
                "nothing");
    CUDA(cudaDeviceSynchronize());
    check::that(s.output.every_byte_is(0), "the empty sum is not +0");
    size_t last = 0;
    for (size_t count : {size_t(1), size_t(257), size_t(70000), size_t(1) << 24, size_t(1) << 33,
                         size_t(1) << 38}) {
        const size_t bytes = fastreduce_workspace_bytes(count, &s.config);
        check::that(bytes >= last, "workspace bytes shrink at %zu", count);
        last = bytes;
    }
    check::that(fastreduce_workspace_bytes(SIZE_MAX / sizeof(float), nullptr) > 0,
                "workspace bytes of the largest n");
    check::that(fastreduce_workspace_bytes(SIZE_MAX, nullptr) == 0,
                "workspace bytes of an impossible n");
}

/* The workspace of every kernel and block size is what its plan says. */
static void workspaces()
{
    fastreduce_config config = {};
    for (size_t count :
         {size_t(0), size_t(33), size_t(4097), size_t(16385), size_t(100001), size_t(1) << 40}) {
        for (int kernel = FASTREDUCE_V0; kernel <= FASTREDUCE_V7; ++kernel) {
            config.kernel = static_cast<fastreduce_kernel>(kernel);
            for (unsigned block_size : {0u, 32u, 64u, 128u, 256u, 512u, 1024u}) {
                config.block_size = block_size;
                const size_t tile = size_t(block_size ? block_size : FASTREDUCE_BLOCK_SIZE) *
                                    fastreduce::default_items(config.kernel);
                const fastreduce::detail::ladder_plan made =
                    fastreduce::detail::plan_ladder(count, tile, sizeof(float));
                const bool fits = made.blocks <= 0x7fffffff;
                check::that(fastreduce_workspace_bytes(count, &config) ==
                                (fits ? made.workspace_bytes : 0),
                            "%s, block %u, n %zu: %zu bytes", fastreduce_kernel_name(config.kernel),
                            block_size, count, fastreduce_workspace_bytes(count, &config));
            }
        }
        config = {};
        check::that(fastreduce_workspace_bytes(count, &config) ==
                        fastreduce::detail::array_workspace_bytes(
                            fastreduce::detail::sizes_of<sums>(), count),
                    "auto, n %zu: bytes", count);
        config.kernel = FASTREDUCE_EXACT;
        check::that(fastreduce_workspace_bytes(count, &config) == (count > 4096 ? 512 : 0),
                    "exact, n %zu: bytes", count);
    }
}

#ifdef SIMT_MACHINE
/* Three and four levels, blocks in any order: no level writes what another of its blocks is
 * still to read. */
static void levels()
{
    for (simt::order schedule : {simt::order::forward, simt::order::reverse, simt::order::random}) {
        for (size_t count : {size_t(32 * 32 + 1), size_t(32 * 32 * 32), size_t(32 * 32 * 32 + 1)}) {
            setup s(count);
            s.config.block_size = 32;
            simt::settings().schedule = schedule;
            check::that(fastreduce_sum_f32(s.input.data(), s.output.data(), count, &s.config) == 0,
                        "levels");
            s.right("levels");
        }
    }
    simt::settings() = simt::options();
}

/* V0 to V4 have their values in shared memory that the launch asks for, and the others none. */
static void shared_memory()
{
    for (int kernel = FASTREDUCE_V0; kernel <= FASTREDUCE_V7; ++kernel) {
        setup s;
        s.config.kernel = static_cast<fastreduce_kernel>(kernel);
        s.config.block_size = 64;
        check::that(fastreduce_sum_f32(s.input.data(), s.output.data(), n, &s.config) == 0 &&
                        simt::latest_launch().shared_bytes ==
                            (kernel <= FASTREDUCE_V4 ? 64 * sizeof(float) : 0),
                    "%s: %zu bytes of shared memory", fastreduce_kernel_name(s.config.kernel),
                    simt::latest_launch().shared_bytes);
    }
}

/* All that a call does is on the stream that it was given. */
static void on_one_stream()
{
    int place;
    for (int kernel = FASTREDUCE_AUTO; kernel <= FASTREDUCE_EXACT; ++kernel) {
        for (bool pooled : {false, true}) {
            setup s(50000);
            check::buffer<fastreduce_accumulator> total(1);
            total.fill(0);
            s.config.kernel = static_cast<fastreduce_kernel>(kernel);
            s.config.stream = reinterpret_cast<fastreduce_stream>(&place);
            if (pooled) s.config.workspace = nullptr;
            const unsigned long long before = simt::default_stream_calls();
            bool good = fastreduce_sum_f32(s.input.data(), s.output.data(), 50000, &s.config) == 0;
            good = good &&
                   fastreduce_accumulate_f32(s.input.data(), total.data(), 50000, &s.config) == 0;
            good = good && fastreduce_workspace_init(s.workspace.data(), 64, s.config.stream) == 0;
            check::that(good && simt::default_stream_calls() == before,
                        "kernel %d: another stream was used", kernel);
        }
    }
}

/* What is known of a device is asked for once, for devices with small numbers, and never taken
 * for another's; a failure is reported and not remembered. The same of what a kernel is compiled
 * for. */
static void facts()
{
    using namespace fastreduce::detail;
    const kernel_entry kernel = exact_kernels_of<exact_sum<float>>.find(0),
                       other = exact_kernels_of<exact_sum<double>>.find(0);
    for (int number : {1, 2, 31, 32, 63, 64, 65, 1000}) {
        simt::gpu gpu;
        gpu.number = number;
        gpu.multiprocessors = 100 + number;
        gpu.multiprocessor_shared_bytes = 210000 + number;
        gpu.ptx_version = number % 3 == 0 ? 89 : number % 3 == 2 ? 120 : 90;
        simt::set_gpu(gpu);
        const bool remembered = number < 64, new_code = number % 3 != 0;
        device_limits limits = {};
        for (unsigned k = 1; k <= 3; ++k) {
            simt::fail_call(k);
            check::that(find_limits(&limits) != cudaSuccess, "device %d: call %u failed", number,
                        k);
            simt::fail_call(0);
        }
        for (unsigned turn = 0; turn < 3; ++turn) {
            const unsigned long long before = simt::calls();
            limits = {};
            check::that(find_limits(&limits) == cudaSuccess && limits.device == number &&
                            limits.multiprocessors == 100u + static_cast<unsigned>(number) &&
                            limits.shared_bytes == 210000u + static_cast<unsigned>(number),
                        "device %d: %u multiprocessors, %zu bytes", number, limits.multiprocessors,
                        limits.shared_bytes);
            check::that(simt::calls() - before == (turn == 0 || !remembered ? 3 : 1),
                        "device %d: %llu calls", number, simt::calls() - before);
        }

        /* a kernel is asked once */
        compiled_code code = {};
        simt::fail_call(1);
        check::that(find_code(kernel, number, &code) != cudaSuccess,
                    "device %d: what the kernel is compiled for", number);
        simt::fail_call(0);
        for (unsigned turn = 0; turn < 3; ++turn) {
            const unsigned long long before = simt::calls();
            check::that(find_code(kernel, number, &code) == cudaSuccess &&
                            code.overlaps == new_code,
                        "device %d: overlaps %d", number, code.overlaps);
            check::that(simt::calls() - before == (turn == 0 || !remembered ? 1 : 0),
                        "device %d: %llu calls for a kernel", number, simt::calls() - before);
        }

        /* another kernel of the program may be compiled for another architecture: each is asked
         * itself, and remembered for itself */
        simt::gpu older = gpu;
        older.ptx_version = 80;
        simt::set_gpu(older);
        check::that(find_code(other, number, &code) == cudaSuccess && !code.overlaps,
                    "device %d: another kernel's answer", number);
        check::that(find_code(kernel, number, &code) == cudaSuccess &&
                        code.overlaps == (new_code && remembered),
                    "device %d: the kernel's answer is forgotten", number);
    }
    simt::set_gpu(simt::gpu());
}

/* What the runtime is asked to launch: with the attribute that lets it overlap where the kernel is
 * compiled for it, and with the shared memory that was asked for first. */
static void exact_launches()
{
    using namespace fastreduce::detail;
    int place;
    const cudaStream_t stream = reinterpret_cast<cudaStream_t>(&place);
    check::buffer<float> input(n), output(1);
    check::buffer<status_word> words(exact_sum<float>::status_words);
    input.fill(0);
    words.fill(0);
    for (int ptx : {80, 89, 90, 100, 120}) {
        simt::gpu gpu;
        gpu.number = ptx == 80 ? 45 : ptx == 89 ? 46 : ptx == 90 ? 47 : ptx == 100 ? 48 : 49;
        gpu.ptx_version = ptx;
        gpu.multiprocessors = 3;
        gpu.shared_bytes = (ptx == 89 ? 99 : 227) * kibibyte;
        gpu.multiprocessor_shared_bytes = 228 * kibibyte;
        simt::set_gpu(gpu);
        for (bool much : {false, true}) {
            simt::host().captures = ptx == 100 && much;
            kernel_set e = exact_kernels_of<exact_sum<float>>;
            if (much) e.exact_shared_bytes = 60 * kibibyte;
            const void *const kernel = e.find(0).address;
            exact_output result = {output.data(), nullptr};
            simt::host().shared_limit.erase(kernel); /* as a reset of the device does */
            check::that(launch(plan_array, e, {input.data(), n}, &result,
                               {{words.data(), words.bytes()}, stream}) == FASTREDUCE_SUCCESS,
                        "PTX %d: not launched", ptx);
            const simt::launch &done = simt::latest_launch();
            /* edges of graphs have had it since CUDA 12.3 */
            check::that(done.overlapped ==
                            (ptx >= 90 && (CUDART_VERSION >= 12030 || !simt::host().captures)),
                        "PTX %d, captured %d: the attribute", ptx, simt::host().captures);
            simt::host().captures = false;
            const size_t each = much ? 3 : 4, /* that 228 KiB hold */
                blocks = min_of(3 * each, fastreduce::blocks_for(n, 4096));
            check::that(done.kernel == kernel && done.stream == stream && done.grid.x == blocks &&
                            done.grid.y == 1 && done.grid.z == 1 && done.block.x == 256 &&
                            done.block.y == 1 && done.block.z == 1 &&
                            done.shared_bytes == e.exact_shared_bytes,
                        "%u blocks of %u threads, %zu bytes", done.grid.x, done.block.x,
                        done.shared_bytes);
            check::that(simt::host().shared_limit.count(kernel) == much &&
                            (!much || simt::host().shared_limit[kernel] == e.exact_shared_bytes),
                        "%zu bytes not asked for", e.exact_shared_bytes);
        }
    }
    check::that(words.every_byte_is(0), "words left dirty");
    simt::set_gpu(simt::gpu());
}

/* AUTO's launches: one kernel, in blocks of the size that the bytes say, one for each run of tiles;
 * where n is on the device, in small ones, and no more than fit the device. */
static void pairwise_launches()
{
    using namespace fastreduce::detail;
    int place;
    const cudaStream_t stream = reinterpret_cast<cudaStream_t>(&place);
    const kernel_set &e = kernels_of<sums, array_part>;
    check::buffer<float> input(1), output(1);
    check::buffer<size_t> count(1);
    check::buffer<unsigned char> memory(FASTREDUCE_WORKSPACE_BYTES);
    memory.fill(0);
    reduction_output<sums> to = {output.data(), sums()};
    simt::set_runs(false);
    for (int ptx : {80, 89, 90, 100, 120})
        for (size_t elements :
             {size_t(0), size_t(4096), size_t(4097), size_t(16384), size_t(16385), size_t(1) << 18,
              (size_t(1) << 18) + 1, size_t(3) << 20, (size_t(3) << 20) + 1, size_t(1) << 24,
              (size_t(1) << 24) + 1, size_t(1) << 40})
            for (unsigned how = 0; how < 4; ++how) {
                const bool counted = how % 2 != 0, vectors = how < 2;
                simt::gpu gpu;
                gpu.number = 10 + ptx / 10;
                gpu.multiprocessors = 7;
                gpu.ptx_version = ptx;
                simt::set_gpu(gpu);
                const bool large = !counted && ((elements > 4096 && elements <= 16384) ||
                                                elements > (vectors ? 1 << 18 : 3 << 20));
                const size_t tile = large ? 16384 : 4096,
                             tiles = elements == 0 ? 1 : (elements - 1) / tile + 1,
                             runs = elements >> 39 ? tiles >> 10 : tiles,
                             no_words = 16384, /* which is one run */
                    blocks = !counted               ? runs
                             : elements <= no_words ? 1
                                                    : std::min(runs, size_t(7 * 4));
                const fastreduce_status status =
                    launch(plan_array, e,
                           {input.data() + !vectors, elements, counted ? count.data() : nullptr},
                           &to, {{memory.data(), FASTREDUCE_WORKSPACE_BYTES}, stream});
                const simt::launch &done = simt::latest_launch();
                check::that(status == 0 && done.kernel == e.find(large).address &&
                                done.overlapped == (ptx >= 90) && done.stream == stream &&
                                done.grid.x == blocks && done.grid.y == 1 && done.grid.z == 1 &&
                                done.block.x == (large ? 512 : 256) && done.block.y == 1 &&
                                done.block.z == 1 && done.shared_bytes == 0,
                            "AUTO of %zu, PTX %d, counted %d, vectors %d: status %d, %u blocks of "
                            "%u threads, %zu bytes",
                            elements, ptx, counted, vectors, status, done.grid.x, done.block.x,
                            done.shared_bytes);
            }
    simt::set_runs(true);
    simt::set_gpu(simt::gpu());
}

/* The first use of AUTO asks for the device's properties: a failure there is reported, and not
 * remembered. Must run before any other use of AUTO. */
static void first_use()
{
    setup s;
    s.config.kernel = FASTREDUCE_AUTO;
    /* the device, its limits, when these are remembered what the kernel is compiled for, and when
     * that is, too, the launch */
    for (unsigned k : {1u, 2u, 3u, 4u, 2u, 3u, 1u, 2u}) {
        simt::fail_call(k);
        const fastreduce_status status =
            fastreduce_sum_f32(s.input.data(), s.output.data(), n, &s.config);
        simt::fail_call(0);
        check::that(status > 0, "call %u of AUTO's first use failed, status %d", k, status);
        s.untouched("AUTO's first use");
    }
    check::that(fastreduce_sum_f32(s.input.data(), s.output.data(), n, &s.config) == 0,
                "AUTO's second first use");
    s.right("AUTO's second first use");
}

/* Every runtime call of a reduction fails once: an error comes back, nothing leaks, and the next
 * one is right. */
template <class Output, class Call, class Right>
static void every_call_fails(const char *what, check::buffer<Output> &output,
                             check::buffer<unsigned char> &memory, unsigned wanted_calls,
                             const Call &reduce, const Right &right)
{
    const size_t live = simt::live_allocations();
    check::that(reduce() == FASTREDUCE_SUCCESS, "%s: the first call, which asks for more", what);
    const unsigned long long before = simt::calls();
    output.fill(0x5a);
    check::that(reduce() == FASTREDUCE_SUCCESS, "%s: status", what);
    const unsigned calls = static_cast<unsigned>(simt::calls() - before) - 1; /* less the fill's */
    check::that(calls == wanted_calls, "%s: %u runtime calls", what, calls);
    right();
    for (unsigned k = 1; k <= calls; ++k) {
        output.fill(0x5a);
        simt::fail_call(k);
        const fastreduce_status status = reduce();
        simt::fail_call(0);
        check::that(status > 0, "%s: runtime call %u failed, status %d", what, k, status);
        check::that(simt::capture_mode() == cudaStreamCaptureModeGlobal,
                    "%s: runtime call %u failed, the thread's capture mode is another", what, k);
        const bool last_launch_ran = k == calls;
        if (!last_launch_ran)
            check::that(output.every_byte_is(0x5a), "%s: call %u failed, output touched", what, k);
        /* a failed free or clearing is the one thing that cannot be undone */
        if (k < calls)
            check::that(simt::live_allocations() == live, "%s: call %u failed, memory leaked", what,
                        k);
        if (k < calls)
            check::that(memory.every_byte_is(0), "%s: call %u failed, workspace dirty", what, k);
        memory.fill(0);
        output.fill(0x5a);
        check::that(reduce() == FASTREDUCE_SUCCESS, "%s: after failure %u", what, k);
        right();
    }
}

static void runtime_failures(fastreduce_kernel kernel, size_t size, unsigned calls_with_workspace,
                             unsigned calls_with_pool, bool counted = false)
{
    check::buffer<size_t> count(1);
    count.set({size});
    for (bool pooled : {false, true}) {
        setup s(size);
        s.config.kernel = kernel;
        if (counted) s.config.n_on_device = count.data();
        if (pooled) s.config.workspace = nullptr;
        /* and not a byte more */
        s.config.workspace_bytes = fastreduce_workspace_bytes(size, &s.config);
        every_call_fails(
            fastreduce_kernel_name(kernel), s.output, s.workspace,
            pooled ? calls_with_pool : calls_with_workspace,
            [&] {
                return fastreduce_sum_f32(s.input.data(), s.output.data(), s.values.size(),
                                          &s.config);
            },
            [&] { s.right("the sum before or after a failure"); });
    }
}

/* The same of a kernel that asks for shared memory, on a GPU that knows overlapped launches and one
 * that does not. */
static void shared_memory_failures()
{
    using namespace fastreduce::detail;
    kernel_set e = exact_kernels_of<superaccumulator<64>>;
    e.exact_shared_bytes = 60 * kibibyte;
    for (int ptx : {80, 90}) {
        simt::gpu gpu;
        gpu.number = 50 + ptx / 10;
        gpu.ptx_version = ptx;
        simt::set_gpu(gpu);
        for (bool pooled : {false, true}) {
            setup s(3000); /* two tiles and a part of one */
            exact_output result = {s.output.data(), nullptr};
            fastreduce::workspace scratch = {pooled ? nullptr : s.workspace.data(),
                                             array_workspace_bytes(e, 3000)};
            const auto reduce = [&] {
                return launch(plan_array, e, {s.input.data(), 3000}, &result, {scratch, nullptr});
            };
            const bool asks = ptx >= 90 && CUDART_VERSION < 12030; /* whether it is captured */
            every_call_fails("shared memory", s.output, s.workspace, (pooled ? 6 : 3) + asks,
                             reduce, [&] { s.right("shared memory"); });
            check::that(simt::latest_launch().overlapped == (ptx >= 90) &&
                            simt::latest_launch().block.x == 64 &&
                            simt::latest_launch().grid.x == 3,
                        "PTX %d: what was launched", ptx);
            scratch = {s.workspace.data(), scratch.bytes - 1};
            const unsigned long long before = simt::calls();
            check::that(reduce() == FASTREDUCE_ERROR_WORKSPACE_TOO_SMALL &&
                            simt::calls() == before + 1, /* which device */
                        "too small a workspace");
            s.untouched("too small a workspace");
        }
    }
    simt::set_gpu(simt::gpu());
}

/* AUTO of another type, by the templates: as AUTO of floats in every respect. */
static void other_types()
{
    using namespace fastreduce;
    constexpr size_t count = 50000;
    const fastreduce_status invalid = FASTREDUCE_ERROR_INVALID_ARGUMENT;
    std::vector<int> values(count);
    long long wanted = 0;
    for (size_t i = 0; i < count; ++i)
        wanted += values[i] = static_cast<int>(check::mix(i, 1) % 2001) - 1000;
    const size_t bytes = workspace_bytes<FASTREDUCE_AUTO, FASTREDUCE_BLOCK_SIZE,
                                         FASTREDUCE_ITEMS_PER_THREAD, plus, int>(count);
    check::buffer<int> input(count, 1);
    check::buffer<long long> output(1);
    check::buffer<unsigned char> memory(bytes + 16);
    input.set(values);
    memory.fill(0);
    const auto right = [&] {
        check::that(output.get()[0] == wanted && memory.every_byte_is(0) &&
                        memory.canaries_alive() && output.canaries_alive(),
                    "AUTO of ints: %lld instead of %lld", output.get()[0], wanted);
    };
    for (bool pooled : {false, true})
        every_call_fails(
            "AUTO of ints", output, memory, pooled ? 5 : 2,
            [&] {
                return reduce(input.data(), output.data(), count, nullptr,
                              {pooled ? nullptr : memory.data(), bytes});
            },
            right);
    output.fill(0x5a);
    const auto refused = [&](const char *what, fastreduce_status status,
                             fastreduce_status wanted_status) {
        check::that(status == wanted_status && output.every_byte_is(0x5a) &&
                        memory.every_byte_is(0),
                    "AUTO of ints, %s: status %d", what, status);
    };
    for (size_t less : {bytes - 1, bytes / 2, size_t(1), size_t(0)})
        refused("small workspace",
                reduce(input.data(), output.data(), count, nullptr, {memory.data(), less}),
                FASTREDUCE_ERROR_WORKSPACE_TOO_SMALL);
    refused("misaligned workspace",
            reduce(input.data(), output.data(), count, nullptr, {memory.data() + 8, bytes}),
            invalid);
    refused("no input", reduce(static_cast<const int *>(nullptr), output.data(), 1), invalid);
    refused("no output", reduce(input.data(), static_cast<long long *>(nullptr), 1), invalid);
    char *const beside = reinterpret_cast<char *>(output.data()) + 4;
    refused("misaligned output", reduce(input.data(), reinterpret_cast<long long *>(beside), count),
            invalid);
    refused("more than the address space",
            reduce(input.data(), output.data(), SIZE_MAX / sizeof(int) + 1), invalid);
    refused("output in the workspace",
            reduce(input.data(), reinterpret_cast<long long *>(memory.data()), count, nullptr,
                   {memory.data(), bytes}),
            invalid);
    check::that(reduce(static_cast<const int *>(nullptr), output.data(), 0) == 0 &&
                    output.every_byte_is(0),
                "AUTO of no ints");
}

/* Where there is no device every call says so. */
static void no_device()
{
    setup s;
    simt::set_device_present(false);
    const fastreduce_status with_workspace =
        fastreduce_sum_f32(s.input.data(), s.output.data(), n, &s.config);
    s.config.workspace = nullptr;
    const fastreduce_status pooled =
        fastreduce_sum_f32(s.input.data(), s.output.data(), n, &s.config);
    const fastreduce_status init = fastreduce_workspace_init(s.workspace.data(), 16, nullptr);
    simt::set_device_present(true);
    check::that(with_workspace == FASTREDUCE_ERROR_NO_DEVICE, "no device: status %d",
                with_workspace);
    check::that(pooled == FASTREDUCE_ERROR_NO_DEVICE, "no device, pool: status %d", pooled);
    check::that(init == FASTREDUCE_ERROR_NO_DEVICE, "no device, init: status %d", init);
    s.untouched("no device");
}

/* The thread's capture mode cannot be changed, or not be restored. */
static void capture_mode_failures()
{
    for (unsigned k : {1u, 2u}) {
        setup s;
        const size_t live = simt::live_allocations();
        s.config.workspace = nullptr;
        simt::host().failing_exchange = k;
        const fastreduce_status status =
            fastreduce_sum_f32(s.input.data(), s.output.data(), n, &s.config);
        check::that(status > 0 && simt::host().failing_exchange == 0,
                    "exchange %u of capture modes failed: status %d", k, status);
        check::that(simt::live_allocations() == live,
                    "exchange %u of capture modes failed: memory leaked", k);
        simt::capture_mode() = cudaStreamCaptureModeGlobal;
        if (k == 1) s.untouched("no capture mode");
    }
}
#else
/* Two streams at once, each with its workspace; pinned output; a graph
 * captured on a stream and replayed. */
static void streams_and_graphs(size_t many)
{
    const std::vector<float> values = check::make(check::data::uniform, many, 9);
    check::buffer<float> input(many, 1);
    input.set(values);
    float *pinned;
    CUDA(cudaMallocHost(&pinned, 2 * sizeof(float)));
    for (int kernel = FASTREDUCE_AUTO; kernel <= FASTREDUCE_EXACT; ++kernel) {
        fastreduce_config config[2] = {};
        void *workspace[2];
        for (int k = 0; k < 2; ++k) {
            cudaStream_t stream;
            CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
            config[k].kernel = static_cast<fastreduce_kernel>(kernel);
            config[k].stream = stream;
            config[k].workspace_bytes = fastreduce_workspace_bytes(many, &config[k]);
            CUDA(cudaMalloc(&workspace[k], config[k].workspace_bytes));
            config[k].workspace = workspace[k];
            check::that(
                fastreduce_workspace_init(workspace[k], config[k].workspace_bytes, stream) == 0,
                "init");
        }
        pinned[0] = pinned[1] = NAN;
        for (int repeat = 0; repeat < 20; ++repeat)
            for (int k = 0; k < 2; ++k)
                check::that(fastreduce_sum_f32(input.data(), pinned + k, many - k, &config[k]) == 0,
                            "sum");
        const unsigned items = fastreduce::default_items(static_cast<fastreduce_kernel>(kernel));
        for (int k = 0; k < 2; ++k) {
            CUDA(cudaStreamSynchronize(config[k].stream));
            const std::vector<float> summed(values.begin(), values.end() - k);
            check::that(
                check::plausible_sum(summed, check::data::uniform, pinned[k],
                                     kernel == FASTREDUCE_AUTO
                                         ? check::auto_depth
                                         : check::tree_depth(many, FASTREDUCE_BLOCK_SIZE, items)),
                "%s, stream %d: %.9g", fastreduce_kernel_name(config[k].kernel), k, pinned[k]);
        }
        const float wanted = pinned[0];

        cudaGraph_t graph;
        cudaGraphExec_t executable;
        CUDA(cudaStreamBeginCapture(config[0].stream, cudaStreamCaptureModeGlobal));
        const fastreduce_status status = fastreduce_sum_f32(input.data(), pinned, many, &config[0]);
        CUDA(cudaStreamEndCapture(config[0].stream, &graph));
        check::that(status == 0, "%s: captured with status %d",
                    fastreduce_kernel_name(config[0].kernel), status);
        CUDA(cudaGraphInstantiateWithFlags(&executable, graph, 0));
        for (int replay = 0; replay < 100; ++replay) {
            pinned[0] = NAN;
            CUDA(cudaGraphLaunch(executable, config[0].stream));
            CUDA(cudaStreamSynchronize(config[0].stream));
            check::that(std::memcmp(pinned, &wanted, sizeof wanted) == 0,
                        "%s: replay %d gave %.9g, not %.9g",
                        fastreduce_kernel_name(config[0].kernel), replay, pinned[0], wanted);
        }
        CUDA(cudaGraphExecDestroy(executable));
        CUDA(cudaGraphDestroy(graph));
        for (int k = 0; k < 2; ++k) {
            CUDA(cudaFree(workspace[k]));
            CUDA(cudaStreamDestroy(config[k].stream));
        }
    }
    CUDA(cudaFreeHost(pinned));
}

/* While another thread captures a graph in global mode, calls that use the pool succeed, the first
 * of a size too, and the graph is whole. */
static void beside_a_capture()
{
    cudaStream_t capturing, other;
    cudaGraph_t graph = nullptr;
    CUDA(cudaStreamCreateWithFlags(&capturing, cudaStreamNonBlocking));
    CUDA(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    for (int kernel = FASTREDUCE_AUTO; kernel <= FASTREDUCE_EXACT; ++kernel) {
        setup s(100000), captured;
        captured.config.stream = capturing;
        fastreduce_config config = {};
        config.kernel = static_cast<fastreduce_kernel>(kernel);
        config.stream = other;
        CUDA(cudaDeviceSynchronize());
        CUDA(cudaStreamBeginCapture(capturing, cudaStreamCaptureModeGlobal));
        fastreduce_status status = -100;
        std::thread([&] {
            status = fastreduce_sum_f32(s.input.data(), s.output.data(), 100000, &config);
        }).join();
        const fastreduce_status in_graph =
            fastreduce_sum_f32(captured.input.data(), captured.output.data(), n, &captured.config);
        const cudaError_t ended = cudaStreamEndCapture(capturing, &graph);
        check::that(status == 0 && in_graph == 0 && ended == cudaSuccess,
                    "%s beside a capture: status %d, in the graph %d, its end %s",
                    fastreduce_kernel_name(config.kernel), status, in_graph,
                    cudaGetErrorString(ended));
        cudaGetLastError();
        if (ended == cudaSuccess) CUDA(cudaGraphDestroy(graph));
        s.right("beside a capture");
    }
    CUDA(cudaStreamDestroy(capturing));
    CUDA(cudaStreamDestroy(other));
}
#endif

/* This build holds sums of floats alone. */
static void left_out()
{
    check::buffer<double> input(2, 0), output(1);
    input.fill(0);
    output.fill(0x5a);
    for (int type = FASTREDUCE_F32; type <= FASTREDUCE_U64; ++type)
        for (int op = FASTREDUCE_SUM; op <= FASTREDUCE_ARGMAX_ABS; ++op)
            for (int kernel = FASTREDUCE_AUTO; kernel <= FASTREDUCE_EXACT; ++kernel) {
                const auto the_type = static_cast<fastreduce_type>(type);
                const auto the_operator = static_cast<fastreduce_operator>(op);
                fastreduce_config config = {};
                config.kernel = static_cast<fastreduce_kernel>(kernel);
                const bool held = type == FASTREDUCE_F32 && op == FASTREDUCE_SUM;
                check::that(fastreduce_supports(the_type, the_operator, config.kernel) == held,
                            "type %d, operator %d, kernel %d: %s", type, op, kernel,
                            held ? "left out" : "supported");
                if (held) continue;
                const fastreduce_status status = fastreduce_reduce(input.data(), output.data(), 1,
                                                                   the_type, the_operator, &config);
                check::that(status == FASTREDUCE_ERROR_UNSUPPORTED && output.every_byte_is(0x5a),
                            "type %d, operator %d, kernel %d: status %d", type, op, kernel, status);
            }
    for (int type = FASTREDUCE_F64; type <= FASTREDUCE_U64; ++type) {
        const fastreduce_status status =
            fastreduce_dot(input.data(), input.data(), output.data(), 1,
                           static_cast<fastreduce_type>(type), nullptr);
        check::that(status == FASTREDUCE_ERROR_UNSUPPORTED && output.every_byte_is(0x5a),
                    "dot product of type %d: status %d", type, status);
    }
}

/* Nor does it hold rows, columns and segments, for want of FASTREDUCE_WITH_SHAPES, and reductions
 * by index, for want of FASTREDUCE_WITH_BY_INDEX. */
static void without_shapes()
{
    check::buffer<float> input(6), output(3);
    check::buffer<int64_t> offsets(4);
    const int64_t begins[] = {0, 2, 2, 6};
    fastreduce_shape shape = {};
    shape.outer = 3, shape.n = 2, shape.inner = 1;
    input.fill(0);
    output.fill(0x5a);
    offsets.set(begins);
    for (const fastreduce_kernel kernel : {FASTREDUCE_AUTO, FASTREDUCE_EXACT, FASTREDUCE_V7}) {
        fastreduce_config config = {};
        config.kernel = kernel;
        const fastreduce_status axis = fastreduce_reduce_axis(
            input.data(), output.data(), &shape, FASTREDUCE_F32, FASTREDUCE_SUM, &config);
        const fastreduce_status ragged =
            fastreduce_reduce_segments(input.data(), output.data(), 3, offsets.data(),
                                       FASTREDUCE_F32, FASTREDUCE_SUM, &config);
        check::that(axis == FASTREDUCE_ERROR_UNSUPPORTED && ragged == axis &&
                        !fastreduce_supports_shapes(FASTREDUCE_F32, FASTREDUCE_SUM, kernel) &&
                        output.every_byte_is(0x5a),
                    "without shapes, kernel %d: status %d, %d", kernel, axis, ragged);
        const fastreduce_status by_index =
            fastreduce_reduce_by_index(input.data(), offsets.data(), output.data(), 4, 3,
                                       FASTREDUCE_F32, FASTREDUCE_SUM, &config);
        check::that(by_index == FASTREDUCE_ERROR_UNSUPPORTED &&
                        fastreduce_by_index_workspace_bytes(3, FASTREDUCE_F32, FASTREDUCE_SUM,
                                                            &config) == 0 &&
                        output.every_byte_is(0x5a),
                    "without reductions by index, kernel %d: status %d", kernel, by_index);
    }
}

/* On a GPU: test_launcher [N], N elements for streams and graphs. */
int main(int argc, char **argv)
{
    check::need_device();
    (void)argc, (void)argv;
#ifdef SIMT_MACHINE
    first_use();
#endif
    refusals();
    accumulate_refusals();
    left_out();
    without_shapes();
    words();
    defaults();
    workspaces();
#ifdef SIMT_MACHINE
    levels();
    shared_memory();
    on_one_stream();
    facts();
    pairwise_launches();
    exact_launches();
    runtime_failures(FASTREDUCE_V0, 100, 1, 1); /* needs no workspace */
    runtime_failures(FASTREDUCE_AUTO, 100, 2, 2);
    runtime_failures(FASTREDUCE_V0, n, 3, 4);
    runtime_failures(FASTREDUCE_AUTO, 50000, 2, 5);
    runtime_failures(FASTREDUCE_AUTO, 50000, 2, 5, true);
    runtime_failures(FASTREDUCE_EXACT, 100, 2, 2);
    runtime_failures(FASTREDUCE_EXACT, 50000, 2, 5);
    shared_memory_failures();
    other_types();
    no_device();
    capture_mode_failures();
#else
    beside_a_capture();
    streams_and_graphs(argc > 1 ? std::strtoull(argv[1], nullptr, 10) : (size_t(1) << 22) + 5);
#endif
    return check::finish("launcher");
}
