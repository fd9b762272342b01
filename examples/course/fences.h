/* Whether a block may read what another one has stored in the same launch. It may if the other one
 * has then passed a __threadfence() and, after that, an atomic on a word, on which an atomic of the
 * reader's block came later, before the read. Comes after the machine's <cuda_runtime.h>. */
#ifndef COURSE_FENCES_H
#define COURSE_FENCES_H

#include <map>
#include <vector>

namespace course
{
class fences
{
  public:
    struct moment {
        unsigned block, thread, meetings;
        uint64_t interval, number; /* number: of all that happens, in the machine's order */
    };
    enum class verdict { ordered, no_fence, unordered };

    moment now(const simt::machine &m)
    {
        return {blockIdx.x, m.current, m.threads[m.current].meetings, m.interval, ++number_};
    }
    void note_fence(const simt::machine &m) { fences_.push_back(now(m)); }
    void note_atomic(const simt::machine &m, uintptr_t word) { atomics_[word].push_back(now(m)); }
    void clear()
    {
        fences_.clear();
        atomics_.clear();
    }

    verdict between(const moment &first, const moment &second) const
    {
        verdict best = verdict::unordered;
        for (const auto &word : atomics_)
            for (const moment &gives : word.second) {
                if (!before(first, gives) || !taken(word.second, gives, second)) continue;
                best = verdict::no_fence;
                for (const moment &fence : fences_)
                    if (before(first, fence) && before(fence, gives)) return verdict::ordered;
            }
        return best;
    }

  private:
    uint64_t number_ = 0;
    std::vector<moment> fences_;
    std::map<uintptr_t, std::vector<moment>> atomics_;

    /* In one block: of one thread, or with a barrier between. */
    static bool before(const moment &a, const moment &b)
    {
        if (a.block != b.block) return false;
        if (a.thread == b.thread) return a.number < b.number;
        if (a.interval != b.interval) return a.interval < b.interval;
        return a.thread / simt::lanes == b.thread / simt::lanes && a.meetings < b.meetings;
    }
    static bool taken(const std::vector<moment> &all, const moment &gives, const moment &reads)
    {
        for (const moment &takes : all)
            if (gives.number < takes.number && before(takes, reads)) return true;
        return false;
    }
};
} // namespace course
#endif
