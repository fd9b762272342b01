/* What elements of traced.h report: each access to shared and global memory. At the end of every
 * interval between block barriers the accesses are searched for races and counted. */
#ifndef SIMT_TRACE_H
#define SIMT_TRACE_H

#include <map>
#include <tuple>
#include <dlfcn.h>
#include <unistd.h>
#include "machine.h"

namespace simt
{

/* File and line of a return address in this program: of the kernel's own source, not of the
 * machine's. Asks addr2line, which comes with the compiler; the bare address if there is none. */
inline std::string source_of(const void *site)
{
    /* the call, not the line after it */
    const uintptr_t address = reinterpret_cast<uintptr_t>(site) - 1;
    char text[4400];
    Dl_info info;
    snprintf(text, sizeof text, "address %p", site);
    if (!dladdr(reinterpret_cast<void *>(address), &info)) return text;
    /* a position-independent program counts from its load address */
    const uintptr_t base = reinterpret_cast<uintptr_t>(info.dli_fbase);
    std::string found;
    for (uintptr_t offset : {address - base, address}) {
        char command[100]; /* the program by a name that needs no quotes, wherever it lies */
        snprintf(command, sizeof command, "addr2line -i -e /proc/%ld/exe 0x%lx 2>/dev/null",
                 static_cast<long>(getpid()), static_cast<unsigned long>(offset));
        FILE *pipe = popen(command, "r");
        if (!pipe) break;
        while (fgets(text, sizeof text, pipe)) {
            std::string line(text, strcspn(text, "\n"));
            line.erase(std::min(line.size(), line.rfind(" (discriminator ")));
            const bool machine = line.find("test/simt/") != std::string::npos &&
                                 line.find(".h:") != std::string::npos;
            if (found.empty() && line[0] != '?' && !machine)
                found = line.substr(line.rfind('/') == std::string::npos ? 0 : line.rfind('/') + 1);
        }
        pclose(pipe);
        if (!found.empty()) return found;
    }
    snprintf(text, sizeof text, "address %p", site);
    return text;
}

inline const allocation *find_allocation(const machine &m, uintptr_t address)
{
    for (auto a = m.allocations.rbegin(); a != m.allocations.rend(); ++a) {
        const uintptr_t mapped = reinterpret_cast<uintptr_t>(a->mapped);
        if (address >= mapped && address < mapped + a->mapped_bytes) return &*a;
    }
    return nullptr;
}

inline void on_access(const void *pointer, size_t bytes, bool write, const void *site,
                      bool atomic = false)
{
    machine &m = the_machine();
    if (!m.settings.trace) return;
    const uintptr_t address = reinterpret_cast<uintptr_t>(pointer);
    const allocation *const a = find_allocation(m, address);
    const char *const verb = write ? " writes " : " reads ";
    if (!m.running) {
        if (a && m.settings.apart && m.report.empty())
            complain(m, std::string("out of bounds: the CPU") + verb + "at " + source_of(site) +
                            " what is in the memory of the GPU");
        return;
    }
    const uintptr_t stacks = reinterpret_cast<uintptr_t>(m.stacks);
    if (address >= stacks && address < stacks + m.stack_count * stack_bytes)
        return; /* a register */
    if (on_fake_stack(pointer)) return;
    thread &t = m.threads[m.current];
    m.bytes = bytes;
    if (a) {
        if (!a->live) stop(m, "freed memory: " + words(t) + verb + "at " + source_of(site));
        if (address < a->begin || address + bytes > a->end)
            stop(m, "out of bounds: " + words(t) + verb + "at " + source_of(site) + ", byte " +
                        std::to_string(static_cast<long long>(address - a->begin)) + " of " +
                        std::to_string(a->end - a->begin) + " bytes of global memory");
    }
    const bool shared = !a && is_shared(address);
    if (shared) {
        const uintptr_t dynamic = reinterpret_cast<uintptr_t>(m.dynamic_shared);
        const bool of_launch = address >= dynamic && address < dynamic + most_dynamic_shared;
        const std::pair<uintptr_t, size_t> array =
            of_launch ? std::make_pair(dynamic, m.dynamic_bytes) : shared_array(m.kernel, address);
        if (address + bytes > array.first + array.second)
            stop(m, "out of bounds: " + words(t) + verb + "at " + source_of(site) + ", byte " +
                        std::to_string(address - array.first) + " of " +
                        std::to_string(array.second) + " bytes of " +
                        (of_launch ? "dynamic" : "static") + " shared memory");
        ++(write ? m.statistics.shared_stores : m.statistics.shared_loads);
    }
    t.log.push_back(
        {address, site, static_cast<unsigned char>(bytes), write, atomic, shared, t.meetings});
    if (m.watcher)
        m.watcher(shared   ? write ? happening::shared_store : happening::shared_load
                  : atomic ? happening::global_atomic
                  : write  ? happening::global_store
                           : happening::global_load,
                  address, site);
}

inline void on_addition(const void *site)
{
    machine &m = the_machine();
    if (m.running && m.watcher) m.watcher(happening::addition, 0, site);
}

/* ---- At the end of an interval --------------------------------------------------------------- */

struct event {
    const access *what;
    unsigned thread;
};

inline std::string words(const machine &m, const event &e)
{
    return words(m.threads[e.thread]) +
           (e.what->atomic  ? " adds at "
            : e.what->write ? " writes at "
                            : " reads at ") +
           source_of(e.what->site);
}

/* Whether a meeting of their warp lies between two accesses: one that the first's lane attended
 * after it and the second's before it. Order by way of a third lane does not count. */
inline bool ordered(const machine &m, const event &first, const event &second)
{
    if (first.thread / lanes != second.thread / lanes) return false;
    const std::vector<unsigned> &history = m.warps[first.thread / lanes].history;
    const unsigned both = 1u << first.thread % lanes | 1u << second.thread % lanes;
    for (unsigned k = first.what->meetings; k < second.what->meetings; ++k)
        if ((history[k] & both) == both) return true;
    return false;
}

inline void find_races(machine &m)
{
    std::map<uintptr_t, std::vector<event>> by_word; /* of four bytes */
    for (unsigned i = 0; i < m.size; ++i)
        for (const access &a : m.threads[i].log)
            for (uintptr_t w = a.address / 4; w <= (a.address + a.bytes - 1) / 4; ++w)
                by_word[w].push_back({&a, i});
    for (const auto &entry : by_word) {
        const std::vector<event> &events = entry.second;
        const bool written = m.written.count(entry.first) != 0;
        const event *undefined = nullptr; /* told after races: a race explains more */
        for (const event &x : events) {
            bool defined = !x.what->shared || written || (x.what->write && !x.what->atomic);
            for (const event &y : events) {
                const bool same = x.thread == y.thread;
                if (x.what->write && !same && !(x.what->atomic && y.what->atomic) &&
                    (x.what->shared || !y.what->write) && !ordered(m, x, y) && !ordered(m, y, x))
                    return complain(m, "race: " + words(m, x) +
                                           ", and no barrier lies between that and " + words(m, y));
                defined |= y.what->write && (same ? y.what < x.what : ordered(m, y, x));
            }
            if (!defined && !undefined) undefined = &x;
        }
        if (undefined)
            return complain(m, "uninitialised shared read: " + words(m, *undefined) +
                                   ", before any thread of its block has written there");
        for (const event &x : events)
            if (x.what->write) m.written.insert(entry.first);
    }
}

/* Accesses of different threads belong to one step if they come from one place in the kernel for
 * the same time. */
inline void count_steps(machine &m)
{
    using step = std::tuple<const void *, bool, unsigned>; /* site, write, the how-manieth time */
    counts &c = m.statistics;
    std::map<step, std::pair<unsigned, unsigned>> of_block; /* active threads, warps */
    unsigned worst = 1;
    for (unsigned w = 0; w < m.warps.size(); ++w) {
        const unsigned first = w * lanes, width = std::min(lanes, m.size - first);
        std::map<step, std::vector<const access *>> of_warp;
        for (unsigned lane = 0; lane < width; ++lane) {
            std::map<std::pair<const void *, bool>, unsigned> times;
            for (const access &a : m.threads[first + lane].log)
                if (a.shared)
                    of_warp[step(a.site, a.write, times[{a.site, a.write}]++)].push_back(&a);
        }
        for (const auto &entry : of_warp) {
            const std::vector<const access *> &accesses = entry.second;
            std::vector<uintptr_t> touched;
            for (const access *a : accesses)
                for (uintptr_t k = a->address / 4; k <= (a->address + a->bytes - 1) / 4; ++k)
                    touched.push_back(k);
            std::sort(touched.begin(), touched.end());
            if (!accesses[0]->atomic) /* additions to one word come one by one */
                touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
            unsigned bank[lanes] = {}, way = 1;
            for (uintptr_t k : touched) way = std::max(way, ++bank[k % lanes]);
            /* wide elements take several by nature */
            const unsigned needed = (accesses[0]->bytes + 3u) / 4;
            way = std::max(way, needed);
            ++c.warp_steps;
            c.partial_steps += accesses.size() < width;
            c.transactions += way;
            c.conflicts += way - needed;
            worst = std::max(worst, way / needed);
            of_block[entry.first].first += static_cast<unsigned>(accesses.size());
            ++of_block[entry.first].second;
        }
    }
    for (const auto &entry : of_block)
        c.avoidable_steps += entry.second.second - (entry.second.first + lanes - 1) / lanes;
    c.max_way = std::max(c.max_way, worst);
    if (blockIdx.x == 0 && blockIdx.y == 0 && blockIdx.z == 0) c.interval_way.push_back(worst);
}

inline void end_interval(machine &m)
{
    find_races(m);
    count_steps(m);
    for (unsigned i = 0; i < m.size; ++i) {
        m.threads[i].log.clear();
        m.threads[i].meetings = 0;
    }
    for (warp &w : m.warps) w.history.clear();
}

} // namespace simt
#endif
