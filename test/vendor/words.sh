#!/bin/sh
# What the two files refuse is refused in words, and what users write around them does no harm: sh
# words.sh ROOT [NVCC]. The templates are compiled against the CPU machine of test/simt; NVCC is
# asked for what only it knows.
set -eu
root=$(CDPATH= cd "$1" && pwd)
nvcc=${2:-}
. "$(dirname "$0")/setup.sh"
simt="$cxx -std=c++17 -Wall -Wextra -Wno-unknown-pragmas $werror -I simt -I ."
cp -r "$root/test/simt" .

# refused WHAT SENTENCE COMMAND...: the command fails, with the sentence among what it says
refused()
{
    what=$1
    sentence=$2
    shift 2
    "$@" > message 2>&1 && fail "$what compiles"
    grep -q -e "$sentence" message || { head -n 20 message; fail "$what: no sentence"; }
    pass "$what is refused: $sentence"
}

# refused_template WHAT SENTENCE TEXT: a C++ file with these lines. GCC takes the header that is
# compiled already.
mkdir refused
printf '#include "fastreduce.cuh"\n#include <string>\n' > refused/both.h
$simt -x c++-header refused/both.h -o refused/both.h.gch
refused_template()
{
    cat > refused/template.cpp <<REFUSED
#include "both.h"
using namespace fastreduce;
$3
REFUSED
    refused "$1" "$2" $simt -fsyntax-only refused/template.cpp
}

printf '#include "fastreduce.h"\n' > header.c
refused "C89" "needs C99.*-std=c99" $cc -std=c89 -fsyntax-only header.c
refused "cl.exe without /std:c11" "needs C99.*/std:c11" \
    $cc -std=c89 -D_MSC_VER=1930 -fsyntax-only header.c
printf '#include "fastreduce.cuh"\n' > header.cpp
refused "C++14" "needs C++17.*-std=c++17" $cxx -std=c++14 -I simt -fsyntax-only header.cpp
refused "cl.exe with /std:c++14" "needs C++17" \
    $cxx -std=c++17 -D_MSVC_LANG=201402L -I simt -fsyntax-only header.cpp

cat > late.c <<'LATE'
#include "fastreduce.h"
#define FASTREDUCE_STATIC
#define FASTREDUCE_HOST_IMPLEMENTATION
#include "fastreduce.h"
LATE
refused "FASTREDUCE_STATIC after the first include" "before the first include" \
    $cc -std=c99 -fsyntax-only late.c
# AUTO is the engine, V7 the levels of the ladder: both refuse the same types and operators.
for choice in FASTREDUCE_AUTO FASTREDUCE_V7; do
    refused_template "$choice of a type that is not trivially copyable" \
        "have to be trivially copyable" "struct join {
    template <class V> static V identity() { return V(); }
    std::string operator()(std::string a, std::string b) const { return a + b; }
};
fastreduce_status f(std::string *x) { return reduce<$choice, 256, 8, join>(x, x + 9, 9); }"
    refused_template "$choice with an operator without identity" "the operator needs" \
        "struct multiply { float operator()(float a, float b) const { return a * b; } };
fastreduce_status f(float *x) { return reduce<$choice, 256, 8, multiply>(x, x + 9, 9); }"
    refused_template "$choice with an operator without identity, in one round" \
        "the operator needs" \
        "struct multiply { float operator()(float a, float b) const { return a * b; } };
fastreduce_status f(float *x)
{
    return fastreduce::round<$choice, 256, 8, multiply>(x, x + 9, 9);
}"
    refused_template "$choice with an operator that takes other elements" \
        "T operator()(T, T) const" "struct join {
    template <class V> static V identity() { return V(); }
    float operator()(float *a, float *b) const { return *a + *b; }
};
fastreduce_status f(float *x) { return reduce<$choice, 256, 8, join>(x, x + 9, 9); }"
    refused_template "$choice, the minimum of a type without limits" \
        "need a type with std::numeric_limits" \
        "struct own { float x; bool operator<(own b) const { return x < b.x; } };
fastreduce_status f(own *x) { return reduce<$choice, 256, 8, minimum>(x, x + 9, 9); }"
done
refused_template "V7 of a type aligned to more than pools give" \
    "aligned to 256 bytes at the most" "struct alignas(512) page {
    float x;
    page operator+(page b) const { return {x + b.x}; }
    page(float a = 0) : x(a) {}
};
fastreduce_status f(page *x) { return reduce<FASTREDUCE_V7>(x, x + 9, 9); }"
for choice in 'FASTREDUCE_AUTO, 512' 'FASTREDUCE_AUTO, 256, 4' 'FASTREDUCE_EXACT, 128'; do
    refused_template "reduce<$choice>" "AUTO and EXACT choose" \
        "fastreduce_status f(float *x) { return reduce<$choice>(x, x + 9, 9); }"
    refused_template "workspace_bytes<$choice>" "AUTO and EXACT choose" \
        "size_t f() { return workspace_bytes<$choice>(9); }"
done
refused_template "state that is not trivially copyable" "called on the GPU has to be" \
    'struct join {
    std::string state;
    float operator()(float a, float b) const { return a + b; }
};
fastreduce_status f(float *x) { return reduce_by(x, x + 9, 9, join(), 0.0f); }'
large='struct large {
    int part[33];
    large operator+(large b) const { b.part[0] += part[0]; return b; }
    large(int a = 0) : part{a} {}
};'
refused_template "AUTO of 132 bytes" "AUTO takes elements and results of 128 bytes at most" "$large
fastreduce_status f(large *x) { return reduce(x, x + 9, 9); }"
refused_template "workspace_bytes of 132 bytes" "AUTO takes elements and results of" "$large
size_t f() { return workspace_bytes<FASTREDUCE_AUTO, 256, 8, plus, large>(9); }"
refused_template "reduce_by of 132 bytes" "elements and results have 128 bytes at most" "$large
fastreduce_status f(large *x) { return reduce_by(x, x + 9, 9, plus(), large()); }"
refused_template "reduce<FASTREDUCE_V3, 100>" "the block size must be" \
    'fastreduce_status f(float *x) { return reduce<FASTREDUCE_V3, 100>(x, x + 9, 9); }'
for items in 0 65; do
    refused_template "reduce<FASTREDUCE_V7, 256, $items>" "items per thread must be from 1 to 64" \
        "fastreduce_status f(float *x) { return reduce<FASTREDUCE_V7, 256, $items>(x, x + 9, 9); }"
done
for choice in V0 V2 V3 V5; do
    refused_template "reduce<FASTREDUCE_$choice, 32, 3>" "V0, V1 and V2 have one item per thread" \
        "fastreduce_status f(float *x) { return reduce<FASTREDUCE_$choice, 32, 3>(x, x + 9, 9); }"
done
refused_template "a kernel that does not exist" "there is no such kernel" \
    'fastreduce_status f(float *x)
{
    return reduce<static_cast<fastreduce_kernel>(42)>(x, x + 9, 9);
}'
refused_template "round<FASTREDUCE_EXACT>" "EXACT has no levels" \
    'fastreduce_status f(float *x) { return fastreduce::round<FASTREDUCE_EXACT>(x, x + 9, 9); }'
for choice in 'FASTREDUCE_V3, 100' 'FASTREDUCE_V7, 0, 8'; do
    refused_template "workspace_bytes<$choice>" "the block size must be" \
        "size_t f() { return workspace_bytes<$choice>(9); }"
done
refused_template "EXACT of integers" "the exact sum is of floats" \
    'fastreduce_status f(int *x, long long *y) { return reduce<FASTREDUCE_EXACT>(x, y, 9); }'
refused_template "EXACT of integers, its workspace" "the exact sum is of floats" \
    'size_t f() { return workspace_bytes<FASTREDUCE_EXACT, 256, 8, plus, int>(9); }'
refused_template "an exact atomic of a double" "a double goes to a fastreduce_wide_accumulator" \
    '__global__ void f(fastreduce_accumulator *x) { exact_atomic_add(x, 0.1); }'
refused_template "an exact value that is an integer" "a float or a double" \
    '__global__ void f(fastreduce_accumulator *x) { *x = {exact_value<int>(x)}; }'
refused_template "an exact sum of a block of 96" "BlockSize must be 32, 64" \
    '__global__ void f(float *x, fastreduce_accumulator *y) { *x = exact_block_reduce<96>(*x, y); }'
for size in 0 16 96 160 2048; do
    refused_template "block_reduce<$size>" "BlockSize must be 32, 64" \
        "__global__ void f(float *x) { *x = block_reduce<$size, plus>(*x, x + 1); }"
done
for width in 0 3 24 64; do
    refused_template "warp_reduce of $width lanes" "Width must be 1, 2, 4" \
        "__global__ void f(float *x) { *x = warp_reduce<plus, $width>(*x); }"
done
refused_template "thread_reduce of no items" "Items must be at least 1" \
    '__global__ void f(float *x) { *x = thread_reduce<0, plus, float>(x, 0, 1, 9); }'
refused_template "an exact maximum" "the exact sum is of floats" \
    'fastreduce_status f(float *x)
{
    return reduce<FASTREDUCE_EXACT, 256, 8, maximum>(x, x + 9, 9);
}'

# Names of users: macros before the include, of names that macros have in public C and CUDA code;
# functions of theirs beside `using namespace`. The macros stand for what compiles nowhere, so none
# of the names is in the code.
objects='A B F I N T PI EPS Bool Complex None Status Success boolean bool_t byte columns complex
    cols data_t depth emit eps far fn foreach forever grid height hyper idx index_t interface
    let lines linux local near nil pascal pixel real real_t restrict s16 s8 slots signals small
    string u16 u32 u64 u8 uchar uint ulong unix ushort vector words'
functions='abs accumulate add all assert_that avg bit ceil ceil_div check clamp clear cube debug div
    each erase error even floor for_each get hi high hibyte in index lerp lo lobyte low
    major mask max min minor move mul multiply norm odd offset pause pop pow print rep require round
    select set sign size sq square sub sum swap test verify'
# undefined first, as GCC has macros linux and unix
for name in $objects; do printf '#undef %s\n#define %s @\n' "$name" "$name"; done > define.h
for name in $functions; do printf '#undef %s\n#define %s(...) @\n' "$name" "$name"; done >> define.h
grep '^#undef' define.h > undef.h
cat > names.h <<'NAMES'
#include <cuda_runtime.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <atomic>
#include <cmath>
#include <functional>
#include <limits>
#include <type_traits>
#include <utility>
#include <unistd.h>
#define FASTREDUCE_HOST_IMPLEMENTATION
#define FASTREDUCE_IMPLEMENTATION
#define FASTREDUCE_WITH_SHAPES
#define FASTREDUCE_WITH_BY_INDEX
#define FASTREDUCE_WITH_EXACT_PRODUCTS
#define FASTREDUCE_TYPES FASTREDUCE_F32
#define FASTREDUCE_OPERATORS FASTREDUCE_SUM
#include "define.h"
#include "fastreduce.cuh"
#include "undef.h"
using namespace std;
using namespace fastreduce;
int publish(int x) { return x; }
int await(int x) { return x; }
int peek(int x) { return x; }
int overlap(int x) { return x; }
int aligned(int x) { return x; }
struct plan { int x; };
struct bounds { int x; };
struct pack { int x; };
struct elements { int x; };
enum class road { here };
fastreduce_status sum(const float *x, float *y)
{
    const plan p = {publish(1) + await(2) + peek(3) + overlap(4) + aligned(5)};
    const pack q = {p.x};
    const elements e = {q.x};
    const bounds b = {e.x + static_cast<int>(round(1.5)) + (road::here == road::here)};
    if (b.x < 0) pause();
    return reduce<FASTREDUCE_V7>(x, y, 100) + fastreduce::round<FASTREDUCE_V7>(x, y, 100) +
           reduce<FASTREDUCE_AUTO>(x, y, 100) + reduce<FASTREDUCE_EXACT>(x, y, 100);
}
NAMES
printf '#include "names.h"\n' > names.cpp
$simt -fsyntax-only names.cpp || fail "names of users"
pass "macros with $(wc -l < undef.h) names, such as real, byte, vector, add, min, N and None;" \
    "functions named as ours beside using namespace"

# What the two files define is public, or says that it is a detail: macros, constants, types and
# functions of the header, and macros of the library. From preprocessed text: what is not in braces
# or parentheses, but with what is in an enum's.
printf '#include "fastreduce.h"\n' > defined.c
printf '#include "fastreduce.cuh"\n' > defined.cpp
cat > defined.awk <<'DEFINED'
/^# [0-9]+ "/ { ours = $3 ~ /fastreduce\.(h|cuh)"$/; next }
!ours { next }
/^#define/ { sub(/\(.*/, "", $2); print $2; next }
/^#/ || macros_only { next }
{ text = text " " $0 }
END {
    gsub(/"[^"]*"/, "", text)
    for (i = 1; i <= length(text); ++i) {
        c = substr(text, i, 1)
        if (c ~ /[({[]/) { if (++depth == 1) is_enum = declaration ~ /enum/ && c == "{" }
        else if (c ~ /[)}\]]/) --depth
        else if (depth == 0 || (depth == 1 && is_enum)) {
            printf "%s", c ~ /[A-Za-z0-9_]/ ? c : "\n"
            declaration = c == ";" ? "" : declaration c
        }
        if (depth == 0 && c == "}") declaration = ""
    }
}
DEFINED
defines='-DFASTREDUCE_HOST_IMPLEMENTATION -DFASTREDUCE_IMPLEMENTATION -DFASTREDUCE_WITH_SHAPES'
defines="$defines -DFASTREDUCE_WITH_EXACT_PRODUCTS -DFASTREDUCE_WITH_SKIP_NAN"
defines="$defines -DFASTREDUCE_WITH_BY_INDEX -DFASTREDUCE_SUFFIX="
{
    $cc -std=c99 -E -dD -DFASTREDUCE_HOST_IMPLEMENTATION -DFASTREDUCE_SUFFIX= defined.c |
        awk -f defined.awk
    $simt $defines -E -dD defined.cpp | awk -v macros_only=1 -f defined.awk
} | grep -E '^[A-Za-z_]' | sort -u > defined
for name in fastreduce_host_sum_f32 FASTREDUCE_SUM fastreduce_config FASTREDUCE_CUH \
    fastreduce_detail_finish fastreduce_detail_stream FASTREDUCE_DETAIL_DIGITS; do
    grep -qx $name defined || fail "the scan does not see $name"
done
types='status|kernel|type|operator|stream|config|shape|((wide|product)_)?accumulator'
functions='status_string|version|kernel_name|type_name|operator_name|type_size|output_type|sum_f32'
functions="$functions|second_type|reduce_on_host"
functions="$functions|reduce|reduce_axis|reduce_segments|fold|dot(_axis)?|supports(_shapes|_dot)?"
functions="$functions|reduce_by_index|by_index_workspace_bytes"
functions="$functions|workspace_bytes"
functions="$functions|workspace_init|(host_)?accumulate(_f32|_f64|_dot|_dot_f64)?"
functions="$functions|((wide|product)_)?accumulator_(merge|f32|f64)"
functions="$functions|host_(sum_f32|sum_f64|dot|dot_f32|reduce|pairwise(_dot|_second)?)"
constants='SUCCESS|ERROR_(INVALID_ARGUMENT|UNSUPPORTED|WORKSPACE_TOO_SMALL|NO_DEVICE)|AUTO|V[0-7]'
constants="$constants|EXACT|DEFAULT_TYPE|F32|F64|F16|BF16|[IU](8|16|32|64)|SUM|PRODUCT|MIN|MAX"
constants="$constants|ARGMIN|ARGMAX|SUM_ABS|SUM_SQUARES|MAX_ABS|NORM2|MEAN|VARIANCE|COUNT_NONZERO"
constants="$constants|MIN_MAX|ARGMAX_ABS|SKIP_NAN"
macros='H|CUH|VERSION(_MAJOR|_MINOR|_PATCH)?|API|WORKSPACE_BYTES|BLOCK_SIZE|ITEMS_PER_THREAD|TYPES'
macros="$macros|OPERATORS|SUFFIX|TAG|DEVICE" # the last is gone at the end of fastreduce.cuh
language='__asm__|__attribute__|char|const|double|enum|extern|float|inline|int|static|struct'
language="$language|typedef|unsigned|void|size_t|int64_t|uint32_t|uint64_t|CUstream_st"
grep -vE '^(fastreduce_detail|FASTREDUCE_DETAIL)_' defined |
    grep -vxE "fastreduce_($types|$functions)" |
    grep -vxE "FASTREDUCE_($constants|$macros)|$language" &&
    fail "names that are neither public nor details"
pass "the two files define public names and details, $(wc -l < defined) in all"

# Nor do their templates: nvcc reads a member and `<` as a template where one has the member's name,
# be it of users or, by `using namespace std` before the include, the standard's.
{
    printf '#include <%s>\n' algorithm cmath complex functional iterator numeric string utility \
        valarray vector
    grep -ohE '(\.|->)[a-z_0-9]+ *<( |$)' fastreduce.h fastreduce.cuh |
        sed 's/^[.>-]*\([a-z_0-9]*\).*/template <class A, class B> void \1(A, B);/' | sort -u
    cat <<'TEMPLATES'
using namespace std;
#define FASTREDUCE_IMPLEMENTATION
#define FASTREDUCE_WITH_SHAPES
#define FASTREDUCE_WITH_BY_INDEX
#define FASTREDUCE_TYPES FASTREDUCE_F32
#define FASTREDUCE_OPERATORS FASTREDUCE_SUM
#include "fastreduce.cuh"
TEMPLATES
} > templates.h
[ "$(grep -c '^template' templates.h)" -ge 5 ] || fail "no members before <"
printf '#include <cuda_runtime.h>\n#include "templates.h"\n' > templates.cpp
$simt -fsyntax-only templates.cpp || fail "templates of users"
pass "using namespace std before the include, and templates named as our members"

# The host implementation first, the library after it, in one file: no warning, and CUDA's own texts
cat > both.h <<'BOTH'
#define FASTREDUCE_HOST_IMPLEMENTATION
#include "fastreduce.h"
#define FASTREDUCE_IMPLEMENTATION
#include "fastreduce.cuh"
BOTH
cat > both.cpp <<'BOTH'
#include <cuda_runtime.h>
#include "both.h"
namespace fastreduce::FASTREDUCE_DETAIL_ABI::detail {
SIMT_DYNAMIC_SHARED(dynamic_shared_bytes)
}
int main() { return strcmp(fastreduce_status_string(2), "out of memory"); }
BOTH
$simt $sums both.cpp -ldl -o both || fail "host implementation before the library"
run ./both "host implementation before the library"
pass "host implementation before the library, in one file"

# A status in words without an implementing file, or with one for the host: those of the C functions
cat > alone.cpp <<'ALONE'
#include <cuda_runtime.h>
#include "fastreduce.cuh"
int main()
{
    return strcmp(fastreduce::status_string(0), "success") ||
           strcmp(fastreduce::status_string(2), "out of memory");
}
ALONE
for macro in FASTREDUCE_NOTHING FASTREDUCE_STATIC FASTREDUCE_HOST_IMPLEMENTATION; do
    $simt -D$macro alone.cpp -ldl -o alone || fail "a status in words, $macro"
    run ./alone "a status in words, $macro"
done
pass "fastreduce::status_string, without an implementing file, too"

# Workspaces do not depend on what the lists leave out.
cat > lists.cpp <<'LISTS'
#include <cuda_runtime.h>
#define FASTREDUCE_IMPLEMENTATION
#define FASTREDUCE_TYPES FASTREDUCE_F64
#define FASTREDUCE_OPERATORS FASTREDUCE_MAX
#include "fastreduce.cuh"
namespace fastreduce::FASTREDUCE_DETAIL_ABI::detail {
SIMT_DYNAMIC_SHARED(dynamic_shared_bytes)
}
int main()
{
    fastreduce_config config = {};
    for (int kernel = FASTREDUCE_AUTO; kernel <= FASTREDUCE_EXACT; ++kernel) {
        config.kernel = static_cast<fastreduce_kernel>(kernel);
        if (fastreduce_workspace_bytes(1 << 20, &config) == 0) return 1 + kernel;
    }
    return 0;
}
LISTS
$simt lists.cpp -ldl -o lists || fail "lists without floats"
run ./lists "lists without floats"
pass "workspaces of a build without floats"

# The lists, with both separators
cat > separators.cpp <<'SEPARATORS'
#include <cuda_runtime.h>
#define FASTREDUCE_IMPLEMENTATION
#define FASTREDUCE_NO_LADDER
#define FASTREDUCE_NO_EXACT
#include "fastreduce.cuh"
namespace fastreduce::FASTREDUCE_DETAIL_ABI::detail {
SIMT_DYNAMIC_SHARED(dynamic_shared_bytes)
}
int main()
{
    int wrong = 0;
    for (int type = 0; type < 14; ++type)
        for (int op = -1; op < 14; ++op) {
            const bool built = (type == FASTREDUCE_F32 || type == FASTREDUCE_I8 ||
                                type == FASTREDUCE_U64) &&
                               (op == FASTREDUCE_SUM || op == FASTREDUCE_ARGMAX);
            wrong += built != fastreduce_supports(static_cast<fastreduce_type>(type),
                                                  static_cast<fastreduce_operator>(op),
                                                  FASTREDUCE_AUTO);
        }
    return wrong;
}
SEPARATORS
$simt -DFASTREDUCE_TYPES=FASTREDUCE_F32+FASTREDUCE_U64,FASTREDUCE_I8 \
    -DFASTREDUCE_OPERATORS=FASTREDUCE_SUM+FASTREDUCE_ARGMAX separators.cpp -ldl -o separators ||
    fail "lists by commas and by +"
run ./separators "lists by commas and by +"
pass "lists of types and operators by commas and by +"

# Whether a grid may begin before the previous one has ended
cat > overlap.cpp <<'OVERLAP'
#include <cuda_runtime.h>
#define FASTREDUCE_IMPLEMENTATION
#define FASTREDUCE_NO_LADDER
#define FASTREDUCE_NO_EXACT
#define FASTREDUCE_TYPES FASTREDUCE_F32
#define FASTREDUCE_OPERATORS FASTREDUCE_SUM
#include "fastreduce.cuh"
namespace fastreduce::FASTREDUCE_DETAIL_ABI::detail {
SIMT_DYNAMIC_SHARED(dynamic_shared_bytes)
}
int main()
{
    simt::gpu gpu;
    gpu.ptx_version = 90;
    simt::set_gpu(gpu);
    float x[2] = {1, 2}, sum = 0;
    return fastreduce_sum_f32(x, &sum, 2, nullptr) != 0 || sum != 3 ||
           simt::latest_launch().overlapped != OVERLAPS;
}
OVERLAP
$simt -DOVERLAPS=1 overlap.cpp -ldl -o overlap || fail "overlapped launches"
run ./overlap "overlapped launches"
$simt -DOVERLAPS=0 -DFASTREDUCE_NO_OVERLAP overlap.cpp -ldl -o overlap ||
    fail "FASTREDUCE_NO_OVERLAP"
run ./overlap "FASTREDUCE_NO_OVERLAP"
pass "FASTREDUCE_NO_OVERLAP leaves out overlapped launches"

# What is left out costs nothing: fastreduce_workspace_bytes plans sums of floats in any build.
printf '#define FASTREDUCE_IMPLEMENTATION\n#include <cuda_runtime.h>\n#include "fastreduce.cuh"\n' \
    > halves.cpp
$simt -DFASTREDUCE_TYPES=FASTREDUCE_F16 -DFASTREDUCE_OPERATORS=FASTREDUCE_MAX \
    -DFASTREDUCE_NO_LADDER -DFASTREDUCE_NO_EXACT -c halves.cpp -o halves.o || fail "halves alone"
nm -C halves.o | grep 'reduce_pairwise<' > kernels
grep -q . kernels || fail "no kernels seen"
grep 'plain_reducer<float' kernels && fail "a build without floats has their kernels"
pass "a build of halves has no kernels of floats"

# A new operator of the C functions takes four edits: the last element that is not zero
mkdir toy
after='FASTREDUCE_LAST_NONZERO'
line='X(LAST_NONZERO, "last_nonzero", last_nonzero, facts->of_sum)'
sed -e "s|^\( *FASTREDUCE_ARGMAX_ABS\) |\1, $after|" \
    -e "s/defined(FASTREDUCE_ARGMAX_ABS)/& || defined($after)/" \
    -e "s/^    X(COUNT_NONZERO,/    $line \\\\\\n&/" \
    fastreduce.h > toy/fastreduce.h
cat > operator <<'OPERATOR'
struct last_nonzero : detail::numeric<detail::result_kind::sum> {
    template <class Value>
    static __host__ __device__ Value identity() { return 0; }
    template <class Value>
    __host__ __device__ Value operator()(Value a, Value b) const { return b != 0 ? b : a; }
};
OPERATOR
awk '/^struct argmin :/ { while ((getline line < "operator") > 0) print line } 1' fastreduce.cuh \
    > toy/fastreduce.cuh
[ "$(diff fastreduce.h toy/fastreduce.h | grep -c '^[0-9]')" = 3 ] || fail "three edits"
[ "$(diff fastreduce.cuh toy/fastreduce.cuh | grep -c '^[0-9]')" = 1 ] || fail "one edit"
cat > toy/toy.cpp <<'TOY'
#include <cuda_runtime.h>
#define FASTREDUCE_IMPLEMENTATION
#define FASTREDUCE_NO_EXACT
#define FASTREDUCE_TYPES FASTREDUCE_F32 + FASTREDUCE_F16 + FASTREDUCE_I8
#define FASTREDUCE_OPERATORS FASTREDUCE_LAST_NONZERO
#include "fastreduce.cuh"
namespace fastreduce::FASTREDUCE_DETAIL_ABI::detail {
SIMT_DYNAMIC_SHARED(dynamic_shared_bytes)
}
template <class Element, class Result>
static bool wrong(fastreduce_type type, Element one, Result wanted)
{
    const size_t n = 5000;
    Element *x = nullptr;
    Result *y = nullptr, got = 0;
    cudaMalloc(reinterpret_cast<void **>(&x), n * sizeof *x);
    cudaMalloc(reinterpret_cast<void **>(&y), sizeof *y);
    cudaMemset(x, 0, n * sizeof *x);
    cudaMemset(x + 40, 1, 3000 * sizeof *x);
    cudaMemcpy(x + 4321, &one, sizeof one, cudaMemcpyHostToDevice);
    if (fastreduce_reduce(x, y, n, type, FASTREDUCE_LAST_NONZERO, nullptr)) return true;
    cudaMemcpy(&got, y, sizeof got, cudaMemcpyDeviceToHost);
    return got != wanted || !fastreduce_supports(type, FASTREDUCE_LAST_NONZERO, FASTREDUCE_AUTO) ||
           fastreduce_supports(type, FASTREDUCE_LAST_NONZERO, FASTREDUCE_V7);
}
int main()
{
    return wrong(FASTREDUCE_F32, -3.5f, -3.5f) || wrong(FASTREDUCE_F16, uint16_t(0xc300), -3.5f) ||
           wrong(FASTREDUCE_I8, static_cast<signed char>(-7), -7ll) ||
           fastreduce_output_type(FASTREDUCE_U16, FASTREDUCE_LAST_NONZERO) != FASTREDUCE_U64 ||
           strcmp(fastreduce_operator_name(FASTREDUCE_LAST_NONZERO), "last_nonzero") != 0;
}
TOY
$simt -I toy toy/toy.cpp -ldl -lpthread -o toy/toy || fail "a new operator"
run toy/toy "a new operator"
pass "a new operator in four edits"

# nvcc splits an argument at a comma, and what follows becomes a macro
sed -n '/^typedef enum fastreduce_\(type\|operator\)/,/^}/s/^ *\(FASTREDUCE_[A-Z0-9_]*\).*/\1/p' \
    fastreduce.h | grep -v DEFAULT_TYPE > members
[ "$(wc -l < members)" -ge 25 ] || fail "no types and operators"
while read -r name; do
    $cc -D$name -fsyntax-only header.c > message 2>&1 && fail "a macro $name compiles"
    grep -q 'write A+B' message || fail "a macro $name: no sentence"
done < members
pass "types and operators that are macros, as of a list that was split at a comma, are refused"

# Warnings that a project may have on
cat > plain.c <<'PLAIN'
#include "fastreduce.h"
int answer(void);
int answer(void)
{
    fastreduce_config config = {0};
    config.workspace_bytes = FASTREDUCE_WORKSPACE_BYTES;
    return (int)config.block_size;
}
PLAIN
cat > plain.cpp <<'PLAIN'
#include "fastreduce.h"
int answer();
int answer()
{
    fastreduce_config config = {};
    config.workspace_bytes = FASTREDUCE_WORKSPACE_BYTES;
    return static_cast<int>(config.block_size);
}
PLAIN
picky="-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wswitch-default -Wundef"
picky="$picky -Wunused-function $werror"
for compiler in "$cc" clang; do
    command -v "${compiler%% *}" >/dev/null || { skip "$compiler" "not installed"; continue; }
    for macro in FASTREDUCE_NOTHING FASTREDUCE_STATIC FASTREDUCE_HOST_IMPLEMENTATION; do
        # GCC knows what is not initialised when it optimises; by that name nothing is for AVX2
        for options in -O0 -O2 "-O2 -D__INTEL_COMPILER=0"; do
            $compiler -std=c99 $options $picky -Wno-missing-field-initializers -D$macro \
                -c plain.c -o plain.o || fail "$compiler, C, $options, $macro"
        done
    done
    pass "$compiler: no warning in C, FASTREDUCE_STATIC without implementation and {0} among it"
done
for compiler in "$cxx" clang++; do
    command -v "${compiler%% *}" >/dev/null || { skip "$compiler" "not installed"; continue; }
    for macro in FASTREDUCE_NOTHING FASTREDUCE_STATIC FASTREDUCE_HOST_IMPLEMENTATION; do
        $compiler -std=c++14 $picky -Wold-style-cast -D$macro -c plain.cpp -o plain.o ||
            fail "$compiler, C++, $macro"
    done
    pass "$compiler: no warning in C++, -Wold-style-cast and {} among it"
done

[ -n "$nvcc" ] || { skip "names and halves under nvcc" "there is no nvcc"; done_testing; exit; }

ptx="-gencode=arch=compute_80,code=compute_80 $nvcc_werror"
printf '#include "names.h"\n' > names.cu
"$nvcc" $ptx -c names.cu -o names.o || fail "names of users, nvcc"
printf '#include "templates.h"\n' > templates.cu
"$nvcc" $ptx -c templates.cu -o templates.o || fail "templates of users, nvcc"
pass "names and templates of users under nvcc"

refused "a list with commas, by nvcc," "write A+B" "$nvcc" -E fastreduce.cu \
    -DFASTREDUCE_TYPES=FASTREDUCE_F32,FASTREDUCE_F16

# Halves, their header before ours or after it
for order in 1 2; do
    {
        [ $order = 2 ] || printf '#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n'
        printf '#include "fastreduce.cuh"\n'
        [ $order = 1 ] || printf '#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n'
        cat <<'HALVES'
using namespace fastreduce;
template <fastreduce_kernel Version>
fastreduce_status both(__half *x, __nv_bfloat16 *y)
{
    return reduce<Version, 256, 8, maximum>(x, x + 9, 9) |
           reduce<Version, 256, 8, minimum>(y, y + 9, 9);
}
fastreduce_status f(__half *x, __nv_bfloat16 *y)
{
    return both<FASTREDUCE_V7>(x, y) | both<FASTREDUCE_AUTO>(x, y);
}
HALVES
    } > halves.cu
    "$nvcc" $ptx -c halves.cu -o halves.o || fail "halves"
done
pass "minimum and maximum of __half and __nv_bfloat16, V7 and AUTO, headers in either order"

# Operators with state: function objects, and lambdas that capture
cat > lambdas.cu <<'LAMBDAS'
#include "fastreduce.cuh"
struct scaled {
    float by;
    __device__ double operator()(float x) const { return by * x; }
};
struct add {
    __device__ double operator()(double a, double b) const { return a + b; }
};
fastreduce_status f(const float *x, double *y, float by)
{
    const auto times = [by] __device__(float v) { return by * v; };
    const auto greater = [by] __device__(double a, double b) { return a * by < b * by ? b : a; };
    return fastreduce::transform_reduce(x, y, 9, scaled{by}, add(), 0.0) |
           fastreduce::transform_reduce(x, y, 9, times, greater, 0.0) |
           fastreduce::reduce_by(x, y, 9, greater, 0.0);
}
LAMBDAS
"$nvcc" $ptx --extended-lambda -std=c++17 -c lambdas.cu -o lambdas.o || fail "lambdas"
pass "function objects and __device__ lambdas with state, under nvcc"

# What stands in namespace fastreduce is what users call
cat > both.cu <<'BOTH'
#include "both.h"
fastreduce_status f(float *x) { return fastreduce::reduce<FASTREDUCE_V7>(x, x + 9, 9); }
const char *g(fastreduce_status status) { return fastreduce::status_string(status); }
BOTH
"$nvcc" $ptx -DFASTREDUCE_TYPES=FASTREDUCE_F32 -c both.cu -o both.o ||
    fail "host implementation before the library, nvcc"
pass "host implementation before the library, under nvcc"
public='accumulate|accumulate_exactly|block_reduce|blocks_for|default_items|detail|maximum|minimum'
public="$public|plus|reduce|round|thread_reduce|v[0-7]_[a-z_]*|warp_reduce|warp_size"
public="$public|workspace|workspace_bytes"
public="$public|exact_atomic_add|exact_block_add|exact_block_reduce|exact_carry|exact_value"
public="$public|argmax|argmin|count_nonzero|max_abs|mean|multiplies|norm2|status_string|sum_abs"
public="$public|sum_squares|variance|min_max|argmax_abs|result_pair|reduce_to_pair"
nm -C both.o | grep -oE 'fastreduce::version_[a-z0-9_]*::[a-z0-9_]+' | sed 's/.*:://' |
    sort -u > seen
grep -q v0_baseline seen || fail "no names seen"
grep -v '^__' seen | grep -vxE "$public" && fail "names in namespace fastreduce that are not public"
pass "namespace fastreduce holds what users call, the rest is in detail"
done_testing
