/* Which parts of itself a program tests: by default all; `quick`: all, as on the CPU machine; a
 * part's name (`refusals`, or a type's): that alone. */
#ifndef PARTS_H
#define PARTS_H

#include "check.h"
#include <cstring>

inline const char *only_part = nullptr;

inline bool asked_for(const char *part)
{
    return only_part == nullptr || std::strcmp(only_part, part) == 0;
}

/* Returns whether the tests are to be thorough. */
inline bool parse_parts(int argc, char **argv)
{
    bool thorough = on_gpu;
    for (int k = 1; k < argc; ++k)
        if (std::strcmp(argv[k], "quick") == 0)
            thorough = false;
        else
            only_part = argv[k];
    return thorough;
}

#endif
