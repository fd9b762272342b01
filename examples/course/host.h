/* What the grader checks of lessons without a kernel, beside the sums of small arrays. A part of
 * grader.cpp. */
#ifndef COURSE_HOST_H
#define COURSE_HOST_H

/* A float that has reached 2^24 does not change when 1 is added. */
static text what_is_wrong_with_ones()
{
    const std::vector<float> ones(size_t(1) << 25, 1.0f);
    const float got = the_solution->on_the_host(ones.data(), ones.size());
    if (got == 0x1p25f) return "";
    char said[200];
    snprintf(said, sizeof said, "the sum of 2^25 ones is %.0f%s.", static_cast<double>(got),
             got == 0x1p24f ? ", where a float that grows by ones stops: is it still one loop?"
                            : "");
    return said;
}

/* The library's AUTO, on the CPU machine: a few tiles, and what is left of one. */
static text what_differs_from_auto()
{
    for (size_t n : {1u, 2u, 3u, 100u, 4096u, 4097u, 20000u, 50001u}) {
        std::vector<float> values(n);
        for (size_t i = 0; i < n; ++i) values[i] = 1.0f / static_cast<float>(i + 1);
        memory<float> input(n), output(1);
        input.set(values.data());
        simt::settings() = simt::options();
        if (fastreduce::reduce<FASTREDUCE_AUTO, 256>(input.data(), output.data(), n) !=
            FASTREDUCE_SUCCESS)
            return "AUTO does not run: " + simt::report();
        const float ours = output.at(0), yours = the_solution->on_the_host(values.data(), n);
        if (memcmp(&ours, &yours, sizeof ours) != 0)
            return "AUTO has other bits for n = " + number(n) + ".";
    }
    return "";
}

/* Of AUTO on an H100, from the first table of examples/results.md. */
static text how_far_from_measured()
{
    const struct {
        int log;
        double measured;
    } sizes[] = {{12, 1.21}, {20, 2.90}, {24, 22.80}, {28, 339.2}};
    for (const auto &size : sizes) {
        const double guess = the_solution->model(std::ldexp(1.0, size.log));
        if (std::fabs(guess / size.measured - 1) < 0.25) continue;
        char said[200];
        snprintf(said, sizeof said, "at n = 2^%d it says %.2f us, and %.2f were measured.",
                 size.log, guess, size.measured);
        return said;
    }
    return "";
}

static text what_is_wrong_on_the_host()
{
    if (the_solution->lesson == 1 || the_solution->lesson == 14) return what_is_wrong_with_ones();
    if (the_solution->lesson == 13) return what_differs_from_auto();
    return the_solution->model ? how_far_from_measured() : "";
}
#endif
