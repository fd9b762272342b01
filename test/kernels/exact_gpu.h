/* What only a GPU is fast enough for: runs so long that sums must be flushed on the way, 10^4
 * permutations and splits, sizes past 2^31 and 2^33. Included by test_exact.cpp. */

/* One value, or one period of values, again and again. */
__global__ void repeat(float *data, size_t n, const float *period, size_t length)
{
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n;
         i += size_t(gridDim.x) * blockDim.x)
        data[i] = period[i % length];
}

/* The exact sum of n floats that repeat a period: an oracle that needs not read them. */
static fastreduce_accumulator sum_of_repeated(const std::vector<float> &period, size_t n)
{
    const fastreduce_accumulator once = exact_data::accumulated(period.data(), period.size()),
                                 rest = exact_data::accumulated(period.data(), n % period.size());
    fastreduce_accumulator total =
        exact_data::repeated(once, static_cast<long long>(n / period.size()));
    fastreduce_accumulator_merge(&total, &rest);
    return total;
}

static void expect_bits(const char *what, float got, const fastreduce_accumulator &wanted)
{
    const float right = fastreduce_accumulator_f32(&wanted);
    check::that(exact_data::bits_of(got) == exact_data::bits_of(right), "%s: %.9g instead of %.9g",
                what, static_cast<double>(got), static_cast<double>(right));
}

/* 2^20 floats a thread or 2^21: they are flushed often, where window and bins would each have
 * overflowed without. Values at the top of the window, values that only bins take, all special. */
static void long_runs()
{
    const size_t n = (size_t(1) << 29) + 11;
    check::buffer<float> input(n), output(1), period(4);
    check::buffer<status_word> words(superaccumulator<256>::status_words);
    words.fill(0);
    const float periods[][4] = {
        {1.99999988f, 1.99999988f, 1.99999988f, 1.99999988f},
        {FLT_MAX, 0x1p-149f, 0x1.fffffep-100f, 1.5f},
        {-0x1.fffffep+10f, -0x1.fffffep-119f, -0x1.fffffep+11f, -0x1.fffffep+126f},
        {INFINITY, INFINITY, INFINITY, INFINITY}};
    for (const auto &values : periods) {
        period.set(values);
        repeat<<<2048, 256>>>(input.data(), n, period.data(), 4);
        CUDA(cudaGetLastError());
        const fastreduce_accumulator wanted = sum_of_repeated({values, values + 4}, n);
        check::that(one_row::reduce_exact_in<superaccumulator<256>>(
                        1, input.data(), n, {output.data(), nullptr}, words.data()) == 0,
                    "a long run: status");
        CUDA(cudaDeviceSynchronize());
        expect_bits("a long run", output.get()[0], wanted);
        check::that(words.every_byte_is(0), "a long run: words left dirty");
    }
}

/* to[i] = from[(a * i + b) mod n] with n a prime: a permutation for every a from 1 to n - 1. */
__global__ void permute(float *to, const float *from, unsigned long long n, unsigned long long a,
                        unsigned long long b)
{
    for (unsigned long long i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += gridDim.x * blockDim.x)
        to[i] = from[(a * i + b) % n];
}

/* 10^4 orders, each summed whole and in three pieces of random lengths: one result. */
static void permutations()
{
    constexpr size_t n = 1000003, rounds = 10000;
    const std::vector<float> values = exact_data::make(exact_data::patterns()[4], n, 6);
    check::buffer<float> input(n), permuted(n), outputs(rounds);
    check::buffer<fastreduce_accumulator> totals(rounds);
    input.set(values);
    totals.fill(0);
    const expected wanted = expect("cancelling", values);
    fastreduce_config config = {};
    config.kernel = FASTREDUCE_EXACT;
    check::buffer<unsigned char> workspace(fastreduce_workspace_bytes(n, &config));
    workspace.fill(0);
    config.workspace = workspace.data();
    config.workspace_bytes = workspace.bytes();
    for (size_t r = 0; r < rounds; ++r) {
        const unsigned long long a = 1 + check::mix(r, 1) % (n - 1), b = check::mix(r, 2) % n;
        const size_t cut[4] = {0, check::mix(r, 3) % (n / 2), n / 2 + check::mix(r, 4) % (n / 2),
                               n};
        permute<<<512, 256>>>(permuted.data(), input.data(), n, a, b);
        CUDA(cudaGetLastError());
        bool good = fastreduce_sum_f32(permuted.data(), outputs.data() + r, n, &config) == 0;
        for (int k = 0; k < 3; ++k)
            good = good && fastreduce_accumulate_f32(permuted.data() + cut[k], totals.data() + r,
                                                     cut[k + 1] - cut[k], &config) == 0;
        check::that(good, "permutation %zu: status", r);
    }
    CUDA(cudaDeviceSynchronize());
    const std::vector<float> got = outputs.get();
    const std::vector<fastreduce_accumulator> sums = totals.get();
    for (size_t r = 0; r < rounds; ++r)
        check::that(exact_data::bits_of(got[r]) == exact_data::bits_of(wanted.sum) &&
                        same(sums[r], wanted.accumulator),
                    "permutation %zu: %.9g instead of %.9g", r, static_cast<double>(got[r]),
                    static_cast<double>(wanted.sum));
}

static void big()
{
    const std::vector<float> values = exact_data::make(exact_data::patterns()[1], 1048583, 8);
    check::buffer<float> period(values.size()), output(1);
    check::buffer<fastreduce_accumulator> total(1);
    period.set(values);
    for (size_t n : {(size_t(1) << 31) + 1, size_t(1) << 33}) {
        size_t free_bytes, all_bytes;
        CUDA(cudaMemGetInfo(&free_bytes, &all_bytes));
        if (free_bytes < n * sizeof(float) + (size_t(1) << 28)) {
            std::printf("SKIP: %zu floats do not fit in this GPU's memory\n", n);
            continue;
        }
        float *input;
        CUDA(cudaMalloc(&input, n * sizeof(float)));
        repeat<<<4096, 256>>>(input, n, period.data(), values.size());
        CUDA(cudaGetLastError());
        const fastreduce_accumulator wanted = sum_of_repeated(values, n);
        fastreduce_config config = {};
        config.kernel = FASTREDUCE_EXACT;
        check::that(fastreduce_sum_f32(input, output.data(), n, &config) == 0, "n %zu: status", n);
        total.fill(0);
        check::that(fastreduce_accumulate_f32(input, total.data(), n, &config) == 0,
                    "n %zu: status", n);
        CUDA(cudaDeviceSynchronize());
        expect_bits("past 2^31", output.get()[0], wanted);
        check::that(same(total.get()[0], wanted), "n %zu: another accumulator", n);
        CUDA(cudaFree(input));
    }
}
