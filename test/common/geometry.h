/* Shapes of arrays that fastreduce_reduce_axis is tested with. */
#ifndef GEOMETRY_H
#define GEOMETRY_H

#include <cstddef>
#include <vector>

struct geometry {
    const char *name;
    std::size_t outer, n, inner;
    std::size_t outer_stride, stride; /* 0: without gaps */
    std::size_t offset;               /* of the input, from alignment */
};

/* Elements that are in several results: windows along either axis, results that are the same,
 * arrays transposed. `many`: rows of the longest list of windows. */
inline std::vector<geometry> overlapping(std::size_t many)
{
    return {{"windows", many, 100, 1, 1, 1, 1},
            {"windows", many, 5, 1, 2, 1, 0},
            {"windows", 60, 700, 1, 16, 1, 3},
            {"windows", 3, 9000, 1, 1, 1, 1},
            {"windows", 20, 30, 1, 7, 10, 1},
            {"windows of columns", 4, 33, 17, 17, 17, 1},
            {"windows of columns", 9, 1500, 3, 2, 4, 2},
            {"windows in columns", 1, 40, 33, 0, 1, 1},
            {"windows in columns", 2, 600, 65, 9, 3, 3},
            {"windows in columns", 2, 3000, 8, 0, 5, 0},
            {"transposed", 77, 50, 1, 1, 77, 1},
            {"transposed", 16, 1000, 1, 1, 16, 0},
            {"transposed", 5, 3000, 1, 1, 5, 2},
            {"every other", 1, 2500, 1, 0, 2, 1},
            {"every 1000th", 3, 40, 1, 1, 1000, 0}};
}

/* Strides that lead nowhere, as there is nothing behind them; no results; no elements. */
constexpr std::size_t greatest_size = ~std::size_t(0);
constexpr geometry edge_cases[] = {
    {"outer stride of one", 1, 37, 1, greatest_size, 1, 1},
    {"one element", 3, 1, 2, 2, greatest_size, 0},
    {"one of all", 1, 1, 5, greatest_size, greatest_size, 1},
    {"no outer", 0, 5, 3, 0, 0, 0},
    {"no inner", 4, 5, 0, 0, 0, 0},
    {"no elements", 5, 0, 3, greatest_size, greatest_size, 0},
    {"none of long rows", 0, greatest_size, greatest_size, greatest_size, greatest_size, 0}};

#endif
