#!/bin/sh
# examples/quickstart.sh compiles what is not up to date, and nothing else: sh quickstart.sh ROOT.
# Without nvcc, and with one that fails; each compiler is a script that notes that it was called.
# With CDPATH in the environment, by which cd prints where it goes.
set -eu
root=$(CDPATH= cd "$1" && pwd)
. "$(dirname "$0")/../vendor/setup.sh"
mkdir -p copy/test bin
cp -r "$root/examples" "$root"/fastreduce.* copy
cp "$root/test/setup.sh" copy/test
for tool in cat dirname echo grep mkdir rm sh tail; do ln -s "$(command -v $tool)" bin; done
compiler=$(command -v cc)
printf '#!/bin/sh\necho cc >> "%s/calls"\nPATH=%s exec %s "$@" -O0\n' "$PWD" "$PATH" "$compiler" \
    > bin/cc
ln -s cc bin/c++
chmod +x bin/cc

# quickstart WANTED CALLS WHAT: runs it; the compilers called, and how far the sum gets
quickstart()
{
    : > calls
    PATH=$PWD/bin CDPATH=. sh copy/examples/quickstart.sh 1000 > out 2> err || fail "$3: $(cat err)"
    [ "$(tr '\n' ' ' < calls)" = "$1" ] || fail "$3: called '$(tr '\n' ' ' < calls)'"
    grep -q '^n       1000$' out && grep -q "$2" err || fail "$3: $(cat out err)"
    pass "$3"
}

quickstart "cc " "no nvcc on the PATH" "a first time"
quickstart "" "^built without CUDA" "a second time"
for source in fastreduce.h examples/sum.c examples/common.h examples/array.h examples/chunks.h; do
    touch -d '2 seconds' "copy/$source"
    quickstart "cc " "no nvcc" "after a change of $source"
    touch -d '1 hour ago' "copy/$source"
done
printf '#!/bin/sh\necho nvcc >> "%s/calls"\necho an error >&2\nexit 1\n' "$PWD" > bin/nvcc
chmod +x bin/nvcc
quickstart "nvcc cc " "cannot compile here (an error)" "an nvcc that fails"
quickstart "" "^built without CUDA" "an nvcc that fails, a second time"
