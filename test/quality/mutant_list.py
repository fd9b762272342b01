"""What mutants.py has to be told: the tests, changes by hand, and changes without effect."""

C_COMPILER = "cc"

# name: source in test/, and flags
TESTS = {
    "host": ("host/test_host.c", ["-lmpfr", "-lgmp", "-lm"]),
    "plan": ("kernels/test_plan.cpp", ["-ldl"]),
    "launcher": ("kernels/test_launcher.cpp", ["-ldl"]),
    "races": ("kernels/test_races.cpp", ["-ldl"]),
    "types": ("kernels/test_types.cpp", ["-ldl"]),
    "auto": ("kernels/test_auto.cpp", ["-ldl"]),
    "small-float": ("kernels/test_small.cpp", ["-DSMALL_FLOAT", "-ldl"]),
    "small-exact": ("kernels/test_small.cpp", ["-DSMALL_EXACT", "-ldl"]),
    "small-long": ("kernels/test_small.cpp", ["-DSMALL_LONG", "-ldl"]),
}

H, CUH = "fastreduce.h", "fastreduce.cuh"

# Changes that take knowledge: file, function, old text, new text. The old text is once in the
# function; where it has to be longer than what is replaced, to be found, @ signs mark that.
BY_HAND = [
    (H, "fastreduce_detail_carry", "limb[k] >> 32", "limb[k] / 4294967296"),
    (H, "fastreduce_detail_special", "positive ? 2 : negative ? 3 : 0",
     "positive ? 3 : negative ? 2 : 0"),
    (CUH, "minimum::identity", "detail::bounds<Value>::greatest()",
     "detail::bounds<Value>::least()"),
    (CUH, "minimum::identity", "detail::bounds<Value>::greatest()", "Value{}"),
    (CUH, "maximum::identity", "detail::bounds<Value>::least()",
     "detail::bounds<Value>::greatest()"),
    (CUH, "maximum::identity", "detail::bounds<Value>::least()", "Value{}"),
    (CUH, "block_reduce", "warp_reduce<Operator, warps>(value)", "warp_reduce<Operator>(value)"),
    (CUH, "v0_baseline", "Operator::template identity<Value>()", "static_cast<Value>(input[0])"),
]

# The same of what has to be constant: each is built alone, with a test.
ALONE = [
    (CUH, "", "most = @limits::has_infinity ? limits::infinity() : (limits::max)()@",
     "(limits::max)()", "plan"),
    (CUH, "", "sizeof(Input) < sizeof(wide)", "sizeof(Input) <= sizeof(wide)", "plan"),
    (CUH, "", "sizeof(Input) < sizeof(wide)", "sizeof(Input) < 4", "plan"),
    (CUH, "", "is_signed<Input>::value, @long long, unsigned long long@>",
     "unsigned long long, long long", "plan"),
    (CUH, "", "widens, @wide@, Input", "Input", "plan"),
]

# What no test can notice: function, change, a part of the statement, why. In function and change *
# is anything. An entry that no change answers to is an error.
SLOWER = "only takes longer"
POWERS = "the numbers are powers of two, and none lies between"
THEMSELVES = "there are rounds more, in which lanes meet themselves: the greatest stays"
CHECKED = "the branch with checks does for all"
OTHER_WARPS = "the results of other warps are not used"
ANYBODY = "any thread may store what all can read"
EQUAL = "the same where both are equal"
EQUIVALENT = [
    # ---- The accumulator's arithmetic
    ("fastreduce_detail_settle", "k <= *_COUNT -> k <= *_COUNT + 1", "",
     "limb 15 is 0 and stays 0"),
    ("fastreduce_detail_settle", "limb[k] > * -> limb[k] >= *", "", EQUAL),
    ("fastreduce_detail_add_scaled", "value < 0 -> value <= 0", "", "0 and -0 are one integer"),
    ("fastreduce_detail_round_top", "highest < precision -> highest + 1 < precision", "",
     "both sides of the choice are equal there"),
    ("fastreduce_detail_round_top", "*shift == 0 -> false", "",
     "nothing is cut off then, so nothing rounds"),
    ("fastreduce_detail_round_top", "cut > (uint64_t)1 << 63 -> cut > ((uint64_t)1 << 63) + 1", "",
     "the low bits of what is cut off are 0"),
    ("fastreduce_detail_pack_f32", "bits > infinity -> bits >= infinity", "", EQUAL),
    # ---- The host implementation
    ("fastreduce_status_string", "status > 0 -> status >= 0", "", "0 has been answered before"),
    ("fastreduce_accumulator_merge", "k < 16 -> k + 1 < 16", "", "limb 15 is 0 and stays 0"),
    ("fastreduce_detail_add_to_bins", "bins[*] -> bins[(*", "", "either set will do"),
    ("fastreduce_detail_add_to_bins", "!(bins[0][255] * -> false", "", SLOWER),
    ("fastreduce_detail_add_to_bins", "bins[1][511] = 0 -> bins[1][511] = (0 *", "",
     "the two signs cancel, and the bins are cleared again before they count"),
    ("fastreduce_detail_flush_bins", "k < 512 -> k + 1 < 512", "",
     "the last bin is that of -infinity and NaN, which are not finite"),
    ("fastreduce_detail_flush_bins", "*bin >> 43 << 23 : 0 -> *bin >> 43 << 23 : (0 + 1)", "",
     "cancels between the two signs"),
    ("fastreduce_detail_flush_bins", "sum > 0 -> true", "", "adds 0"),
    ("fastreduce_detail_flush_bins", "sum > 0 -> sum >= 0", "", "adds 0"),
    ("fastreduce_detail_flush_bins", "exponent > 0 -> exponent > 0 + 1", "add_scaled",
     "exponents 0 and 1 have one scale"),
    ("fastreduce_detail_sum_near", "0 -> (0 + 1)", "uint32_t greatest", "a denormal's bits"),
    ("fastreduce_detail_sum_near", "0xffffffff -> (0xffffffff - 1)", "", "no float is there"),
    ("fastreduce_detail_sum_near", "greatest >= 255 * one -> greatest + 1 >= 255 * one", "",
     SLOWER),
    ("fastreduce_detail_sum_near", "bits & 0x7fffffff -> bits & (0x7fffffff - 1)", "",
     "only its exponent is looked at"),
    ("fastreduce_detail_sum_near", "* & 31 -> *", "", "zeros are not shifted out of an int64"),
    ("fastreduce_detail_add_to_window", "exponent <= 23 -> exponent < 23", "", EQUAL),
    ("fastreduce_detail_add_to_window", "exponent < 253 -> exponent <= 253", "", EQUAL),
    ("fastreduce_detail_add_to_window", "*position == last -> false", "", SLOWER),
    ("fastreduce_detail_sum_few", "n >= 8 -> *", "", SLOWER),
    ("fastreduce_detail_sum_few", "n >= 8 && * -> false", "", SLOWER),
    ("fastreduce_detail_sum_few", "n <= FASTREDUCE_DETAIL_FEW -> n < *", "", SLOWER),
    ("fastreduce_detail_sum_few", "FASTREDUCE_DETAIL_HAS_AVX2 -> true", "",
     "where the test runs the CPU has it"),
    ("fastreduce_detail_sum_few", "n <= 16 -> *", "", SLOWER),
    ("fastreduce_detail_sum_few", "n <= 16 && * -> false", "", SLOWER),
    ("fastreduce_detail_add_few", "fastreduce_detail_sum_few(*) -> false", "", SLOWER),
    ("fastreduce_detail_add_many", "1 -> (1 *", "size_t rows", SLOWER),
    ("fastreduce_detail_add_many", "230 -> (230 - 1)", "", SLOWER),
    ("fastreduce_detail_add_many", "has_window -> *", "", SLOWER),
    ("fastreduce_detail_add_many", "block < FASTREDUCE_DETAIL_FEW -> *", "", SLOWER),
    ("fastreduce_detail_add_many", "block < FASTREDUCE_DETAIL_FEW && * -> false", "", SLOWER),
    ("fastreduce_detail_add_many", "in_bins == 0 -> true", "add_few", SLOWER),
    ("fastreduce_detail_add_many", "2 * rows -> 2 / rows", "", SLOWER),
    ("fastreduce_detail_add_many", "2 * rows -> (2 + 1) * rows", "", SLOWER),
    ("fastreduce_detail_add_many", "block < *_MANY -> block + 1 < *", "rows", SLOWER),
    ("fastreduce_detail_add_many", "rows = 1 -> *", "", SLOWER),
    ("fastreduce_detail_add_many", "in_bins + block > * -> in_bins + block >= *", "", SLOWER),
    ("fastreduce_detail_add_many", "in_bins += block -> in_bins -= block", "", SLOWER),
    ("fastreduce_host_accumulate_f32", "left < * -> true", "",
     "sums overflow from 2^39 elements of one exponent on, past any test"),
    ("fastreduce_host_accumulate_f32", "block <= FASTREDUCE_DETAIL_FEW -> *", "", SLOWER),
    # ---- Room 2: portability
    ("back_off", "__nanosleep(20) -> __nanosleep(*", "", "another pause"),
    ("warp_max", "warp_size / 2 -> warp_size * 2", "", THEMSELVES),
    ("warp_max", "warp_size / 2 -> warp_size / (2 - 1)", "", THEMSELVES),
    ("bulk_copy", "*phases + 1 -> *phases - 1", "", "only whether it is odd matters"),
    # ---- Room 4: building blocks
    ("thread_reduce", "first + (Items - 1) * stride < n -> false", "", CHECKED),
    ("thread_reduce", "first + (Items - 1) * stride < n -> first + (Items - 1) * stride + 1 < n",
     "", CHECKED),
    ("thread_reduce", "Items - 1 -> Items + 1", "", CHECKED),
    ("thread_reduce", "Items - 1 -> 1 - Items", "", CHECKED),
    ("thread_reduce", "Items - 1 -> Items - (1 - 1)", "", CHECKED),
    ("thread_reduce", "k < Items -> k <= Items", "++k) if (first",
     "there are no elements after those that are missing"),
    ("thread_reduce", "k < Items -> k + 1 < Items", "++k) if (first",
     "where elements are missing, the last is"),
    ("block_reduce", "warps == 1 -> false", "", SLOWER),
    ("block_reduce", "warp == 0 -> true", "", OTHER_WARPS),
    # ---- Room 5: the ladder
    ("v0_baseline", "stride < blockDim.x -> stride + 1 < blockDim.x", "", POWERS),
    ("v1_no_divergence", "stride < blockDim.x -> stride + 1 < blockDim.x", "", POWERS),
    ("v1_no_divergence", "index < blockDim.x -> index + 1 < blockDim.x", "", "both are even"),
    ("v1_no_divergence", "tid == 0 -> true", "", ANYBODY),
    ("v1_no_divergence", "tid == 0 -> tid == (0 + 1)", "", ANYBODY),
    ("unrolled_tail", "stride < warp_size -> stride + 1 < warp_size", "", POWERS),
    ("unrolled_tail", "block_size > warp_size -> block_size > warp_size + 1", "", POWERS),
    ("unrolled_tail", "Tail == tail::warp -> *", "",
     "from 32 values on barriers of the warp do, and barriers of the block too: who left counts no "
     "more"),
    ("v4_unroll_last_warp", "Tail == tail::warp -> *", "", OTHER_WARPS),
    ("v4_unroll_last_warp", "Tail == tail::warp && tid >= warp_size -> false", "", OTHER_WARPS),
    ("v*", "tid >= warp_size -> false", "", OTHER_WARPS),
    ("v*", "tid >= warp_size -> tid > warp_size", "", OTHER_WARPS),
    ("v*", "stride > warp_size -> stride > warp_size + 1", "", POWERS),
]
