/* Static shared memory of kernels, which a C++ compiler does not say. A __shared__ object is a
 * thread-local one here, and the program's symbol table has each with its function and its size.
 * A kernel has its own, and those of member functions of the class templates that its name has
 * among its arguments. Those of other functions that it calls are not counted. */
#ifndef SIMT_SYMBOLS_H
#define SIMT_SYMBOLS_H

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unordered_map>
#include <vector>
#include <cxxabi.h>
#include <link.h>
#include <unistd.h>

namespace simt
{

inline std::string demangled(const std::string &name)
{
    int status = 0;
    char *const text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
    const std::string result = text ? text : "";
    free(text);
    return result;
}

/* The class template of "A::B<C>::function(parameters)::object", as it is written before the
 * function's name; empty for others. */
inline std::string class_template_of(const std::string &object)
{
    int depth = 0;
    size_t end = 0;
    for (size_t k = 0; k < object.size() && !(depth == 0 && object[k] == '('); ++k) {
        if (depth == 0 && object.compare(k, 2, "::") == 0) end = k;
        depth += object[k] == '<' || object[k] == '(';
        depth -= object[k] == '>' || object[k] == ')';
    }
    return end > 0 && object[end - 1] == '>' ? object.substr(0, end) : "";
}

struct shared_object {
    std::string mangled, class_template;
    size_t begin, bytes; /* begins so many bytes after the thread's first thread-local object */
};
struct symbol_table {
    std::unordered_map<uintptr_t, std::string> functions; /* mangled, by place in the program */
    std::vector<shared_object> shared;                    /* from the first to the last */
};

/* By nm, which comes with the compiler. */
inline const symbol_table &symbols()
{
    static const symbol_table *const all = [] {
        symbol_table *const table = new symbol_table;
        const std::string command = "nm --format=sysv /proc/" + std::to_string(getpid()) + "/exe";
        FILE *const pipe = popen(command.c_str(), "r");
        char *line = nullptr;
        size_t room = 0;
        while (pipe && getline(&line, &room, pipe) > 0) {
            char *rest = line, *part[5] = {}; /* name|value|class|type|size */
            for (char *&each : part) each = strsep(&rest, "|");
            if (!part[4]) continue;
            const std::string name(part[0], strcspn(part[0], " "));
            if (strstr(part[3], "FUNC"))
                table->functions[strtoull(part[1], nullptr, 16)] = name;
            else if (strstr(part[3], "TLS"))
                table->shared.push_back({name, class_template_of(demangled(name)),
                                         strtoull(part[1], nullptr, 16),
                                         strtoull(part[4], nullptr, 16)});
        }
        free(line);
        if (pipe) pclose(pipe);
        std::sort(table->shared.begin(), table->shared.end(),
                  [](const shared_object &a, const shared_object &b) { return a.begin < b.begin; });
        return table;
    }();
    return *all;
}

/* Where this program lies, and this thread's copy of its thread-local objects. */
inline dl_phdr_info program()
{
    dl_phdr_info result = {};
    dl_iterate_phdr(
        [](dl_phdr_info *each, size_t, void *to) {
            *static_cast<dl_phdr_info *>(to) = *each;
            return 1; /* the first is this one */
        },
        &result);
    return result;
}

inline const std::string &name_of(const void *kernel)
{
    const auto found =
        symbols().functions.find(reinterpret_cast<uintptr_t>(kernel) - program().dlpi_addr);
    if (found == symbols().functions.end()) {
        fprintf(stderr, "nm does not name a kernel that was launched\n");
        abort();
    }
    return found->second;
}

/* What the names of a function's own objects begin with. */
inline std::string local_prefix(const std::string &function)
{
    return "_ZZ" + (function.compare(0, 2, "_Z") ? function : function.substr(2)) + "E";
}

inline std::vector<shared_object> find_static_shared(const void *kernel)
{
    const std::string own = local_prefix(name_of(kernel)), text = demangled(name_of(kernel));
    std::vector<shared_object> objects;
    for (const shared_object &object : symbols().shared)
        if (object.mangled.compare(0, own.size(), own) == 0 ||
            (!object.class_template.empty() && text.find(object.class_template) != text.npos))
            objects.push_back(object);
    return objects;
}

inline const std::vector<shared_object> &static_objects(const void *kernel)
{
    static thread_local std::unordered_map<const void *, std::vector<shared_object>> known;
    const auto found = known.find(kernel);
    return found != known.end() ? found->second : known[kernel] = find_static_shared(kernel);
}

/* Bytes of a kernel's static shared memory. */
inline size_t static_shared(const void *kernel)
{
    size_t bytes = 0;
    for (const shared_object &object : static_objects(kernel)) bytes += object.bytes;
    return bytes;
}

/* Fills this thread's copy of it, as a GPU leaves there what another block had. */
inline void fill_static_shared(const void *kernel, int byte)
{
    static thread_local char *const first = static_cast<char *>(program().dlpi_tls_data);
    for (const shared_object &object : static_objects(kernel))
        memset(first + object.begin, byte, object.bytes);
}

/* Whether an address is of shared memory: of this thread's copy of the program's thread-local
 * objects. */
inline bool is_shared(uintptr_t address)
{
    static thread_local uintptr_t begin = 0, end = 0;
    if (begin == 0) {
        const dl_phdr_info self = program();
        begin = end = reinterpret_cast<uintptr_t>(self.dlpi_tls_data);
        for (unsigned k = 0; k < self.dlpi_phnum; ++k)
            if (self.dlpi_phdr[k].p_type == PT_TLS) end = begin + self.dlpi_phdr[k].p_memsz;
    }
    return address >= begin && address < end;
}

/* The last name of a mangled "_ZN5outer5innerI...", with its length: "5inner". */
inline std::string last_name(const std::string &mangled)
{
    size_t at = mangled.find_first_of("123456789"), last = 0;
    while (at < mangled.size() && isdigit(mangled[at])) {
        char *name = nullptr;
        const size_t length = strtoul(&mangled[last = at], &name, 10);
        at = static_cast<size_t>(name - mangled.c_str()) + length;
    }
    return mangled.substr(last, at - last);
}

/* The arrays that a kernel may use: all but those of others of its name, as other instances of its
 * template are. */
inline std::vector<shared_object> find_shared_arrays(const void *kernel)
{
    const std::string own = local_prefix(name_of(kernel)), name = last_name(name_of(kernel));
    std::vector<shared_object> arrays;
    for (const shared_object &object : symbols().shared)
        if (object.mangled.find(name) == name.npos ||
            object.mangled.compare(0, own.size(), own) == 0)
            arrays.push_back(object);
    return arrays;
}

/* Where the array begins that an address is in or behind, and its bytes. */
inline std::pair<uintptr_t, size_t> shared_array(const void *kernel, uintptr_t address)
{
    static thread_local const uintptr_t first =
        reinterpret_cast<uintptr_t>(program().dlpi_tls_data);
    static thread_local std::unordered_map<const void *, std::vector<shared_object>> known;
    std::vector<shared_object> &all = known[kernel];
    if (all.empty()) all = find_shared_arrays(kernel);
    auto behind = std::upper_bound(
        all.begin(), all.end(), address - first,
        [](uintptr_t offset, const shared_object &each) { return offset < each.begin; });
    if (behind == all.begin()) return {first, 0};
    --behind;
    return {first + behind->begin, behind->bytes};
}

} // namespace simt
#endif
