/* Static shared memory of kernels, which a C++ compiler does not say. A __shared__ object is a
 * thread-local one here, and the program's symbol table has each with its function and its size.
 * A kernel has its own, and those of member functions of the class templates that its name has
 * among its arguments. Those of other functions that it calls are not counted. */
#ifndef SIMT_SYMBOLS_H
#define SIMT_SYMBOLS_H

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
    std::vector<shared_object> shared;
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
            if (!part[4] || strncmp(part[0], "_Z", 2) != 0) continue;
            const std::string name(part[0], strcspn(part[0], " "));
            if (strstr(part[3], "FUNC"))
                table->functions[strtoull(part[1], nullptr, 16)] = name;
            else if (strstr(part[3], "TLS") && name[2] == 'Z') /* of a function */
                table->shared.push_back({name, class_template_of(demangled(name)),
                                         strtoull(part[1], nullptr, 16),
                                         strtoull(part[4], nullptr, 16)});
        }
        free(line);
        if (pipe) pclose(pipe);
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

inline std::vector<shared_object> find_static_shared(const void *kernel)
{
    const auto found =
        symbols().functions.find(reinterpret_cast<uintptr_t>(kernel) - program().dlpi_addr);
    if (found == symbols().functions.end()) {
        fprintf(stderr, "nm does not name a kernel that was launched\n");
        abort();
    }
    const std::string own = "_ZZ" + found->second.substr(2) + "E", text = demangled(found->second);
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

} // namespace simt
#endif
