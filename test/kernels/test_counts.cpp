/* The comparison matrix of the ladder, as counts from the CPU machine: divergence, bank
 * conflicts, barriers, shared memory traffic. One full block of each version, and once a sum of
 * several levels. */
#include "../common/check.h"
#include "simt_profile.h"

static simt_profile profile_of(fastreduce_kernel kernel, unsigned block_size, size_t n)
{
    simt_profile profile;
    check::that(simt_profile_sum(kernel, block_size, n, &profile) == 0, "%s, block %u, n %zu: %s",
                fastreduce_kernel_name(kernel), block_size, n, simt_profile_error());
    return profile;
}

/* A full tile: block size times items, so one block whose threads all load. */
static simt_profile one_block(fastreduce_kernel kernel, unsigned block_size)
{
    const unsigned items = kernel <= FASTREDUCE_V2 ? 1 : kernel <= FASTREDUCE_V5 ? 2 : 8;
    return profile_of(kernel, block_size, static_cast<size_t>(block_size) * items);
}

static unsigned log2_of(unsigned x) { return x > 1 ? 1 + log2_of(x / 2) : 0; }

int main()
{
    std::printf("%-5s %-20s %8s %10s %10s %10s %10s %6s %8s\n", "block", "kernel", "barriers",
                "warp-steps", "divergent", "avoidable", "conflicts", "worst", "accesses");
    for (unsigned block_size : {32u, 64u, 128u, 256u, 512u, 1024u}) {
        simt_profile p[8];
        for (int v = 0; v < 8; ++v) {
            const fastreduce_kernel kernel = static_cast<fastreduce_kernel>(FASTREDUCE_V0 + v);
            p[v] = one_block(kernel, block_size);
            std::printf("%-5u %-20s %8llu %10llu %10llu %10llu %10llu %6u %8llu\n", block_size,
                        fastreduce_kernel_name(kernel), p[v].barriers, p[v].warp_steps,
                        p[v].divergent_steps, p[v].avoidable_steps, p[v].conflicts,
                        p[v].worst_conflict, p[v].shared_accesses);
            check::that(p[v].launches == 1 && p[v].blocks == 1, "V%d: not one block", v);
        }
        const unsigned steps = log2_of(block_size), warps = block_size / 32;

        /* V0 diverges, and has no conflicts */
        check::that(p[0].conflicts == 0 && p[0].worst_conflict == 1, "block %u: V0 conflicts",
                    block_size);
        check::that(p[0].divergent_steps > p[0].warp_steps / 2, "block %u: V0 does not diverge",
                    block_size);
        check::that(warps == 1 || p[0].avoidable_steps > 0, "block %u: V0's threads are packed",
                    block_size);

        /* V1 packs its threads, and collides: 2-, 4-, 8-way in its first three steps while a
         * warp has the lanes */
        check::that(p[1].avoidable_steps == 0, "block %u: V1 diverges without need", block_size);
        if (block_size >= 64) { /* half a warp, strided by two, still fits the 32 banks */
            check::that(p[1].divergent_steps < p[0].divergent_steps,
                        "block %u: V1 diverges like V0", block_size);
            check::that(p[1].conflicts > 0, "block %u: V1 has no conflicts", block_size);
        }
        if (block_size >= 256) {
            check::that(p[1].worst_conflict >= 8, "block %u: V1 is %u-way at worst", block_size,
                        p[1].worst_conflict);
            /* interval 0 ends with the barrier after the load */
            for (unsigned step = 1; step <= 3; ++step)
                check::that(p[1].interval_conflict[step] == 1u << step,
                            "block %u: step %u of V1 is %u-way", block_size, step,
                            p[1].interval_conflict[step]);
        }

        /* from V2 on neither, but that in V7 each warp's first lane
         * stores what its warp alone has */
        for (int v = 2; v < 8; ++v) {
            check::that(p[v].conflicts == 0, "block %u: V%d conflicts", block_size, v);
            check::that(p[v].avoidable_steps == (v == 7 ? warps - 1 : 0),
                        "block %u: V%d diverges without need", block_size, v);
        }

        /* barriers: one after the load and one a step; V4 to V6 stop at stride 32; V7 has one */
        for (int v = 0; v < 4; ++v)
            check::that(p[v].barriers == 1 + steps, "block %u: V%d has %llu barriers", block_size,
                        v, p[v].barriers);
        const unsigned saved = steps < 6 ? steps : 6;
        for (int v = 4; v < 7; ++v)
            check::that(p[v].barriers == p[3].barriers - saved,
                        "block %u: V%d saves %llu barriers, not %u", block_size, v,
                        p[3].barriers - p[v].barriers, saved);
        check::that(p[7].barriers == 1, "block %u: V7 has %llu barriers", block_size,
                    p[7].barriers);

        /* shared traffic: every thread stores its value; a step of the tree loads two and stores
         * their sum, and the result is loaded; from V3 on a thread's own sum is in a register. V7
         * stores and loads one a warp. */
        for (int v = 0; v < 7; ++v) {
            const unsigned expected =
                v < 3 ? block_size + 3 * (block_size - 1) + 1 : block_size + 2 * (block_size - 1);
            check::that(p[v].shared_accesses == expected,
                        "block %u: V%d has %llu shared accesses, not %u", block_size, v,
                        p[v].shared_accesses, expected);
        }
        check::that(p[7].shared_accesses == 2 * warps, "block %u: V7 has %llu shared accesses",
                    block_size, p[7].shared_accesses);
        check::that(p[7].shared_accesses * 32 <= p[6].shared_accesses,
                    "block %u: V7 is no small fraction", block_size);
    }

    /* levels: launches and blocks of a sum that recurses twice */
    const simt_profile three = profile_of(FASTREDUCE_V0, 32, 32 * 32 + 1);
    check::that(three.launches == 3 && three.blocks == 33 + 2 + 1,
                "three levels: %llu launches, %llu blocks", three.launches, three.blocks);
    const simt_profile eighth = profile_of(FASTREDUCE_V6, 32, 32 * 32);
    check::that(eighth.blocks == 4 + 1, "V6 needs an eighth of the blocks: %llu", eighth.blocks);
    return check::finish("counts");
}
