"""What mutants.py has to be told: the tests, changes by hand, and changes without effect."""

C_COMPILER = "cc"

# name: source in test/, and flags
TESTS = {
    "host": ("host/test_host.c", ["-lmpfr", "-lgmp", "-lm"]),
    "plan": ("kernels/test_plan.cpp", ["-ldl"]),
    "launcher": ("kernels/test_launcher.cpp", ["-ldl"]),
    "races": ("kernels/test_races.cpp", ["-ldl"]),
    "types": ("kernels/test_types.cpp", ["-ldl"]),
    "auto-small": ("kernels/test_auto.cpp", ["-DAUTO_SMALL", "-ldl"]),
    "auto-types": ("kernels/test_auto_types.cpp", ["-ldl"]),
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
    (CUH, "packs_to_prefetch", "least = @8 * kibibyte@", "9 * kibibyte", "plan"),
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
ZEROS = "zeros are added more"
CPU = "the CPU machine runs one grid after the other, and has no caches"
MORE_PAIRS = "pairs more, whose values are not used"
SHIFTED_OUT = "all bits are shifted out"
BEYOND = "a sum that has the highest digits takes more elements than any test"
THIRD = "of the third digit nothing stays, as of those below"
EVEN = "only whether it is odd matters"
TWICE = "what n calls for is refused again where it is computed"
WINDOW = "where the window lies changes the time it takes alone"
SIXTEEN = "packs of 16 bytes are aligned to 16"
WHOLE = "a count of more packs than a thread has is that of all"
ANCHOR = "rounds to the same multiples; which way a half goes does not matter"
NO_ROW = "the CPU machine's shared memory is 0 where nobody wrote"
FIRST_ELEMENT = "partials that begin before the input meet its first element, if any"
FIRST_WARP = "only the first warp comes here"
EQUIVALENT = [
    # ---- The accumulator's arithmetic
    ("fastreduce_detail_normalize", "k <= *_COUNT -> k <= *_COUNT + 1", "",
     "limb 15 is 0 and stays 0"),
    ("fastreduce_detail_normalize", "limb[k] > * -> limb[k] >= *", "", EQUAL),
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
    ("fastreduce_detail_add_many", "memset(bin, 0, sizeof bin) -> memset(bin, (0 * 1), *", "",
     "what all bins begin with cancels between the two signs"),
    ("fastreduce_detail_add_many", "i & 1 -> i & (1 - 1)", "", SLOWER),
    ("fastreduce_detail_add_many", "k < 512 -> k + 1 < 512", "",
     "the last bin is that of -infinity and NaN, which are not finite"),
    ("fastreduce_detail_add_many", "bin[0][k] + bin[1][k] -> true", "", "adds 0"),
    ("fastreduce_host_accumulate_f32", "left < * -> true", "",
     "sums overflow from 2^39 elements of one exponent on, past any test"),
    ("fastreduce_host_accumulate_f32", "block <= FASTREDUCE_DETAIL_FEW -> *", "", SLOWER),
    # ---- Room 2: portability
    ("back_off", "__nanosleep(20) -> __nanosleep(*", "", "another pause"),
    ("load_pack", "sizeof(Pack) != sizeof(float4) || * -> true", "", SLOWER),
    ("load_pack", "alignof(Pack) % * -> alignof(Pack) % alignof(float4) != (0 + 1)", "", SLOWER),
    ("load_pack", "alignof(Pack) % alignof(float4) -> alignof(Pack)", "", SLOWER),
    ("load_pack", "alignof(Pack) % alignof(float4) != 0 -> false", "", SIXTEEN),
    ("load_pack", "alignof(Pack) % * -> alignof(float4) % alignof(Pack)", "", SIXTEEN),
    ("load_pack", "sizeof(Pack) < sizeof vector -> *", "", SIXTEEN),
    ("load_pack", "Streaming -> *", "", CPU),
    ("warp_max", "warp_size / 2 -> warp_size * 2", "", THEMSELVES),
    ("warp_max", "warp_size / 2 -> warp_size / (2 - 1)", "", THEMSELVES),
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
    # ---- Room 6: the engine
    ("tile_items::load", "* <= input.packs -> (tile + 1) * tile_packs < input.packs", "", SLOWER),
    ("tile_items::load", "input.streaming -> *", "", CPU),
    ("tile_items::load", "first < input.packs -> first <= input.packs", "", EQUAL),
    ("tile_items::load", "* -> rest <= (Packs - 1) * BlockSize + 1", "", EQUAL),
    ("tile_items::load", "rest <= (Packs - 1) * BlockSize -> true", "", WHOLE),
    ("tile_items::load", "Packs - 1 -> Packs + 1", "", WHOLE),
    ("tile_items::load", "Packs - 1 -> 1 - Packs", "", WHOLE),
    ("tile_items::load", "Packs - 1 -> Packs - (1 - 1)", "", WHOLE),
    ("tile_items::load", "vectors -> false", "if (vectors)", SLOWER),
    ("tile_items::load_copy", "k < Packs -> k <= Packs", "",
     "one more, which overwrites members that are set later"),
    ("tile_items::load_copy", "vectors -> false", "", SLOWER),
    ("tile_items::load_edge", "input.head + input.tail > 0 -> true", "", ZEROS),
    ("tile_items::load_edge", "input.head + input.tail > 0 -> input.head + input.tail >= 0", "",
     ZEROS),
    ("work_plan::of", "{tiles, 0, levels, 0} -> {tiles, *, levels, 0}", "",
     "the next line sets units"),
    ("work_plan::most_units", "bound > * -> bound > most_single_tiles + 1", "",
     "4097 is not 1024 + 257 * levels"),
    ("prefetch_tile", "*", "rest = ", CPU),
    ("prefetch_tile", "*", "packs = ", CPU),
    ("prefetch_tile", "*", "if (threadIdx.x == 0", CPU),
    ("prefetch_tile", "prefetch_to_l2(* -> nothing", "", CPU),
    ("prefetch_tile", "input.data + * -> input.data - *", "", CPU),
    ("prefetch_tile", "tile * TilePacks -> *", "", CPU),
    ("prefetch_tile", "packs * static_cast* -> *", "", CPU),
    ("*", "prefetch_tile<*", "", CPU),
    ("*", "wait_for_previous_grid() -> nothing", "", CPU),
    ("*", "allow_next_grid() -> nothing", "", CPU),
    ("search_run", "{tiles, 0, levels, 0} -> *", "", "run() looks at tiles and levels alone"),
    ("run_of", "work.levels == 0 -> false", "", SLOWER),
    ("partial_words::await", "* : 1 -> * : (1 + 1)", "", "any word that is not 0 is there"),
    ("reduction::reduce_pairs", "width < Count -> width <= Count", "", "there are no such pairs"),
    ("reduction::reduce_pairs", "2 * width -> width", "", MORE_PAIRS),
    ("reduction::reduce_pairs", "2 * width -> (2 - 1) * width", "", MORE_PAIRS),
    ("reduction::block_value", "threadIdx.x % warp_size -> threadIdx.x", "", FIRST_WARP),
    ("reduction::block_value", "threadIdx.x % warp_size -> threadIdx.x % (warp_size + 1)", "",
     FIRST_WARP),
    ("reduction::collect", "parts <= warps -> parts <= warps + 1", "", POWERS),
    ("reduction::add_partials", "first < end -> first <= end", "",
     "a round more, in which no partial exists"),
    ("reduction::reduce_tiles", "others == 0 -> false", "", "adds the identity once more"),
    ("reduction::reduce_units", "words_of::await(*, 1, units, last) -> words_of*", "",
     "one is awaited, so there is no stride"),
    ("reduction::reduce_units", "threadIdx.x >= warp_size -> false", "", OTHER_WARPS),
    ("reduction::reduce_units", "threadIdx.x == 0 -> t*", "return threadIdx.x == 0", ANYBODY),
    ("reduce_grid_stride", "0 -> (0 + 1)", "unsigned slot = 0", "the two take turns"),
    ("reduce_grid_stride", "Accumulator::collects -> true", "", SLOWER),
    ("reduce_grid_stride", "threadIdx.x == 0 -> threadIdx.x == (0 + 1)", "", ANYBODY),
    ("copy_tile", "line_bytes - 1 -> line_bytes - (1 + 1)", "",
     "what lies at odd addresses is not copied then, and loaded"),
    ("unit_queue", "*0* -> *", "", "begin() sets it, or nobody asks"),
    ("unit_queue::begin", "empty() -> false", "", "nobody asks for what comes after the last"),
    # ---- Room 7: the superaccumulator
    ("digit_of", "from <= -32 -> from < -32", "", SHIFTED_OUT),
    ("digit_of", "-32 -> -(32 + 1)", "", SHIFTED_OUT),
    ("digit_of", "from >= 0 -> from > 0", "", EQUAL),
    ("*_across_lanes", "threadIdx.x % warp_size -> threadIdx.x", "", FIRST_WARP),
    ("*_across_lanes", "threadIdx.x % warp_size -> threadIdx.x % (warp_size + 1)", "", FIRST_WARP),
    ("read_across_lanes", "lane == top_lane -> true", "digit < 0", "no other digit is less than 0"),
    ("read_across_lanes", "lane < top_lane -> *", "zeros = ", BEYOND),
    ("read_across_lanes", "lane < top_lane -> lane + 1 < top_lane", "digit ^ mask", BEYOND),
    ("read_across_lanes", "lane == top_lane -> false", "", BEYOND),
    ("read_across_lanes", "lane < top_lane -> true", "digit &= mask", BEYOND),
    ("read_across_lanes", "lane < top_lane -> lane <= top_lane", "digit &= mask", BEYOND),
    ("read_across_lanes", "lane < top_lane -> lane + 1 < top_lane", "digit &= mask", BEYOND),
    ("read_across_lanes", "* : 31 -> * : (31 - 1)", "", "lanes from 16 on have 0"),
    ("read_across_lanes", "top >= 3 -> top + 1 >= 3", "", "no digits are left then"),
    ("read_across_lanes", "1u << (top - 2) -> (1u + 1) << (top - 2)", "", THIRD),
    ("read_across_lanes", "top - 2 -> top - (2 - 1)", "bool below", THIRD),
    ("read_across_lanes", "* & 1 -> special >> FASTREDUCE_NEGATIVE_INFINITY_COUNT", "",
     "lanes after that have 0"),
    ("superaccumulator", "0 -> *", "unsigned bins_only", "bins give the same"),
    ("superaccumulator", "0 -> *", "unsigned groups", "there is room for a group more"),
    ("superaccumulator::add", "!items.edges -> false", "", ZEROS),
    ("superaccumulator::add_group", "exact_integer -> false", "",
     "it is false here; another test has it true"),
    ("superaccumulator::add_group", "++groups == groups_between_flushes -> true", "", SLOWER),
    ("superaccumulator::add_group", "bins_only > 0 -> bins_only > 0 + 1", "", WINDOW),
    ("superaccumulator::add_group", "misses != 0 -> true", "", SLOWER),
    ("superaccumulator::add_to_window", "* -> (position + 1) << 23 | (0x400000 + 1)", "", ANCHOR),
    ("superaccumulator::add_to_window", "* -> (position - 21) << 23 | (0x400000 - 1)", "", ANCHOR),
    ("superaccumulator::flush", "groups = 0 -> groups = (0 + 1)", "", SLOWER),
    ("superaccumulator::digit_of_bins", "sum != 0 -> true", "", SLOWER),
    ("superaccumulator::reduce_units", "* -> blockIdx.x % exact_totals / limbs", "", SLOWER),
    ("superaccumulator::block_sum", "0 -> (0 - 1)", "return 0", OTHER_WARPS),
    ("superaccumulator::block_sum", "row + lane / limbs < warps -> true", "if (row", NO_ROW),
    ("superaccumulator::block_sum", "* -> row + lane / limbs <= warps", "if (row", NO_ROW),
    ("superaccumulator::block_sum", "row + lane / limbs -> lane / limbs", "if (@", NO_ROW),
    ("superaccumulator::sum_of_others", "exact_one_block / 2 -> exact_one_block / (2 + 1)", "",
     "sums of limbs are far less than a third"),
    ("superaccumulator::store", "threadIdx.x % warp_size -> *(warp_size + 1)", "", FIRST_WARP),
    ("superaccumulator::store", "lane == 0 -> true", "", ANYBODY),
    ("superaccumulator::store", "lane == 0 -> lane == (0 + 1)", "", ANYBODY),
    ("superaccumulator::saturated", "threadIdx.x % warp_size -> threadIdx.x", "", FIRST_WARP),
    ("superaccumulator::saturated", "threadIdx.x % warp_size -> *(warp_size + 1)", "", FIRST_WARP),
    ("superaccumulator::saturated", "* -> lane <= FASTREDUCE_NEGATIVE_INFINITY_COUNT + 1", "",
     "limb 15 is 0 and stays 0"),
    # ---- Room 8: dispatcher
    ("alignment_for", "alignof(Value) > * -> alignof(Value) > workspace_alignment + 1", "", POWERS),
    ("make_plan", "{1, {blocks_for(n, tile)}, 0, 0} -> {1, {blocks_for(n, tile)}, 0, (*", "",
     "set below"),
    ("valid_block_size", "block_size >= warp_size -> block_size + 1 >= warp_size", "", POWERS),
    ("valid_block_size", "* -> block_size <= max_block_size + 1", "", POWERS),
    ("valid_block_size", "block_size - 1 -> block_size - (1 + 1)", "", "the same from 2 on"),
    ("overlap", "x <= y -> x < y", "", EQUAL),
    ("check_arguments", "n > * -> n >= SIZE_MAX / sizeof(Input)", "", "nowhere is so much"),
    ("check_arguments", "scratch.data ? scratch.bytes : 0 -> * : (0 + 1)", "",
     "nothing lies at address 0"),
    ("with_workspace", "bytes > 0 -> bytes > 0 + 1", "", "it is never 1"),
    ("launch_levels", "level - 1 -> level + 1", "half[(@", EVEN),
    ("launch_levels", "level - 1 -> 1 - level", "half[(@", EVEN),
    ("blocks_of", "resident < units -> resident <= units", "", EQUAL),
    ("packs_to_prefetch", "8 * kibibyte -> *", "",
     "the compiler knows the constant; one in ALONE does it"),
    ("packs_to_prefetch", "share > least -> share > least + 1", "",
     "4 MiB over blocks is never 8193"),
    ("engine_workspace_bytes", "pick<Engine>(n, {1, * -> pick<Engine>(n, {(1*", "",
     "rows do not depend on multiprocessors"),
    ("find_limits", "0 -> *", "int multiprocessors = 0", "the runtime sets both"),
    ("find_hopper", "toolkit_knows_hopper -> true", "", "it is true here"),
    ("find_row", "error == cudaSuccess -> true", "!limits->hopper", "nobody asks after an error"),
    ("find_row", "!limits->hopper -> true", "", "picks the same once more"),
    ("launch_row", "row.shared_bytes > * -> row.shared_bytes >= *", "", SLOWER),
    ("launch_row", "row.shared_bytes > * -> row.shared_bytes > without_asking - shared_reserve + 1",
     "", "it is a multiple of 16"),
    ("launch_row", "*Allowed = 1 -> * = (1 + 1)", "", "any that is not 0"),
    ("launch_engine", "0 -> *", "unsigned number = 0", "find_row() sets it"),
    ("launch_engine", "0 -> *", "int device = 0", "find_row() sets it"),
    ("round", "detail::check_arguments(*) -> detail::check_arguments(*, {nullptr, (*", "",
     "no memory has no size"),
    ("round", "n * sizeof(Input) -> n / sizeof(Input)", "", FIRST_ELEMENT),
    ("round", "n * sizeof(Input) -> sizeof(Input)", "", FIRST_ELEMENT),
    ("round", "status == FASTREDUCE_SUCCESS -> true", "detail::overlap(", "invalid is invalid"),
    # ---- Room 9: the C functions
    ("fastreduce_workspace_bytes", "n > SIZE_MAX / sizeof(float) -> false", "", TWICE),
    ("fastreduce_workspace_bytes", "n > * -> n > SIZE_MAX / sizeof(float) + 1", "", TWICE),
    ("fastreduce_workspace_bytes", "SIZE_MAX / sizeof(float) -> SIZE_MAX * sizeof(float)", "",
     TWICE),
]
