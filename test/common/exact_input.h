/* Input that ends where its memory does. */
#ifndef EXACT_INPUT_H
#define EXACT_INPUT_H

#include "check.h"
#ifdef SIMT_MACHINE
#include <sys/mman.h>
#endif
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

/* Elements at an offset from the alignment of a vector, by elements and, of structures, by the
 * least that they may be aligned to; and not a byte beside them: there the
 * address sanitizer, or a GPU's, sees any access, as far as it can tell bytes apart. On the CPU
 * machine a page follows that nobody may read. */
template <class T>
class exact_input
{
  public:
    exact_input(const std::vector<T> &values, size_t offset)
        : before_(offset * sizeof(T) + values.size() % (sizeof(T) / alignof(T)) * alignof(T))
    {
        const size_t bytes = before_ + values.size() * sizeof(T);
#ifdef SIMT_MACHINE
        const size_t lines = (bytes + 63) / 64 * 64;
        pages_ = (lines + page - 1) / page * page;
        memory_ = mmap(nullptr, pages_ + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                       -1, 0);
        if (memory_ == MAP_FAILED) std::abort();
        base_ = static_cast<unsigned char *>(memory_) + pages_ - lines;
        mprotect(base_ + lines, page, PROT_NONE);
        beside(base_, before_);
        beside(base_ + bytes, lines - bytes);
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
#ifdef __SANITIZE_ADDRESS__
        ASAN_UNPOISON_MEMORY_REGION(memory_, pages_);
#endif
        munmap(memory_, pages_ + page);
#else
        CUDA(cudaFree(base_));
#endif
    }
    exact_input(const exact_input &) = delete;
    exact_input &operator=(const exact_input &) = delete;
    const T *data() const { return reinterpret_cast<const T *>(base_ + before_); }

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
#ifdef SIMT_MACHINE
    static constexpr size_t page = 4096;
    void *memory_;
    size_t pages_;
#endif
};

#endif
