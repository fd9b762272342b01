/* Input that ends where its memory does. */
#ifndef EXACT_INPUT_H
#define EXACT_INPUT_H

#include "check.h"
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

/* Elements at an offset from the alignment of a vector, by elements and, of structures, by the
 * least that they may be aligned to; and not a byte beside them: there the
 * address sanitizer, or a GPU's, sees any access, as far as it can tell bytes apart. */
template <class T>
class exact_input
{
  public:
    exact_input(const std::vector<T> &values, size_t offset)
        : before_(offset * sizeof(T) + values.size() % (sizeof(T) / alignof(T)) * alignof(T))
    {
        const size_t bytes = before_ + values.size() * sizeof(T);
#ifdef SIMT_MACHINE
        base_ = static_cast<unsigned char *>(std::aligned_alloc(64, (bytes + 64) / 64 * 64));
        beside(base_, before_);
        beside(base_ + bytes, (bytes + 64) / 64 * 64 - bytes);
#else
        CUDA(cudaMalloc(&base_, bytes + 1));
#endif
        if (!values.empty())
            CUDA(cudaMemcpy(base_ + before_, values.data(), bytes - before_,
                            cudaMemcpyHostToDevice));
    }
    ~exact_input()
    {
#ifdef SIMT_MACHINE
        std::free(base_);
#else
        CUDA(cudaFree(base_));
#endif
    }
    exact_input(const exact_input &) = delete;
    exact_input &operator=(const exact_input &) = delete;
    const T *data() const
    {
        return reinterpret_cast<const T *>(base_ + before_);
    }

  private:
    static void beside(unsigned char *memory, size_t bytes)
    {
        std::memset(memory, 0xa7, bytes);
#ifdef __SANITIZE_ADDRESS__
        ASAN_POISON_MEMORY_REGION(memory, bytes);
#endif
    }
    size_t before_;
    unsigned char *base_;
};

#endif
