/* A trace of what each thread of one block does, for ladder_pictures.py and picture.py. Comes after
 * lessons.h and seen.h. */
#ifndef COURSE_PICTURE_H
#define COURSE_PICTURE_H

#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace course
{
/* Runs work(input, partial, n) for one block, and prints the trace. Words of shared memory are
 * numbered from the first that is used; where none of 32 neighbours is used, numbers leave out as
 * many, so that each word keeps its bank. Returns what the machine reports, or else which barrier
 * is missed. */
inline std::string print_trace(FILE *to, const char *name, unsigned threads, size_t n,
                               const std::function<void(const element *, element *, size_t)> &work)
{
    static const char *const names[] = {"load", "store",   "input", "output",
                                        "add",  "shuffle", "exit"};
    struct event {
        simt::happening what;
        uint64_t interval;
        unsigned meetings, thread;
        uintptr_t where;
        const void *site;
    };
    const size_t most_events = 1 << 20;
    memory<element> input(n), partial(1);
    input.set(std::vector<float>(n, 1.0f).data());
    const uintptr_t first = reinterpret_cast<uintptr_t>(input.data());
    std::vector<event> events;
    std::map<uintptr_t, uint64_t> words;
    std::map<const void *, size_t> sites;
    simt::machine &m = simt::the_machine();
    simt::reset();
    simt::settings() = simt::options();
    simt::settings().trace = true;
    m.watcher = [&](simt::happening what, uintptr_t where, const void *site) {
        if (what > simt::happening::exit || events.size() > most_events) return;
        const bool load = what == simt::happening::global_load;
        if (load && (where < first || where >= first + n * sizeof(float))) return;
        if (load) where = (where - first) / sizeof(float);
        if (what == simt::happening::global_store) where = 0;
        if (what <= simt::happening::shared_store) words[where /= sizeof(float)] = 0;
        sites.insert({site, sites.size()});
        for (size_t k = 0; k < (load ? m.bytes / sizeof(float) : 1); ++k) /* of a vector */
            events.push_back(
                {what, m.interval, m.threads[m.current].meetings, m.current, where + k, site});
    };
    work(input.data(), partial.data(), n);
    m.watcher = nullptr;
    simt::settings().trace = false;
    uint64_t number = 0;
    for (auto at = words.begin(), before = at; at != words.end(); before = at++)
        if (at != before) at->second = number += (at->first - before->first - 1) % lanes + 1;
    const simt::counts &c = m.statistics;
    fprintf(to, "kernel,%s,%u,%llu,%llu,%llu\n", name, threads,
            static_cast<unsigned long long>(c.barriers),
            static_cast<unsigned long long>(c.warp_steps),
            static_cast<unsigned long long>(c.conflicts));
    for (const event &e : events) {
        const bool shared = e.what <= simt::happening::shared_store;
        fprintf(to, "%s,%llu,%u,%u,%llu,%zu\n", names[static_cast<int>(e.what)],
                static_cast<unsigned long long>(e.interval), e.meetings, e.thread,
                static_cast<unsigned long long>(shared ? words[e.where] : e.where), sites[e.site]);
    }
    std::string fault = simt::report();
    const event *first_exit = nullptr, *last_exit = nullptr;
    for (const event &e : events) {
        if (e.what != simt::happening::exit) continue;
        if (!first_exit || e.interval < first_exit->interval) first_exit = &e;
        if (!last_exit || e.interval > last_exit->interval) last_exit = &e;
    }
    if (fault.empty() && first_exit && first_exit->interval != last_exit->interval)
        fault = "barrier divergence: thread " + std::to_string(first_exit->thread) + " has met " +
                std::to_string(first_exit->interval) +
                " block barriers when it leaves, and thread " + std::to_string(last_exit->thread) +
                " meets " + std::to_string(last_exit->interval);
    return fault;
}
} // namespace course
#endif
