/* What the programs of calls have in common: bench and bench_types. Calls are timed in turns, in
 * graphs or one by one; comes after measure.cuh. */
#ifndef FASTREDUCE_EXAMPLES_CALLS_CUH
#define FASTREDUCE_EXAMPLES_CALLS_CUH

#include <functional>

/* What is done; all but the last say how the sums are called that are timed. */
enum class mode { cold, warm, isolated, after_producer, errors };

/* As in: inputs ... */
inline const char *in_words(mode how)
{
    switch (how) {
    case mode::warm: return "warm";
    case mode::isolated: return "out of L2, one call at a time";
    case mode::after_producer: return "just updated, by a producer whose time is taken off";
    default: return "out of L2";
    }
}

/* What both command lines ask for. */
struct request {
    std::vector<size_t> sizes;
    bool csv = false, json = false;
    mode how = mode::cold;
    int replays = 0; /* by what is wanted */
};

inline int replays_of(const request &wanted, size_t n)
{
    if (wanted.replays > 0) return wanted.replays;
    return wanted.how == mode::isolated && n <= size_t(1) << 26 ? 41 : 15;
}

struct contender {
    std::string name;
    unsigned block_size; /* 0: its own */
    bool capturable;     /* else it is timed call by call */
    bool magnitudes;     /* sums |x| */
    bool sums;           /* has a result to check */
    std::function<void(const float *input, float *output, size_t n, cudaStream_t stream)> enqueue;
    bool after_first = false; /* enqueues the list's first as well, whose time is taken off */
};

/* Inputs of n elements, and in what state calls find them. `calls` of them are timed together; they
 * take in turn the `parts` of memory that hold an input each. */
struct field {
    float *inputs = nullptr, *output = nullptr, *flush = nullptr;
    size_t floats = 0, flush_bytes = 0, n = 0, calls = 0, parts = 0, stride = 0;
    mode how = mode::cold;
    static constexpr size_t output_bytes = 16;

    void prepare(const device &gpu, size_t most, mode wanted, int kind)
    {
        how = wanted;
        flush_bytes = 3 * gpu.l2_bytes;
        floats = std::max(most, size_t(1) << 28) + 1024;
        CHECK(cudaMalloc(&inputs, floats * sizeof(float)));
        CHECK(cudaMalloc(&output, output_bytes));
        CHECK(cudaMalloc(&flush, flush_bytes));
        fill<<<2048, 256>>>(inputs, floats, kind);
        fill<<<2048, 256>>>(flush, flush_bytes / sizeof(float), kind);
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
    }
    void set(size_t count, size_t element_bytes = sizeof(float))
    {
        const size_t least = (count * element_bytes + sizeof(float) - 1) / sizeof(float);
        const size_t there = std::max<size_t>(1, floats / std::max<size_t>(least, 1024));
        n = count;
        switch (how) {
        case mode::isolated: calls = 1, parts = std::min<size_t>(512, there); break;
        case mode::after_producer: calls = 50, parts = 1; break; /* even: see negate */
        case mode::warm: calls = n >= size_t(1) << 20 ? 4 : 64, parts = 1; break;
        default: calls = parts = std::min<size_t>(64, there);
        }
        stride = (floats - 1024) / parts / 1024 * 1024;
    }
    /* Before what is timed. The output becomes NaN, or the flush's sum, so that calls that write
     * nothing are found. */
    void before(cudaStream_t stream) const
    {
        CHECK(cudaMemsetAsync(output, 0xff, output_bytes, stream));
        if (how == mode::cold) empty_cache(stream);
        if (how != mode::isolated) return;
        CHECK(
            cudaMemsetAsync(flush, 0, flush_bytes, stream)); /* L2 as a program leaves it: dirty */
        CHECK(cudaStreamSynchronize(stream));
    }
    /* By reading: what is written stays in the cache too, and has to be carried out first. */
    void empty_cache(cudaStream_t stream) const
    {
        fastreduce_config config = {};
        config.stream = stream;
        CHECK(fastreduce_sum_f32(flush, output, flush_bytes / sizeof(float), &config));
    }
    /* One part further each time round, or contenders as many as parts would keep to one each. The
     * last of a graph's calls has the first part, as has an isolated call number 0. */
    const float *input(size_t call) const
    {
        return inputs + (call + call / parts + calls * (parts - 1) + 1) % parts * stride;
    }
    template <class Result>
    Result result() const
    {
        Result value;
        CHECK(cudaMemcpy(&value, output, sizeof value, cudaMemcpyDeviceToHost));
        return value;
    }
};

/* What is timed of a contender: a graph of calls, or the calls themselves. */
struct prepared {
    const contender *what;
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    std::vector<double> times, host; /* microseconds a call; of host: on the CPU, without a graph */
};

inline void enqueue_all(const contender &c, const field &f, cudaStream_t stream, size_t first = 0)
{
    for (size_t k = 0; k < f.calls; ++k) c.enqueue(f.input(first + k), f.output, f.n, stream);
}

inline prepared prepare(const contender &c, const field &f, cudaStream_t stream)
{
    prepared p = {&c, nullptr, nullptr, {}, {}};
    enqueue_all(c, f, stream); /* warm-up */
    CHECK(cudaStreamSynchronize(stream));
    if (!c.capturable || f.how == mode::isolated) return p;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    enqueue_all(c, f, stream);
    CHECK(cudaStreamEndCapture(stream, &p.graph));
    CHECK(cudaGraphInstantiateWithFlags(&p.executable, p.graph, 0));
    CHECK(cudaGraphLaunch(p.executable, stream));
    CHECK(cudaStreamSynchronize(stream));
    return p;
}

/* Times in turns: one replay of each, then the next of each. Isolated calls take the parts of
 * memory one after the other; in the last turn all take the first. `last` gets the last results,
 * which are of the first part. */
template <class Result = float>
inline std::vector<timing> times_of(const std::vector<contender> &list, const field &f,
                                    cudaStream_t stream, int replays,
                                    std::vector<Result> *last = nullptr)
{
    const stopwatch watch(stream);
    std::vector<prepared> all;
    size_t calls = 0; /* isolated ones */
    for (const contender &c : list) all.push_back(prepare(c, f, stream));
    for (int r = 0; r < replays; ++r)
        for (prepared &p : all) {
            const size_t first = f.how == mode::isolated && r + 1 < replays ? ++calls : 0;
            f.before(stream);
            const double time = watch.microseconds([&] {
                if (p.executable) {
                    CHECK(cudaGraphLaunch(p.executable, stream));
                    return;
                }
                const double begin = seconds();
                enqueue_all(*p.what, f, stream, first);
                p.host.push_back(1e6 * (seconds() - begin) / static_cast<double>(f.calls));
            });
            p.times.push_back(time / static_cast<double>(f.calls));
            if (last && r + 1 == replays) last->push_back(f.result<Result>());
        }
    std::vector<timing> result;
    for (prepared &p : all) {
        if (p.what->after_first)
            for (int r = 0; r < replays; ++r) p.times[r] -= all[0].times[r];
        result.push_back(summary(p.times));
        if (!p.host.empty()) result.back().host = median(p.host.data(), p.host.size());
        if (p.executable) CHECK(cudaGraphExecDestroy(p.executable));
        if (p.graph) CHECK(cudaGraphDestroy(p.graph));
    }
    return result;
}

/* ---- Command lines -------------------------------------------------------------------------- */

inline std::vector<std::string> split(const std::string &text)
{
    std::vector<std::string> parts;
    for (size_t begin = 0; begin <= text.size();) {
        const size_t comma = std::min(text.find(',', begin), text.size());
        parts.push_back(text.substr(begin, comma - begin));
        begin = comma + 1;
    }
    return parts;
}

inline void take_sizes(const arguments &a, const char *text, std::vector<size_t> &sizes)
{
    for (const std::string &part : split(text)) {
        const uint64_t size = size_argument(&a, "no such size: ", part.c_str());
        if (size == 0 || size >= uint64_t(1) << 40) wrong_usage(&a, "no such size: ", part.c_str());
        sizes.push_back(size);
    }
}

inline void take_replays(const arguments &a, request &wanted)
{
    const uint64_t replays = size_argument(&a, "no such number of replays: ", a.value);
    if (replays == 0 || replays > 100000) wrong_usage(&a, "no such number of replays: ", a.value);
    wanted.replays = static_cast<int>(replays);
}

#endif
