#!/bin/sh
# The two files under other CUDA toolkits, from PyPI: sh toolkits.sh ROOT FOLDER. Keeps the packages in FOLDER; exit 77
# where they can't be had. Of CUDA 11 and 12, PyPI has NVRTC, the headers and the assembler but no nvcc, so there NVRTC
# compiles the device code and Clang the whole.
set -eu
root=$(cd "$1" && pwd)
mkdir -p "$2"
toolkits=$(cd "$2" && pwd)
. "$(dirname "$0")/vendor/setup.sh"
tests=$tests/vendor
python3 -m pip --version >/dev/null 2>&1 || { echo "SKIP: no pip"; exit 77; }

# toolkit NAME PACKAGE...: sets $toolkit to the folder with the packages' include, lib, bin ... in one
toolkit()
{
    toolkit=$toolkits/$1
    shift
    [ -e "$toolkit/complete" ] && return
    rm -rf "$toolkit" "$toolkit.packages"
    python3 -m pip install --quiet --disable-pip-version-check --retries 1 --no-deps --target "$toolkit.packages" "$@" \
        2>pip.log || { echo "SKIP: pip can't install $*: $(grep -m1 ERROR pip.log)"; exit 77; }
    mkdir "$toolkit"
    for part in "$toolkit.packages"/nvidia/*/; do cp -rlf "$part/." "$toolkit"; done
    rm -rf "$toolkit.packages"
    touch "$toolkit/complete"
}

# the build has compiled for the toolkit that is installed
installed=$(nvcc --version 2>/dev/null | sed -n 's/.*release \([0-9.]*\),.*/\1/p')
for release in "==13.0.*" ""; do
    [ "$release" != "==$installed.*" ] || continue
    toolkit "nvcc${release:-newest}" "nvidia-cuda-nvcc$release" "nvidia-cuda-runtime$release" "nvidia-cuda-crt$release" \
        "nvidia-nvvm$release"
    nvcc=$toolkit/bin/nvcc
    version="nvcc $("$nvcc" --version | sed -n 's/.*release \([0-9.]*\),.*/\1/p')"
    architectures=$("$nvcc" --list-gpu-arch | sed 's/compute_//' | sort -n)
    targets=$(for a in $architectures; do echo "-gencode=arch=compute_$a,code=sm_$a"; done)
    "$nvcc" --threads 2 -Werror all-warnings -Xcompiler=-Wall,-Wextra -O3 -Wno-deprecated-gpu-targets $targets -c fastreduce.cu || fail "$version"
    $cc "$tests/main.c" -I. fastreduce.o -L"$toolkit/lib" -lcudart_static -lstdc++ -ldl -lrt -lpthread -o program ||
        fail "$version, linked"
    run ./program "$version"
    pass "$version: architectures" $architectures
done

for release in 11.8 12.0 12.9; do
    toolkit "nvrtc-$release" "nvidia-cuda-nvrtc-cu${release%.*}==$release.*"
    python3 "$tests/nvrtc.py" . "$toolkit"/lib/libnvrtc.so.1* || fail "NVRTC $release"
    passed=$((passed + 1))
done

clang=$(newest_clang)
for release in 12.0 12.9; do
    [ -n "$clang" ] || { skip "Clang with CUDA $release" "no Clang"; continue; }
    toolkit "headers-$release" "nvidia-cuda-runtime-cu12==$release.*" "nvidia-cuda-nvcc-cu12==$release.*"
    flags="-x cuda --cuda-path=$toolkit --cuda-gpu-arch=sm_60 --cuda-gpu-arch=sm_90 -Wno-unknown-cuda-version"
    if $clang $flags -fsyntax-only /dev/null 2>message; then
        $clang $flags -std=c++17 -O2 -Wall -Wextra -Werror -c fastreduce.cu -o clang.o || fail "$clang with CUDA $release"
        pass "$clang with CUDA $release: architectures 60 90"
    else
        skip "$clang with CUDA $release" "does not read it: $(grep -m1 error message)"
    fi
done
done_testing
