/* What fastreduce_kernel_name answers for 0, 1, ... and for the number after the last kernel's. */
static const char *const kernel_names[] = {"auto",
                                           "v0_baseline",
                                           "v1_no_divergence",
                                           "v2_no_bank_conflict",
                                           "v3_add_during_load",
                                           "v4_unroll_last_warp",
                                           "v5_completely_unroll",
                                           "v6_multi_add",
                                           "v7_shuffle",
                                           "exact",
                                           "unknown"};
