/* AUTO of an array in shards, by the contract in fastreduce.h: each shard alone, and one more call
 * for the results. The same on the CPU and on a GPU, by functions that make the calls. */
#ifndef SHARDS_H
#define SHARDS_H

#include <algorithm>
#include <cstring>
#include <vector>
#include "golden.h"

namespace shards
{

/* The operator of the second call: by `op`, GOLDEN_DOT too, of the first. Whether there is one. */
inline bool second_operator(int op, fastreduce_operator *second)
{
    switch (op) {
    case GOLDEN_DOT:
    case FASTREDUCE_SUM:
    case FASTREDUCE_SUM_ABS:
    case FASTREDUCE_SUM_SQUARES:
    case FASTREDUCE_COUNT_NONZERO: *second = FASTREDUCE_SUM; return true;
    case FASTREDUCE_PRODUCT: *second = FASTREDUCE_PRODUCT; return true;
    case FASTREDUCE_MIN_MAX:
    case FASTREDUCE_MIN: *second = FASTREDUCE_MIN; return true;
    case FASTREDUCE_MAX:
    case FASTREDUCE_MAX_ABS: *second = FASTREDUCE_MAX; return true;
    default: return false;
    }
}

/* Returns the bits of the result in shards of `length`, and so many without elements at the end.
 * one(begin, count) returns the bits of a shard's result, and all(partials, count) those of the
 * second call for elements of `size` bytes. */
template <class One, class All>
uint64_t result(const One &one, const All &all, size_t size, size_t n, size_t length, size_t empty)
{
    const size_t full = n / length + (n % length != 0), count = full + empty;
    std::vector<uint64_t> memory(count + 1);
    unsigned char *const partials = reinterpret_cast<unsigned char *>(memory.data());
    for (size_t k = 0; k < count; ++k) {
        const size_t begin = std::min(n, k * length);
        const uint64_t bits = one(begin, std::min(n - begin, length));
        std::memcpy(partials + k * size, &bits, size); /* little-endian, as all that CUDA is on */
    }
    return all(partials, count);
}

} // namespace shards
#endif
