/* On the CPU machine, the orders in which threads and blocks run, by turns: blocks in the order of
 * their indices, which is that of GPUs, one after another, or a few at a time that take turns at
 * random. Whoever waits waits for blocks before it. */
#ifndef ORDER_H
#define ORDER_H

#include "check.h"

namespace order
{

/* The next one; its name. */
inline const char *next()
{
#ifdef SIMT_MACHINE
    static const struct {
        const char *name;
        simt::order schedule;
        unsigned resident;
    } all[] = {{"in turn", simt::order::forward, 0},
               {"two at a time", simt::order::random, 2},
               {"in turn, threads in reverse", simt::order::reverse, 0},
               {"five at a time, threads in reverse", simt::order::reverse, 5},
               {"in turn, threads at random", simt::order::random, 0},
               {"one at a time", simt::order::random, 1},
               {"three at a time", simt::order::forward, 3},
               {"a dozen at a time", simt::order::random, 12}};
    static unsigned turn = 0;
    const auto &now = all[turn % (sizeof all / sizeof *all)];
    simt::settings().schedule = now.schedule;
    simt::settings().resident = now.resident;
    simt::settings().blocks_in_order = true;
    simt::settings().seed = ++turn;
    return now.name;
#else
    return "of the GPU";
#endif
}

inline void usual()
{
#ifdef SIMT_MACHINE
    simt::settings() = simt::options();
#endif
}

/* What the last launch did wrong. */
inline const char *report()
{
#ifdef SIMT_MACHINE
    return simt::report().c_str();
#else
    return "";
#endif
}

} // namespace order
#endif
