/* What the grader checks of lessons 16, 17 and 20: what may not change with the rows beside, with
 * the order of threads, or from one sum to the next. A part of grader.cpp. */
#ifndef COURSE_BITS_H
#define COURSE_BITS_H

static bool same_bits(float a, float b) { return memcmp(&a, &b, sizeof a) == 0; }

/* What two results are, where they differ. */
static text beside(float a, float b)
{
    char said[100];
    snprintf(said, sizeof said, "%.9g and %.9g", static_cast<double>(a), static_cast<double>(b));
    return said;
}

/* Rows of multiples of 2^-20, whose sums round, in doubles too. Half of the numbers of a row are
 * below 8 or 2048. Each other one is large, and one as far from the other end takes it away. */
static std::vector<float> cancelling(size_t rows, size_t columns)
{
    std::vector<float> values(rows * columns);
    for (size_t i = 0; i < values.size(); ++i) {
        const size_t first = i / columns * columns, last = first + columns - 1;
        const size_t other = first + last - i, pair = std::min(i, other);
        const float small = static_cast<float>(mix(i) >> 40) - 0x1p23f;
        const float large = static_cast<float>(mix(pair) >> 40) * 0x1p15f;
        values[i] = (pair - first) % 2 == 0 || i == other
                        ? small * ((pair - first) % 4 == 0 ? 0x1p-20f : 0x1p-12f)
                    : i == pair ? large
                                : -large;
    }
    return values;
}

/* Eight of them, alone and among others. */
static void check_rows()
{
    const size_t columns = tile_now();
    const std::vector<float> values = cancelling(1000, columns);
    simt::settings() = simt::options();
    for (size_t rows : {2u, 255u, 256u, 257u, 1000u}) {
        const auto row = [&](size_t k) { return values.begin() + static_cast<long>(k * columns); };
        const outcome among = run({row(0), row(rows)});
        if (!among.report.empty()) throw wrong{explained(among.report)};
        for (size_t part = 0; part < 8; ++part) {
            const size_t k = part * (rows - 1) / 7;
            const float alone = run({row(k), row(k + 1)}).sums[0];
            if (same_bits(alone, among.sums[k])) continue;
            throw wrong{"row " + number(k) + " has other bits alone than among " + number(rows) +
                        " rows: " + beside(alone, among.sums[k]) + "."};
        }
    }
}

/* ---- By index ---- */

static std::vector<float> run_by_index(const std::vector<float> &values,
                                       const std::vector<unsigned> &index, unsigned bins,
                                       seen &watched)
{
    const size_t n = values.size();
    memory<element> input(n), output(bins, true);
    memory<unsigned> places(n);
    memory<word> space(bins, true);
    input.set(values.data());
    std::copy(index.begin(), index.end(), places.data());
    const element *const from = input.data();
    const text report = report_of(
        [&] { the_solution->by_index(from, places.data(), output.data(), space.data(), n, bins); },
        &watched);
    if (!watched.conflict.empty()) throw wrong{"a race between blocks: " + watched.conflict};
    if (!report.empty()) throw wrong{explained(report)};
    std::vector<float> sums;
    for (unsigned b = 0; b < bins; ++b) sums.push_back(output.at(b));
    return sums;
}

/* In several orders; the exact sums, as whole numbers of 2^-20, rounded once; and the loads. */
static void check_by_index(size_t n, unsigned bins)
{
    const std::vector<float> values = cancelling(1, n);
    std::vector<unsigned> index(n);
    std::vector<word> exact(bins);
    for (size_t i = 0; i < n; ++i) {
        index[i] = static_cast<unsigned>(mix(std::min(i, n - 1 - i) + n) % bins);
        exact[index[i]] += static_cast<word>(std::llrint(std::ldexp(values[i], 20)));
    }
    std::vector<float> first;
    seen all;
    for (unsigned run = 0; run < 4; ++run) {
        seen watched;
        simt::settings() = simt::options();
        simt::settings().schedule = run < 2 ? static_cast<order>(run) : order::random;
        simt::settings().seed = run;
        const std::vector<float> sums = run_by_index(values, index, bins, run ? watched : all);
        if (run == 0) first = sums;
        for (unsigned b = 0; b < bins; ++b)
            if (!same_bits(first[b], sums[b]))
                throw wrong{"bin " + number(b) + " has other bits when threads run in another " +
                            "order: " + beside(first[b], sums[b]) + "."};
    }
    for (unsigned b = 0; b < bins; ++b) {
        const float right = static_cast<float>(static_cast<long long>(exact[b])) * 0x1p-20f;
        if (!same_bits(first[b], right))
            throw wrong{"bin " + number(b) +
                        " is not the exact sum, rounded once: " + beside(first[b], right) + "."};
    }
    check_reads(all, n);
    too_many(all.loads, lesson_now().enough.loads, "loads of warps");
}

/* ---- One launch ---- */

/* Of as many blocks as there are tiles. */
static void check_launch()
{
    const size_t n = 9 * tile_now() - 5;
    simt::settings() = simt::options();
    run(made(n, true));
    const simt::counts &c = simt::statistics();
    if (c.launches != 1) throw wrong{several(c.launches, "launch") + " where 1 is enough."};
    if (c.blocks != tiles_of(n))
        throw wrong{several(c.blocks, "block") + " where there are " + number(tiles_of(n)) +
                    " tiles."};
}
#endif
