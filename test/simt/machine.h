/* The machine: runs the blocks of a grid one after another on the calling thread, or a few at a
 * time (resident.h), and the threads of a block as fibers that change places only at barriers, warp
 * meetings and simt::yield(). Checks what CUDA leaves undefined: every problem ends the launch with
 * a sentence in report(). */
#ifndef SIMT_MACHINE_HEADER
#define SIMT_MACHINE_HEADER

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>
#include <sys/mman.h>
#include "fiber.h"
#include "symbols.h"

struct uint3 {
    unsigned x, y, z;
};
struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
};
/* set at each switch and each block */
inline thread_local uint3 threadIdx, blockIdx;
inline thread_local dim3 blockDim, gridDim;

namespace simt
{

enum class order { forward, reverse, random };

struct options {
    order schedule = order::
        forward; /* of the threads of a block, and of the blocks; in reverse a warp runs ahead */
    unsigned seed = 1;            /* for order::random */
    bool trace = false;           /* collect the accesses of traced<T>: races, bounds, counts */
    bool apart = false;           /* with trace: the CPU has no access to the GPU's memory */
    bool last_block_last = true;  /* a block that waits for all others must run after them */
    bool blocks_in_order = false; /* whatever the schedule: blocks wait for any before them */
    unsigned resident = 0;        /* blocks at a time, in random turns, untraced, if not 0 */
    uint64_t first_block = 0;     /* those before it do not run */
};

struct counts {
    uint64_t launches = 0, blocks = 0;
    uint64_t barriers = 0;      /* block barriers, summed over blocks */
    uint64_t warp_barriers = 0; /* __syncwarp, per warp */
    uint64_t shuffles = 0;      /* per warp */
    /* below: with options::trace */
    uint64_t shared_loads = 0, shared_stores = 0; /* of single lanes */
    uint64_t warp_steps = 0;      /* accesses to shared memory by a warp as a whole */
    uint64_t partial_steps = 0;   /* of those, with some of the warp's lanes only */
    uint64_t avoidable_steps = 0; /* more than packing the active threads into warps would need */
    uint64_t transactions = 0, conflicts = 0; /* bank conflicts: transactions beyond one a step */
    unsigned max_way = 1;
    std::vector<unsigned>
        interval_way; /* worst conflict per interval between barriers; block 0, latest launch */
};

enum class state : unsigned char { ready, at_barrier, at_meeting, exited };

constexpr unsigned lanes = 32;
constexpr size_t stack_bytes = 64 * 1024;
constexpr size_t most_dynamic_shared = 227 * 1024, unasked_shared = 48 * 1024;

/* A place in the kernel's source, as a default argument of each intrinsic takes it. */
struct place {
    const char *file;
    int line;
};

/* One access to memory by a traced element. */
struct access {
    uintptr_t address;
    const void *site; /* return address in the kernel */
    unsigned char bytes;
    bool write, atomic, shared;
    unsigned meetings; /* of this warp, that had been completed with this thread when it happened */
};

/* A meeting of the lanes of a mask: __syncwarp or a shuffle. Values of two successive ones are
 * kept, as a lane may arrive at the next before another has read from the last. */
struct meeting {
    unsigned mask = 0, arrived = 0, generation = 0;
    place where = {nullptr, 0};
    unsigned took_part[2] = {0, 0};
    alignas(16) unsigned char value[2][lanes][16];
};

struct thread {
    fiber flow = {};
    state now;
    uint3 index;
    unsigned number;   /* in the block */
    unsigned meetings; /* number of the latest meeting of the warp that it took part in */
    place where;
    std::vector<access> log;
};

struct warp {
    unsigned alive;            /* lanes that have not exited */
    std::vector<meeting> open; /* by mask */
    std::vector<unsigned>
        history; /* masks of the meetings completed in this interval: number k is history[k - 1] */
};

/* What a watcher is told of, when the current thread does it, by traced elements. */
enum class happening {
    shared_load,
    shared_store,
    global_load,
    global_store,
    addition,
    shuffle,
    exit,
    global_atomic,
    word_atomic, /* by a type that is not traced */
    fence
};

struct allocation {
    uintptr_t begin, end; /* what was asked for */
    char *mapped;         /* with a guard page on either side */
    size_t mapped_bytes;
    bool live;
};

struct machine {
    options settings;
    counts statistics;
    std::string report;

    std::vector<thread> threads;
    std::vector<warp> warps;
    std::vector<unsigned> ready; /* numbers of threads, from `next` on */
    size_t next = 0;
    unsigned size = 0, alive = 0, arrived = 0, current = 0;
    place barrier_place = {nullptr, 0};
    bool any_arriving = false; /* whether a thread has come to this barrier with what is true */
    bool any_arrived = false;  /* the same of the last one */
    fiber scheduler = {};
    char *stacks = nullptr;
    size_t stack_count = 0;
    bool running = false;
    uint64_t own_idle_yields = 0;             /* since the last barrier, exit or atomic addition */
    uint64_t *idle_yields = &own_idle_yields; /* of all blocks that run */
    class residents *crowd = nullptr;         /* that this block is one of, and its place there */
    size_t resident_at = 0;

    /* Called with the address, or a shuffle's source thread; and a place in the kernel. */
    std::function<void(happening, uintptr_t where, const void *site)> watcher;
    size_t bytes = 0; /* of the access it is called for */

    void (*call)(void *kernel, void **arguments) = nullptr;
    void *kernel = nullptr;
    void **arguments = nullptr;

    unsigned char *dynamic_shared = nullptr;
    size_t dynamic_bytes = 0;              /* that the launch asked for */
    std::unordered_set<uintptr_t> written; /* words of shared memory, by this block */
    uint64_t interval = 0;
    std::vector<allocation> allocations;
    uint64_t random_state = 1;

    unsigned random()
    {
        random_state = random_state * 6364136223846793005u + 1442695040888963407u;
        return static_cast<unsigned>(random_state >> 33);
    }
};

inline machine &the_machine()
{
    static thread_local machine *instance = new machine;
    return *instance;
}
/* A function that gives the host thread's extern __shared__ array, if the program has one. */
inline unsigned char *(*&dynamic_shared_of())()
{
    static unsigned char *(*function)() = nullptr;
    return function;
}
inline options &settings() { return the_machine().settings; }
inline counts &statistics() { return the_machine().statistics; }
inline const std::string &report() { return the_machine().report; }
inline void reset()
{
    the_machine().statistics = counts();
    the_machine().report.clear();
}

void end_interval(machine &m);                                             /* trace.h */
bool run_resident(machine &m, dim3 grid, dim3 block, size_t shared_bytes); /* resident.h */
void let_others_run(machine &m);

/* Once in so many times, where several blocks take turns. */
inline void maybe_let_others_run(machine &m, unsigned times)
{
    if (m.crowd && m.random() % times == 0) let_others_run(m);
}

/* ---- Words ----------------------------------------------------------------------------------- */

inline std::string words(place where)
{
    const char *slash = where.file ? strrchr(where.file, '/') : nullptr;
    return std::string(slash        ? slash + 1
                       : where.file ? where.file
                                    : "?") +
           ":" + std::to_string(where.line);
}

inline std::string words(const thread &t)
{
    char text[100];
    snprintf(text, sizeof text, "thread %u of block (%u, %u, %u)", t.number, blockIdx.x, blockIdx.y,
             blockIdx.z);
    return text;
}

inline void complain(machine &m, const std::string &sentence)
{
    if (m.report.empty()) m.report = sentence;
}

/* ---- Scheduling ------------------------------------------------------------------------------ */

inline void enter(machine &m, unsigned number)
{
    m.current = number;
    threadIdx = m.threads[number].index;
}

inline void make_ready(machine &m, unsigned number)
{
    m.threads[number].now = state::ready;
    m.ready.push_back(number);
}

/* Before all others: what a reverse schedule does with a warp that has met, which so runs as far
 * ahead as it can. */
inline void make_ready_first(machine &m, unsigned number)
{
    m.threads[number].now = state::ready;
    if (m.next > 0)
        m.ready[--m.next] = number;
    else
        m.ready.insert(m.ready.begin(), number);
}

inline void arrange_ready(machine &m)
{
    const auto begin = m.ready.begin() + static_cast<ptrdiff_t>(m.next);
    const size_t count = m.ready.size() - m.next;
    if (m.settings.schedule == order::reverse)
        std::reverse(begin, m.ready.end());
    else if (m.settings.schedule == order::random)
        for (size_t i = count; i > 1; --i)
            std::swap(begin[static_cast<ptrdiff_t>(i - 1)],
                      begin[static_cast<ptrdiff_t>(m.random() % i)]);
}

/* Leaves the current thread; returns when it has been made ready and its turn has come. */
inline void leave(machine &m)
{
    const unsigned self = m.current;
    if (m.next == m.ready.size()) {
        switch_fiber(m.threads[self].flow, m.scheduler);
        return;
    }
    const unsigned other = m.ready[m.next++];
    if (other == self) return;
    enter(m, other);
    switch_fiber(m.threads[self].flow, m.threads[other].flow);
}

/* Ends the launch from inside a thread. */
[[noreturn]] inline void stop(machine &m, const std::string &sentence)
{
    complain(m, sentence);
    switch_fiber(m.threads[m.current].flow, m.scheduler);
    abort();
}

/* Lets the other ready threads of the block go first: for loops that wait for memory. If all
 * that happens for long is such waiting, nobody is left to write it. */
inline void yield()
{
    machine &m = the_machine();
    if (!m.running) return;
    if (++*m.idle_yields > 1000 * m.size * std::max(1u, m.settings.resident))
        stop(m, "deadlock: " + words(m.threads[m.current]) +
                    " waits for memory that no thread will write");
    maybe_let_others_run(m, 8);
    make_ready(m, m.current);
    leave(m);
}

/* ---- Block barrier --------------------------------------------------------------------------- */

inline void release_barrier(machine &m)
{
    m.arrived = 0;
    m.any_arrived = m.any_arriving;
    m.any_arriving = false;
    *m.idle_yields = 0;
    ++m.statistics.barriers;
    if (m.settings.trace) {
        end_interval(m);
        if (!m.report.empty()) return; /* the threads stay where they are, and the launch ends */
    }
    ++m.interval;
    m.ready.clear();
    m.next = 0;
    for (unsigned i = 0; i < m.size; ++i)
        if (m.threads[i].now == state::at_barrier) make_ready(m, i);
    arrange_ready(m);
}

/* Returns whether any thread came with what is true. */
inline bool block_barrier(place where, bool what = false)
{
    machine &m = the_machine();
    thread &t = m.threads[m.current];
    if (m.arrived == 0)
        m.barrier_place = where;
    else if (where.line != m.barrier_place.line || strcmp(where.file, m.barrier_place.file) != 0)
        stop(m, "barrier divergence: " + words(t) + " waits at " + words(where) + ", others at " +
                    words(m.barrier_place));
    t.now = state::at_barrier;
    t.where = where;
    m.any_arriving |= what;
    maybe_let_others_run(m, 64);
    if (++m.arrived == m.alive) release_barrier(m);
    leave(m);
    return m.any_arrived;
}

/* ---- Warp meetings --------------------------------------------------------------------------- */

inline void complete(machine &m, unsigned w, meeting &r)
{
    r.took_part[r.generation & 1] = r.arrived;
    ++r.generation;
    m.warps[w].history.push_back(r.arrived);
    for (unsigned lane = 0; lane < lanes; ++lane) {
        if (!(r.arrived >> lane & 1)) continue;
        const unsigned number = w * lanes + lane;
        m.threads[number].meetings = static_cast<unsigned>(m.warps[w].history.size());
        if (m.threads[number].now != state::at_meeting) continue;
        if (m.settings.schedule == order::reverse)
            make_ready_first(m, number);
        else
            make_ready(m, number);
    }
    r.arrived = 0;
}

/* Waits for the lanes of the mask that have not exited; the meeting,
 * and which of its two generations. */
inline std::pair<meeting *, unsigned> meet(unsigned mask, const void *value, size_t bytes,
                                           place where)
{
    machine &m = the_machine();
    thread &t = m.threads[m.current];
    const unsigned lane = t.number % lanes, w = t.number / lanes;
    maybe_let_others_run(m, 64);
    if (!(mask >> lane & 1))
        stop(m, words(t) + " at " + words(where) + ": its lane is not in its own mask");
    std::vector<meeting> &open = m.warps[w].open;
    if (open.capacity() < 8) open.reserve(8); /* pointers into it stay good */
    meeting *r = nullptr;
    for (meeting &other : open) {
        if (other.mask == mask)
            r = &other;
        else if (other.arrived & mask)
            stop(m, "mask mismatch: " + words(t) + " at " + words(where) +
                        " and lanes waiting at " + words(other.where) +
                        " name each other with different masks");
    }
    if (!r) {
        if (open.size() == 8)
            stop(m, words(t) + " at " + words(where) + ": more than eight masks in a warp");
        open.emplace_back();
        r = &open.back();
        r->mask = mask;
    }
    if (!r->arrived)
        r->where = where;
    else if (r->where.line != where.line)
        stop(m, "warp divergence: " + words(t) + " is at " + words(where) +
                    ", lanes of its mask at " + words(r->where));
    const unsigned generation = r->generation & 1;
    if (bytes) memcpy(r->value[generation][lane], value, bytes);
    r->arrived |= 1u << lane;
    t.where = where;
    if (r->arrived == (mask & m.warps[w].alive)) {
        complete(m, w, *r);
    } else {
        t.now = state::at_meeting;
        leave(m);
    }
    return {r, generation};
}

/* Whether the current thread is the lowest lane of a meeting: one of them counts it. */
inline bool is_first(const std::pair<meeting *, unsigned> &met)
{
    const unsigned part = met.first->took_part[met.second];
    return (part & (0u - part)) == 1u << the_machine().current % lanes;
}

/* ---- Threads and blocks ---------------------------------------------------------------------- */

inline void thread_main()
{
    machine &m = the_machine();
    begin_fiber(m.threads[m.current].flow);
    for (;;) { /* once a block */
        const unsigned self = m.current;
        m.call(m.kernel, m.arguments);
        thread &t = m.threads[self];
        if (m.watcher) m.watcher(happening::exit, 0, nullptr);
        t.now = state::exited;
        *m.idle_yields = 0;
        --m.alive;
        /* who waits for this thread waits no more: exited threads do not count (Volta and later) */
        const unsigned w = self / lanes, left = m.warps[w].alive &= ~(1u << self % lanes);
        for (meeting &r : m.warps[w].open)
            if (r.arrived && r.arrived == (r.mask & left)) complete(m, w, r);
        if (m.alive && m.arrived == m.alive) release_barrier(m);
        leave(m);
    }
}

inline void describe_deadlock(machine &m)
{
    unsigned at_barrier = 0, at_meeting = 0, exited = 0;
    place barrier = {nullptr, 0}, warp_place = {nullptr, 0};
    for (unsigned i = 0; i < m.size; ++i) {
        const thread &t = m.threads[i];
        if (t.now == state::at_barrier) ++at_barrier, barrier = t.where;
        if (t.now == state::at_meeting) ++at_meeting, warp_place = t.where;
        if (t.now == state::exited) ++exited;
    }
    std::string sentence = "deadlock in block " + std::to_string(blockIdx.x) + ":";
    if (at_barrier)
        sentence +=
            " " + std::to_string(at_barrier) + " threads at the barrier " + words(barrier) + ",";
    if (at_meeting)
        sentence +=
            " " + std::to_string(at_meeting) + " at the warp meeting " + words(warp_place) + ",";
    complain(m, sentence + " " + std::to_string(exited) + " exited");
}

inline void provide_fibers(machine &m, unsigned count)
{
    if (count > m.stack_count) {
        if (m.stacks) {
            for (thread &t : m.threads)
                drop_fake_stack(m.scheduler, t.flow); /* its frames are of the old stack */
            clear_stack(m.stacks, m.stack_count * stack_bytes);
            munmap(m.stacks, m.stack_count * stack_bytes);
        }
        void *memory = mmap(nullptr, count * stack_bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED) abort();
        m.stacks = static_cast<char *>(memory);
        m.stack_count = count;
    }
    if (m.threads.size() < count) m.threads.resize(count);
}

inline void run_block(machine &m, dim3 block, bool fresh)
{
    m.size = m.alive = block.x * block.y * block.z;
    m.arrived = 0;
    m.interval = 0;
    m.next = 0;
    m.ready.clear();
    m.written.clear();
    m.warps.resize((m.size + lanes - 1) / lanes);
    for (warp &w : m.warps) {
        w.alive = 0;
        w.open.clear();
        w.history.clear();
    }
    /* NaN, as floats go; and behind it what nobody writes */
    fill_static_shared(m.kernel, 0xff);
    const size_t behind = std::min<size_t>(256, most_dynamic_shared - m.dynamic_bytes);
    if (m.dynamic_shared) memset(m.dynamic_shared, 0xff, m.dynamic_bytes + behind);
    for (unsigned i = 0; i < m.size; ++i) {
        thread &t = m.threads[i];
        t.number = i;
        t.index = {i % block.x, i / block.x % block.y, i / (block.x * block.y)};
        t.meetings = 0;
        t.log.clear();
        if (fresh) make_fiber(t.flow, m.stacks + i * stack_bytes, stack_bytes, thread_main);
        m.warps[i / lanes].alive |= 1u << i % lanes;
        make_ready(m, i);
    }
    arrange_ready(m);
    const unsigned first = m.ready[m.next++];
    enter(m, first);
    switch_fiber(m.scheduler, m.threads[first].flow);
    if (m.report.empty() && m.alive) describe_deadlock(m);
    for (size_t k = 0; m.dynamic_shared && k < behind; ++k)
        if (m.dynamic_shared[m.dynamic_bytes + k] != 0xff)
            complain(m, "out of bounds: a write behind " + std::to_string(m.dynamic_bytes) +
                            " bytes of dynamic shared memory");
    if (m.report.empty() && m.settings.trace) end_interval(m);
    ++m.statistics.blocks;
}

inline void place_block(uint64_t b, dim3 grid)
{
    blockIdx = {static_cast<unsigned>(b % grid.x), static_cast<unsigned>(b / grid.x % grid.y),
                static_cast<unsigned>(b / (static_cast<uint64_t>(grid.x) * grid.y))};
}

/* True if the grid ran without a problem. */
inline bool run_grid(dim3 grid, dim3 block, size_t shared_bytes)
{
    machine &m = the_machine();
    m.report.clear();
    m.statistics.interval_way.clear();
    ++m.statistics.launches;
    m.random_state = m.settings.seed * 0x9e3779b97f4a7c15u + 1;
    if (m.settings.resident > 0) return run_resident(m, grid, block, shared_bytes);
    m.dynamic_bytes = shared_bytes;
    blockDim = block;
    gridDim = grid;
    adopt_thread(m.scheduler);
    provide_fibers(m, block.x * block.y * block.z);
    if (dynamic_shared_of()) m.dynamic_shared = dynamic_shared_of()();

    const uint64_t total = static_cast<uint64_t>(grid.x) * grid.y * grid.z;
    std::vector<uint64_t> shuffled;
    const bool moves = !m.settings.blocks_in_order;
    if (moves && m.settings.schedule == order::random && total < (1u << 24)) {
        for (uint64_t i = 0; i < total; ++i) shuffled.push_back(i);
        const size_t movable = m.settings.last_block_last ? total - 1 : total;
        for (size_t i = movable; i > 1; --i) std::swap(shuffled[i - 1], shuffled[m.random() % i]);
    }
    m.running = true;
    const uint64_t first = m.settings.first_block;
    for (uint64_t k = first; k < total && m.report.empty(); ++k) {
        uint64_t b = k;
        if (!shuffled.empty())
            b = shuffled[k];
        else if (moves && m.settings.schedule == order::reverse)
            b = !m.settings.last_block_last ? total - 1 - k : k + 1 == total ? k : total - 2 - k;
        place_block(b, grid);
        run_block(m, block, k == first);
    }
    m.running = false;
    return m.report.empty();
}

} // namespace simt

#include "resident.h"
#endif
