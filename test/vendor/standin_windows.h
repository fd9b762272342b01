/* Stands in for what a compiler for Windows brings: the least of its C and C++ headers and of
 * CUDA's that the two files need to be read, with the types that they have there, where long has 32
 * bits. Nothing in it is defined, so nothing that is compiled with it runs. languages.sh includes
 * it by each of their names. */
#ifndef STANDIN_WINDOWS_H
#define STANDIN_WINDOWS_H

#ifdef __CUDA_ARCH__
#pragma clang force_cuda_host_device begin
#endif

/* <stddef.h>, <stdint.h>, <string.h> */
typedef unsigned long long size_t, uintptr_t, uint64_t;
typedef long long int64_t;
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned uint32_t;
#define INT64_MAX 9223372036854775807LL
#define INT64_MIN (-INT64_MAX - 1)
#define UINT64_MAX 18446744073709551615ULL
#define SIZE_MAX UINT64_MAX
#define UINTPTR_MAX UINT64_MAX
#ifdef __cplusplus
#define NULL nullptr
extern "C" {
#else
#define NULL ((void *)0)
#endif
void *memcpy(void *to, const void *from, size_t n);
void *memset(void *to, int value, size_t n);
#ifdef __cplusplus
}
#endif

#ifdef __cplusplus
/* <atomic>, <limits>, <type_traits>, <utility> */
namespace std
{
template <class T, T Value>
struct integral_constant {
    static constexpr T value = Value;
    using type = integral_constant;
};
using true_type = integral_constant<bool, true>;
using false_type = integral_constant<bool, false>;
template <class, class>
struct is_same : false_type {
};
template <class T>
struct is_same<T, T> : true_type {
};
template <class T>
struct is_integral : integral_constant<bool, __is_integral(T)> {
};
template <class T>
struct is_signed : integral_constant<bool, __is_signed(T)> {
};
template <class T>
struct is_trivially_copyable : integral_constant<bool, __is_trivially_copyable(T)> {
};
template <bool, class Yes, class>
struct conditional {
    using type = Yes;
};
template <class Yes, class No>
struct conditional<false, Yes, No> {
    using type = No;
};
template <bool Condition, class Yes, class No>
using conditional_t = typename conditional<Condition, Yes, No>::type;
template <class T>
T &&declval();
template <class...>
using void_t = void;
template <class Void, class Function, class... Arguments>
struct can_invoke : integral_constant<bool, false> {
};
template <class Function, class... Arguments>
struct can_invoke<void_t<decltype(declval<Function>()(declval<Arguments>()...))>, Function,
                  Arguments...> : integral_constant<bool, true> {
};
template <class Function, class... Arguments>
using is_invocable = can_invoke<void, Function, Arguments...>;
template <size_t...>
struct index_sequence {
};
template <size_t N, size_t... Rest>
struct make_index_sequence_of : make_index_sequence_of<N - 1, N - 1, Rest...> {
};
template <size_t... All>
struct make_index_sequence_of<0, All...> {
    using type = index_sequence<All...>;
};
template <size_t N>
using make_index_sequence = typename make_index_sequence_of<N>::type;
enum memory_order { memory_order_relaxed };
template <class T>
struct atomic {
    constexpr atomic() {}
    constexpr atomic(T) {}
    T load(memory_order) const;
    void store(T, memory_order);
};
template <class T>
struct numeric_limits {
    static constexpr bool is_specialized = true, has_infinity = false;
    static constexpr T lowest() { return T(); }
    static constexpr T max() { return T(); }
    static constexpr T infinity() { return T(); }
};
} // namespace std

/* <cuda_runtime.h>, with the words that Microsoft's compiler has for what stands before functions
 * and types, as it wants them in places of their own */
#define CUDART_VERSION 13000
#ifdef __CUDA_ARCH__
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define STANDIN_VARIABLE extern __device__ const
#else
#define __host__ __declspec(nothrow)
#define __device__ __declspec(nothrow)
#define __global__ __declspec(nothrow)
#define __shared__
#define STANDIN_VARIABLE extern const
#endif
#define __launch_bounds__(...)
#define __forceinline__ __forceinline
#define __noinline__ __declspec(noinline)
#define __align__(n) __declspec(align(n))
#define __restrict__ __restrict
struct __half;
struct __nv_bfloat16;
struct float4 {
    float x, y, z, w;
};
struct uint3 {
    unsigned x, y, z;
};
struct dim3 {
    unsigned x, y, z;
    dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1);
};
STANDIN_VARIABLE uint3 threadIdx, blockIdx;
STANDIN_VARIABLE dim3 blockDim, gridDim;
#ifndef __CUDA_ARCH__ /* Clang declares it */
void __syncthreads();
#endif
int __syncthreads_or(int);
void __syncwarp(unsigned = 0xffffffff);
void __threadfence();
void __threadfence_block();
void __nanosleep(unsigned);
unsigned __ballot_sync(unsigned, int);
int __any_sync(unsigned, int);
template <class T>
T __shfl_sync(unsigned, T, int, int = 32);
template <class T>
T __shfl_up_sync(unsigned, T, unsigned, int = 32);
template <class T>
T __shfl_down_sync(unsigned, T, unsigned, int = 32);
template <class T>
T __shfl_xor_sync(unsigned, T, int, int = 32);
template <class T>
T atomicAdd(T *, T);
template <class T>
T atomicAnd(T *, T);
template <class T>
T atomicOr(T *, T);
template <class T>
T atomicMin(T *, T);
template <class T>
T atomicMax(T *, T);
template <class T>
T atomicCAS(T *, T, T);
unsigned __reduce_add_sync(unsigned, unsigned);
unsigned __reduce_max_sync(unsigned, unsigned);
unsigned __funnelshift_lc(unsigned, unsigned, unsigned);
unsigned __byte_perm(unsigned, unsigned, unsigned);
unsigned __vmaxu2(unsigned, unsigned);
unsigned __vmaxu4(unsigned, unsigned);
int __dp2a_lo(int, int, int);
unsigned __dp2a_lo(unsigned, unsigned, unsigned);
int __dp4a(int, int, int);
unsigned __dp4a(unsigned, unsigned, unsigned);
float __fmul_rn(float, float);
double __dmul_rn(double, double), __dadd_rn(double, double), __dsub_rn(double, double);
size_t __cvta_generic_to_shared(const void *);
int __clz(int);
int __clzll(long long);
int __popc(unsigned);
unsigned __brev(unsigned);
unsigned __float_as_uint(float);
float __uint_as_float(unsigned);
float fmaf(float, float, float);
double fma(double, double, double);
float fabsf(float), fmaxf(float, float);
double fabs(double), sqrt(double);

typedef struct CUstream_st *cudaStream_t;
enum cudaError_t {
    cudaSuccess,
    cudaErrorStubLibrary,
    cudaErrorInsufficientDriver,
    cudaErrorNoDevice
};
enum cudaDeviceAttr {
    cudaDevAttrMultiProcessorCount,
    cudaDevAttrL2CacheSize,
    cudaDevAttrMaxSharedMemoryPerBlockOptin,
    cudaDevAttrMaxSharedMemoryPerMultiprocessor
};
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize };
enum cudaLaunchAttributeID { cudaLaunchAttributeProgrammaticStreamSerialization };
enum cudaStreamCaptureMode { cudaStreamCaptureModeRelaxed };
struct cudaFuncAttributes {
    size_t sharedSizeBytes;
    int ptxVersion;
};
struct cudaLaunchAttribute {
    cudaLaunchAttributeID id;
    struct {
        int programmaticStreamSerializationAllowed;
    } val;
};
struct cudaLaunchConfig_t {
    dim3 gridDim, blockDim;
    size_t dynamicSmemBytes;
    cudaStream_t stream;
    cudaLaunchAttribute *attrs;
    unsigned numAttrs;
};
const char *cudaGetErrorString(cudaError_t);
cudaError_t cudaGetDevice(int *);
cudaError_t cudaDeviceGetAttribute(int *, cudaDeviceAttr, int);
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *, const void *);
cudaError_t cudaFuncSetAttribute(const void *, cudaFuncAttribute, int);
cudaError_t cudaMallocAsync(void **, size_t, cudaStream_t);
cudaError_t cudaFreeAsync(void *, cudaStream_t);
cudaError_t cudaMemsetAsync(void *, int, size_t, cudaStream_t);
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode *);
cudaError_t cudaLaunchKernel(const void *, dim3, dim3, void **, size_t, cudaStream_t);
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *, const void *, void **);
#ifdef __CUDA_ARCH__
#pragma clang force_cuda_host_device end
#endif
#endif

#endif
