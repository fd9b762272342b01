"""Overlapped kernels leave the previous grid's memory alone until it is done.

python3 memory_model.py ROOT NVCC

A kernel with griddepcontrol.wait starts while the grid before it may still write
what it will read. Its PTX must
  - have no non-coherent load (ld.global.nc and the like), in it or in what it calls:
    those promise that the data does not change while the kernel runs, and the compiler
    may move them, past the wait too;
  - on no path access global memory, or call who does, before it has waited, and on no path end
    without having waited. Prefetches into L2 may come before: they read nothing. Nor does it allow
    the next grid before it has waited: that could begin before what came ahead of both has ended.
  - where a block draws a ticket to learn whether it is the last one, which then reads what others
    wrote: all threads fence, and meet at a barrier, before one draws it, or that one fences behind
    the barrier; and it fences again before the barrier or shuffle that tells its block.
And every kernel of AUTO and EXACT waits, as these are launched overlapped. All the ways that
elements come are among them: loads into registers, and copies into shared memory.

In the source, __restrict__ stands nowhere but in the heads of kernels that do not wait: neither on
their parameters, nor in what these hold, nor in what they call. Whether it becomes a non-coherent
load is up to the compiler. No GPU needed. The checks are first tried on kernels that are wrong.
"""
import collections
import os
import re
import subprocess
import sys
import tempfile

IMPLEMENTATION = """
#define FASTREDUCE_IMPLEMENTATION
#define FASTREDUCE_WITH_SHAPES
#define FASTREDUCE_NO_LADDER
#define FASTREDUCE_TYPES FASTREDUCE_F32, FASTREDUCE_U8 // all of them take minutes
#define FASTREDUCE_OPERATORS FASTREDUCE_SUM, FASTREDUCE_ARGMAX
#include "fastreduce.cuh"
"""
TEMPLATES = """
#include "fastreduce.cuh"
struct point { /* which cannot be loaded in vectors */
    float x, y, z;
};
struct add_points {
    template <class Value>
    static __host__ __device__ Value identity()
    {
        return {0, 0, 0};
    }
    __host__ __device__ point operator()(point a, point b) const
    {
        return {a.x + b.x, a.y + b.y, a.z + b.z};
    }
};
int sums(const float *x, float *sum, fastreduce_accumulator *total, size_t n)
{
    return fastreduce::reduce<FASTREDUCE_AUTO>(x, sum, n) |
           fastreduce::reduce<FASTREDUCE_EXACT>(x, sum, n) |
           fastreduce::accumulate_exactly(x, total, n);
}
int others(const unsigned char *x, unsigned long long *sum, const point *p, point *q, size_t n)
{
    return fastreduce::reduce<FASTREDUCE_AUTO>(x, sum, n) |
           fastreduce::reduce<add_points>(p, q, n);
}
"""
# The kernels, and how each has to be seen to read its input
READS = {"reduce_pairwise": ["loads"], "reduce_exact": ["loads"]}
# The same of many results, which the templates do not have
MANY = {"reduce_short_rows": ["loads"], "reduce_segments": ["loads", "copies"],
        "reduce_by_threads": ["loads"], "reduce_buffers": ["loads"],
        "reduce_columns": ["loads"], "resolve_exact_results": ["loads"]}
# Those that draw tickets, which are known by the fence before them
TICKETS = {"resolve_exact_results", "reduce_segments"}

# The name of each kernel says what is to be found in it. `out` is no
# constant, so its loads are coherent.
SELF_CHECK = """
#define WAIT asm volatile("griddepcontrol.wait;" ::: "memory")
__device__ __noinline__ float load(volatile float *x) { return *x; }
__device__ __noinline__ float compute(float x) { return x / 3 + 1; }
__device__ __noinline__ float load_constant(const float *x) { return __ldg(x); }
__device__ __noinline__ float load_deeper(volatile float *x) { return load(x + 1) + 1; }

extern "C" __global__ void right(float *out, const float *x)
{
    __shared__ float shared[256];
    shared[threadIdx.x] = compute(threadIdx.x);
    if (threadIdx.x == 0)
        asm volatile("cp.async.bulk.prefetch.L2.global [%0], 1024;" ::"l"(x) : "memory");
    __syncthreads();
    WAIT;
    for (unsigned k = 0; k < 100; ++k) out[k] += *(volatile const float *)(x + k) + shared[k];
}
#define COPY(to, from, barrier)                                                          \
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"     \
                 " [%0], [%1], 128, [%2];" ::"r"((unsigned)__cvta_generic_to_shared(to)), \
                 "l"(from), "r"((unsigned)__cvta_generic_to_shared(barrier))             \
                 : "memory")
extern "C" __global__ void right_by_roles(float *out, const float *x, unsigned *counter, int n)
{
    __shared__ __align__(128) float shared[2][32];
    __shared__ volatile unsigned long long barrier[2];
    if (threadIdx.x < 2) barrier[threadIdx.x] = 0;
    __syncthreads();
    WAIT;
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
    if (threadIdx.x < 32) {
        for (int k = 0; k < n; k = atomicAdd(counter, 1u))
            if (threadIdx.x == 0) COPY(shared[k % 2], x + 32 * k, (void *)(barrier + k % 2));
    } else {
        for (int k = 0; k < n; ++k) {
            while (barrier[k % 2] == 0) {}
            out[k] = shared[k % 2][threadIdx.x % 32] + *(volatile const float *)(x + k);
        }
    }
}
extern "C" __global__ void before_by_roles(float *out, const float *x, int n)
{
    __shared__ __align__(128) float shared[32];
    __shared__ unsigned long long barrier;
    if (threadIdx.x < 32) {
        if (threadIdx.x == 0) COPY(shared, x, &barrier);
        WAIT;
    } else {
        WAIT;
        for (int k = 0; k < n; ++k) out[k] = shared[threadIdx.x % 32];
    }
}
extern "C" __global__ void ordinary(float *out, const float *__restrict__ x)
{
    *out = __ldg(x); /* it is not launched overlapped */
}
extern "C" __global__ void noncoherent_restrict(float *out, const float *__restrict__ x)
{
    WAIT;
    out[threadIdx.x] = x[threadIdx.x];
}
extern "C" __global__ void noncoherent_called(float *out, const float *x)
{
    WAIT;
    *out = load_constant(x);
}
extern "C" __global__ void before_allow(float *out)
{
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
    WAIT;
    *out = 1;
}
extern "C" __global__ void before_load(float *out)
{
    const float x = *out;
    WAIT;
    *out = x + 1;
}
extern "C" __global__ void before_relaxed(float *out)
{
    float x;
    asm volatile("ld.relaxed.gpu.global.f32 %0, [%1];" : "=f"(x) : "l"(out) : "memory");
    WAIT;
    *out = x + 1;
}
extern "C" __global__ void before_generic(float *out)
{
    float x;
    asm volatile("ld.volatile.f32 %0, [%1];" : "=f"(x) : "l"(out) : "memory");
    WAIT;
    *out = x + 1;
}
extern "C" __global__ void before_store(float *out)
{
    out[threadIdx.x] = 1;
    WAIT;
}
extern "C" __global__ void before_atomic(unsigned *out)
{
    atomicAdd(out, 1u);
    WAIT;
}
extern "C" __global__ void before_copy(const float *x)
{
    __shared__ __align__(128) float shared[32];
    __shared__ unsigned long long barrier;
    COPY(shared, x, &barrier);
    WAIT;
}
extern "C" __global__ void before_called(float *out)
{
    const float x = load_deeper(out);
    WAIT;
    *out = x;
}
extern "C" __global__ void before_on_a_path(float *out)
{
    float x = 0;
    if (threadIdx.x == 7) {
        x = *(volatile float *)out;
    } else {
        WAIT;
    }
    WAIT;
    *out = x;
}
extern "C" __global__ void before_in_a_loop(float *out, int n)
{
    for (int k = 0; k < n; ++k) {
        if (k > 0) *(volatile float *)out = k;
        if (k > 1) WAIT;
    }
    WAIT;
}
#define TICKET(fence_in_time, fence_late)                         \
    __shared__ unsigned long long before;                         \
    WAIT;                                                         \
    out[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x;     \
    __threadfence();                                              \
    __syncthreads();                                              \
    if (threadIdx.x == 0) {                                       \
        before = atomicAdd(ticket, 1ull);                         \
        if (fence_in_time && before + 1 == gridDim.x) __threadfence(); \
    }                                                             \
    __syncthreads();                                              \
    if (before + 1 != gridDim.x) return;                          \
    if (fence_late) __threadfence();                              \
    *out = out[(threadIdx.x + 1) * blockDim.x]
extern "C" __global__ void right_ticket(volatile float *out, unsigned long long *ticket)
{
    TICKET(true, false);
}
extern "C" __global__ void right_ticket_fence_of_one(volatile float *out,
                                                     unsigned long long *ticket)
{
    __shared__ bool last;
    WAIT;
    out[blockIdx.x * 32 + threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        last = atomicAdd(ticket, 1ull) + 1 == gridDim.x;
        __threadfence();
    }
    __syncthreads();
    if (last) *out = out[threadIdx.x * 32];
}
extern "C" __global__ void ticket_fence_behind_barrier(volatile float *out,
                                                       unsigned long long *ticket)
{
    TICKET(false, true);
}
extern "C" __global__ void ticket_fence_behind_shuffle(volatile float *out,
                                                       unsigned long long *ticket)
{
    WAIT;
    out[blockIdx.x * 32 + threadIdx.x] = threadIdx.x;
    __threadfence();
    __syncwarp();
    unsigned long long before = 0;
    if (threadIdx.x == 0) before = atomicAdd(ticket, 1ull);
    if (__shfl_sync(~0u, before, 0) + 1 != gridDim.x) return;
    __threadfence();
    *out = out[threadIdx.x * 32];
}
extern "C" __global__ void unmet_ticket(volatile float *out, unsigned long long *ticket)
{
    WAIT;
    out[blockIdx.x * 32 + threadIdx.x] = threadIdx.x;
    __threadfence();
    unsigned last = 0;
    if (threadIdx.x == 0) {
        last = atomicAdd(ticket, 1ull) + 1 == gridDim.x;
        if (last) __threadfence();
    }
    if (!__shfl_sync(~0u, last, 0)) return;
    *out = out[threadIdx.x * 32];
}
extern "C" __global__ void end_on_a_path(float *out)
{
    if (threadIdx.x > 7) return;
    WAIT;
    *out = 1;
}
"""
# __restrict__ on a parameter of a kernel that waits, in what that holds, and in what is called
RESTRICTS = """
struct held { const float *__restrict__ data; };
static __device__ float load(const float *__restrict__ x) { return *x; }
__global__ void waiting(const float *__restrict__ x, float *out)
{
    WAIT;
    *out = load(x);
}
__global__ void ordinary(const float *__restrict__ x, float *__restrict__ out)
{
    *out = *x; /* __restrict__ in a comment */
}
"""
RULES = {"noncoherent": "non-coherent", "before": "before it has waited",
         "end": "ends without having waited", "ticket": "no fence before the barrier",
         "unmet": "no barrier between the fence and it"}


class Function:
    """Its statements as lists of words, where the labels are, and what it calls."""

    def __init__(self, body):
        self.statements, self.labels = [], {}
        body = re.sub(r"\{([^{};]*)\}", r"\1", body)  # a vector's registers; blocks have semicolons
        for text in re.split(r"[;{}]", body):
            words = text.split()
            while words and re.fullmatch(r"[\w$]+:", words[0]):
                self.labels[words.pop(0)[:-1]] = len(self.statements)
            if words and not words[0].startswith("."):
                self.statements.append(words)

    def waits(self):
        return any("griddepcontrol.wait" in words for words in self.statements)


def functions_of(ptx):
    """All functions with a body, and the names of the kernels."""
    ptx = re.sub(r"//.*", "", ptx)
    functions, kernels = {}, []
    head = r"\.(entry|func)\b\s*(?:\([^()]*\)\s*)?([\w$]+)\s*(?:\([^()]*\))?[^;{]*([;{])"
    for match in re.finditer(head, ptx):
        if match[3] == ";":
            continue
        depth, end = 1, match.end()
        while depth:
            depth += {"{": 1, "}": -1}.get(ptx[end], 0)
            end += 1
        functions[match[2]] = Function(ptx[match.end():end - 1])
        if match[1] == "entry":
            kernels.append(match[2])
    return functions, kernels


def split(words):
    """Whether the statement is predicated; its instruction's parts."""
    predicated = words[0].startswith("@")
    return predicated, words[predicated].split(".")


def called(words):
    """The function's name, of a call statement: the first name outside of parentheses."""
    arguments = " ".join(words[words[0].startswith("@") + 1:])
    return re.sub(r"\([^()]*\)", "", arguments).replace(",", " ").split()[0]


def is_noncoherent(parts):
    return "nc" in parts or parts[0] in ("ldu", "tex", "tld4", "suld")


def accesses_global(parts):
    """Or may: an address without a state space can lie anywhere."""
    if parts[0] in ("ld", "ldu", "st", "atom", "red"):
        return not any(part.split("::")[0] in ("param", "shared", "local", "const")
                       for part in parts)
    if parts[0] == "cp":
        return "global" in parts and "prefetch" not in parts
    return parts[0] in ("multimem", "tex", "tld4", "suld", "sust", "sured", "discard")


def wrong_in(functions, kernel):
    """What is wrong with a kernel that waits: a list of sentences."""
    reached, wrong = set(), []

    def reach(name):
        if name in reached:
            return
        reached.add(name)
        if name not in functions:
            wrong.append(f"calls {name}, which is not here")
            return
        for words in functions[name].statements:
            parts = split(words)[1]
            if parts[0] == "call":
                reach(called(words))

    def touches(name, seen):
        """Whether a function that is called accesses global memory."""
        if name in seen or name not in functions:
            return False
        seen.add(name)
        return any(accesses_global(split(words)[1]) or
                   split(words)[1][0] == "call" and touches(called(words), seen)
                   for words in functions[name].statements)

    reach(kernel)
    for name in reached & functions.keys():
        wrong += [f"non-coherent: {' '.join(words)}" for words in functions[name].statements
                  if is_noncoherent(split(words)[1])]

    for name in reached & functions.keys():
        wrong += ["draws a ticket, and no fence before the barrier"
                  for ticket in tickets_in(functions[name])
                  if not fences_in_time(functions[name], ticket)]
        wrong += ["draws a ticket, and no barrier between the fence and it"
                  for ticket in tickets_in(functions[name])
                  if not barrier_before(functions[name], ticket)]

    # every statement that can come before the wait
    function = functions[kernel]
    ahead, seen = [0], set()
    while ahead:
        at = ahead.pop()
        if at in seen:
            continue
        seen.add(at)
        if at == len(function.statements):
            wrong.append("ends without having waited")
            continue
        words = function.statements[at]
        predicated, parts = split(words)
        if parts[:2] == ["griddepcontrol", "wait"] and not predicated:
            continue
        allows = parts[:2] == ["griddepcontrol", "launch_dependents"]
        if allows or accesses_global(parts) or parts[0] == "call" and touches(called(words), set()):
            wrong.append(f"before it has waited: {' '.join(words)}")
        if parts[0] == "brx":
            ahead += function.labels.values()  # to any of them
        elif parts[0] == "bra":
            ahead.append(function.labels[words[-1]])
        elif parts[0] in ("ret", "exit"):
            wrong.append("ends without having waited")
        if predicated or parts[0] not in ("bra", "brx", "ret", "exit", "trap"):
            ahead.append(at + 1)
    return wrong


def tickets_in(function):
    """The statements that draw a ticket: atomic operations whose results are used, before which a
    fence comes and no other access to global memory."""
    found = []
    for at, words in enumerate(function.statements):
        parts = split(words)[1]
        if parts[0] != "atom" or not accesses_global(parts):
            continue
        result = words[words[0].startswith("@") + 1].rstrip(",")
        if not any(result in re.split(r"[\[\],+\s]+", " ".join(other))
                   for k, other in enumerate(function.statements) if k != at):
            continue
        before = at - 1
        while before >= 0 and not accesses_global(split(function.statements[before])[1]) and \
                not is_fence(split(function.statements[before])[1]):
            before -= 1
        if before >= 0 and is_fence(split(function.statements[before])[1]):
            found.append(at)
    return found


def is_fence(parts):
    """Of the device."""
    return parts[:2] == ["membar", "gl"] or parts[0] == "fence" and "gpu" in parts


def fences_in_time(function, ticket):
    """Whether a fence can be reached from there without a barrier, or a shuffle, in between."""
    ahead, seen = [ticket + 1], set()
    while ahead:
        at = ahead.pop()
        if at in seen or at >= len(function.statements):
            continue
        seen.add(at)
        words = function.statements[at]
        predicated, parts = split(words)
        if is_fence(parts):
            return True
        if parts[0] in ("bar", "barrier", "shfl"):
            continue
        if parts[0] == "bra":
            ahead.append(function.labels[words[-1]])
        if predicated or parts[0] not in ("bra", "brx", "ret", "exit", "trap"):
            ahead.append(at + 1)
    return False


def barrier_before(function, ticket):
    """Whether a barrier comes between the fence before a ticket and the ticket; or before that
    fence, with nothing written in between."""
    fences = 0
    for words in reversed(function.statements[:ticket]):
        parts = split(words)[1]
        if parts[0] in ("bar", "barrier"):
            return True
        fences += is_fence(parts)
        if fences > 1 or fences and accesses_global(parts) and parts[0] != "ld":
            return False
    return False


def restrict_in(source, wait):
    """How many kernels have the word `wait` in their bodies; and the lines with __restrict__, but
    for those in the heads of other kernels."""
    source = re.sub(r"/\*.*?\*/|//[^\n]*", lambda comment: "\n" * comment[0].count("\n"), source,
                    flags=re.DOTALL)
    count, start, rest = 0, 0, ""
    for match in re.finditer(r"__global__ void([^;{]*)\{(.*?)\n\}", source, re.DOTALL):
        waits = re.search(rf"\b{wait}\b", match[2]) is not None
        count += waits
        rest += source[start:match.start(1)] + (match[1] if waits else "\n" * match[1].count("\n"))
        start = match.end(1)
    rest += source[start:]
    return count, [line.strip() for line in rest.splitlines() if "__restrict" in line]


def reads_of(function):
    """How a function reads global memory."""
    found = set()
    for words in function.statements:
        parts = split(words)[1]
        if parts[0] == "ld" and accesses_global(parts):
            found.add("loads")
        if parts[:2] == ["cp", "async"] and accesses_global(parts):
            found.add("copies")
    return found


def ptx_of(nvcc, root, source, arch="90", flags=()):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "source.cu")
        with open(path, "w", encoding="utf-8") as file:
            file.write(source)
        command = [nvcc, "-std=c++17", "-arch=compute_" + arch, "-I" + root, "-ptx", path,
                   "-o", path + ".ptx", *flags]
        run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             universal_newlines=True)
        if run.returncode:
            sys.exit(f"FAIL: nvcc: {run.stdout}")
        with open(path + ".ptx", encoding="utf-8") as file:
            return file.read()


def self_check(ptx):
    """Each wrong kernel is found to be wrong in its way, and in no other; the right one is not."""
    functions, kernels = functions_of(ptx)
    if sorted(kernels) != sorted(re.findall(r"__global__ void (\w+)", SELF_CHECK)):
        sys.exit(f"FAIL: self-check: these kernels are seen: {kernels}")
    for kernel in kernels:
        wrong = wrong_in(functions, kernel) if functions[kernel].waits() else []
        rule = RULES.get(kernel.split("_")[0])
        if bool(wrong) != bool(rule) or any(rule not in sentence for sentence in wrong):
            sys.exit(f"FAIL: self-check: {kernel}: {wrong}")
    for kernel, reads in (("right_by_roles", {"loads", "copies"}), ("before_copy", {"copies"}),
                          ("before_load", {"loads"}), ("before_store", set())):
        if reads_of(functions[kernel]) != reads:
            sys.exit(f"FAIL: self-check: {kernel} reads by {reads_of(functions[kernel])}")
    count, lines = restrict_in(RESTRICTS, "WAIT")
    if count != 1 or [re.split(r"[(;]", line)[0].split()[-1]
                      for line in lines] != ["data", "load", "waiting"]:
        sys.exit(f"FAIL: self-check: __restrict__: {count}, {lines}")
    wrong = sum(kernel.split("_")[0] in RULES for kernel in kernels)
    right = len(kernels) - wrong
    print(f"ok: the checks find what is wrong in {wrong} kernels, and nothing in {right}")


def main():
    root, nvcc = os.path.abspath(sys.argv[1]), sys.argv[2]
    version = subprocess.run([nvcc, "--version"], stdout=subprocess.PIPE, universal_newlines=True,
                             check=True).stdout
    if int(re.search(r"release (\d+)", version)[1]) < 12:
        print("SKIP: the library does not overlap launches before CUDA 12")
        return 77
    self_check(ptx_of(nvcc, root, SELF_CHECK))
    with open(os.path.join(root, "fastreduce.cuh"), encoding="utf-8") as file:
        count, restricted = restrict_in(file.read(), "wait_for_previous_grid")
    if count < 3:
        sys.exit(f"FAIL: in the source, {count} kernels wait")
    for line in restricted:
        print(f"FAIL: __restrict__ outside of the heads of kernels that do not wait: {line}")
    failed = len(restricted)
    if not failed:
        print(f"ok: the {count} kernels that wait have no __restrict__, nor has what they call")
    for what, source, reads in (("the C functions", IMPLEMENTATION, {**READS, **MANY}),
                                ("the templates", TEMPLATES, READS)):
        functions, kernels = functions_of(ptx_of(nvcc, root, source))
        bad, tickets = 0, collections.Counter()
        seen = collections.Counter()
        for kernel in kernels:
            name = next((name for name in reads if name in kernel), None)
            seen[name] += 1
            missing = set(reads.get(name, ["a name that is known"])) - reads_of(functions[kernel])
            if missing:
                sys.exit(f"FAIL: {what}: {kernel}: no {', '.join(missing)} seen")
            wrong = wrong_in(functions, kernel) if functions[kernel].waits() else ["does not wait"]
            for sentence in wrong:
                print(f"FAIL: {what}: {kernel}: {sentence}")
            bad += len(wrong)
            tickets[name] += len(tickets_in(functions[kernel]))
        if what.startswith("the C") and set(+tickets) != TICKETS:
            sys.exit(f"FAIL: {what}: these draw a ticket behind a fence: {sorted(+tickets)}")
        if seen.keys() != reads.keys():
            sys.exit(f"FAIL: {what}: the kernels are not there: {kernels}")
        failed += bad
        if not bad:
            print(f"ok: {what}: {sum(seen.values())} kernels wait before they access memory or "
                  f"allow the next grid, and load nothing non-coherently; "
                  f"{sum(tickets.values())} draw a ticket")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
