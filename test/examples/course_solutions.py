"""Solutions of the course's exercises, for test_course.py: what fills the hole, and usual mistakes
as changes of that: (old text, or None for the filling, new text, what the grader says). @text@
stands for the place of the first line with that text."""

SOLUTIONS = {
    1: ("""const size_t end = begin + m < n ? begin + m : n;
        for (size_t i = begin; i < end; ++i) partial += input[i];""", [
        # n need not be a multiple of the group
        ("begin + m < n ? begin + m : n;", "begin + m;",
         "out of bounds: at @+= input@ element 1000 of an array that has 1000."),
        # one loop after all
        ("partial += input[i];", "total += input[i];", "the sum of 2^25 ones is 16777216"),
        # the group that is not full is left out
        (": n;", ": begin;", "232 elements, the first of them 768, are missing"),
        ("i < end", "i + 1 < end", "4 elements, the first of them 255, are missing"),
    ]),
    2: ("""if (tid % (2 * stride) == 0) sdata[tid] += sdata[tid + stride];
        __syncthreads();""", [
        # no barrier in the loop
        ("        __syncthreads();\n    }", "    }",
         "and no barrier lies between. A __syncthreads() has to come between."),
        # a barrier in the branch
        ("sdata[tid] += sdata[tid + stride];\n        __syncthreads();",
         "{\n            sdata[tid] += sdata[tid + stride];\n            __syncthreads();\n"
         "        }",
         "a barrier that some threads miss"),
        # n need not be a multiple of the block
        ("i < n ? input[i] : 0", "input[i]",
         "out of bounds: thread 232 reads at @= input@ element 1000 of an array that has 1000"),
        ("static_cast<size_t>(blockIdx.x) * blockDim.x", "blockIdx.x * blockDim.x",
         "an index of 32 bits"),
        ("tid % (2 * stride) == 0", "tid + stride < blockDim.x", "a race: thread "),
    ]),
    3: ("""const unsigned index = 2 * stride * tid;
        if (index < blockDim.x) sdata[index] += sdata[index + stride];""", [
        # V0
        (None, "if (tid % (2 * stride) == 0) sdata[tid] += sdata[tid + stride];",
         "as threads at work in fewer warps would save them, where 0 are possible"),
        # the last threads have no pair
        ("if (index < blockDim.x) ", "", "element 257 of shared memory that has 256"),
        # pairs of the first step, every time
        ("2 * stride * tid", "2 * tid % blockDim.x", "a race: thread "),
        ("        __syncthreads();\n    }", "    }", "a race: thread "),
    ]),
    4: ("""for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (tid < stride) sdata[tid] += sdata[tid + stride];
        __syncthreads();
    }""", [
        # V1
        (None, """for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
        const unsigned index = 2 * stride * tid;
        if (index < blockDim.x) sdata[index] += sdata[index + stride];
        __syncthreads();
    }""", "105 bank conflicts where 0 are possible"),
        # V0
        (None, """for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
        if (tid % (2 * stride) == 0) sdata[tid] += sdata[tid + stride];
        __syncthreads();
    }""", "105 accesses of warps to shared memory too many, as threads at work in fewer warps"),
        # without the last step
        ("stride > 0", "stride > 1", "128 elements, the first of them 1, are missing"),
        ("tid < stride", "tid <= stride", "element 256 of shared memory that has 256"),
        (None, """for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2)
        if (tid < stride) {
            sdata[tid] += sdata[tid + stride];
            __syncthreads();
        }""", "a barrier that some threads miss"),
    ]),
    5: ("""const size_t i = static_cast<size_t>(blockIdx.x) * (2 * blockDim.x) + tid;
    float value = i < n ? input[i] : 0;
    if (i + blockDim.x < n) value += input[i + blockDim.x];
    sdata[tid] = value;""", [
        # the second element need not be there
        ("if (i + blockDim.x < n) ", "if (i < n) ", "of an array that has 1000"),
        # tiles that overlap
        ("(2 * blockDim.x)", "blockDim.x", "elements, the first of them 768, are missing"),
        # neighbours
        (None, """const size_t i = 2 * (static_cast<size_t>(blockIdx.x) * blockDim.x + tid);
    float value = i < n ? input[i] : 0;
    if (i + 1 < n) value += input[i + 1];
    sdata[tid] = value;""", "32 lines of 128 bytes to load, as lanes of a warp do not read"),
        ("const size_t i = static_cast<size_t>(blockIdx.x)", "const int i = blockIdx.x",
         "an index of 32 bits"),
    ]),
    6: ("""if (tid >= warp_size) return;
    for (unsigned stride = warp_size; stride > 0; stride /= 2) {
        if (tid < stride && tid + stride < blockDim.x) sdata[tid] += sdata[tid + stride];
        __syncwarp();
    }""", [
        # the warp in lock-step
        ("        __syncwarp();\n", "", "but lanes need not run in step: a __syncwarp()"),
        (None, """volatile float *v = sdata;
    if (tid < warp_size) {
        if (blockDim.x > warp_size) v[tid] += v[tid + 32];
        v[tid] += v[tid + 16];
        v[tid] = v[tid] + v[tid + 8];
        v[tid] += v[tid + 4];
        v[tid] += v[tid + 2];
        v[tid] += v[tid + 1];
    }""", "but lanes need not run in step: a __syncwarp()"),
        # a block of 32 reads past the array
        (" && tid + stride < blockDim.x", "",
         "element 32 of shared memory that has 32"),
        # every step with a block barrier
        (None, """for (unsigned stride = warp_size; stride > 0; stride /= 2) {
        if (tid < stride && tid + stride < blockDim.x) sdata[tid] += sdata[tid + stride];
        __syncthreads();
    }""", "9 barriers where 3 are enough"),
        ("static_cast<size_t>(blockIdx.x) * (2", "blockIdx.x * (2", "an index of 32 bits"),
        # after the warps have left
        ("__syncwarp();", "__syncthreads();", "a barrier that some threads miss: thread "),
    ]),
    7: ("""const size_t i = static_cast<size_t>(blockIdx.x) * (8 * BlockSize) + tid;
    for (unsigned k = 0; k < 8; ++k)
        if (i + k * BlockSize < n) value += input[i + k * BlockSize];""", [
        # eight neighbours
        (None, """const size_t i = (static_cast<size_t>(blockIdx.x) * BlockSize + tid) * 8;
    for (unsigned k = 0; k < 8; ++k)
        if (i + k < n) value += input[i + k];""", "512 lines of 128 bytes to load"),
        # all or nothing
        ("if (i + k * BlockSize < n)", "if (i + 7 * BlockSize < n)", "are missing"),
        # only the first is known to be there
        ("if (i + k * BlockSize < n)", "if (i < n)", "of an array that has 1000"),
        ("static_cast<size_t>(blockIdx.x)", "blockIdx.x", "an index of 32 bits"),
    ]),
    8: ("""for (unsigned delta = warp_size / 2; delta > 0; delta /= 2)
        value += __shfl_down_sync(0xffffffff, value, delta);
    if (tid % warp_size == 0) warp_values[tid / warp_size] = value;
    __syncthreads();
    if (tid >= warp_size) return;
    value = tid < BlockSize / warp_size ? warp_values[tid] : 0;
    for (unsigned delta = warp_size / 2; delta > 0; delta /= 2)
        value += __shfl_down_sync(0xffffffff, value, delta);""", [
        ("    __syncthreads();\n", "", "a race: thread "),
        # lanes for which there is no warp
        ("tid < BlockSize / warp_size ? warp_values[tid] : 0", "warp_values[tid]",
         "uninitialised shared read: thread 8"),
        # a shuffle that not all lanes of its mask reach
        ("""delta /= 2)
        value += __shfl_down_sync(0xffffffff, value, delta);
    if""", """delta /= 2)
        if (tid % warp_size < delta) value += __shfl_down_sync(0xffffffff, value, delta);
    if""", "deadlock"),
        # the warps' sums one by one
        (None, """for (unsigned delta = 1; delta < warp_size; ++delta)
        value += __shfl_down_sync(0xffffffff, tid % warp_size == 0 ? value : value, delta);
    if (tid % warp_size == 0) warp_values[tid / warp_size] = value;
    __syncthreads();
    for (unsigned k = 1; tid == 0 && k < BlockSize / warp_size; ++k) value += warp_values[k];""",
         "counts "),
    ]),
    9: ("""float *halves[] = {workspace, workspace + (n - 1) / tile + 1};
    for (unsigned level = 0;; ++level) {
        const size_t blocks = (n - 1) / tile + 1;
        float *to = blocks == 1 ? output : halves[level % 2];
        launch(block_sums, blocks, threads, bytes, input, to, n);
        if (blocks == 1) return;
        input = to;
        n = blocks;
    }""", [
        # in place
        ("halves[level % 2]", "halves[0]", "a race between blocks: block "),
        # a block that is not full is left out
        ("size_t blocks = (n - 1) / tile + 1;", "size_t blocks = n < tile ? 1 : n / tile;",
         "40 elements, the first of them 960, are missing"),
        # the count of blocks
        ("const size_t blocks = (n - 1)", "const int blocks = (static_cast<int>(n) - 1)",
         "wrong for n beyond 2^31: an index of 32 bits"),
        # a second level is not the last
        ("if (blocks == 1) return;", "if (level == 1) return;", "wrong for n = 4097"),
    ]),
    10: ("""if (reinterpret_cast<size_t>(input) % 16 == 0 && (blockIdx.x + 1) * tile <= n) {
        const float4 *from = reinterpret_cast<const float4 *>(input + first);
        float4 pack[4];
        for (unsigned k = 0; k < 4; ++k) pack[k] = from[k * BlockSize];
        for (unsigned k = 0; k < 4; ++k)
            value += (pack[k].x + pack[k].y) + (pack[k].z + pack[k].w);
    } else {
        for (unsigned k = 0; k < 16; ++k) {
            const size_t i = first + k / 4 * (4 * BlockSize) + k % 4;
            if (i < n) value += input[i];
        }
    }""", [
        ("reinterpret_cast<size_t>(input) % 16 == 0 && ", "", "misaligned: thread "),
        # the last tile
        (" && (blockIdx.x + 1) * tile <= n", "", "of an array that has 1000"),
        # one element at a time
        (None, """for (unsigned k = 0; k < 16; ++k) {
        const size_t i = first - 3 * threadIdx.x + k * BlockSize;
        if (i < n) value += input[i];
    }""", "128 loads of warps where 32 are enough"),
        # each lane 64 bytes of its own
        (None, """const size_t own = blockIdx.x * tile + 16 * threadIdx.x + 0 * first;
    for (unsigned k = 0; k < 4; ++k)
        value += pack_sum(input, own + 4 * k, n, whole_tile(input, tile, n));""",
         "512 lines of 128 bytes to load"),
    ]),
    11: ("""for (unsigned delta = 1, held = 4; delta < warp_size; delta *= 2) {
        const bool upper = lane & delta;
        if (held == 1) {
            values[0] += __shfl_xor_sync(0xffffffff, values[0], delta);
            continue;
        }
        held /= 2;
        for (unsigned k = 0; k < held; ++k) {
            const float kept = upper ? values[k + held] : values[k];
            const float handed = upper ? values[k] : values[k + held];
            values[k] = kept + __shfl_xor_sync(0xffffffff, handed, delta);
        }
    }
    values[0] += __shfl_xor_sync(0xffffffff, values[0], 2);
    values[0] += __shfl_xor_sync(0xffffffff, values[0], 1);""", [
        # a lane's own values first
        (None, """values[0] = (values[0] + values[1]) + (values[2] + values[3]);
    for (unsigned delta = 1 + 0 * lane; delta < warp_size; delta *= 2)
        values[0] += __shfl_xor_sync(0xffffffff, values[0], delta);""",
         "do not meet in the order of the pairwise sum"),
        # every value through all shuffles
        (None, """for (unsigned k = 0; k < 4; ++k)
        for (unsigned delta = 1 + 0 * lane; delta < warp_size; delta *= 2)
            values[k] += __shfl_xor_sync(0xffffffff, values[k], delta);
    values[0] = (values[0] + values[1]) + (values[2] + values[3]);""",
         "163 shuffles of warps where 67 are enough"),
        # hands over what it keeps
        ("handed = upper ? values[k] : values[k + held]",
         "handed = upper ? values[k + held] : values[k]",
         "are missing, and element 0 counts 4 times"),
        # the lanes hold these in reversed order
        ("values[0], 2);\n    values[0] += __shfl_xor_sync(0xffffffff, values[0], 1);",
         "values[0], 1);\n    values[0] += __shfl_xor_sync(0xffffffff, values[0], 2);",
         "do not meet in the order of the pairwise sum"),
        ("""        if (held == 1) {
            values[0]""", """        if (held == 1 && upper) continue;
        if (held == 1) {
            values[0]""", "warp divergence: thread 0 of block (0, 0, 0) is at "),
    ]),
    12: ("""const unsigned others = gridDim.x - 1;
    if (blockIdx.x < others) {
        if (threadIdx.x == 0) publish(words + blockIdx.x, value);
        return;
    }
    if (threadIdx.x == 0) own = value;
    __syncthreads();
    for (unsigned k = 0; k < packs; ++k) {
        const unsigned number = first_pack() + warp_size * k;
        values[k] = number == others ? own : -0.0f;
        if (number >= others) continue;
        word published = peek(words + number);
        while (published == 0) published = peek(words + number);
        words[number] = 0;
        values[k] = value_of(published);
    }""", [
        # takes what is there
        ("        while (published == 0) published = peek(words + number);\n", "",
         "wrong where several blocks run at once"),
        ("        words[number] = 0;\n", "", "word 0 is not zero when the sum is done"),
        # the first block waits for those after it
        ("if (blockIdx.x < others) {\n        if (threadIdx.x == 0) publish(words + blockIdx.x,",
         "if (blockIdx.x > 0) {\n        if (threadIdx.x == 0) publish(words + blockIdx.x - 1,",
         "waits for memory that no thread will write"),
        ("    __syncthreads();\n    for", "    for", "a race: thread "),
        # its own before the others'
        ("""warp_size * k;
        values[k] = number == others ?""", """warp_size * k - 1;
        values[k] = number + 1 == 0 ?""", "do not meet in the order of the pairwise sum"),
        # every thread of the block publishes what it has, and only the first warp has the sum
        ("if (threadIdx.x == 0) publish", "publish", "wrong for n = "),
    ]),
    13: ("""size_t half = 1;
    while (2 * half < n) half *= 2;
    sum = pairwise(x, half) + pairwise(x + half, n - half);""", [
        # any two halves
        ("half = 1;\n    while (2 * half < n) half *= 2;", "half = n / 2;",
         "do not meet in the order of the pairwise sum"),
        (None, "for (size_t i = 0; i < n; ++i) sum += x[i];",
         "do not meet in the order of the pairwise sum"),
        ("2 * half < n", "2 * half <= n", "recursion"),
        ("pairwise(x + half, n - half)", "pairwise(x + half, half)", "out of bounds: at @x[0]@"),
    ]),
    14: ("""for (; count >> k & 1; ++k) x = level[k] + x;
        level[k] = x;""", [
        # the loop that everybody writes
        (None, "level[k] = count > 0 ? level[k] + x : x;\n        count = 0;",
         "do not meet in the order of the pairwise sum"),
        # a carry that goes no further
        ("for (; count >> k & 1; ++k)", "if (count & 1)", "wrong for n = "),
        ("        ++count;\n", "", "wrong for n = "),
        ("x = level[k] + x", "x += x", "wrong for n = "),
    ]),
    15: ("time = 1.21 + 4 * n / 3192000;", [
        ("4 * n", "n", "at n = 2^20 it says 1.54 us, and 2.90 were measured"),
        ("1.21 + ", "", "at n = 2^12 it says 0.01 us, and 1.21 were measured"),
        # the longer of the two: but a sum waits for its first bytes before it adds
        (None, "time = 4 * n / 3192000 > 1.21 ? 4 * n / 3192000 : 1.21;",
         "at n = 2^20 it says 1.31 us, and 2.90 were measured"),
    ]),
}
