/* fastreduce_fold: of every type, by every operator that it has, each result has the bits of the
 * pairwise reduction and of a column of fastreduce_reduce_axis, wherever buffers begin and however
 * many there are; in place; in a captured graph; refusals. Inputs end where their memory does.
 * Parts: names of types, `refusals`. */
#include <cuda_runtime.h>
#ifndef FASTREDUCE_WITH_SHAPES
#define FASTREDUCE_WITH_SHAPES
#endif
#define FASTREDUCE_IMPLEMENTATION
#define FASTREDUCE_OPERATORS \
    FASTREDUCE_SUM, FASTREDUCE_MIN, FASTREDUCE_MAX, FASTREDUCE_MEAN, FASTREDUCE_PRODUCT
#define FASTREDUCE_NO_LADDER
#define FASTREDUCE_NO_EXACT
#include "../../fastreduce.cuh"
#include "../common/check.h"
#include "../common/dynamic_shared.h"
#include "../common/elements.h"
#include "../common/exact_input.h"
#include "../common/order.h"
#include "../common/pairwise.h"
#include "../common/parts.h"
#include "../common/turns.h"
#include <memory>

namespace detail = fastreduce::detail;

constexpr fastreduce_operator folding[] = {FASTREDUCE_SUM, FASTREDUCE_MIN, FASTREDUCE_MAX,
                                           FASTREDUCE_MEAN};

/* ---- What is right ---- */

static bool same(fastreduce_type type, const unsigned char *got, const unsigned char *wanted)
{
    const size_t size = fastreduce_type_size(type);
    u64 bits[2] = {};
    std::memcpy(bits, got, size);
    std::memcpy(bits + 1, wanted, size);
    return bits[0] == bits[1] || (type < FASTREDUCE_I8 && std::isnan(result_of(type, bits[0])) &&
                                  std::isnan(result_of(type, bits[1])));
}

/* Rows, and the result of each column by the six lines or, where nothing rounds, by the CPU. */
template <class T>
struct table {
    fastreduce_operator op;
    size_t count, n;
    fastreduce_config config = {};
    fastreduce_type output_type; /* of results */
    size_t size;
    std::vector<std::vector<T>> rows;
    std::vector<unsigned char> wanted;
    char text[100];

    table(fastreduce_operator by, size_t buffers, size_t elements, u64 seed = 0,
          bool rounds = false)
        : op(by), count(buffers), n(elements),
          output_type(rounds ? type_of<T> : fastreduce_output_type(type_of<T>, op)),
          size(fastreduce_type_size(output_type)), wanted(n * size)
    {
        if (rounds) config.output_type = output_type;
        constexpr data kinds[] = {data::usual, data::few, data::wide, data::mixed, data::near_one};
        std::snprintf(text, sizeof text, "%s %s of %zu buffers of %zu as %s",
                      fastreduce_type_name(type_of<T>), fastreduce_operator_name(op), count, n,
                      fastreduce_type_name(output_type));
        for (size_t k = 0; k < count; ++k) {
            rows.push_back(make<T>(kinds[(n + count) % 5], n, 64 * (n + seed) + k));
            if constexpr (is_float<T>)
                for (size_t i = 0; i < n; ++i) {
                    if (i % 7 == 3) rows[k][i] = from_bits<T>(sign_bit<T>); /* of -0 alone */
                    if (i % 31 == 5 && k == i % count)
                        rows[k][i] = from_bits<T>(infinity_bits<T> | (i % 2 ? 1 : sign_bit<T>));
                }
        }
        std::vector<T> column(count + 1);
        for (size_t i = 0; i < n; ++i) {
            u64 bits = 0;
            for (size_t k = 0; k < count; ++k) column[k] = rows[k][i];
            if (!pairwise::result(type_of<T>, op, column.data(), count, &bits))
                fastreduce_host_pairwise(column.data(), &bits, count, type_of<T>, op,
                                         FASTREDUCE_DEFAULT_TYPE);
            if (rounds) bits = pairwise::nearest(type_of<T>, bits);
            std::memcpy(&wanted[i * size], &bits, size);
        }
    }
    void compare(const std::vector<unsigned char> &got, const char *what) const
    {
        size_t wrong = 0, first = 0;
        for (size_t i = n; i-- > 0;) {
            if (same(output_type, &got[i * size], &wanted[i * size])) continue;
            ++wrong;
            first = i;
        }
        u64 bits[2] = {};
        std::memcpy(bits, got.data() + first * size, size);
        std::memcpy(bits + 1, wanted.data() + first * size, size);
        check::that(wrong == 0, "%s, %s: %zu wrong, the first %zu: %llx, not %llx", text, what,
                    wrong, first, bits[0], bits[1]);
    }
};

/* ---- Calls ---- */

/* Elements from a multiple of 256 bytes to buffer 0, to each further one, and to the output. */
struct offsets {
    const char *name;
    size_t first, step, output;
    bool in_vectors; /* if there are two buffers */
};
constexpr offsets all_offsets[] = {{"aligned", 0, 0, 0, true},
                                   {"equal offsets", 3, 0, 3, true},
                                   {"apart by 16 elements", 1, 16, 17, true},
                                   {"unequal offsets", 1, 1, 1, false},
                                   {"another output", 0, 0, 1, false}};

template <class T>
static void fold(const table<T> &t, const offsets &at)
{
    std::vector<std::unique_ptr<exact_input<T>>> inputs;
    std::vector<const void *> pointers;
    for (size_t k = 0; k < t.count; ++k) {
        inputs.push_back(std::make_unique<exact_input<T>>(t.rows[k], at.first + k * at.step));
        pointers.push_back(inputs[k]->data());
    }
    check::buffer<unsigned char> output(t.n * t.size, at.output * t.size);
    order::next();
    detail::buffer_list buffers = {{}, output.data(), t.count, t.n, t.size, 0, 0, 0};
    std::copy(pointers.begin(), pointers.end(), buffers.input);
    const detail::operator_entry entry =
        detail::find_kernels<detail::buffers_part>(type_of<T>, t.op, FASTREDUCE_AUTO, false);
    const size_t tiles = detail::plan_buffers(*entry.kernels, buffers, {}, {}).buffers.tiles;
    check::that(t.count < 2 || t.n < 20000 || (tiles > 0) == at.in_vectors, "%s, %s: %zu tiles",
                t.text, at.name, tiles);
    const fastreduce_status status =
        fastreduce_fold(pointers.data(), t.count, output.data(), t.n, type_of<T>, t.op, &t.config);
    std::fill(pointers.begin(), pointers.end(), nullptr);
    CUDA(cudaDeviceSynchronize());
    order::usual();
    check::that(status == 0, "%s, %s: status %d %s", t.text, at.name, status, order::report());
    check::that(output.canaries_alive(), "%s, %s: a write outside", t.text, at.name);
    t.compare(output.get(), at.name);
}

/* With the output in the place of each of a few buffers, all of which stay as they are otherwise.
 */
template <class T>
static void in_place(const table<T> &t, const offsets &at)
{
    if (t.output_type != type_of<T>) return;
    for (size_t target : {size_t(0), t.count / 2, t.count - 1}) {
        std::vector<std::unique_ptr<check::buffer<T>>> inputs;
        std::vector<const void *> pointers;
        for (size_t k = 0; k < t.count; ++k) {
            inputs.push_back(std::make_unique<check::buffer<T>>(t.n, at.first + k * at.step));
            inputs[k]->set(t.rows[k]);
            pointers.push_back(inputs[k]->data());
        }
        T *const output = inputs[target]->data();
        const fastreduce_status status =
            fastreduce_fold(pointers.data(), t.count, output, t.n, type_of<T>, t.op, &t.config);
        CUDA(cudaDeviceSynchronize());
        check::that(status == 0, "%s in place, %s: status %d", t.text, at.name, status);
        for (size_t k = 0; k < t.count; ++k) {
            const std::vector<T> got = inputs[k]->get();
            std::vector<unsigned char> bytes(t.n * sizeof(T));
            std::memcpy(bytes.data(), got.data(), bytes.size());
            check::that(
                inputs[k]->canaries_alive() &&
                    (k == target || std::memcmp(got.data(), t.rows[k].data(), bytes.size()) == 0),
                "%s in place, %s: a write outside", t.text, at.name);
            if (k == target) t.compare(bytes, "in place");
        }
    }
}

template <class T>
static void as_columns(const table<T> &t)
{
    std::vector<T> values;
    for (const std::vector<T> &row : t.rows) values.insert(values.end(), row.begin(), row.end());
    const exact_input<T> input(values, 0);
    check::buffer<unsigned char> output(t.n * t.size);
    const fastreduce_shape shape = {1, t.count, t.n, 0, 0};
    const fastreduce_status status =
        fastreduce_reduce_axis(input.data(), output.data(), &shape, type_of<T>, t.op, &t.config);
    CUDA(cudaDeviceSynchronize());
    check::that(status == 0, "%s, reduce_axis: status %d", t.text, status);
    t.compare(output.get(), "reduce_axis");
}

#ifndef SIMT_MACHINE
/* Each replay reads what is in the buffers then. */
template <class T>
static void in_graph(const table<T> &t, const table<T> &later)
{
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    fastreduce_config config = {};
    CUDA(cudaStreamCreateWithFlags(&config.stream, cudaStreamNonBlocking));
    std::vector<std::unique_ptr<check::buffer<T>>> inputs;
    std::vector<const void *> pointers;
    for (size_t k = 0; k < t.count; ++k) {
        inputs.push_back(std::make_unique<check::buffer<T>>(t.n));
        pointers.push_back(inputs[k]->data());
    }
    check::buffer<unsigned char> output(t.n * t.size);
    CUDA(cudaStreamBeginCapture(config.stream, cudaStreamCaptureModeGlobal));
    check::that(fastreduce_fold(pointers.data(), t.count, output.data(), t.n, type_of<T>, t.op,
                                &config) == 0,
                "%s: capture", t.text);
    CUDA(cudaStreamEndCapture(config.stream, &graph));
    CUDA(cudaGraphInstantiateWithFlags(&executable, graph, 0));
    std::fill(pointers.begin(), pointers.end(), nullptr);
    for (const table<T> *now : {&t, &later, &t}) {
        for (size_t k = 0; k < t.count; ++k) inputs[k]->set(now->rows[k]);
        CUDA(cudaDeviceSynchronize());
        CUDA(cudaGraphLaunch(executable, config.stream));
        CUDA(cudaStreamSynchronize(config.stream));
        now->compare(output.get(), "in a graph");
    }
    CUDA(cudaGraphExecDestroy(executable));
    CUDA(cudaGraphDestroy(graph));
    CUDA(cudaStreamDestroy(config.stream));
}
#endif

template <class T>
static void type()
{
    if constexpr (detail::holds(detail::built_types, type_of<T>)) {
        if (!asked_for(fastreduce_type_name(type_of<T>))) return;
        size_t turn = 0;
        for (fastreduce_operator op : folding)
            for (size_t count : {0, 1, 2, 3, 5, 8, 9, 12, 17, 63, 64})
                for (size_t n : {1, 2, 7, 16, 33, 300, on_gpu ? 100003 : 2048}) {
                    const bool rounds = pairwise::has_16_bits(type_of<T>, op) && turn % 2;
                    const table<T> t(op, count, n, 0, rounds);
                    if (count > 0) as_columns(t);
                    ++turn;
                    for (const offsets &at : all_offsets) /* all, or one */
                        if (on_gpu || n == 33 || &at == all_offsets + turn % 5) fold(t, at);
                    if (count > 0 && n >= 16) in_place(t, all_offsets[turn % 4]);
                }
        for (size_t count : {1, 2, 7})
            for (fastreduce_operator op : {FASTREDUCE_MEAN, FASTREDUCE_MIN})
                for (const bool rounds : {false, true}) {
                    if (rounds && !pairwise::has_16_bits(type_of<T>, op)) continue;
                    /* of vectors, in several blocks */
                    const table<T> t(op, count, 20000, 0, rounds);
                    for (const offsets &at : all_offsets) fold(t, at);
                    in_place(t, all_offsets[1]);
                }
#ifndef SIMT_MACHINE
        in_graph(table<T>(FASTREDUCE_MEAN, 5, 999), table<T>(FASTREDUCE_MEAN, 5, 999, 1));
#endif
    }
}

/* ---- Refusals ---- */

static void refusals()
{
    constexpr size_t n = 40;
    check::buffer<float> a(n + 1), b(n), output(n);
    check::buffer<unsigned char> workspace(FASTREDUCE_WORKSPACE_BYTES);
    check::buffer<size_t> length(1);
    output.fill(0x7b);
    const void *inputs[65];
    for (const void *&input : inputs) input = b.data();
    inputs[0] = a.data();
    const auto call = [&](const char *what, fastreduce_status wanted, size_t count, void *to,
                          size_t elements, fastreduce_type type, fastreduce_operator op,
                          const fastreduce_config &config = {}, const void *const *from = nullptr) {
        const fastreduce_status got =
            fastreduce_fold(from ? from : inputs, count, to, elements, type, op, &config);
        CUDA(cudaDeviceSynchronize());
        check::that(got == wanted, "%s: status %d, not %d", what, got, wanted);
        check::that(output.every_byte_is(0x7b), "%s: a write", what);
    };
    constexpr fastreduce_type f32 = FASTREDUCE_F32;
    constexpr fastreduce_operator sum = FASTREDUCE_SUM;
    constexpr fastreduce_status invalid = FASTREDUCE_ERROR_INVALID_ARGUMENT,
                                unsupported = FASTREDUCE_ERROR_UNSUPPORTED;
    float *const to = output.data();
    const auto changed = [](auto member, auto value) {
        fastreduce_config config = {};
        config.*member = value;
        return config;
    };
    call("65 buffers", invalid, 65, to, n, f32, sum);
    call("65 buffers of nothing", invalid, 65, to, 0, f32, sum);
    call("no such type", invalid, 2, to, n, static_cast<fastreduce_type>(99), sum);
    call("no such operator", invalid, 2, to, 0, f32, static_cast<fastreduce_operator>(99));
    call("no such kernel", invalid, 2, to, n, f32, sum,
         changed(&fastreduce_config::kernel, static_cast<fastreduce_kernel>(99)));
    call("no output", invalid, 2, nullptr, n, f32, sum);
    call("no output for identities", invalid, 0, nullptr, n, f32, sum);
    call("a misaligned output", invalid, 2, reinterpret_cast<char *>(to) + 2, n - 1, f32, sum);
    call("too long", invalid, 2, to, ~size_t(0) / 8, f32, sum);
    const void *pair[2] = {a.data(), nullptr};
    call("a null input", invalid, 2, to, n, f32, sum, {}, pair);
    pair[1] = reinterpret_cast<const char *>(b.data()) + 2;
    call("a misaligned input", invalid, 2, to, n - 1, f32, sum, {}, pair);
    pair[1] = to + 1;
    call("an output that begins before an input", invalid, 2, to, n, f32, sum, {}, pair);
    pair[1] = to;
    call("an output that begins in an input", invalid, 2, to + 1, n - 1, f32, sum, {}, pair);
    call("means of integers in place", invalid, 2, to, n / 2, FASTREDUCE_U32, FASTREDUCE_MEAN, {},
         pair);
    check::that(fastreduce_fold(nullptr, 2, to, n, f32, sum, nullptr) == invalid, "no pointers");
    call("a length on the device, misaligned", invalid, 2, to, n, f32, sum,
         changed(&fastreduce_config::n_on_device,
                 reinterpret_cast<const size_t *>(reinterpret_cast<char *>(length.data()) + 4)));
    fastreduce_config inside = {};
    inside.workspace = to - reinterpret_cast<uintptr_t>(to) / sizeof(float) % 4;
    inside.workspace_bytes = n;
    call("a workspace in the output", invalid, 2, to, n, f32, sum, inside);
    call("a length on the device", unsupported, 2, to, n, f32, sum,
         changed(&fastreduce_config::n_on_device, static_cast<const size_t *>(length.data())));
    for (fastreduce_kernel kernel : {FASTREDUCE_V0, FASTREDUCE_V7, FASTREDUCE_EXACT})
        call("another kernel", unsupported, 2, to, n, f32, sum,
             changed(&fastreduce_config::kernel, kernel));
    for (fastreduce_operator op : {FASTREDUCE_PRODUCT, FASTREDUCE_ARGMIN, FASTREDUCE_SUM_ABS,
                                   FASTREDUCE_MAX_ABS, FASTREDUCE_VARIANCE, FASTREDUCE_MIN_MAX})
        call("another operator", unsupported, 2, static_cast<void *>(to), n / 2, f32, op);
    for (fastreduce_type other : {FASTREDUCE_F64, FASTREDUCE_F16, FASTREDUCE_BF16, FASTREDUCE_I32})
        call("another type of results", unsupported, 2, to, n / 2, f32, sum,
             changed(&fastreduce_config::output_type, other));
    call("bf16 of f16", unsupported, 2, to, n / 2, FASTREDUCE_F16, sum,
         changed(&fastreduce_config::output_type, FASTREDUCE_BF16));
    call("floats in place of f16", invalid, 1, a.data(), n / 4, FASTREDUCE_F16, sum);
    for (fastreduce_operator op : folding)
        call("a second output", unsupported, 2, to, n, f32, op,
             changed(&fastreduce_config::second_output, static_cast<void *>(workspace.data())));
    call("nothing, to nowhere", FASTREDUCE_SUCCESS, 2, nullptr, 0, f32, sum);
    check::that(fastreduce_fold(nullptr, 64, nullptr, 0, f32, sum, nullptr) == 0, "nothing");
    check::that(fastreduce_supports_shapes(f32, FASTREDUCE_MEAN, FASTREDUCE_AUTO) == 1, "supports");
    check::that(output.canaries_alive(), "a write outside");
}

int main(int argc, char **argv)
{
    parse_parts(argc, argv);
    check::need_device();
    for_each_type<f16, bf16>([](auto zero) { type<decltype(zero)>(); });
    if (asked_for("refusals")) refusals();
    return check::finish("fold");
}
