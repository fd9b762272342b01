/* Shared by the bench programs: command lines, rows, and calls timed in turns, in graphs or
 * one by one. */
#ifndef FASTREDUCE_EXAMPLES_CALLS_CUH
#define FASTREDUCE_EXAMPLES_CALLS_CUH

#include "measure.cuh"
#include <cstring>
#include <functional>

/* ---- Command lines --------------------------------------------------------------------------- */

/* What is done; all but the last say how the calls are made that are timed. */
enum class mode { cold, warm, isolated, after_producer, errors };

/* As in the column `cache`, and as options, all but cold. */
inline const std::string &name_of(mode how)
{
    static const std::string names[] = {"cold", "warm", "isolated", "after-producer", "errors"};
    return names[static_cast<size_t>(how)];
}

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

struct request {
    std::vector<mode> modes; /* that the program has besides cold */
    std::vector<size_t> sizes = {};
    bool csv = false, json = false;
    mode how = mode::cold;
    int replays = 0; /* by what is wanted */
};

inline int replays_of(const request &wanted, size_t n)
{
    if (wanted.how == mode::errors) return 1;
    if (wanted.replays > 0) return wanted.replays;
    return wanted.how == mode::isolated && n <= size_t(1) << 26 ? 41 : 15;
}

inline std::vector<std::string> split(const std::string &text, char between = ',')
{
    std::vector<std::string> parts;
    for (size_t begin = 0; begin <= text.size();) {
        const size_t end = std::min(text.find(between, begin), text.size());
        parts.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return parts;
}

/* Whether the word is name=VALUE, --name=VALUE, or --name with VALUE as the next word. */
inline bool has_value(arguments &a, const std::string &name)
{
    if (is_option_with_value(&a, ("--" + name).c_str())) return true;
    if (std::strncmp(a.word, (name + "=").c_str(), name.size() + 1) != 0) return false;
    a.value = a.word + name.size() + 1;
    return true;
}

inline void take_sizes(const arguments &a, std::vector<size_t> &sizes)
{
    for (const std::string &part : split(a.value)) {
        const uint64_t size = size_argument(&a, "no such size: ", part.c_str());
        if (size == 0 || size >= uint64_t(1) << 40) wrong_usage(&a, "no such size: ", part.c_str());
        sizes.push_back(size);
    }
}

/* 2^first, ..., 2^last by 4, where no size is asked for. */
inline void default_sizes(request &wanted, int first, int last)
{
    if (wanted.sizes.empty())
        for (int k = first; k <= last; k += 2) wanted.sizes.push_back(size_t(1) << k);
}

/* The members of an enumeration with these names. */
template <class Member>
void take_names(const arguments &a, const char *complaint, int begin, int end,
                const char *(*name_of)(Member), std::vector<Member> &wanted)
{
    for (const std::string &part : split(a.value)) {
        const size_t before = wanted.size();
        for (int k = begin; k <= end; ++k)
            if (part == "all" || part == name_of(static_cast<Member>(k)))
                wanted.push_back(static_cast<Member>(k));
        if (wanted.size() == before) wrong_usage(&a, complaint, part.c_str());
    }
}

/* Whether the word is an option that all of them have, or a mode; two modes do not go together. */
inline bool take_option(arguments &a, request &wanted)
{
    for (mode how : wanted.modes) {
        if (!is_option(&a, ("--" + name_of(how)).c_str())) continue;
        if (wanted.how != mode::cold && wanted.how != how)
            wrong_usage(&a, ("--" + name_of(wanted.how) + " or ").c_str(),
                        (a.word + std::string(", not both")).c_str());
        wanted.how = how;
        return true;
    }
    if (has_value(a, "replays")) {
        const uint64_t replays = size_argument(&a, "no such number of replays: ", a.value);
        if (replays == 0 || replays > 100000)
            wrong_usage(&a, "no such number of replays: ", a.value);
        wanted.replays = static_cast<int>(replays);
        return true;
    }
    if (!is_option(&a, "--csv") && !is_option(&a, "--json")) return false;
    (is_option(&a, "--csv") ? wanted.csv : wanted.json) = true;
    if (wanted.csv && wanted.json) wrong_usage(&a, "--csv or --json, not both", "");
    return true;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* A number or a word of a row: under its name in CSV and JSON, under its head, which is as wide as
 * the column, in tables; where one of them is empty it is left out. NaN says that there is none. */
struct cell {
    std::string name, head, text, shown;
    bool quoted = false;

    cell(const char *n, const char *h, const std::string &word)
        : name(n), head(h), text(word), shown(word), quoted(true)
    {
    }
    /* a % sign in the table is for hundredths */
    cell(const char *n, const char *format, double x, const char *h = "",
         const char *table_format = "%.2f")
        : name(n), head(h), text(formatted(format, x)),
          shown(formatted(table_format, std::strstr(table_format, "%%") ? 100 * x : x))
    {
    }
    static std::string formatted(const char *format, double x)
    {
        char text[40];
        std::snprintf(text, sizeof text, format, x);
        return std::isnan(x) ? "" : text;
    }
    std::string in_csv() const { return text.find(' ') < text.size() ? '"' + text + '"' : text; }
    std::string in_json() const /* which knows no infinity */
    {
        return quoted ? '"' + text + '"' : text.empty() || text == "inf" ? "null" : text;
    }
    std::string in_table() const
    {
        const std::string space(head.size() - std::min(head.size(), shown.size()), ' ');
        return head.back() == ' ' ? shown + space : space + shown;
    }
};

/* Prints rows: tables, each under its title, or CSV, or JSON. */
struct printer {
    const request &wanted;
    std::string title = "none yet";
    bool first = true;

    static void line(std::string text)
    {
        text.resize(text.find_last_not_of(' ') + 1);
        std::printf("%s\n", text.c_str());
    }
    printer(const request &r, const std::string &heading) : wanted(r)
    {
        progress("");
        if (!wanted.csv && !wanted.json) line(heading);
    }
    ~printer()
    {
        if (wanted.json) std::printf("%s\n]\n", first ? "[" : "");
    }
    void row(const std::string &of, const std::vector<cell> &cells)
    {
        std::string head, values;
        for (const cell &c : cells) {
            const bool table = !wanted.csv && !wanted.json;
            if ((table ? c.head : c.name).empty()) continue;
            head += table ? c.head + ' ' : (head.empty() ? "" : ",") + c.name;
            if (table)
                values += c.in_table() + ' ';
            else if (wanted.csv)
                values += (values.empty() ? "" : ",") + c.in_csv();
            else
                values += (values.empty() ? "{\"" : ", \"") + c.name + "\": " + c.in_json();
        }
        progress("");
        if (!wanted.csv && !wanted.json && title != of) line(of.empty() ? "" : "\n" + of);
        if (wanted.csv ? first : !wanted.json && title != of) line(head);
        if (wanted.json)
            std::printf("%s%s}", first ? "[\n" : ",\n", values.c_str());
        else
            line(values);
        title = of;
        first = false;
        std::fflush(stdout);
    }
};

/* ---- Calls ----------------------------------------------------------------------------------- */

/* Of ours and of the peers. */
struct scratch {
    void *workspace = nullptr, *peers = nullptr;
    size_t workspace_bytes;
    static constexpr size_t peers_bytes = size_t(256) << 20;

    explicit scratch(size_t bytes = FASTREDUCE_WORKSPACE_BYTES) : workspace_bytes(bytes)
    {
        CHECK(cudaMalloc(&workspace, workspace_bytes));
        CHECK(cudaMalloc(&peers, peers_bytes));
        CHECK(fastreduce_workspace_init(workspace, workspace_bytes, nullptr));
        CHECK(cudaDeviceSynchronize());
    }
    fastreduce_config config(cudaStream_t stream, fastreduce_kernel kernel = FASTREDUCE_AUTO,
                             unsigned block_size = 0) const
    {
        fastreduce_config c = {};
        c.kernel = kernel;
        c.block_size = block_size;
        c.workspace = workspace;
        c.workspace_bytes = workspace_bytes;
        c.stream = stream;
        return c;
    }
};

/* What is enqueued, of whatever type the elements are. */
struct call {
    const float *input;
    float *output;
    size_t n;
    cudaStream_t stream;
};

struct contender {
    std::string name;
    std::function<void(const call &c)> enqueue;
    unsigned block_size = 0;  /* 0: its own */
    bool capturable = true;   /* else it is timed call by call */
    bool magnitudes = false;  /* sums |x| */
    bool sums = true;         /* has a result to check */
    bool after_first = false; /* enqueues the list's first as well, whose time is taken off */
};

/* Inputs of n elements, and in what state calls find them. `calls` of them are timed together; they
 * take in turn the `parts` of memory that hold an input each. */
struct field {
    float *inputs = nullptr, *output = nullptr, *flush = nullptr;
    size_t floats, flush_bytes, n = 0, calls = 0, parts = 0, stride = 0;
    mode how;
    static constexpr size_t output_bytes = 16;

    field(const device &gpu, size_t most_bytes, mode wanted, int kind = 0)
        : floats(std::max(most_bytes / sizeof(float) + 1, size_t(1) << 28) + 1024),
          flush_bytes(3 * gpu.l2_bytes), how(wanted)
    {
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
        case mode::errors: calls = parts = 1; break;
        case mode::isolated: calls = 1, parts = std::min<size_t>(512, there); break;
        case mode::after_producer: calls = 50, parts = 1; break; /* even: see negate */
        case mode::warm: calls = n >= size_t(1) << 20 ? 4 : 64, parts = 1; break;
        default: calls = parts = std::min<size_t>(64, there);
        }
        stride = (floats - 1024) / parts / 1024 * 1024;
    }
    /* Before what is timed. The output becomes NaN, or the flush's sum, so that calls that write
     * nothing are found. A cache is emptied by reading, as writes stay in it and have to be carried
     * out; before a single call it is dirty, as a program leaves it. */
    void before(cudaStream_t stream) const
    {
        fastreduce_config config = {};
        config.stream = stream;
        CHECK(cudaMemsetAsync(output, 0xff, output_bytes, stream));
        if (how == mode::cold)
            CHECK(fastreduce_sum_f32(flush, output, flush_bytes / sizeof(float), &config));
        if (how != mode::isolated) return;
        CHECK(cudaMemsetAsync(flush, 0, flush_bytes, stream));
        CHECK(cudaStreamSynchronize(stream));
    }
    /* One part further each time round, or contenders as many as parts would keep to one each. The
     * last of a graph's calls has the first part, as has an isolated call number 0. */
    const float *input(size_t call) const
    {
        return inputs + (call + call / parts + calls * (parts - 1) + 1) % parts * stride;
    }
};

/* What is timed of a contender: a graph of calls, or the calls themselves. */
struct prepared {
    const contender *what;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    std::vector<double> times = {}, host = {}; /* microseconds a call; host: on the CPU */
    uint64_t result = 0;
};

inline void enqueue_all(const contender &c, const field &f, cudaStream_t stream, size_t first = 0)
{
    for (size_t k = 0; k < f.calls; ++k) c.enqueue({f.input(first + k), f.output, f.n, stream});
}

inline prepared prepare(const contender &c, const field &f, cudaStream_t stream)
{
    prepared p = {&c};
    enqueue_all(c, f, stream); /* warm-up */
    CHECK(cudaStreamSynchronize(stream));
    if (!c.capturable || f.how == mode::isolated || f.how == mode::errors) return p;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    enqueue_all(c, f, stream);
    CHECK(cudaStreamEndCapture(stream, &p.graph));
    CHECK(cudaGraphInstantiateWithFlags(&p.executable, p.graph, 0));
    CHECK(cudaGraphLaunch(p.executable, stream));
    CHECK(cudaStreamSynchronize(stream));
    return p;
}

/* Times in turns: one replay of each, then the next of each. Isolated calls take the parts of
 * memory one after the other; in the last turn, whose results are kept, all take the first. */
inline std::vector<timing> times_of(const std::vector<contender> &list, const field &f,
                                    cudaStream_t stream, int replays, const std::string &what)
{
    const stopwatch watch(stream);
    std::vector<prepared> all;
    size_t calls = 0; /* isolated ones */
    progress(what + ", n = " + std::to_string(f.n));
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
            if (r + 1 == replays)
                CHECK(cudaMemcpy(&p.result, f.output, sizeof p.result, cudaMemcpyDeviceToHost));
        }
    std::vector<timing> result;
    for (prepared &p : all) {
        if (p.what->after_first)
            for (int r = 0; r < replays; ++r) p.times[r] -= all[0].times[r];
        timing t = summary(p.times);
        if (!p.host.empty()) t.host = median(p.host.data(), p.host.size());
        t.name = p.what->name;
        t.result = p.result;
        result.push_back(t);
        if (p.executable) CHECK(cudaGraphExecDestroy(p.executable));
        if (p.graph) CHECK(cudaGraphDestroy(p.graph));
    }
    return result;
}

/* That of the contender with this name; without one there are no times. */
inline timing of(const std::vector<timing> &times, const char *name)
{
    for (const timing &t : times)
        if (t.name == name) return t;
    return {};
}

#endif
