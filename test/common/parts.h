/* Which parts of itself a program tests: those that its command line names, by default all. `quick`
 * is not a part: less of each, as on the CPU machine. */
#ifndef PARTS_H
#define PARTS_H

#include <algorithm>
#include <string>
#include <vector>

inline std::vector<std::string> named_parts;

inline bool is_named(const std::string &part)
{
    return std::find(named_parts.begin(), named_parts.end(), part) != named_parts.end();
}
inline bool asked_for(const std::string &part) { return named_parts.empty() || is_named(part); }

/* Returns whether it says `quick`. */
inline bool parse_parts(int argc, char **argv)
{
    bool quick = false;
    for (int k = 1; k < argc; ++k) {
        const std::string word = argv[k];
        if (word == "quick")
            quick = true;
        else
            named_parts.push_back(word);
    }
    return quick;
}

#endif
