#!/bin/sh
# The two files and the examples under other CUDA toolkits than the installed one: sh toolkits.sh
# ROOT FOLDER [tests]. Keeps in FOLDER what it downloads. Skips a toolkit that can't be had here, or
# that takes no C++ compiler that is here; exit 77 if that is all. With `tests`: whether our tests
# compile by the oldest toolkit that has all that they call, and by the newest.
#
#   nvcc 11.2, 11.8, 12.4      from Debian: PyPI has no nvcc of CUDA 11 and 12. Headers of the
#                              later two from PyPI
#   nvcc 13.0 and the newest   from PyPI
#   NVRTC 11.8, 12.0, 12.9     from PyPI
#   Clang with 12.0, 12.9      headers and assembler from PyPI
set -eu
root=$(CDPATH= cd "$1" && pwd)
mkdir -p "$2"
downloads=$(CDPATH= cd "$2" && pwd)
what=${3:-files}
. "$(dirname "$0")/setup.sh"
. "$tests/downloads.sh"

# debian_nvcc RELEASE [PACKAGE OF PYPI...]: nvcc, with the headers and the runtime of
# PyPI, or else of Debian. It stays where it is unpacked, with a configuration that
# says where the rest is from there.
debian_nvcc()
{
    debian_release=$1
    shift
    mkdir "$kept/lib"
    if [ $# -gt 0 ]; then
        debian "$kept" "$debian_release" non-free nvidia-cuda-toolkit libnvvm4 &&
            from_pypi "$@" || return 1
    else
        debian "$kept" "$debian_release" non-free nvidia-cuda-toolkit libnvvm4 nvidia-cuda-dev &&
            mv "$kept/usr/include" "$kept/include" &&
            mv "$kept"/usr/lib/*/libcudart_static.a "$kept/lib" || return 1
    fi
    mv "$kept"/usr/lib/*/libnvvm.so.* "$kept/lib" && rm "$kept/$debian_bin/nvcc.profile" || return 1
    cat > "$kept/$debian_bin/nvcc.profile" <<'PROFILE'
TOP = $(_HERE_)/../../../..
NVVMIR_LIBRARY_DIR = $(_HERE_)/../libdevice
PATH += $(_HERE_):$(TOP)/usr/bin:
LD_LIBRARY_PATH += $(TOP)/lib:
INCLUDES += "-I$(TOP)/include" $(_SPACE_)
PROFILE
}
debian_bin=usr/lib/nvidia-cuda-toolkit/bin

debian_gcc()
{
    debian "$kept" bullseye main g++-10 gcc-10 cpp-10 libstdc++-10-dev libgcc-10-dev
}

# ---- nvcc ----------------------------------------------------------------------------------------

# takes COMPILER: whether $nvcc works with it. An empty file tells, as the toolkit's headers come
# with it and the C library's, either of which can refuse.
takes()
{
    : > empty.cu
    command -v "$1" >/dev/null 2>&1 &&
        "$nvcc" -ccbin "$1" -std=c++17 -c empty.cu -o empty.o > takes.log 2>&1
}

# Sets $host to a C++ compiler that $nvcc takes: one that is here, the newest first, or else
# Debian's GCC 10.
find_host()
{
    for host in "$cxx" $(seq -f 'g++-%g' 20 -1 9); do
        if takes "$host"; then return 0; fi
    done
    refusal=$(grep -m 1 error takes.log | cut -c 1-200)
    kept gcc-10 debian_gcc || { why="$refusal; and $why"; return 1; }
    host=$kept/usr/bin/g++-10
    takes "$host" || { why="$host, too: $(grep -m 1 error takes.log | cut -c 1-200)"; return 1; }
}

# What only has to compile does so quickly; nvcc 13.5's quick way does not know __dp4a.
only_compile() { $compile $quickly "$@" 2>/dev/null || $compile "$@"; }

# test_nvcc RELEASE NVCC: of the toolkit in $kept
test_nvcc()
{
    asked=$1 nvcc=$2 toolkit=$kept
    release=$("$nvcc" --version | sed -n 's/.*release \([0-9.]*\),.*/\1/p')
    version="nvcc $release"
    case $release in "$asked"*) ;; *) skip "nvcc $asked" "it is $release by now"; return ;; esac
    find_host || { skip "$version" "$why"; return; }
    headers=$((${release%.*} * 1000 + ${release#*.} * 10)) # as CUDART_VERSION counts
    compile="$nvcc -ccbin $host -Wno-deprecated-gpu-targets $nvcc_werror"
    compile="$compile -Xcompiler=-Wall,-Wextra -I."
    quickly=$(unoptimised "$nvcc")
    ptx=-gencode=arch=compute_75,code=compute_75
    if [ "$what" = files ]; then test_files; fi
    # What is in CUDA C++ takes longest: by the oldest toolkit that has all that it calls, and with
    # the tests by the newest
    case $asked$what in 11.8* | tests) test_sources ;; esac
}

test_files()
{
    # by its path, as -lcudart would find an installed toolkit's; PyPI's of CUDA 11 and 12 is shared
    runtime=$toolkit/lib/libcudart_static.a
    [ -e "$runtime" ] || runtime=$(ls "$toolkit"/lib/libcudart.so.*)
    link="$runtime -Wl,-rpath,$toolkit/lib -lstdc++ -ldl -lrt -lpthread"

    # the C functions, for the oldest architecture and the newest
    architectures=$("$nvcc" --list-gpu-arch | sed 's/compute_//' | sort -n | sed -n '1p;$p')
    targets=$(for a in $architectures; do echo "-gencode=arch=compute_$a,code=sm_$a"; done)
    $compile -O3 -std=c++17 $targets $few -c fastreduce.cu || fail "$version"
    $cc "$tests/main.c" -I. fastreduce.o $link -o program || fail "$version, linked"
    run ./program "$version"

    # the templates, by headers that are proven to be the toolkit's
    only_compile -std=c++17 -DTOOLKIT_VERSION=$headers $ptx -c "$tests/templates.cu" ||
        fail "$version, templates"
    $cc templates.o $link -o program || fail "$version, templates, linked"
    run ./program "$version, templates"
    pass "$version with $("$host" --version | sed -n '1s/ (.*) / /p'): architectures" $architectures

    files=
    for source in "$root"/examples/*.c "$root"/examples/bench/*.c; do
        file=${source##*/}
        case $file in sum_mpi.c | sum_nccl.c) continue ;; esac # need MPI, NCCL
        if [ "$headers" -lt 11040 ] && grep -q cudaGraphInstantiateWithFlags "$source"; then
            skip "$version, $file" "replays CUDA graphs by a call of CUDA 11.4"
            continue
        fi
        $cc -std=c99 -Wall -Wextra -Wpedantic $werror -isystem "$toolkit/include" "$source" \
            fastreduce.o $link -lm -o program || fail "$version, $file"
        files="$files $file"
    done
    pass "$version:$files"
}

test_sources()
{
    case $what in
    files) set -- "$root"/examples/*.cu "$root"/examples/bench/*.cu ;;
    tests)
        set -- "$root"/test/kernels/*.cu "$root"/test/gpu/test_*.cu \
            "$root/test/gpu/profile_ladder.cu" "$root"/examples/*.cu "$root"/examples/bench/*.cu
        ;;
    esac
    files=
    for source; do
        file=${source##*/}
        case $file in
        fastreduce.cu) continue ;; # all above
        bench_*.cu) # much like bench.cu
            [ "$what" = tests ] || continue
            less=$sums
            ;;
        test_shapes.cu) less=$few ;;
        *) less= ;;
        esac
        # CUB and Thrust are not in these toolkits
        only_compile $less -std=c++17 $ptx -DBENCH_NO_CUB -DBENCH_NO_THRUST -c "$source" \
            -o /dev/null || fail "$version, $file"
        files="$files $file"
    done
    pass "$version:$files"
}

# the build has compiled for the toolkit that is installed
installed=$(nvcc --version 2>/dev/null | sed -n 's/.*release \([0-9.]*\),.*/\1/p')
for release in 11.2 11.8 12.4; do
    [ "$release" != "$installed" ] || continue
    case $release in
    11.2) set -- bullseye ;;
    11.8) set -- bookworm "nvidia-cuda-runtime-cu11==11.8.*" "nvidia-cuda-nvcc-cu11==11.8.*" ;;
    12.4) set -- trixie "nvidia-cuda-runtime-cu12==12.4.*" "nvidia-cuda-nvcc-cu12==12.4.*" ;;
    esac
    kept "nvcc-$release" debian_nvcc "$@" || { skip "nvcc $release" "$why"; continue; }
    test_nvcc "$release" "$kept/$debian_bin/nvcc"
done
for release in 13.0 newest; do
    [ "$release" != "$installed" ] || continue
    pin=
    [ "$release" = newest ] || pin="==$release.*"
    kept "nvcc-$release" from_pypi "nvidia-cuda-nvcc$pin" "nvidia-cuda-runtime$pin" \
        "nvidia-cuda-crt$pin" "nvidia-nvvm$pin" || { skip "nvcc $release" "$why"; continue; }
    test_nvcc "${pin:+$release}" "$kept/bin/nvcc"
done

[ "$what" = files ] || { done_testing; exit; }

# ---- NVRTC, which compiles the device code at run time -------------------------------------------

for release in 11.8 12.0 12.9; do
    kept "nvrtc-$release" from_pypi "nvidia-cuda-nvrtc-cu${release%.*}==$release.*" ||
        { skip "NVRTC $release" "$why"; continue; }
    python3 "$tests/nvrtc.py" . "$kept"/lib/libnvrtc.so.1* || fail "NVRTC $release"
    passed=$((passed + 1))
done

# ---- Clang ---------------------------------------------------------------------------------------

# by_clang COMPILER RELEASE [OPTION]: with the toolkit of that release in $kept
by_clang()
{
    version="$1 with CUDA $2"
    # -isystem: --cuda-path alone has /usr/local/include come first, where an installed toolkit may
    # have its headers
    flags="-x cuda --cuda-path=$kept -isystem $kept/include -Wno-unknown-cuda-version -I."
    flags="$flags -std=c++17 -O2 --cuda-gpu-arch=sm_60 --cuda-gpu-arch=sm_90 -Wall -Wextra $werror"
    if ! $1 $flags -fsyntax-only /dev/null 2>message; then
        skip "$version" "does not read it: $(grep -m 1 error message)"
        return
    fi
    output=${3:--c -o clang.o}
    $1 $flags $(echo "$few" | tr -d '\\\\') $output fastreduce.cu || fail "$version"
    $1 $flags -DTOOLKIT_VERSION="${2%.*}0${2#*.}0" $output "$tests/templates.cu" ||
        fail "$version, templates"
    pass "$version: architectures 60 90${3:+, $3}"
}

clangs > list
clang=$(head -n 1 list)
for release in 12.0 12.9; do
    [ -n "$clang" ] || { skip "Clang with CUDA $release" "no Clang"; continue; }
    kept "headers-$release" from_pypi "nvidia-cuda-runtime-cu12==$release.*" \
        "nvidia-cuda-nvcc-cu12==$release.*" ||
        { skip "Clang with CUDA $release" "$why"; continue; }
    # Clang includes this header of cuRAND's before each program, against declarations of CUDA's
    # that it would undo
    : > "$kept/include/curand_mtgp32_kernel.h"
    if [ "$release" != 12.0 ]; then # as machine code by the oldest here, and by the installed one
        by_clang "$clang" "$release" -fsyntax-only
        continue
    fi
    by_clang "$clang" "$release"
    # the others know fewer of CUDA's functions
    for other in $(sed 1d list); do by_clang "$other" "$release" -fsyntax-only; done
done
done_testing
