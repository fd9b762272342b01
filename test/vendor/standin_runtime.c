/* What programs of nvcc's objects link in place of the CUDA runtime, to see what the library
 * does on a GPU of compute capability 9.0 without having one: every call that matters is a line
 * of output. No kernel runs.
 *
 * An object's kernels are in its fat binary, which registers itself and then each kernel: by the
 * address of the function that stands for it on the host, the stub. A fat binary is known here
 * by its kernel part_NAME. Where the linker has made one stub of two, several fat binaries
 * register it, and the log names them all. */
#include "standin_runtime.h"
#include <cuda_runtime_api.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEVICE = 90,
    MULTIPROCESSORS = 132,
    SHARED_BYTES = 228 * 1024,
    MOST_BINARIES = 16,
    MOST_KERNELS = 4096
};

struct binary {
    unsigned
        architecture; /* of the code that the device would run: 80 for compute_80; 0 for none */
    char part[32];
};

struct kernel {
    const void *stub;
    const char *name;
    unsigned binaries; /* that registered it: bit b for binaries[b] */
};

static struct binary binaries[MOST_BINARIES];
static struct kernel kernels[MOST_KERNELS];
static unsigned binary_count, kernel_count;
static char caller[64];

void standin_caller(const char *part, const char *call)
{
    snprintf(caller, sizeof caller, "%s: %s:", part, call);
}

void standin_log(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    printf("%s ", caller);
    vprintf(format, arguments);
    printf("\n");
    va_end(arguments);
}

static void stop(const char *why)
{
    fflush(stdout);
    fprintf(stderr, "stand-in runtime: %s\n", why);
    exit(3);
}

/* ---- Registration, by the code that nvcc adds to each object ---- */

/* The container of cubins and PTX: a header, then entries, each with a header. */
struct fat_header {
    unsigned magic;
    unsigned short version, header_bytes;
    unsigned long long bytes; /* of all entries */
};

struct fat_entry {
    unsigned short kind, version;
    unsigned header_bytes;
    unsigned long long bytes; /* after the header */
    unsigned compressed_bytes, options_offset;
    unsigned short minor, major;
    unsigned architecture;
};

enum { FAT_PTX = 1, FAT_CUBIN = 2 };

/* As the driver chooses: a cubin of the same generation, the newest, and else the newest PTX. */
static unsigned architecture_for_device(const char *fat)
{
    struct fat_header header;
    unsigned cubin = 0, ptx = 0;
    unsigned long long at;
    memcpy(&header, fat, sizeof header);
    if (header.magic != 0xba55ed50) stop("this is no fat binary");
    for (at = header.header_bytes; at < header.header_bytes + header.bytes;) {
        struct fat_entry entry;
        unsigned *newest;
        memcpy(&entry, fat + at, sizeof entry);
        if (entry.kind != FAT_PTX && entry.kind != FAT_CUBIN) stop("a fat binary of unknown form");
        if (entry.architecture < 50 || entry.architecture > 200)
            stop("an architecture that cannot be");
        newest = entry.kind == FAT_PTX ? &ptx : &cubin;
        if (entry.architecture <= DEVICE && entry.architecture > *newest)
            *newest = entry.architecture;
        at += entry.header_bytes + entry.bytes;
    }
    return cubin / 10 == DEVICE / 10 ? cubin : ptx;
}

void **__cudaRegisterFatBinary(void *wrapper)
{
    const struct {
        int magic, version;
        const void *data;
        void *unused;
    } *wrapped = wrapper;
    static void *handles[MOST_BINARIES];
    if (binary_count == MOST_BINARIES) stop("too many fat binaries");
    if (wrapped->magic != 0x466243b1 || wrapped->version != 1) stop("a fat binary of unknown form");
    binaries[binary_count].architecture = architecture_for_device(wrapped->data);
    return &handles[binary_count++];
}

void __cudaRegisterFatBinaryEnd(void **handle)
{
    (void)handle;
    if (binaries[binary_count - 1].part[0] == 0) stop("a fat binary without a kernel part_NAME");
}

void __cudaUnregisterFatBinary(void **handle) { (void)handle; }
char __cudaInitModule(void **handle) { return handle != NULL; }

void __cudaRegisterFunction(void **handle, const void *stub, char *device_function,
                            const char *name, int thread_limit, void *thread, void *block,
                            void *block_size, void *grid_size, int *warp_size)
{
    const unsigned last = binary_count - 1; /* it registers its kernels before the next comes */
    unsigned k;
    (void)handle, (void)device_function, (void)thread_limit, (void)thread, (void)block,
        (void)block_size;
    (void)grid_size, (void)warp_size;
    if (strncmp(name, "part_", 5) == 0)
        snprintf(binaries[last].part, sizeof binaries[last].part, "%s", name + 5);
    for (k = 0; k < kernel_count && kernels[k].stub != stub; ++k) {
    }
    if (k == MOST_KERNELS) stop("too many kernels");
    if (k == kernel_count) ++kernel_count;
    kernels[k].stub = stub;
    kernels[k].name = name;
    kernels[k].binaries |= 1u << last;
}

/* Stubs call these, for kernel<<<...>>>(), which the library does not use. */
#if CUDART_VERSION >= 12000
cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *stub)
{
    (void)kernel, (void)stub;
    stop("a stub was called");
    return cudaErrorUnknown;
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments,
                               size_t shared_bytes, cudaStream_t stream)
{
    (void)kernel, (void)grid, (void)block, (void)arguments, (void)shared_bytes, (void)stream;
    stop("a stub was called");
    return cudaErrorUnknown;
}

cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments,
                                    size_t shared_bytes, cudaStream_t stream)
{
    return __cudaLaunchKernel(kernel, grid, block, arguments, shared_bytes, stream);
}
#endif

cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared_bytes, void *stream)
{
    (void)grid, (void)block, (void)shared_bytes, (void)stream;
    stop("a stub was called");
    return cudaErrorUnknown;
}

/* ---- What the library calls ---- */

static const struct kernel *find(const void *stub)
{
    unsigned k;
    for (k = 0; k < kernel_count; ++k)
        if (kernels[k].stub == stub) return &kernels[k];
    standin_log("names a kernel that nobody registered");
    return NULL;
}

/* The name of the kernel, and whose code it is: in the order of the names, as that of the
 * objects does not matter. */
static const char *described(const struct kernel *kernel)
{
    static char text[1024];
    unsigned left, b;
    snprintf(text, sizeof text, "%s of", kernel->name);
    for (left = kernel->binaries; left != 0;) {
        unsigned first = MOST_BINARIES;
        for (b = 0; b < binary_count; ++b)
            if ((left >> b & 1) &&
                (first == MOST_BINARIES || strcmp(binaries[b].part, binaries[first].part) < 0))
                first = b;
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s %s (compute_%u)",
                 left == kernel->binaries ? "" : " and", binaries[first].part,
                 binaries[first].architecture);
        left &= ~(1u << first);
    }
    return text;
}

static cudaError_t launch(const void *stub, const char *how, dim3 grid, dim3 block,
                          size_t shared_bytes)
{
    const struct kernel *kernel = find(stub);
    if (kernel == NULL) return cudaErrorInvalidDeviceFunction;
    standin_log("launches %s, %s, %u blocks of %u, %u bytes shared", described(kernel), how, grid.x,
                block.x, (unsigned)shared_bytes);
    return cudaSuccess;
}

cudaError_t cudaLaunchKernel(const void *stub, dim3 grid, dim3 block, void **arguments,
                             size_t shared_bytes, cudaStream_t stream)
{
    (void)arguments, (void)stream;
    return launch(stub, "plainly", grid, block, shared_bytes);
}

#if CUDART_VERSION >= 12000
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *stub,
                                void **arguments)
{
    const char *how = "plainly";
    unsigned k;
    (void)arguments;
    for (k = 0; k < config->numAttrs; ++k)
        if (config->attrs[k].id == cudaLaunchAttributeProgrammaticStreamSerialization &&
            config->attrs[k].val.programmaticStreamSerializationAllowed)
            how = "overlapped";
    return launch(stub, how, config->gridDim, config->blockDim, config->dynamicSmemBytes);
}
#endif

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *stub)
{
    const struct kernel *kernel = find(stub);
    unsigned b = 0;
    if (kernel == NULL) return cudaErrorInvalidDeviceFunction;
    while (!(kernel->binaries >> b & 1)) ++b;
    memset(attributes, 0, sizeof *attributes);
    attributes->ptxVersion = (int)binaries[b].architecture;
    attributes->binaryVersion = DEVICE;
    attributes->maxThreadsPerBlock = 1024;
    return cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void *stub, enum cudaFuncAttribute attribute, int value)
{
    const struct kernel *kernel = find(stub);
    if (kernel == NULL) return cudaErrorInvalidDeviceFunction;
    standin_log("sets attribute %d of %s to %d", (int)attribute, described(kernel), value);
    return cudaSuccess;
}

cudaError_t cudaGetDevice(int *device)
{
    *device = 0;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
    if (device != 0) return cudaErrorInvalidDevice;
    switch (attribute) {
    case cudaDevAttrMultiProcessorCount: *value = MULTIPROCESSORS; break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor: *value = SHARED_BYTES; break;
    case cudaDevAttrComputeCapabilityMajor: *value = DEVICE / 10; break;
    case cudaDevAttrComputeCapabilityMinor: *value = DEVICE % 10; break;
    default: stop("an attribute that it does not know");
    }
    return cudaSuccess;
}

cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode)
{
    (void)mode;
    return cudaSuccess;
}

cudaError_t cudaMallocAsync(void **memory, size_t bytes, cudaStream_t stream)
{
    (void)stream;
    standin_log("takes %lu bytes of the pool", (unsigned long)bytes);
    *memory = (void *)((size_t)1 << 40); /* an address that nothing accesses */
    return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void *memory, int value, size_t bytes, cudaStream_t stream)
{
    (void)memory, (void)stream;
    standin_log("sets %lu bytes to %d", (unsigned long)bytes, value);
    return cudaSuccess;
}

cudaError_t cudaFreeAsync(void *memory, cudaStream_t stream)
{
    (void)memory, (void)stream;
    return cudaSuccess;
}

const char *cudaGetErrorString(cudaError_t error)
{
    return error == cudaSuccess ? "no error" : "an error";
}

/* With --default-stream per-thread, files call these instead. */
cudaError_t cudaLaunchKernel_ptsz(const void *stub, dim3 grid, dim3 block, void **arguments,
                                  size_t shared_bytes, cudaStream_t stream)
{
    standin_log("in a thread's stream:");
    return cudaLaunchKernel(stub, grid, block, arguments, shared_bytes, stream);
}

#if CUDART_VERSION >= 12000
cudaError_t cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t *config, const void *stub,
                                     void **arguments)
{
    standin_log("in a thread's stream:");
    return cudaLaunchKernelExC(config, stub, arguments);
}
#endif

cudaError_t cudaMallocAsync_ptsz(void **memory, size_t bytes, cudaStream_t stream)
{
    standin_log("in a thread's stream:");
    return cudaMallocAsync(memory, bytes, stream);
}

cudaError_t cudaMemsetAsync_ptsz(void *memory, int value, size_t bytes, cudaStream_t stream)
{
    standin_log("in a thread's stream:");
    return cudaMemsetAsync(memory, value, bytes, stream);
}

cudaError_t cudaFreeAsync_ptsz(void *memory, cudaStream_t stream)
{
    standin_log("in a thread's stream:");
    return cudaFreeAsync(memory, stream);
}
