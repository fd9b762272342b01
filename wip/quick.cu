#define FASTREDUCE_IMPLEMENTATION
#define FASTREDUCE_NO_EXACT
#define FASTREDUCE_TYPES FASTREDUCE_F32
#define FASTREDUCE_OPERATORS FASTREDUCE_SUM
#include <cuda_runtime.h>
#include <cstring>
#include <cstdio>
#ifndef FR
#define FR "../../fastreduce.cuh"
#endif
#include FR
#include <vector>
#include <algorithm>
#define CK(x) do { cudaError_t e_ = (x); if (e_) { printf("%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(e_)); exit(1); } } while (0)
int main(int argc, char **argv) {
  size_t pool_bytes = (size_t)4 << 30; char *pool; CK(cudaMalloc(&pool, pool_bytes)); CK(cudaMemset(pool, 0, pool_bytes)); float *out; CK(cudaMalloc(&out, 256)); void *ws; CK(cudaMalloc(&ws, 1 << 20)); CK(cudaMemset(ws, 0, 1 << 20)); cudaStream_t st; CK(cudaStreamCreate(&st)); cudaEvent_t ea, eb; CK(cudaEventCreate(&ea)); CK(cudaEventCreate(&eb));
  fastreduce_config c; memset(&c, 0, sizeof c); c.stream = st; c.workspace = ws; c.workspace_bytes = 1 << 20;
  printf("%-28s", argc > 1 ? argv[1] : "");
  for (int lg : {10, 12, 14, 16, 18, 20, 22, 23, 24, 26}) { size_t n = (size_t)1 << lg, b = n * 4; size_t slots = std::max<size_t>(1, std::min<size_t>(64, pool_bytes / b)), stride = pool_bytes / slots; cudaGraph_t g; CK(cudaStreamBeginCapture(st, cudaStreamCaptureModeRelaxed)); for (int i = 0; i < 64; ++i) if (fastreduce_sum_f32((float *)(pool + (i % slots) * stride), out, n, &c)) exit(2); CK(cudaStreamEndCapture(st, &g)); cudaGraphExec_t e; CK(cudaGraphInstantiate(&e, g, 0)); CK(cudaGraphLaunch(e, st)); std::vector<float> t; for (int r = 0; r < 25; ++r) { CK(cudaEventRecord(ea, st)); CK(cudaGraphLaunch(e, st)); CK(cudaEventRecord(eb, st)); CK(cudaEventSynchronize(eb)); float ms; CK(cudaEventElapsedTime(&ms, ea, eb)); t.push_back(ms * 1e3f / 64); } std::sort(t.begin(), t.end()); printf(" %7.2f", t[t.size() / 2]); }
  printf("\n");
#ifdef OCC
  using namespace fastreduce::detail; auto e = pairwise_engine_of<plain_reducer<float>>(); for (int l = 0; l < 2; ++l) { cudaFuncAttributes a; CK(cudaFuncGetAttributes(&a, e.kernel(l))); int nb; CK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&nb, e.kernel(l), e.size[l].block_size, 0)); if (0) printf("large %d: regs %d static %zu local %zu blocks/SM %d\n", l, a.numRegs, a.sharedSizeBytes, a.localSizeBytes, nb); }
#endif
}
