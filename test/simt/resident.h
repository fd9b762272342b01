/* Several blocks at a time: as many as options::resident says, which begin in the order of their
 * indices, as on a GPU, and take turns at random, wherever the threads of a warp or of a block meet
 * and where one waits for memory. Some then sleep for many turns, in which others begin and end.
 * Each runs on a host thread of its own, so that it has its own __shared__ memory and threadIdx;
 * but only one of them at any moment. */
#ifndef SIMT_RESIDENT_H
#define SIMT_RESIDENT_H

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include "machine.h"

namespace simt
{

class residents
{
  public:
    /* True if the grid ran without a problem. */
    bool run(machine &from, dim3 grid, dim3 block, size_t shared_bytes)
    {
        std::unique_lock<std::mutex> hold(lock);
        const unsigned count = from.settings.resident;
        while (places.size() < count) {
            places.emplace_back(new place_of_block);
            std::thread(&residents::work, this, places.size() - 1).detach();
        }
        launch = &from;
        grid_size = grid;
        block_size = block;
        bytes = shared_bytes;
        next = idle = 0;
        total = static_cast<uint64_t>(grid.x) * grid.y * grid.z;
        random_state = from.random_state;
        here.clear();
        for (unsigned k = 0; k < count; ++k) {
            here.push_back(k);
            places[k]->begins = true;
            places[k]->sleeps = false;
        }
        give_turn();
        ended.wait(hold, [&] { return here.empty(); });
        return from.report.empty();
    }

    /* From a block whose turn it is: lets another one go on. */
    void pass(machine &m)
    {
        {
            std::unique_lock<std::mutex> hold(lock);
            places[m.resident_at]->sleeps = m.random() % 8 == 0;
            give_turn();
            wait_for_turn(hold, m.resident_at);
        }
        if (!launch->report.empty()) stop(m, launch->report);
    }

  private:
    struct place_of_block {
        std::condition_variable woken;
        bool has_turn = false, begins = false, sleeps = false;
    };
    std::mutex lock;
    std::condition_variable ended;
    std::vector<std::unique_ptr<place_of_block>> places;
    std::vector<unsigned> here; /* places that have a block, or look for one */
    machine *launch = nullptr;
    dim3 grid_size, block_size;
    size_t bytes = 0;
    uint64_t next = 0, total = 0, idle = 0, random_state = 0;

    uint64_t random()
    {
        random_state = random_state * 6364136223846793005u + 1442695040888963407u;
        return random_state >> 33;
    }
    void give_turn()
    {
        constexpr uint64_t patience = 1000; /* of threads that wait for memory */
        constexpr unsigned turns = 64;      /* until one wakes, if any can go on */
        const auto sleeps = [&](unsigned at) { return places[at]->sleeps; };
        if (random() % turns == 0 || idle > patience ||
            std::all_of(here.begin(), here.end(), sleeps))
            places[here[random() % here.size()]]->sleeps = false;
        unsigned at;
        do at = here[random() % here.size()];
        while (sleeps(at));
        place_of_block &chosen = *places[at];
        chosen.has_turn = true;
        chosen.woken.notify_one();
    }
    void wait_for_turn(std::unique_lock<std::mutex> &hold, size_t at)
    {
        places[at]->woken.wait(hold, [&] { return places[at]->has_turn; });
        places[at]->has_turn = false;
    }

    /* A host thread's work, for ever. */
    void work(size_t at)
    {
        machine &m = the_machine();
        for (;;) {
            std::unique_lock<std::mutex> hold(lock);
            wait_for_turn(hold, at);
            if (places[at]->begins) prepare(m, at);
            if (next == total || !launch->report.empty()) {
                here.erase(std::find(here.begin(), here.end(), static_cast<unsigned>(at)));
                add_counts(launch->statistics, m.statistics);
                if (here.empty())
                    ended.notify_one();
                else
                    give_turn();
                places[at]->begins = true;
                continue;
            }
            const uint64_t b = next++;
            hold.unlock();
            place_block(b, grid_size);
            run_block(m, block_size, places[at]->begins);
            places[at]->begins = false;
            if (!m.report.empty()) complain(*launch, m.report);
            hold.lock();
            give_turn();
        }
    }

    void prepare(machine &m, size_t at)
    {
        m.settings = launch->settings;
        m.settings.trace = false;
        m.statistics = counts();
        m.report.clear();
        m.random_state = launch->random_state + 977 * at;
        m.call = launch->call;
        m.kernel = launch->kernel;
        m.arguments = launch->arguments;
        m.dynamic_bytes = bytes;
        m.crowd = this;
        m.resident_at = at;
        m.idle_yields = &idle;
        m.running = true;
        blockDim = block_size;
        gridDim = grid_size;
        adopt_thread(m.scheduler);
        provide_fibers(m, block_size.x * block_size.y * block_size.z);
        if (dynamic_shared_of()) m.dynamic_shared = dynamic_shared_of()();
    }

    static void add_counts(counts &to, const counts &from)
    {
        to.blocks += from.blocks;
        to.barriers += from.barriers;
        to.warp_barriers += from.warp_barriers;
        to.shuffles += from.shuffles;
    }
};

/* Never ends: its threads wait until the process does. */
inline residents &the_residents()
{
    static residents *instance = new residents;
    return *instance;
}

inline bool run_resident(machine &m, dim3 grid, dim3 block, size_t shared_bytes)
{
    return the_residents().run(m, grid, block, shared_bytes);
}
inline void let_others_run(machine &m) { m.crowd->pass(m); }

} // namespace simt
#endif
