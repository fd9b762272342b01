/* Grades solutions of an exercise on the CPU machine, and says in words what it finds. check.sh
 * links it with what solution.cpp makes of the files, and runs it with the number of one. */
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <functional>
#include <random>
#include <string>
#include <vector>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#define COURSE_ON_THE_HOST
#include "course.h"
#include "lessons.h"
#include "../../fastreduce.cuh"
#include "../../test/common/dynamic_shared.h"
#include "../../test/common/pairwise.h"
#include "seen.h"
#include "picture.h"

namespace course
{
using text = std::string;
using order = simt::order;

static const solution *the_solution; /* that is graded */
static const lesson &lesson_now() { return lessons[the_solution->lesson - 1]; }

static text number(uint64_t value) { return std::to_string(value); }
static text several(uint64_t count, const char *singular)
{
    const text word = singular;
    return number(count) + " " + word + (count == 1 ? "" : word.back() == 's' ? "es" : "s");
}

/* What is wrong, as a sentence. */
struct wrong {
    text sentence;
};

/* ---- What the machine reports, in words of the course ---- */

static text explained(const text &report)
{
    unsigned a = 0, b = 0, of = 0;
    char does[16] = "", did[16] = "", kind[20] = "", here[200] = "", there[200] = "";
    if (sscanf(report.c_str(),
               "race: thread %u of block (%*u, %*u, %*u) %15s at %199[^,], and no barrier lies "
               "between that and thread %u of block (%*u, %*u, %*u) %15s at %199s",
               &a, does, here, &b, did, there) == 6)
        return "a race: thread " + number(a) + " " + does + " at " + here + " what thread " +
               number(b) + " " + did + " at " + there + ", and no barrier lies between. " +
               (a / lanes == b / lanes && lesson_now().number >= warp_barriers_from
                    ? "They are of one warp, but lanes need not run in step: a __syncwarp() has "
                      "to come between."
                    : "A __syncthreads() has to come between.");
    long long byte = 0;
    const auto element_of = [&](const text &what) {
        return "out of bounds: " + what + "at " + here + " element " + std::to_string(byte / 4) +
               " of " + (strcmp(kind, "global") == 0 ? "an array" : "shared memory") +
               " that has " + number(of / 4) + ".";
    };
    if (sscanf(
            report.c_str(),
            "out of bounds: thread %u of block (%*u, %*u, %*u) %15s at %199[^,], byte %lld of %u "
            "bytes of %19s",
            &a, does, here, &byte, &of, kind) == 6)
        return element_of("thread " + number(a) + " " + does + " ");
    if (the_solution->on_the_host &&
        sscanf(report.c_str(), "out of bounds: at %199[^,], byte %lld of %u bytes of %19s", here,
               &byte, &of, kind) == 4)
        return element_of("");
    if (report.compare(0, 19, "barrier divergence:") == 0)
        return "a barrier that some threads miss:" + report.substr(19) + ".";
    return report + ".";
}

/* ---- Attempts, in a process of their own ---- */

/* What a solution may take: the environment may say otherwise. */
static unsigned most_seconds()
{
    const char *const asked = getenv("COURSE_SECONDS");
    return asked && atoi(asked) > 0 ? static_cast<unsigned>(atoi(asked)) : 10;
}

static void limit_time(unsigned seconds)
{
    const rlimit limit = {seconds, seconds};
    setrlimit(RLIMIT_CPU, &limit);
}

/* Grades in a child, and then ends all that a solution has started, as the initialiser of a global
 * perhaps. That may have an endless loop, too. */
__attribute__((constructor(101))) static void keep_watch()
{
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    const pid_t grader = fork();
    if (grader == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        limit_time(most_seconds());
        alarm(3 * most_seconds());
        return;
    }
    int status = 0;
    waitpid(grader, &status, 0);
    const text children =
        "/proc/self/task/" + number(static_cast<uint64_t>(getpid())) + "/children";
    for (int child = 0;; child = 0) {
        FILE *const all = fopen(children.c_str(), "r");
        if (!all || fscanf(all, "%d", &child) != 1 || kill(child, SIGKILL) != 0) break;
        fclose(all);
        waitpid(child, nullptr, 0);
    }
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

/* Runs work in a child; what it throws, or how it ended. Before it throws or ends it says a number
 * that no solution knows, unless the solution has ended it. */
static text attempt(const std::function<void()> &work, unsigned seconds)
{
    const text finished = "\n" + number(std::random_device()()) + "\n";
    int ends[2];
    fflush(stdout);
    if (pipe(ends) != 0) return "no pipe";
    const pid_t process = fork();
    if (process == 0) {
        dup2(ends[1], STDERR_FILENO);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        limit_time(seconds);
        text sentence;
        try {
            work();
        } catch (const wrong &what) {
            sentence = what.sentence;
        }
        fflush(stdout);
        fprintf(stderr, "%s%s", finished.c_str(), sentence.c_str());
        _exit(0);
    }
    alarm(0);
    close(ends[1]);
    text said;
    int status = 0;
    const time_t latest = time(nullptr) + 3 * seconds; /* of one that waits */
    for (bool runs = true; runs;) { /* what it has started may hold the pipe open */
        if (time(nullptr) > latest) kill(process, SIGKILL);
        char buffer[4096];
        pollfd reader = {ends[0], POLLIN, 0};
        if (poll(&reader, 1, 100) > 0) {
            const ssize_t got = read(ends[0], buffer, sizeof buffer);
            if (got > 0) {
                said.append(buffer, static_cast<size_t>(got));
                if (said.size() > 1 << 20) said.erase(0, 1 << 19);
            } else {
                waitpid(process, &status, 0);
                runs = false;
            }
        } else {
            runs = waitpid(process, &status, WNOHANG) == 0;
        }
    }
    close(ends[0]);
    const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (signal == SIGXCPU || signal == SIGKILL)
        return "it does not end: after " + number(seconds) + " seconds a loop or a wait goes on.";
    if (signal != 0) return "it ends by signal " + number(signal) + ".";
    const size_t end = said.rfind(finished);
    if (end != text::npos) return said.substr(end + finished.size());
    if (said.find("no allocation is near") != text::npos)
        return "it reads or writes far from any array, or its recursion has no end.";
    if (WEXITSTATUS(status) != 99) /* of a fault, which the CPU machine describes */
        return "it ends the program, by exit or its like, before all of it is checked.";
    while (!said.empty() && said.back() == '\n') said.pop_back();
    return explained(said);
}

/* ---- Data ---- */

static uint64_t mix(uint64_t z)
{
    z = (z + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 32)) * 0xd6e8feb86659fd93u;
    return z ^ (z >> 32);
}
/* Whole numbers, of which no sum rounds; or such that every sum does. */
static std::vector<float> made(size_t n, bool whole)
{
    std::vector<float> values(n);
    for (size_t i = 0; i < n; ++i) {
        const double number = static_cast<double>(mix(i) >> 11) * 0x1p-53 - 0.3;
        const int exponent = static_cast<int>(mix(i) % 24);
        values[i] =
            static_cast<float>(whole ? std::floor(number * 100) : std::ldexp(number, exponent));
    }
    return values;
}
static float pairwise_sum(const float *x, size_t n)
{
    return pairwise::sum([x](size_t i) { return x[i]; }, n);
}
static float plain_sum(const float *x, size_t n)
{
    float sum = 0;
    for (size_t i = 0; i < n; ++i) sum += x[i];
    return sum;
}

/* ---- One solution, whatever it defines ---- */

struct outcome {
    std::vector<float> sums; /* of tiles, or the one of all */
    text report;
};

static unsigned block_now;    /* threads */
static size_t offset_now = 0; /* of the input from an address that is a multiple of 16 */

static size_t tile_now() { return static_cast<size_t>(block_now) * lesson_now().items; }
static size_t tiles_of(size_t n) { return fastreduce::blocks_for(n, tile_now()); }

static outcome run_on_the_host(const std::vector<float> &values)
{
    memory<float> input(values.size());
    input.set(values.data());
    return {{the_solution->on_the_host(input.data(), values.size())}, ""};
}

/* What the machine has to say of the launches of `work`. */
static text report_of(const std::function<void()> &work, seen *watched)
{
    text first;
    simt::reset();
    /* A launch makes the machine forget what it has to say of the one before. */
    simt::before_launch() = [&](void **) {
        if (first.empty()) first = simt::report();
    };
    if (watched)
        watched->watch(work);
    else
        work();
    simt::before_launch() = nullptr;
    return first.empty() ? simt::report() : first;
}

static outcome run(const std::vector<float> &values, seen *watched = nullptr)
{
    if (the_solution->on_the_host) return run_on_the_host(values);
    const size_t n = values.size(), tiles = tiles_of(n);
    const size_t results = the_solution->blocks || the_solution->rows ? tiles : 1;
    memory<element> input(n + offset_now), output(results), workspace(2 * tiles);
    memory<word> words(tiles, true);
    memory<unsigned> counter(1, true);
    memcpy(static_cast<void *>(input.data() + offset_now), values.data(), n * sizeof(float));
    const element *const from = input.data() + offset_now;
    const auto work = [&] {
        if (the_solution->blocks) the_solution->blocks(block_now, tiles, from, output.data(), n);
        if (the_solution->levels) the_solution->levels(from, output.data(), workspace.data(), n);
        if (the_solution->one_launch)
            the_solution->one_launch(from, output.data(), words.data(), n);
        if (the_solution->rows) the_solution->rows(from, output.data(), tiles, tile_now());
        if (the_solution->last_block)
            the_solution->last_block(from, output.data(), workspace.data(), counter.data(), n);
    };
    outcome result = {{}, report_of(work, watched)};
    for (size_t k = 0; k < results; ++k) result.sums.push_back(output.at(k));
    for (size_t k = 0; k < tiles && result.report.empty(); ++k)
        if (words.data()[k] != 0)
            result.report = "word " + number(k) +
                            " is not zero when the sum is done: the next "
                            "sum would take it for a partial";
    for (size_t k = 0; the_solution->last_block && tiles > 1 && k < tiles; ++k)
        if (std::isnan(workspace.at(k)) && result.report.empty())
            result.report = "partials has no sum of block " + number(k);
    if (*counter.data() != 0 && result.report.empty())
        result.report = "the counter is " + number(*counter.data()) +
                        " when the sum is done, where the next sum needs 0";
    return result;
}

static text where_it_was(size_t n)
{
    const text in = the_solution->rows   ? " in rows of "
                    : lesson_now().block ? " in blocks of "
                                         : "";
    return "wrong for n = " + number(n) + (in.empty() ? in : in + number(block_now)) + ": ";
}

/* Which element counts for how much, found by arrays that have a single 1. */
static text which_element(size_t n, size_t first, size_t count, size_t result)
{
    size_t missing = 0, first_missing = 0;
    text other;
    for (size_t i = first; i < first + count; ++i) {
        std::vector<float> unit(n);
        unit[i] = 1;
        const float weight = run(unit).sums[result];
        if (weight == 1) continue;
        if (weight == 0 && missing++ == 0) first_missing = i;
        if (weight != 0 && other.empty())
            other = weight > 1 && weight <= static_cast<float>(n) && weight == std::floor(weight)
                        ? "element " + number(i) + " counts " +
                              number(static_cast<uint64_t>(weight)) + " times"
                        : "memory that nobody has written is in the sum";
    }
    if (missing == 0) return other.empty() ? "no element by itself does it" : other;
    return (missing == 1 ? "element " : several(missing, "element") + ", the first of them ") +
           number(first_missing) + (missing == 1 ? " is missing" : ", are missing") +
           (other.empty() ? "" : ", and " + other);
}

static const char *words_of(order schedule)
{
    return schedule == order::forward ? "" : ", when threads and blocks run in another order";
}

/* Whether kernels have read n elements, as floats: the machine sees no others. */
static void check_reads(const seen &watched, size_t n)
{
    const uint64_t least = (n + lanes - 1) / lanes;
    if (watched.lines < least)
        throw wrong{"kernels load " + several(watched.lines, "line") + " of 128 bytes, and " +
                    several(n, "element") + " fill " + number(least) +
                    ": the machine sees what is loaded as float."};
}

/* The sums of one array, which the lesson says how exact they are. */
static void check_sums(const std::vector<float> &values, order schedule, bool traced)
{
    const size_t n = values.size();
    seen watched;
    simt::settings() = simt::options();
    simt::settings().schedule = schedule;
    simt::settings().last_block_last = !the_solution->last_block;
    const outcome got = run(values, traced ? &watched : nullptr);
    if (!watched.conflict.empty()) throw wrong{"a race between blocks: " + watched.conflict};
    if (!got.report.empty()) throw wrong{explained(got.report)};
    if (!watched.missed.empty())
        throw wrong{"a barrier that some threads miss: " + watched.missed + "."};
    const size_t tile = got.sums.size() == 1 ? n : tile_now();
    for (size_t b = 0; b < got.sums.size(); ++b) {
        const size_t first = b * tile, count = std::min(tile, n - first);
        const float expected = lesson_now().pairwise ? pairwise_sum(values.data() + first, count)
                                                     : plain_sum(values.data() + first, count);
        if (memcmp(&got.sums[b], &expected, sizeof expected) == 0 || got.sums[b] == expected)
            continue;
        const std::vector<float> whole = made(n, true);
        const float whole_sum = plain_sum(whole.data() + first, count);
        if (lesson_now().pairwise && run(whole).sums[b] == whole_sum)
            throw wrong{where_it_was(n) + "every element is there once, but they do not meet in "
                                          "the order of the pairwise sum, so the bits differ."};
        throw wrong{where_it_was(n) + which_element(n, first, count, b) + words_of(schedule) + "."};
    }
    if (traced) check_reads(watched, n);
}

static std::vector<size_t> sizes()
{
    const size_t tile = lesson_now().block ? tile_now() : 256;
    if (the_solution->rows) return {tile, 3 * tile};
    std::vector<size_t> all = {1000, tile, 1, tile - 1, tile + 1, tile / 2 + 1, 2 * tile + 7};
    if (the_solution->levels) all.push_back(tile * tile + 1);
    if (the_solution->one_launch || the_solution->last_block) all.push_back(9 * tile - 5);
    return all;
}

static void check_all_sums()
{
    std::vector<unsigned> blocks = {block_now};
    if (lesson_now().any_block) blocks = {256, 32, 64, 128, 512, 1024};
    if (the_solution->rows) blocks.push_back(77);
    for (unsigned block : blocks) {
        block_now = block;
        for (size_t n : sizes()) {
            const std::vector<float> values = made(n, !lesson_now().pairwise);
            const bool small = n <= 20000;
            for (order schedule : {order::forward, order::reverse, order::random})
                check_sums(values, schedule, small && lesson_now().block);
            if (lesson_now().any_address && n > 4) {
                offset_now = 1;
                check_sums(values, order::forward, true);
                offset_now = 0;
            }
        }
    }
    block_now = lesson_now().block;
}

/* ---- What is right, but takes more than it needs ---- */

static void too_many(uint64_t count, uint64_t enough, const char *what)
{
    if (count <= enough) return;
    throw wrong{number(count) + " " + what + " where " +
                (enough == 0   ? "0 are possible"
                 : enough == 1 ? "1 is enough"
                               : number(enough) + " are enough") +
                (the_solution->rows       ? " (one row)."
                 : the_solution->by_index ? " (1000 values)."
                                          : " (one block of 256 threads).")};
}

/* What a solution takes; attempts share it, as it is told of wrong ones, too. */
struct counted {
    bool known;
    costs counts;
};
static counted *const taken = static_cast<counted *>(
    mmap(nullptr, sizeof(counted), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));

static void check_costs()
{
    seen all;
    simt::settings() = simt::options();
    const std::vector<float> values = made(tile_now(), true);
    const bool sums = run(values, &all).sums[0] == plain_sum(values.data(), values.size());
    if (!sums) throw wrong{"the same array has another sum when it is added once more."};
    const simt::counts &c = all.counts;
    const auto is = [](uint64_t count) { return static_cast<unsigned>(count); };
    *taken = {true,
              {is(c.barriers), is(c.avoidable_steps), is(c.conflicts),
               is(c.shared_loads + c.shared_stores), is(all.lines), is(all.loads), is(c.shuffles)}};
    const costs &enough = lesson_now().enough;
    too_many(c.barriers, enough.barriers, "barriers");
    too_many(c.avoidable_steps, enough.avoidable,
             "accesses of warps to shared memory too many, as threads at work in fewer warps would "
             "save them,");
    too_many(c.conflicts, enough.conflicts, "bank conflicts");
    too_many(c.shared_loads + c.shared_stores, enough.shared, "accesses of lanes to shared memory");
    too_many(all.lines, enough.lines,
             "lines of 128 bytes to load, as lanes of a warp do not read neighbours,");
    too_many(all.loads, enough.loads, "loads of warps");
    too_many(c.shuffles, enough.shuffles, "shuffles of warps");
    if (c.warp_steps / 2 > enough.steps) /* one thread does what many could */
        too_many(c.warp_steps, enough.steps, "accesses of warps to shared memory");
    const uint64_t accesses = c.shared_loads + c.shared_stores;
    const uint64_t givers = c.shuffles > 0 ? block_now / lanes : block_now;
    if (the_solution->blocks && accesses < 2 * (givers - 1))
        throw wrong{several(accesses, "access") + " of lanes to shared memory, by which " +
                    number(block_now) +
                    " threads cannot meet: the machine sees arrays of float "
                    "and double."};
    printf("  costs   %s, %s of warps to shared memory, %llu of them avoidable,\n          %s, %s, "
           "%s of warps (%s)\n",
           several(c.barriers, "barrier").c_str(), several(c.warp_steps, "access").c_str(),
           static_cast<unsigned long long>(c.avoidable_steps),
           several(c.conflicts, "bank conflict").c_str(), several(c.shuffles, "shuffle").c_str(),
           several(all.loads, "load").c_str(),
           the_solution->rows ? "one row" : "one block of 256 threads");
}

/* ---- Numbers beyond 32 bits ---- */

static const char *const beyond = "an index of 32 bits cannot count that far. Is every index, and "
                                  "the product that it is made of, a size_t?";

/* Memory of which only what is touched is taken; null if there is none. */
static char *reserve(size_t bytes, int access)
{
    void *const place =
        mmap(nullptr, bytes, access, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return place == MAP_FAILED ? nullptr : static_cast<char *>(place);
}
static element *reserve_elements(size_t count)
{
    return reinterpret_cast<element *>(reserve(count * sizeof(float), PROT_READ | PROT_WRITE));
}

/* The last blocks of an array of 24 GB. */
static void check_last_blocks(size_t n)
{
    const size_t guard = size_t(1) << 35;
    const size_t bytes = (n * sizeof(float) + 4095) / 4096 * 4096, tiles = tiles_of(n);
    char *const place = reserve(guard + bytes, PROT_NONE);
    element *const output = reserve_elements(tiles);
    if (!place || !output || mprotect(place + guard, bytes, PROT_READ | PROT_WRITE) != 0) return;
    element *const input = reinterpret_cast<element *>(place + guard);
    for (size_t i = n - 3; i < n; ++i) input[i] = 1;
    simt::settings() = simt::options();
    simt::settings().first_block = tiles - 1;
    the_solution->blocks(block_now, tiles, input, output, n);
    if (!simt::report().empty() || output[tiles - 1].get() != 3)
        throw wrong{"wrong for n = " + number(n) + ": " + beyond};
}

/* Nothing runs: how many blocks it asks for. */
static void check_launches(size_t n)
{
    element *const input = reserve_elements(n), *const output = reserve_elements(1);
    element *const workspace = reserve_elements(2 * tiles_of(n));
    if (!input || !output || !workspace) return;
    std::vector<uint64_t> asked;
    simt::before_launch() = [&](void **) {
        asked.push_back(simt::latest_launch().grid.x);
        if (asked.size() > 10) throw wrong{"wrong for n = " + number(n) + ": " + beyond};
    };
    simt::set_runs(false);
    the_solution->levels(input, output, workspace, n);
    for (size_t left = tiles_of(n), k = 0;; left = tiles_of(left), ++k) {
        if (k >= asked.size() || asked[k] != left)
            throw wrong{"wrong for n = " + number(n) + ": launch " + number(k + 1) + " has " +
                        (k < asked.size() ? number(asked[k]) : text("no")) + " blocks, and needs " +
                        number(left) + ". " + beyond};
        if (left == 1) return;
    }
}

static void check_long_array()
{
    const size_t n = (size_t(1) << 32) + (size_t(1) << 31) + 1000;
    block_now = lesson_now().block;
    if (the_solution->blocks) check_last_blocks(n);
    if (the_solution->levels) check_launches(n);
}

/* ---- Lessons with checks of their own ---- */

/* Several blocks at a time, in random turns; and how many launches it takes. */
static void check_turns()
{
    const std::vector<float> values = made(9 * tile_now() - 5, false);
    for (unsigned seed = 1; seed <= 20; ++seed) {
        simt::settings() = simt::options();
        simt::settings().resident = 2 + seed % 4;
        simt::settings().seed = seed;
        const outcome got = run(values);
        if (!simt::report().empty()) throw wrong{explained(simt::report())};
        if (got.sums[0] != pairwise_sum(values.data(), values.size()))
            throw wrong{"wrong where several blocks run at once: one takes a word before it holds "
                        "what was promised."};
        if (!got.report.empty()) throw wrong{explained(got.report)};
    }
}

#include "host.h"
#include "bits.h"

static void grade()
{
    block_now = lesson_now().block;
    if (!the_solution->model && !the_solution->by_index) check_all_sums();
    if (the_solution->rows) check_rows();
    if (the_solution->by_index) {
        check_by_index(1000, 7);
        check_by_index(77, 3);
    }
    if (the_solution->last_block || the_solution->one_launch) check_launch();
    if (the_solution->blocks || the_solution->rows) check_costs();
    if (the_solution->one_launch) check_turns();
    const text sentence = what_is_wrong_on_the_host();
    if (!sentence.empty()) throw wrong{sentence};
}

/* Of one block with n elements. Whether that ends without a fault. */
static bool print_picture(const char *path, unsigned threads, size_t n)
{
    FILE *const to = fopen(path, "w");
    if (!to) throw wrong{text(path) + " cannot be written."};
    const text report = print_trace(to, several(n, "element").c_str(), threads, n,
                                    [&](const element *input, element *partial, size_t) {
                                        the_solution->blocks(threads, 1, input, partial, n);
                                    });
    if (!report.empty()) fprintf(to, "fault,%s\n", explained(report).c_str());
    fclose(to);
    return report.empty();
}

/* For check.sh --picture: a block that has all its elements, or fewer if that shows a fault. */
static int print_picture(const char *path)
{
    if (!the_solution->blocks) {
        printf("  there is nothing to draw, as no kernel of this lesson sums in one block\n");
        return 1;
    }
    const unsigned threads = lesson_now().any_block ? 64 : lesson_now().block;
    const size_t n = size_t(threads) * lesson_now().items;
    const auto work = [&] {
        if (print_picture(path, threads, n) && print_picture(path, threads, n / 2 + 7))
            print_picture(path, threads, n);
    };
    const text sentence = attempt(work, most_seconds());
    if (!sentence.empty()) printf("  there is nothing to draw: %s\n", sentence.c_str());
    return !sentence.empty();
}
} // namespace course

/* For check.sh: a line of what the grading has found. */
static void write_result(const char *path, const char *verdict, course::text sentence)
{
    using namespace course;
    FILE *const to = fopen(path, "w");
    if (!to) return;
    for (char &letter : sentence)
        if (letter == '\n' || letter == '\t') letter = ' ';
    fprintf(to, "%s\t%s", verdict, sentence.c_str());
    const costs &c = taken->counts;
    for (unsigned count :
         {c.barriers, c.avoidable, c.conflicts, c.shared, c.lines, c.loads, c.shuffles})
        fprintf(to, "\t%s", taken->known ? number(count).c_str() : "");
    fprintf(to, "\n");
    fclose(to);
}

/* grader starts, or grader NUMBER results FILE, or grader NUMBER picture FILE */
int main(int argc, char **argv)
{
    using namespace course;
    if (argc < 4) return puts("starts") == EOF;
    the_solution = solutions[atoi(argv[1])];
    if (!the_solution->on_the_host) simt::dynamic_shared_of() = [] { return dynamic_shared; };
    if (!strcmp(argv[2], "picture")) return print_picture(argv[3]);
    text sentence = attempt(grade, most_seconds());
    if (sentence.empty()) {
        sentence = attempt(check_long_array, 5);
        if (!sentence.empty() && sentence.compare(0, 6, "wrong ") != 0)
            sentence = text("wrong for n beyond 2^31: ") + beyond;
    }
    const bool right = sentence.empty();
    if (right) sentence = lesson_now().praise;
    printf("  %s %s\n", right ? "RIGHT  " : "NOT YET", sentence.c_str());
    write_result(argv[3], right ? "right" : "wrong", sentence);
    return !right;
}
