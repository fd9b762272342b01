/* The additions of AUTO on the host, from their description in room 6: which elements meet in which
 * order depends on the type and the number of elements alone. */
#ifndef TREE_H
#define TREE_H

#include <cstddef>
#include <vector>
#include "../../fastreduce.cuh"

namespace tree
{

using fastreduce::accumulate_t;
using fastreduce::detail::pack;
using fastreduce::detail::tile_run;
using fastreduce::detail::work_plan;

/* Pairs of neighbours, pairs of pairs ... */
template <class Operator, class Value>
Value pairs(std::vector<Value> values)
{
    for (; values.size() > 1; values.resize((values.size() + 1) / 2))
        for (size_t k = 0; k < values.size(); k += 2)
            values[k / 2] =
                k + 1 < values.size() ? Operator()(values[k], values[k + 1]) : values[k];
    return values[0];
}

/* Of a power of two the upper half is added to the lower, until one is left. */
template <class Operator, class Value>
Value halves(Value *values, size_t count)
{
    for (size_t width = count / 2; width > 0; width /= 2)
        for (size_t k = 0; k < width; ++k) values[k] = Operator()(values[k], values[k + width]);
    return values[0];
}

/* A value a thread: warps, then the block. */
template <class Operator, class Value>
Value block(std::vector<Value> threads)
{
    std::vector<Value> warps;
    for (size_t first = 0; first < threads.size(); first += 32)
        warps.push_back(halves<Operator>(threads.data() + first, 32));
    return halves<Operator>(warps.data(), warps.size());
}

template <class Operator, class Input>
accumulate_t<Operator, Input> tile(const std::vector<Input> &values, size_t number, size_t tiles,
                                   size_t threads, size_t packs)
{
    using Value = accumulate_t<Operator, Input>;
    constexpr size_t size = pack<Input>::size;
    const size_t whole = values.size() / size;
    std::vector<Value> of_threads, of_packs, packed;
    for (size_t t = 0; t < threads; ++t) {
        of_packs.assign(packs, Operator::template identity<Value>());
        for (size_t k = 0; k < packs; ++k) {
            const size_t at = (number * packs + k) * threads + t;
            if (at >= whole) continue;
            packed.clear();
            for (size_t j = 0; j < size; ++j)
                packed.push_back(static_cast<Value>(values[size * at + j]));
            of_packs[k] = pairs<Operator>(packed);
        }
        of_threads.push_back(pairs<Operator>(of_packs));
        if (number + 1 == tiles && size * whole + t < values.size())
            of_threads[t] = Operator()(of_threads[t], static_cast<Value>(values[size * whole + t]));
    }
    return block<Operator>(of_threads);
}

/* All elements, in tiles of so many threads and packs of each. */
template <class Operator, class Input>
accumulate_t<Operator, Input> reduced(const std::vector<Input> &values, const work_plan &work,
                                      size_t threads, size_t packs)
{
    using Value = accumulate_t<Operator, Input>;
    const Value identity = Operator::template identity<Value>();
    std::vector<Value> of_units, of_tiles;
    for (size_t u = 0; u < work.units; ++u) {
        const tile_run run = work.run(u);
        of_tiles.clear();
        for (size_t k = 0; k < run.count; ++k)
            of_tiles.push_back(tile<Operator>(values, run.first + k, work.tiles, threads, packs));
        of_units.push_back(pairs<Operator>(of_tiles));
    }
    /* a block folds them: its first thread begins with the last */
    std::vector<Value> of_threads(threads, identity);
    of_threads[0] = of_units.back();
    for (size_t u = 0; u + 1 < of_units.size(); ++u)
        of_threads[u % threads] = Operator()(of_threads[u % threads], of_units[u]);
    return Operator()(block<Operator>(of_threads), identity);
}

} // namespace tree
#endif
