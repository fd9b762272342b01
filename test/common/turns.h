/* What does not show in a result. Comes after fastreduce.cuh. */
#ifndef TURNS_H
#define TURNS_H

#include "check.h"

/* Calls take turns: each `pool`-th has memory of the stream's pool, the others the workspace; and
 * on the CPU machine, schedules and GPUs. */
inline void take_turns(fastreduce_config &config, void *workspace, unsigned pool)
{
    static unsigned turn = 0;
    if (++turn % pool) {
        config.workspace = workspace;
        config.workspace_bytes = FASTREDUCE_WORKSPACE_BYTES;
    }
#ifdef SIMT_MACHINE
    simt::settings().schedule = static_cast<simt::order>(turn % 3);
    simt::gpu gpu;
    gpu.number = turn / 3 % 8 == 0 ? 1 : turn / 3 % 8 == 1 ? 2 : 0;
    gpu.multiprocessors = gpu.number == 1 ? 1 : gpu.number == 2 ? 132 : 4;
    simt::set_gpu(gpu);
#endif
}

/* use(x) with an x of every element type. */
template <class F16, class Bf16, class Use>
void for_each_type(const Use &use)
{
    use(float());
    use(double());
    use(F16());
    use(Bf16());
    use(static_cast<signed char>(0));
    use(short());
    use(int());
    use(static_cast<long long>(0));
    use(static_cast<unsigned char>(0));
    use(static_cast<unsigned short>(0));
    use(unsigned());
    use(static_cast<unsigned long long>(0));
}

#endif
