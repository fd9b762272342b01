"""Solutions of the course's exercises, for test_course.py, from the hints of each lesson. One fills
the hole, or is all of a kernel to mend, mended. And usual mistakes as changes of that: (old text,
or None for the solution, new text, what the grader says). @text@ stands for the place of the first
line with that text. RIGHT is said of other ways that are right."""
import os
import re
import textwrap

COURSE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "course")
HOLE = "/* YOUR CODE */"


def read(*path):
    with open(os.path.join(COURSE, *path), encoding="utf-8") as file:
        return file.read()


def solution(number):
    name, = (n for n in os.listdir(COURSE) if re.match(rf"{number:02}-.*\.cu$", n))
    exercise = read(name)
    language, code = re.search(r"```(\w+)\n(.*?)```\n\Z", read("hints", f"{number:02}.md"),
                               re.S).groups()
    if language == "cpp":
        indent = re.search("^( *)" + re.escape(HOLE), exercise, re.M)[1]
        return textwrap.indent(code, indent).strip()
    for part in code.split("@@\n"):
        old, new = ("".join(line[1:] for line in part.splitlines(True) if line[0] in signs)
                    for signs in (" -", " +"))
        assert exercise.count(old) == 1, f"{name} is not what its solution changes: {old}"
        exercise = exercise.replace(old, new)
    return exercise


STORE, FENCE, COUNT = ("        partials[blockIdx.x] = value;\n", "        __threadfence();\n",
                       "        comes_last = atomicAdd(counter, 1u) == gridDim.x - 1;\n")
INCLUDE, SDATA = '#include "course.h"\n', "extern __shared__ float sdata[];"
UNFENCED = "Its atomic comes after that, but may be seen before it: a __threadfence() has to come"
MISTAKES = {
    1: [
        # n need not be a multiple of the group
        ("begin + m < n ? begin + m : n;", "begin + m;",
         "out of bounds: at @+= input@ element 1000 of an array that has 1000."),
        # one loop after all
        ("partial += input[i];", "total += input[i];", "the sum of 2^25 ones is 16777216"),
        # the group that is not full is left out
        (": n;", ": begin;", "232 elements, the first of them 768, are missing"),
        ("i < end", "i + 1 < end", "4 elements, the first of them 255, are missing"),
    ],
    2: [
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
    ],
    3: [
        # V0
        (None, "if (tid % (2 * stride) == 0) sdata[tid] += sdata[tid + stride];",
         "as threads at work in fewer warps would save them, where 0 are possible"),
        # the last threads have no pair
        ("if (index < blockDim.x) ", "", "element 257 of shared memory that has 256"),
        # pairs of the first step, every time
        ("2 * stride * tid", "2 * tid % blockDim.x", "a race: thread "),
        ("        __syncthreads();\n    }", "    }", "a race: thread "),
    ],
    4: [
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
        # one thread does everything
        (None, "for (unsigned k = 1; tid == 0 && k < blockDim.x; ++k) sdata[0] += sdata[k];",
         "774 accesses of warps to shared memory where 45 are enough"),
        # without the last step
        ("stride > 0", "stride > 1", "128 elements, the first of them 1, are missing"),
        ("tid < stride", "tid <= stride", "element 256 of shared memory that has 256"),
        # one word takes all
        (None, "if (tid > 0) atomicAdd(&sdata[0], sdata[tid]);\n    __syncthreads();",
         "247 bank conflicts where 0 are possible"),
        # in what the machine does not see
        ("input[i] : 0", "__uint_as_float(reinterpret_cast<const unsigned *>(input)[i]) : 0",
         "kernels load 0 lines of 128 bytes, and 1000 elements fill 32: "),
        (SDATA, """struct whole {
        int n;
        void operator=(float x) { n = static_cast<int>(x); }
        void operator+=(whole x) { n += x.n; }
        operator float() const { return n; }
    };
    __shared__ whole sdata[1024];""",
         "0 accesses of lanes to shared memory, by which 256 threads cannot meet"),
        # in what all blocks share
        (SDATA, "static float sdata[1024];",
         "a race between blocks: block 1 writes at @sdata[tid]@"),
        ("if (tid == 0) partials[blockIdx.x] = sdata[0];",
         "if (tid == 0) partials[blockIdx.x] = 0;\n"
         "    if (tid == 1) partials[blockIdx.x] += sdata[0];", "a race: thread "),
        # arrays whose size the compiler knows
        (SDATA, "__shared__ float sdata[1024];", "RIGHT"),
        (SDATA, "__shared__ double sdata[1024];", "RIGHT"),
        (SDATA, "__shared__ float sdata[200];",
         "thread 200 writes at @sdata[tid]@ element 200 of shared memory that has 200."),
        (SDATA, "__shared__ float sdata[1024];\n    if (sdata[threadIdx.x + 1000] == 1) return;",
         "thread 24 reads at @return;@ element 1024 of shared memory that has 1024."),
        # names of the grader's, and a macro, which is none of the next file's
        (INCLUDE, INCLUDE + "#define TILE 64\nstruct solution {};\nint entry, element, pack;\n",
         "RIGHT"),
        (INCLUDE, INCLUDE + "#ifdef TILE\n#error it is of another file\n#endif\n#ifdef __CUDACC__\n"
         "#include <cub/cub.cuh>\n#endif\n#include <vector>\nusing namespace std;\n"
         "vector<int> numbers_of_the_host;\n", "RIGHT"),
        (None, """for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2)
        if (tid < stride) {
            sdata[tid] += sdata[tid + stride];
            __syncthreads();
        }""", "a barrier that some threads miss"),
    ],
    5: [
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
    ],
    6: [
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
    ],
    7: [
        # eight neighbours
        (None, """const size_t i = (static_cast<size_t>(blockIdx.x) * BlockSize + tid) * 8;
    for (unsigned k = 0; k < 8; ++k)
        if (i + k < n) value += input[i + k];""", "512 lines of 128 bytes to load"),
        # all or nothing
        ("if (i + k * BlockSize < n)", "if (i + 7 * BlockSize < n)", "are missing"),
        # only the first is known to be there
        ("if (i + k * BlockSize < n)", "if (i < n)", "of an array that has 1000"),
        ("static_cast<size_t>(blockIdx.x)", "blockIdx.x", "an index of 32 bits"),
    ],
    8: [
        ("    __syncthreads();\n", "", "a race: thread "),
        # lanes for which there is no warp
        ("tid < BlockSize / warp_size ? warp_values[tid] : 0", "warp_values[tid]",
         "element 8 of shared memory that has 8."),
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
    ],
    9: [
        # in place
        ("halves[level % 2]", "halves[0]", "a race between blocks: block "),
        # a block that is not full is left out
        ("size_t blocks = (n - 1) / tile + 1;", "size_t blocks = n < tile ? 1 : n / tile;",
         "40 elements, the first of them 960, are missing"),
        # the count of blocks
        ("const size_t blocks = (n - 1)", "const int blocks = (static_cast<int>(n) - 1)",
         "wrong for n beyond 2^31: an index of 32 bits"),
        # by the CPU, which is far from that memory
        (None, "*output = 0;\n    for (size_t i = 0; i < n; ++i) *output += input[i];",
         "out of bounds: the CPU writes at @output = 0@ what is in the memory of the GPU."),
        # by what the runtime offers
        (None, """const size_t blocks = (n - 1) / tile + 1;
    float *to = output;
    if (blocks > 1) cudaMalloc(reinterpret_cast<void **>(&to), blocks * sizeof(float));
    cudaMemset(to, 0, sizeof(float));
    launch(block_sums, static_cast<unsigned>(blocks), threads, bytes, input, to, n);
    if (blocks == 1) return;
    sum(to, output, workspace, blocks);
    cudaFree(to);""", "RIGHT"),
        (None, """float *const values = new float[n];
    float total = 0;
    cudaMemcpy(values, input, n * sizeof(float), cudaMemcpyDeviceToHost);
    for (size_t i = 0; i < n; ++i) total += values[i];
    cudaMemcpy(output, &total, sizeof total, cudaMemcpyHostToDevice);
    delete[] values;""", "kernels load 0 lines of 128 bytes, and 1000 elements fill 32: "),
        # a second level is not the last
        ("if (blocks == 1) return;", "if (level == 1) return;", "wrong for n = 4097"),
    ],
    10: [
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
    for (unsigned k = 0; k < 16; ++k) {
        const bool whole = blockIdx.x * tile + tile <= n;
        if (whole && reinterpret_cast<size_t>(input) % 16 == 0) {
            const float4 pack = *reinterpret_cast<const float4 *>(input + own + k);
            value += (pack.x + pack.y) + (pack.z + pack.w);
            k += 3;
        } else if (own + k < n) {
            value += input[own + k];
        }
    }""",
         "512 lines of 128 bytes to load"),
    ],
    11: [
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
    ],
    12: [
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
        # more blocks than there are tiles
        ("(n - 1) / tile + 1);", "(n - 1) / tile + 2);", "10 blocks where there are 9 tiles."),
        # every thread of the block publishes what it has, and only the first warp has the sum
        ("if (threadIdx.x == 0) publish", "publish", "wrong for n = "),
    ],
    13: [
        # any two halves
        ("half = 1;\n    while (2 * half < n) half *= 2;", "half = n / 2;",
         "do not meet in the order of the pairwise sum"),
        (None, "for (size_t i = 0; i < n; ++i) sum += x[i];",
         "do not meet in the order of the pairwise sum"),
        ("2 * half < n", "2 * half <= n", "recursion"),
        ("pairwise(x + half, n - half)", "pairwise(x + half, half)", "out of bounds: at @x[0]@"),
    ],
    14: [
        # the loop that everybody writes
        (None, "level[k] = count > 0 ? level[k] + x : x;\n        count = 0;",
         "do not meet in the order of the pairwise sum"),
        # a carry that goes no further
        ("for (; count >> k & 1; ++k)", "if (count & 1)", "wrong for n = "),
        ("        ++count;\n", "", "wrong for n = "),
        ("x = level[k] + x", "x += x", "wrong for n = "),
    ],
    15: [
        ("4 * n", "n", "at n = 2^20 it says 1.54 us, and 2.90 were measured"),
        ("1.21 + ", "", "at n = 2^12 it says 0.01 us, and 1.21 were measured"),
        # what was measured at three sizes
        (None, "time = n < 1e5 ? 1.21 : n < 1e7 ? 2.9 : 339.2;",
         "at n = 2^24 it says 339.20 us, and 22.80 were measured"),
        # the longer of the two: but a sum waits for its first bytes before it adds
        (None, "time = 4 * n / 3192000 > 1.21 ? 4 * n / 3192000 : 1.21;",
         "at n = 2^20 it says 1.31 us, and 2.90 were measured"),
    ],
    16: [
        # the number of rows at which it changes is another one
        ("threads = 256;", "threads = rows < 500 ? 256 : 64;",
         " has other bits alone than among 1000 rows: "),
        # doubles round, too, if not as often
        (None, solution(16).replace("float value", "double value")
         .replace("extern __shared__ float sdata[]", "__shared__ double sdata[256]")
         .replace("threads = 256", "threads = rows < 256 ? 256 : 64"),
         " has other bits alone than among 256 rows: "),
        # one thread does everything
        ("threads = 256;", "threads = 1;", "1000 loads of warps where 32 are enough (one row)."),
        # rows of one length
        ("i < columns", "i < 1000", "of an array that has 77."),
        # a row for each thread of one block
        ("row = input + blockIdx.x * columns;", "row = input;",
         "wrong for n = 3000 in rows of 1000: "),
    ],
    17: [
        # doubles by atomics
        ("""    const long long whole = static_cast<long long>(values[i] * 1048576.0f); /* 2^20 */
    atomicAdd(&space[index[i]], static_cast<word>(whole));
}

__global__ void round_once(const word *space, float *sums, unsigned bins)
{
    const unsigned b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b < bins) sums[b] = static_cast<float>(static_cast<long long>(space[b])) / 1048576.0f;
""", """    atomicAdd(reinterpret_cast<double *>(space) + index[i], static_cast<double>(values[i]));
}

__global__ void round_once(const word *space, float *sums, unsigned bins)
{
    const unsigned b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b < bins) sums[b] = static_cast<float>(reinterpret_cast<const double *>(space)[b]);
""", " has other bits when threads run in another order: "),
        # a multiple of 2^-10
        ("values[i] * 1048576.0f", "values[i] * 1024.0f", " is not the exact sum, rounded once: "),
        # so many bins
        ("b < bins", "b < 7", "writes at @sums[b] =@ element 3 of an array that has 3."),
        # 32 bits
        ("static_cast<word>(whole)", "static_cast<unsigned>(whole)",
         " is not the exact sum, rounded once: "),
        # negative sums
        ("static_cast<long long>(space[b])", "space[b]", " is not the exact sum, rounded once: "),
        # one thread does everything
        ("    if (i >= n) return;\n", """    if (i > 0) return;
    for (size_t k = 1; k < n; ++k)
        atomicAdd(&space[index[k]],
                  static_cast<word>(static_cast<long long>(values[k] * 1048576.0f)));
""", "1000 loads of warps where 32 are enough (1000 values)."),
        ("    if (i >= n) return;\n", "", "of an array that has 1000"),
    ],
    18: [
        # a barrier too many
        ("0;\n    __syncwarp();", "0;\n    __syncthreads();", "2 barriers where 1 is enough"),
        # the race has moved
        ("    sdata[tid] = i < n ? input[i] : 0;\n    __syncwarp();",
         "    __syncwarp();\n    sdata[tid] = i < n ? input[i] : 0;",
         "a race: thread 16 writes at @input[i]@ what thread 0 reads at @lane < stride@"),
        # a barrier at the beginning of each step
        (None, solution(18).replace("    __syncwarp();\n\n", "\n")
         .replace("        __syncwarp();\n", "")
         .replace("        if (lane", "        __syncwarp();\n        if (lane"), "RIGHT"),
        # half of the warp
        ("0;\n    __syncwarp();", "0;\n    if (lane < 16) __syncwarp(0xffff);", "a __syncwarp()"),
        # volatile instead
        ("    sdata[tid] = i < n ? input[i] : 0;\n    __syncwarp();",
         "    volatile float *v = sdata;\n    v[tid] = i < n ? input[i] : 0;",
         "but lanes need not run in step: a __syncwarp()"),
        # inside of the branch
        ("sdata[tid + stride];\n        __syncwarp();\n",
         "sdata[tid + stride], __syncwarp();\n", "deadlock"),
        # one thread does everything
        ("""        if (lane < stride) sdata[tid] += sdata[tid + stride];
""", """        for (unsigned k = stride; lane == 0 && k < 2 * stride; ++k)
            sdata[tid] += sdata[tid + k];
""", "774 accesses of warps to shared memory where 150 are enough"),
    ],
    19: [
        # the others leave
        ("    if (i < n) sdata", "    if (i >= n) return;\n    sdata",
         "a barrier that some threads miss: thread 255 of block 3 has met 0 block barriers"),
        # barriers of warps instead
        ("        __syncthreads();\n    }\n", "        __syncwarp();\n    }\n",
         "and no barrier lies between. A __syncthreads() has to come between."),
        # another barrier for the others
        ("    if (i < n) sdata[tid] = input[i];\n    __syncthreads();\n",
         "    if (i < n) {\n        sdata[tid] = input[i];\n        __syncthreads();\n"
         "    } else {\n        __syncthreads();\n    }\n",
         "a barrier that some threads miss: thread 232"),
        # zeros for what is missing
        ("if (i < n) sdata[tid] = input[i];", "sdata[tid] = i < n ? input[i] : 0;", "RIGHT"),
        # words that nobody has written
        (" && i + stride < n", "", "uninitialised shared read: thread 104"),
        ("    for (", "    __syncthreads();\n    for (", "10 barriers where 9 are enough"),
        # one thread does everything
        ("""    for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (tid < stride && i + stride < n) sdata[tid] += sdata[tid + stride];
        __syncthreads();
    }
""", """    for (unsigned k = 1; tid == 0 && k < blockDim.x; ++k)
        if (i + k < n) sdata[0] += sdata[k];
""", "774 accesses of warps to shared memory where 45 are enough"),
    ],
    20: [
        # orders nothing that matters
        (STORE + FENCE, FENCE + STORE, UNFENCED),
        (FENCE + COUNT, COUNT + FENCE, UNFENCED),
        # of its own block alone
        ("__threadfence", "__threadfence_block", UNFENCED),
        # by all threads, behind a barrier; and a counter that begins again by itself
        (FENCE, "    }\n    __syncthreads();\n    __threadfence();\n    if (tid == 0) {\n",
         "RIGHT"),
        ("atomicAdd(counter, 1u)", "atomicInc(counter, gridDim.x - 1)", "RIGHT"),
        # by atomics alone
        (None, INCLUDE + """
__global__ void add(const float *input, float *output, size_t n)
{
    const size_t i = static_cast<size_t>(blockIdx.x) * 1024 + threadIdx.x;
    if (i < n) atomicAdd(output, input[i]);
}

void sum(const float *input, float *output, float *, unsigned *, size_t n)
{
    cudaMemset(output, 0, sizeof(float));
    launch(add, static_cast<unsigned>((n - 1) / 1024 + 1), 1024, 0, input, output, n);
}
""", "partials has no sum of block 0."),
        # volatile instead
        (STORE + FENCE, "        static_cast<volatile float *>(partials)[blockIdx.x] = value;\n",
         UNFENCED),
        # by another thread, with no barrier between
        (FENCE, """    }
    if (tid == 1) __threadfence();
    __syncthreads();
    if (tid == 0) {
""", UNFENCED),
        # the last one by number
        (COUNT, "        comes_last = blockIdx.x == gridDim.x - 1;\n",
         "and blocks run in any order."),
        # a count that is not atomic
        ("atomicAdd(counter, 1u)", "(*counter)++", "and blocks run in any order."),
        ("        *counter = 0; /* for the next sum */\n", "", "the counter is 1 when the sum is"),
    ],
}

SOLUTIONS = {number: (solution(number), mistakes) for number, mistakes in MISTAKES.items()}
