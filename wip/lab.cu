#include <cuda_runtime.h>
#include <cub/cub.cuh>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>
#include "../../fastreduce.h"
#define CK(x) do { cudaError_t e_ = (x); if (e_) { printf("%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(e_)); exit(1); } } while (0)
int old_call(int, int, int, const void *, const void *, size_t, void *, void *, size_t, cudaStream_t, const size_t *);
int new_call(int, int, int, const void *, const void *, size_t, void *, void *, size_t, cudaStream_t, const size_t *);
__global__ void fill(float *p, size_t n) { for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) { unsigned long long z = (i + 1) * 0x9E3779B97F4A7C15ull; z ^= z >> 30; z *= 0xBF58476D1CE4E5B9ull; z ^= z >> 27; p[i] = (float)((int)(z >> 40) - (1 << 23)) * (1.0f / (1 << 23)); } }
__global__ void produce(float4 *p, size_t n, float a) { for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) p[i] = make_float4(a, a + 1, a + i % 7, -a); }
static double median(std::vector<double> v) { std::sort(v.begin(), v.end()); return v[v.size() / 2]; }
using call = std::function<void(const char *, cudaStream_t)>; // input
static char *pool; static size_t pool_bytes; static void *ws[2]; static char *out; static cudaStream_t st; static char *tmp; static size_t tb = 64 << 20; static size_t wb = 64 << 20;
static cudaEvent_t ea, eb;
static float elapsed() { float ms; CK(cudaEventSynchronize(eb)); CK(cudaEventElapsedTime(&ms, ea, eb)); return ms * 1e3f; }
static std::vector<double> graphs(const std::vector<call> &cs, size_t bytes, int reps = 11) {
  size_t slots = std::max<size_t>(1, std::min<size_t>(64, pool_bytes / bytes)), stride = slots > 1 ? pool_bytes / slots / 4096 * 4096 : 0; int calls = (int)std::max<size_t>(slots, bytes < (64u << 20) ? 64 : 4);
  std::vector<cudaGraphExec_t> ex; for (auto &c : cs) { cudaGraph_t g; CK(cudaStreamBeginCapture(st, cudaStreamCaptureModeRelaxed)); for (int i = 0; i < calls; ++i) c(pool + (i % slots) * stride, st); CK(cudaStreamEndCapture(st, &g)); cudaGraphExec_t e; CK(cudaGraphInstantiate(&e, g, 0)); ex.push_back(e); CK(cudaGraphDestroy(g)); CK(cudaGraphLaunch(e, st)); }
  CK(cudaStreamSynchronize(st)); std::vector<std::vector<double>> t(cs.size());
  for (int r = 0; r < reps; ++r) for (size_t j = 0; j < cs.size(); ++j) { CK(cudaEventRecord(ea, st)); CK(cudaGraphLaunch(ex[j], st)); CK(cudaEventRecord(eb, st)); t[j].push_back(elapsed() / calls); }
  std::vector<double> m; for (size_t j = 0; j < cs.size(); ++j) { m.push_back(median(t[j])); CK(cudaGraphExecDestroy(ex[j])); } return m; }
static std::vector<double> isolated(const std::vector<call> &cs, size_t bytes, int reps = 21, bool after = false) {
  static char *flush = nullptr; if (!flush) CK(cudaMalloc(&flush, 256 << 20)); std::vector<std::vector<double>> t(cs.size());
  for (int r = 0; r < reps; ++r) for (size_t j = 0; j < cs.size(); ++j) { size_t off = bytes < pool_bytes ? ((size_t)(r * 31 + j) * 7919 * 4096) % (pool_bytes - bytes) & ~(size_t)4095 : 0;
    CK(cudaMemsetAsync(flush, r, 256 << 20, st)); if (after) { produce<<<1056, 256, 0, st>>>((float4 *)(pool + off), bytes / 16, r); } else CK(cudaStreamSynchronize(st));
    CK(cudaEventRecord(ea, st)); cs[j](pool + off, st); CK(cudaEventRecord(eb, st)); t[j].push_back(elapsed()); }
  std::vector<double> m; for (auto &x : t) m.push_back(median(x)); return m; }
static call make(int which, int kernel, int type, int op, size_t bytes, size_t size, size_t shift = 0, const size_t *n_dev = nullptr, size_t bound = 0) {
  return [=](const char *p, cudaStream_t s) { size_t n = bound ? bound : bytes / size; int e = (which ? new_call : old_call)(kernel, type, op, p + shift, op == 100 ? p + bytes / 2 + shift : nullptr, op == 100 ? n / 2 : n, out + 256 * which, ws[which], wb, s, n_dev); if (e) { printf("status %d type %d op %d\n", e, type, op); exit(1); } }; }
int main(int argc, char **argv) {
  std::string what = argc > 1 ? argv[1] : "all"; auto on = [&](const char *w) { return what == "all" || what.find(w) != std::string::npos; };
  cudaDeviceProp pr; CK(cudaGetDeviceProperties(&pr, 0)); printf("%s\n", pr.name);
  pool_bytes = (size_t)8 << 30; CK(cudaMalloc(&pool, pool_bytes + 4096)); CK(cudaMalloc(&out, 4096)); CK(cudaMalloc(&tmp, tb)); for (auto &w : ws) { CK(cudaMalloc(&w, wb)); CK(cudaMemset(w, 0, wb)); } CK(cudaStreamCreate(&st)); CK(cudaEventCreate(&ea)); CK(cudaEventCreate(&eb)); fill<<<2048, 256>>>((float *)pool, pool_bytes / 4 + 1024); CK(cudaDeviceSynchronize());
  auto cub_sum = [](size_t n) { return call([=](const char *p, cudaStream_t s) { size_t q = tb; CK(cub::DeviceReduce::Sum(tmp, q, (const float *)p, (float *)out + 200, (long long)n, s)); }); };
  if (on("f32")) { printf("graphs f32 sum, us: log2 n, cub old new v7 | new/cub new/old new/v7\n"); for (int lg : {10, 12, 14, 16, 18, 20, 22, 23, 24, 26, 27, 28, 29, 30}) { size_t b = (size_t)4 << lg; auto m = graphs({cub_sum(b / 4), make(0, 0, FASTREDUCE_F32, FASTREDUCE_SUM, b, 4), make(1, 0, FASTREDUCE_F32, FASTREDUCE_SUM, b, 4), make(1, FASTREDUCE_V7, FASTREDUCE_F32, FASTREDUCE_SUM, b, 4)}, b, lg >= 26 ? 9 : 25); printf("%2d %9.2f %9.2f %9.2f %9.2f | %.3f %.3f %.3f\n", lg, m[0], m[1], m[2], m[3], m[2] / m[0], m[2] / m[1], m[2] / m[3]); }
    for (int after = 0; after < 2; ++after) { printf("%s f32 sum\n", after ? "after a producer" : "isolated"); for (int lg : {12, 14, 16, 18, 20, 22, 24, 26, 27, 28, 29}) { if (after && lg > 26) break; size_t b = (size_t)4 << lg; auto m = isolated({cub_sum(b / 4), make(0, 0, FASTREDUCE_F32, FASTREDUCE_SUM, b, 4), make(1, 0, FASTREDUCE_F32, FASTREDUCE_SUM, b, 4), make(1, FASTREDUCE_V7, FASTREDUCE_F32, FASTREDUCE_SUM, b, 4)}, b, 31, after); printf("%2d %9.2f %9.2f %9.2f %9.2f | %.3f %.3f %.3f\n", lg, m[0], m[1], m[2], m[3], m[2] / m[0], m[2] / m[1], m[2] / m[3]); } } }
  if (on("ndev")) { size_t *nd; CK(cudaMalloc(&nd, 8)); printf("n on device, new: log2 n, log2 bound: host us, device us, old device us\n"); for (int lg : {10, 20, 27, 28}) for (int lb : {lg, 24, 26, 28, 30}) { if (lb < lg || (lb == lg && false)) continue; size_t n = (size_t)1 << lg; CK(cudaMemcpy(nd, &n, 8, cudaMemcpyHostToDevice)); size_t bound = (size_t)1 << lb; auto m = isolated({make(1, 0, FASTREDUCE_F32, FASTREDUCE_SUM, n * 4, 4), make(1, 0, FASTREDUCE_F32, FASTREDUCE_SUM, bound * 4, 4, 0, nd, bound), make(0, 0, FASTREDUCE_F32, FASTREDUCE_SUM, bound * 4, 4, 0, nd, bound)}, bound * 4, 11); printf("%d %d: %.2f %.2f %.2f\n", lg, lb, m[0], m[1], m[2]); } }
  if (on("shift")) { printf("unaligned: type shift bytes: aligned new, shifted old, shifted new us, new/aligned\n"); struct { int t; size_t s; size_t sh; } k[] = {{FASTREDUCE_F32, 4, 4}, {FASTREDUCE_F32, 4, 12}, {FASTREDUCE_F64, 8, 8}, {FASTREDUCE_F16, 2, 2}, {FASTREDUCE_F16, 2, 10}, {FASTREDUCE_U8, 1, 1}, {FASTREDUCE_U8, 1, 7}}; for (auto &x : k) for (size_t b : {(size_t)1 << 16, (size_t)1 << 22, (size_t)1 << 28, (size_t)1 << 30}) { auto m = graphs({make(1, 0, x.t, FASTREDUCE_SUM, b, x.s), make(0, 0, x.t, FASTREDUCE_SUM, b, x.s, x.sh), make(1, 0, x.t, FASTREDUCE_SUM, b, x.s, x.sh)}, b, 9); printf("%2d +%zu 2^%d: %.2f %.2f %.2f %.3f\n", x.t, x.sh, (int)(8 * sizeof(long) - 1 - __builtin_clzl(b)), m[0], m[1], m[2], m[0] / m[2]); } }
  if (on("types")) { printf("types: type op: old us (new/old) at 2^12 ... 2^30 bytes\n"); struct { int t; size_t s; const char *n; } ty[] = {{FASTREDUCE_F32, 4, "f32"}, {FASTREDUCE_F64, 8, "f64"}, {FASTREDUCE_F16, 2, "f16"}, {FASTREDUCE_BF16, 2, "bf16"}, {FASTREDUCE_U8, 1, "u8"}, {FASTREDUCE_I16, 2, "i16"}, {FASTREDUCE_I32, 4, "i32"}, {FASTREDUCE_U64, 8, "u64"}}; const char *on_[] = {"sum", "product", "min", "max", "argmin", "argmax", "sum_abs", "sum_squares", "max_abs", "norm2", "mean", "variance", "count_nonzero", "dot"}; int ov[] = {FASTREDUCE_SUM, FASTREDUCE_PRODUCT, FASTREDUCE_MIN, FASTREDUCE_MAX, FASTREDUCE_ARGMIN, FASTREDUCE_ARGMAX, FASTREDUCE_SUM_ABS, FASTREDUCE_SUM_SQUARES, FASTREDUCE_MAX_ABS, FASTREDUCE_NORM2, FASTREDUCE_MEAN, FASTREDUCE_VARIANCE, FASTREDUCE_COUNT_NONZERO, 100};
    double worst = 0; for (auto &t : ty) for (int o = 0; o < 14; ++o) { printf("%4s %13s:", t.n, on_[o]); for (int lb : {12, 14, 16, 18, 20, 22, 24, 26, 28, 30}) { size_t b = (size_t)1 << lb; auto m = graphs({make(0, 0, t.t, ov[o], b, t.s), make(1, 0, t.t, ov[o], b, t.s)}, b, lb >= 28 ? 5 : 11); printf(" %.2f(%.3f)", m[0], m[1] / m[0]); worst = std::max(worst, m[1] / m[0]); } printf("\n"); } printf("worst %.3f\n", worst); }
}
