/* The C launcher: every refusal, statuses and names, configurations, the pool, failures of the
 * runtime; on a GPU also streams, graphs and pinned output. A refused call leaves output and
 * workspace as they were. */
#define FASTREDUCE_IMPLEMENTATION
#include "../../fastreduce.cuh"
#include "../common/check.h"
#include "../common/names.h"
#ifdef SIMT_MACHINE
namespace fastreduce::FASTREDUCE_DETAIL_ABI::detail
{
SIMT_DYNAMIC_SHARED(dynamic_shared_bytes)
}
#endif

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
    s.config.workspace_bytes = fastreduce_workspace_bytes(n, &s.config) - 1;
    refuse("workspace too small", FASTREDUCE_ERROR_WORKSPACE_TOO_SMALL, in, total, n);
    s.config.workspace = s.workspace.data() + 8;
    refuse("misaligned workspace", invalid, in, total, n);
    s.config.workspace = s.workspace.data();
    s.config.workspace_bytes = s.workspace.bytes();
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
                const fastreduce::detail::plan made =
                    fastreduce::detail::make_plan(count, tile, sizeof(float));
                const bool fits = made.blocks[0] <= 0x7fffffff;
                check::that(fastreduce_workspace_bytes(count, &config) ==
                                (fits ? made.workspace_bytes : 0),
                            "%s, block %u, n %zu: %zu bytes", fastreduce_kernel_name(config.kernel),
                            block_size, count, fastreduce_workspace_bytes(count, &config));
            }
        }
        config = {};
        check::that(fastreduce_workspace_bytes(count, &config) ==
                        fastreduce::detail::auto_workspace_bytes(count),
                    "auto, n %zu: bytes", count);
        config.kernel = FASTREDUCE_EXACT;
        check::that(fastreduce_workspace_bytes(count, &config) ==
                        fastreduce::detail::exact_workspace_bytes(count),
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
 * for another's; a failure is reported and not remembered. */
static void facts()
{
    for (int number : {1, 2, 31, 32, 63, 64, 65, 1000}) {
        simt::gpu device;
        device.number = number;
        device.multiprocessors = 100 + number;
        device.shared_bytes = 200000 + number;
        device.ptx_version = number % 2 ? 90 : 89;
        simt::set_gpu(device);
        using namespace fastreduce::detail;
        const auto ring = launch_of(auto_kernel::ring_256);
        gpu_facts gpu = {};
        for (unsigned k = 1; k <= 4; ++k) {
            simt::fail_call(k);
            check::that(find_gpu_facts(ring, &gpu) != cudaSuccess, "device %d: call %u failed",
                        number, k);
            simt::fail_call(0);
        }
        for (unsigned turn = 0; turn < 3; ++turn) {
            const unsigned long long before = simt::calls();
            gpu = {};
            check::that(find_gpu_facts(ring, &gpu) == cudaSuccess &&
                            gpu.multiprocessors == 100u + static_cast<unsigned>(number) &&
                            gpu.shared_bytes == 200000u + static_cast<unsigned>(number) &&
                            gpu.hopper == (number % 2 == 1),
                        "device %d: %u multiprocessors, %u bytes", number, gpu.multiprocessors,
                        gpu.shared_bytes);
            check::that(simt::calls() - before == (number >= 64 ? 4
                                                   : turn == 0  ? 2
                                                                : 1),
                        "device %d: %llu calls", number, simt::calls() - before);
        }
        /* another kernel of the program may be compiled for another
         * architecture: each is asked itself */
        simt::gpu older = device;
        older.ptx_version = 80;
        simt::set_gpu(older);
        bool hopper = true;
        check::that(find_hopper(launch_of(auto_kernel::dealt_512x2), number, &hopper) ==
                            cudaSuccess &&
                        !hopper,
                    "device %d: another kernel's answer", number);
        check::that(find_gpu_facts(ring, &gpu) == cudaSuccess &&
                        (gpu.hopper || number % 2 == 0 || number > 63),
                    "device %d: the ring's answer is forgotten", number);
    }
    simt::set_gpu(simt::gpu());
}

/* The first use of AUTO asks for the device's properties: a failure there is reported, and not
 * remembered. Must run before any other use of AUTO. */
static void first_use()
{
    setup s;
    s.config.kernel = FASTREDUCE_AUTO;
    /* the device, its two attributes, what the ring is compiled for, then, remembering these,
     * what the kernel to be launched is compiled for, and the launch */
    for (unsigned k : {1u, 2u, 3u, 4u, 3u, 3u}) {
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

/* Every runtime call of a sum fails once: an error comes back, nothing
 * leaks, and the next sum is right. */
static void runtime_failures(fastreduce_kernel kernel, size_t size, unsigned calls_with_workspace,
                             unsigned calls_with_pool)
{
    for (bool pooled : {false, true}) {
        setup s(size);
        s.config.kernel = kernel;
        if (pooled) s.config.workspace = nullptr;
        /* and not a byte more */
        s.config.workspace_bytes = fastreduce_workspace_bytes(size, &s.config);
        const size_t live = simt::live_allocations();
        const auto sum = [&] {
            return fastreduce_sum_f32(s.input.data(), s.output.data(), s.values.size(), &s.config);
        };
        check::that(sum() == FASTREDUCE_SUCCESS, "the first sum, which asks for more");
        const unsigned long long before = simt::calls();
        check::that(sum() == FASTREDUCE_SUCCESS, "sum");
        const unsigned calls = static_cast<unsigned>(simt::calls() - before);
        check::that(calls == (pooled ? calls_with_pool : calls_with_workspace), "%u runtime calls",
                    calls);
        s.right("before any failure");
        for (unsigned k = 1; k <= calls; ++k) {
            simt::fail_call(k);
            const fastreduce_status status =
                fastreduce_sum_f32(s.input.data(), s.output.data(), s.values.size(), &s.config);
            simt::fail_call(0);
            check::that(status > 0, "runtime call %u failed, status %d", k, status);
            const bool last_launch_ran = k == calls;
            if (!last_launch_ran)
                check::that(s.output.every_byte_is(0x5a), "call %u failed, output touched", k);
            /* a failed free or clearing is the one thing that cannot be undone */
            if (k < calls)
                check::that(simt::live_allocations() == live, "call %u failed, memory leaked", k);
            if (k < calls)
                check::that(s.workspace.every_byte_is(0), "call %u failed, workspace dirty", k);
            s.workspace.fill(0);
            s.output.fill(0x5a);
            check::that(fastreduce_sum_f32(s.input.data(), s.output.data(), s.values.size(),
                                           &s.config) == FASTREDUCE_SUCCESS,
                        "the sum after failure %u", k);
            s.right("the sum after a failure");
        }
    }
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
            check::that(check::plausible_sum(summed, check::data::uniform, pinned[k],
                                             check::tree_depth(many, FASTREDUCE_BLOCK_SIZE, items)),
                        "%s, stream %d: %.9g", fastreduce_kernel_name(config[k].kernel), k,
                        pinned[k]);
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
#endif

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
    words();
    defaults();
    workspaces();
#ifdef SIMT_MACHINE
    levels();
    on_one_stream();
    facts();
    runtime_failures(FASTREDUCE_V0, 100, 1, 1); /* needs no workspace */
    runtime_failures(FASTREDUCE_AUTO, 100, 2, 2);
    runtime_failures(FASTREDUCE_V0, n, 3, 4);
    runtime_failures(FASTREDUCE_AUTO, 50000, 2, 5);
    runtime_failures(FASTREDUCE_EXACT, 50000, 2, 5);
    runtime_failures(FASTREDUCE_EXACT, (1 << 21) + 1, 3,
                     6); /* its kernel asks for more shared memory */
    no_device();
#else
    streams_and_graphs(argc > 1 ? std::strtoull(argv[1], nullptr, 10) : (size_t(1) << 22) + 5);
#endif
    return check::finish("launcher");
}
