/* Flat EXACT by pairs of doubles beside AUTO and EXACT: microseconds a call, graphs of calls on
 * inputs out of L2. Build: nvcc -O3 -std=c++17 -arch=sm_90 -I.. flat_pairs.cu -o flat_pairs */
#define FASTREDUCE_IMPLEMENTATION
#define FASTREDUCE_NO_LADDER
#define FASTREDUCE_WITH_SHAPES
#define FASTREDUCE_TYPES FASTREDUCE_F32 + FASTREDUCE_F64 + FASTREDUCE_F16 + FASTREDUCE_BF16
#define FASTREDUCE_OPERATORS FASTREDUCE_SUM
#include "fastreduce.cuh"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>
using namespace fastreduce::detail;
#define OK(x) do { int e_ = (int)(x); if (e_) { printf("%s: %d\n", #x, e_); exit(1); } } while (0)
static cudaStream_t stream;
static void *words;
template <class T> __global__ void fill(T *x, size_t n, int wide)
{
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x) {
        unsigned long long z = (i + 1) * 0x9e3779b97f4a7c15ull;
        z = (z ^ (z >> 32)) * 0xd6e8feb86659fd93ull;
        z ^= z >> 32;
        if constexpr (sizeof(T) == 8) {
            unsigned long long b = wide ? (z & 0x800fffffffffffffull) | (z >> 20 & 1023) << 53 : 0;
            x[i] = wide ? __longlong_as_double(b) : (double)(long long)z * 0x1p-63;
        } else if constexpr (sizeof(T) == 4) {
            x[i] = wide ? __uint_as_float((unsigned)(z >> 32) & 0x807fffff | (unsigned)(z % 255) << 23) : (float)((double)(long long)z * 0x1p-63);
        } else {
            x[i].bits = (unsigned short)(z & 0xbbff);
        }
    }
}
enum { AUTO, EXACT, PAIRS, PAIRS_OPEN };
template <class T, fastreduce_type Type> static void call(int how, const T *x, size_t n, void *y)
{
    fastreduce_config c = {};
    c.stream = stream;
    c.workspace = words;
    c.workspace_bytes = FASTREDUCE_WORKSPACE_BYTES;
    if (how == EXACT) c.kernel = FASTREDUCE_EXACT;
    if (how <= EXACT) { OK(fastreduce_reduce(x, y, n, Type, FASTREDUCE_SUM, &c)); return; }
    const int precision = sizeof(T) == 8 ? 53 : 24;
    reduction_output<exact_reducer<T>> to = {y, {{}, FASTREDUCE_SUM, precision}};
    OK(launch_pairwise(pairwise_engine_of<exact_reducer<T>>(), {x, n, nullptr, nullptr}, &to, {words, FASTREDUCE_WORKSPACE_BYTES}, stream));
    if (how == PAIRS) return;
    exact_results all = {};
    all.strided.input = x, all.strided.n = n, all.strided.end = all.strided.inner = all.strided.stride = 1;
    all.strided.result_bytes = sizeof(T) == 8 ? 8 : 4;
    all.output = y, all.type = Type, all.op = FASTREDUCE_SUM, all.precision = precision;
    OK(launch_open_results(all, 1, n > most_open_of_warp ? words : nullptr, stream));
}
template <class T, fastreduce_type Type> static void table(const char *name, int wide)
{
    const size_t room = size_t(1) << 31;
    T *x; unsigned long long *y;
    OK(cudaMalloc(&x, room)); OK(cudaMalloc(&y, 64));
    fill<<<2048, 256>>>(x, room / sizeof(T), wide);
    OK(cudaDeviceSynchronize());
    printf("%s%s bytes: auto exact pairs pairs+open (us)\n", name, wide ? ", every exponent" : "");
    for (int log = 12; log <= 30; log += 2) {
        const size_t bytes = size_t(1) << log, n = bytes / sizeof(T), places = room / bytes;
        const int calls = log < 24 ? 200 : log < 28 ? 20 : 4;
        cudaGraphExec_t graph[4]; std::vector<double> t[4];
        for (int how = 0; how < 4; ++how) {
            cudaGraph_t g;
            OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
            for (int k = 0; k < calls; ++k) call<T, Type>(how, x + (k * 7919 % places) * n, n, y);
            OK(cudaStreamEndCapture(stream, &g)); OK(cudaGraphInstantiate(&graph[how], g, 0));
        }
        cudaEvent_t a, b; cudaEventCreate(&a); cudaEventCreate(&b);
        for (int turn = 0; turn < 12; ++turn)
            for (int how = 0; how < 4; ++how) {
                OK(cudaEventRecord(a, stream)); OK(cudaGraphLaunch(graph[how], stream)); OK(cudaEventRecord(b, stream));
                OK(cudaEventSynchronize(b)); float ms; cudaEventElapsedTime(&ms, a, b); t[how].push_back(ms * 1e3 / calls);
            }
        printf("2^%d", log);
        for (auto &v : t) { std::sort(v.begin(), v.end()); printf(" %9.2f", v[v.size() / 2]); }
        unsigned long long r[2] = {};
        for (int k = 0; k < 2; ++k) { call<T, Type>(k ? PAIRS_OPEN : EXACT, x, n, y); OK(cudaStreamSynchronize(stream)); OK(cudaMemcpy(&r[k], y, sizeof(T) == 8 ? 8 : 4, cudaMemcpyDeviceToHost)); }
        printf("  %s\n", r[0] == r[1] ? "same bits" : "DIFFERENT");
    }
    cudaFree(x); cudaFree(y);
}
int main()
{
    OK(cudaStreamCreate(&stream)); OK(cudaMalloc(&words, FASTREDUCE_WORKSPACE_BYTES)); OK(cudaMemset(words, 0, FASTREDUCE_WORKSPACE_BYTES));
    cudaDeviceProp p; cudaGetDeviceProperties(&p, 0); printf("%s\n", p.name);
    for (int wide = 0; wide < 2; ++wide) { table<float, FASTREDUCE_F32>("f32", wide); table<double, FASTREDUCE_F64>("f64", wide); }
    table<f16, FASTREDUCE_F16>("f16", 0);
}
