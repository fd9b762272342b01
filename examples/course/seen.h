/* What the CPU machine sees of kernels while they run, for the grader and for the answers: what
 * each warp adds and loads, which threads leave before a barrier, and whether blocks meet in global
 * memory without a word between them. Comes after the machine's <cuda_runtime.h>. */
#ifndef COURSE_SEEN_H
#define COURSE_SEEN_H

#include <cstring>
#include <map>
#include <set>
#include <string>
#include <vector>
#include "fences.h"

namespace course
{
constexpr unsigned lanes = simt::lanes;

/* Memory of the machine: what lies behind it is noticed. */
template <class T>
class memory
{
  public:
    explicit memory(size_t count, bool zero = false) : count_(count)
    {
        void *place = nullptr;
        if (cudaMalloc(&place, count * sizeof(T)) != cudaSuccess) abort();
        data_ = static_cast<T *>(place);
        if (zero) memset(place, 0, count * sizeof(T));
    }
    ~memory() { cudaFree(data_); }
    memory(const memory &) = delete;
    memory &operator=(const memory &) = delete;
    T *data() { return data_; }
    void set(const float *from)
    {
        if (count_) memcpy(static_cast<void *>(data_), from, count_ * sizeof(T));
    }
    float at(size_t i) const
    {
        float value;
        memcpy(&value, static_cast<const void *>(data_ + i), sizeof value);
        return value;
    }

  private:
    T *data_;
    size_t count_;
};

/* A step of a block: from one barrier, or meeting of a warp's lanes, to the next. */
struct step {
    std::set<unsigned> threads; /* that add */
    unsigned warps() const
    {
        std::set<unsigned> all;
        for (unsigned t : threads) all.insert(t / lanes);
        return static_cast<unsigned>(all.size());
    }
};

class seen
{
  public:
    simt::counts counts;
    std::map<std::pair<uint64_t, unsigned>, step> steps; /* of block 0, by barriers and meetings */
    uint64_t loads = 0;   /* of global memory, by a warp as a whole */
    uint64_t lines = 0;   /* of 128 bytes that those touch */
    std::string missed;   /* a barrier that a thread misses */
    std::string conflict; /* between blocks */

    /* Runs what launches kernels, and watches it. True if the machine has nothing to say. */
    template <class Work>
    bool watch(const Work &work)
    {
        simt::reset();
        simt::settings().trace = simt::settings().apart = true;
        simt::machine &m = simt::the_machine();
        m.watcher = [&](simt::happening what, uintptr_t where, const void *site) {
            if (m.statistics.launches != launch_) end_launch();
            launch_ = m.statistics.launches;
            note(m, what, where, site);
        };
        work();
        end_launch();
        m.watcher = nullptr;
        counts = m.statistics;
        simt::settings().trace = simt::settings().apart = false;
        return simt::report().empty();
    }

  private:
    struct access {
        unsigned block;
        const void *site;
        fences::moment when;
    };
    fences fences_;
    using load_key = std::tuple<unsigned, unsigned, const void *, unsigned>;
    uint64_t launch_ = 0;
    std::map<uintptr_t, access> readers_, writers_, adders_;                 /* by atomics */
    std::map<std::tuple<unsigned, unsigned, const void *>, unsigned> times_; /* of a thread */
    /* lines, by block, warp, place, the how-manieth time */
    std::map<load_key, std::set<uintptr_t>> loads_;
    std::map<unsigned, std::map<uint64_t, unsigned>> exits_; /* block: barriers: a thread */

    void note_load(const simt::machine &m, uintptr_t where, const void *site)
    {
        if (!simt::find_allocation(m, where)) return; /* a constant */
        const unsigned time = times_[{blockIdx.x, m.current, site}]++;
        loads_[load_key(blockIdx.x, m.current / lanes, site, time)].insert(where / 128);
    }

    void note(const simt::machine &m, simt::happening what, uintptr_t where, const void *site)
    {
        const unsigned block = blockIdx.x, thread = m.current;
        switch (what) {
        case simt::happening::addition:
            if (block == 0 && launch_ == 1)
                steps[{m.interval, m.threads[thread].meetings}].threads.insert(thread);
            break;
        case simt::happening::exit: exits_[block][m.interval] = thread; break;
        case simt::happening::global_load: {
            note_load(m, where, site);
            meet(writers_, readers_, where, site, "reads", "writes");
            meet(adders_, readers_, where, site, "reads", "adds to");
            break;
        }
        case simt::happening::global_store:
            meet(readers_, writers_, where, site, "writes", "reads");
            meet(writers_, writers_, where, site, "writes", "writes");
            meet(adders_, writers_, where, site, "writes", "adds to");
            break;
        case simt::happening::global_atomic:
            note_load(m, where, site);
            meet(readers_, adders_, where, site, "adds", "reads");
            meet(writers_, adders_, where, site, "adds", "writes");
            fences_.note_atomic(m, where);
            break;
        case simt::happening::word_atomic: fences_.note_atomic(m, where); break;
        case simt::happening::fence: fences_.note_fence(m); break;
        default: break;
        }
    }

    /* Blocks run in any order, so none may write what another one reads or writes, unless the one
     * has let the other know. */
    void meet(std::map<uintptr_t, access> &others, std::map<uintptr_t, access> &own,
              uintptr_t where, const void *site, const char *does, const char *did)
    {
        const access here = {blockIdx.x, site, fences_.now(simt::the_machine())};
        const auto kept = own.insert({where, here}).first;
        if (kept->second.block == blockIdx.x) kept->second = here;
        const auto found = others.find(where);
        if (found == others.end() || found->second.block == blockIdx.x || !conflict.empty()) return;
        const fences::verdict verdict = fences_.between(found->second.when, here.when);
        if (verdict == fences::verdict::ordered) return;
        conflict = "block " + std::to_string(blockIdx.x) + " " + does + " at " +
                   simt::source_of(site) + " what block " + std::to_string(found->second.block) +
                   " " + did + " at " + simt::source_of(found->second.site) +
                   (verdict == fences::verdict::unordered
                        ? ", and blocks run in any order."
                        : ". Its atomic comes after that, but may be seen before it: a "
                          "__threadfence() has to come between.");
    }

    void end_launch()
    {
        for (const auto &load : loads_) {
            ++loads;
            lines += load.second.size();
        }
        for (const auto &exits : exits_) {
            const auto &first = *exits.second.begin(), &last = *exits.second.rbegin();
            if (first.first != last.first && missed.empty())
                missed = "thread " + std::to_string(first.second) + " of block " +
                         std::to_string(exits.first) + " has met " + std::to_string(first.first) +
                         " block barriers when it leaves, and thread " +
                         std::to_string(last.second) + " meets " + std::to_string(last.first);
        }
        readers_.clear();
        writers_.clear();
        adders_.clear();
        fences_.clear();
        times_.clear();
        loads_.clear();
        exits_.clear();
    }
};
} // namespace course
#endif
