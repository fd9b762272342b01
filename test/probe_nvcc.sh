#!/bin/sh
# Whether this nvcc compiles and links here, for meson.build: sh probe_nvcc.sh NVCC. Prints the
# folder of libcudart_static.a and that of the headers, a line each; or why not, in one line, and
# exits with 1. Toolkits differ in where they keep these: beside nvcc, or where the compiler looks
# anyway (Debian's package).
set -eu
nvcc=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
CDPATH= cd "$folder"
cat > probe.cu <<'PROBE'
#include <cuda_runtime.h>
int main() { return cudaGetLastError() == cudaErrorUnknown; }
PROBE
if ! "$nvcc" probe.cu -o probe > log 2>&1; then
    # a host compiler that is newer than the toolkit knows is the usual reason
    echo "$nvcc cannot compile here: $(grep -m1 -i 'error' log || tail -n 1 log)"
    exit 1
fi
"$nvcc" --dryrun probe.cu -o probe > log 2>&1
toolkit=$(dirname "$(dirname "$(readlink -f "$(command -v "$nvcc")")")")

# first FILE: the first of the folders on standard input that holds it
first()
{
    while read -r candidate; do
        [ ! -e "$candidate/$1" ] || { (CDPATH= cd "$candidate" && pwd) && return; }
    done
    echo "no $1 belongs to $nvcc"
    exit 1
}

# folders OPTION VARIABLE: what --dryrun says nvcc gives the host compiler with that option
folders()
{
    sed -n "s/^#\\$ $2= *//p" log | grep -o "\"$1[^\"]*\"" | sed "s/^\"$1//; s/\"\$//"
}
machine=$(cc -print-multiarch 2>/dev/null || uname -m)
{ folders -L LIBRARIES || true
  printf '%s\n' "$toolkit/lib64" "$toolkit/lib" "/usr/lib/$machine" /usr/lib64 /usr/lib; } |
    first libcudart_static.a
{ folders -I INCLUDES || true
  printf '%s\n' "$toolkit/include" /usr/include; } | first cuda_runtime_api.h
