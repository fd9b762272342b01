/* The CPU machine: a stand-in for CUDA's <cuda_runtime.h>. With this folder first on the include
 * path, a C++17 compiler builds CUDA kernels unmodified and runs them without a GPU, if they are
 * launched by cudaLaunchKernel and not by <<<>>>. Kernels see one warp of 32 lanes at a time
 * only in the sense that CUDA guarantees: threads run in any order between barriers
 * (simt::settings().schedule), and what CUDA leaves undefined is reported (simt::report()).
 *
 *   fiber.h     a thread's flow of control
 *   machine.h   blocks, barriers, warp meetings, deadlocks
 *   trace.h     races, bounds, divergence and bank conflicts, by logging accesses
 *   traced.h    traced<T>, the elements that report these
 *   symbols.h   static shared memory of kernels
 *   runtime.h   intrinsics, the runtime API, memory between guard pages, fault injection
 */
#ifndef SIMT_CUDA_RUNTIME_H
#define SIMT_CUDA_RUNTIME_H
#define SIMT_MACHINE 1
#include "runtime.h"
#endif
