#!/bin/sh
# What `meson install` puts where, and that a C program finds it by pkg-config and by CMake: sh
# install.sh ROOT.
set -eu
root=$(CDPATH= cd "$1" && pwd)
. "$(dirname "$0")/setup.sh"
have() { command -v "$1" >/dev/null 2>&1; }
have meson && have ninja || { skip "meson install" "no Meson"; done_testing; }
version=$(sed -n 's/^#define FASTREDUCE_VERSION_[A-Z]* //p' fastreduce.h | paste -sd . -)
mkdir program tools
cp "$tests/main.c" program # away from the copies of the two files: it is to find the installed ones

# Without examples and tests nothing of CUDA's is asked for, and nothing is compiled.
printf '#!/bin/sh\ntouch "%s/asked"\nexit 1\n' "$folder" > tools/nvcc
chmod +x tools/nvcc
{
    PATH=$folder/tools:$PATH meson setup -Dtests=false --prefix=/opt/fast build "$root" &&
        [ "$(meson introspect --targets build)" = "[]" ] &&
        DESTDIR=$folder/first PATH=$folder/tools:$PATH meson install -C build
} > log 2>&1 || { cat log; fail "meson install -Dtests=false, or there are targets"; }
[ ! -e asked ] || fail "meson install -Dtests=false runs nvcc"
cat > wanted <<'WANTED'
include/fastreduce.cuh
include/fastreduce.h
share/cmake/FastReduce/FastReduceConfig.cmake
share/cmake/FastReduce/FastReduceConfigVersion.cmake
share/cmake/FastReduce/fastreduce.cu
share/pkgconfig/fastreduce.pc
WANTED
(CDPATH= cd first/opt/fast && find * -type f | LC_ALL=C sort) | diff wanted - ||
    fail "installed files"
for file in fastreduce.h fastreduce.cuh; do
    cmp "$file" first/opt/fast/include/$file || fail "$file is installed otherwise"
done
[ "$(sed -n 's/^ \*   \([0-9.]*\)  20.*/\1/p' fastreduce.h | head -n 1)" = "$version" ] ||
    fail "fastreduce.h: its revisions do not begin with $version"
pass "meson install: the two files, and what finds them; without nvcc"

# The tree may be moved.
mv first second
prefix=$folder/second/opt/fast

# package ARGUMENT...: asks pkg-config, which knows the folder that stands for /
package()
{
    PKG_CONFIG_SYSROOT_DIR=$folder/second PKG_CONFIG_LIBDIR=$prefix/share/pkgconfig \
        pkg-config "$@" fastreduce
}
if have pkg-config; then
    [ "$(package --modversion)" = "$version" ] || fail "pkg-config --modversion"
    package --atleast-version="$version" || fail "pkg-config --atleast-version=$version"
    package --atleast-version=99 && fail "pkg-config has version 99"
    $cc -std=c99 -DWITH_HOST -DHOST_ONLY $(package --cflags) program/main.c -o main \
        $(package --libs) || fail "pkg-config --cflags"
    run ./main "pkg-config"
    pass "pkg-config: version $version, a C program"
else
    skip "pkg-config" "not installed"
fi

# Before 1.0.0 each minor version is another API, and a range takes what is in it.
minor=${version%.*}
next=${minor%.*}.$((${minor#*.} + 1))
cat > program/CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.18)
project(program LANGUAGES C)
find_package(FastReduce CONFIG REQUIRED)
find_package(FastReduce CONFIG REQUIRED) # as two libraries of a program would
if(NOT FastReduce_VERSION VERSION_EQUAL ${VERSION})
  message(SEND_ERROR "version ${FastReduce_VERSION}")
endif()
if(CMAKE_VERSION VERSION_LESS 3.19) # which brought ranges
  list(FILTER GOOD EXCLUDE REGEX "[.][.][.]")
  list(FILTER BAD EXCLUDE REGEX "[.][.][.]")
endif()
foreach(wanted ${GOOD} ${BAD})
  unset(FastReduce_DIR CACHE)
  find_package(FastReduce ${wanted} CONFIG QUIET)
  list(FIND GOOD ${wanted} place)
  if((place EQUAL -1) EQUAL FastReduce_FOUND)
    message(SEND_ERROR "${wanted}: found is ${FastReduce_FOUND}")
  endif()
endforeach()
find_package(FastReduce ${VERSION} EXACT CONFIG REQUIRED)
add_executable(program main.c)
target_compile_definitions(program PRIVATE WITH_HOST HOST_ONLY)
target_link_libraries(program PRIVATE fastreduce::fastreduce)
CMAKE
if have cmake; then
    {
        cmake -S program -B by_cmake -DCMAKE_PREFIX_PATH="$prefix" -DVERSION="$version" \
            -DGOOD="$version;$minor;0.1...$version;0.1...<$next" \
            -DBAD="99;$next;$version.1;0.1;0.1...<$version;$next...99" &&
            cmake --build by_cmake
    } > log 2>&1 || { cat log; fail "CMake"; }
    run by_cmake/program "CMake"
    pass "CMake: find_package of good versions and of bad ones, fastreduce::fastreduce"
else
    skip "CMake" "not installed"
fi
done_testing
