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

# A compiler that is missing is installed, by an apt-get that says before how much that is; as root
# or through sudo.
for tool in env ln mktemp sed tr; do ln -s "$(command -v $tool)" bin; done
mv bin/cc bin/real-cc
cat > bin/apt-get <<APT
#!/bin/sh
case \$* in
*'--print-uris '*' gcc libc6-dev') cat estimate ;;
*'install -y '*' gcc libc6-dev') ln -s real-cc "$PWD/bin/cc" ;;
esac
APT
printf '#!/bin/sh\n[ "$1" = -n ] || exec "$@"\n' > bin/sudo
chmod +x bin/apt-get bin/sudo

# installs USER ANNOUNCED WHAT: quickstart.sh prints it, and compiles
installs()
{
    rm -rf bin/cc bin/nvcc copy/build
    printf '#!/bin/sh\necho %s\n' "$1" > bin/id
    chmod +x bin/id
    quickstart "cc " "no nvcc" "$3"
    [ "$(grep gcc out)" = "$2" ] || fail "$3: $(cat out)"
}
printf 'Reading package lists...\nNeed to get 48.6 MB/49.0 MB of archives.\n' > estimate
echo 'After this operation, 180 MB of additional disk space will be used.' >> estimate
echo "'http://mirror/gcc.deb' gcc.deb 5 MD5Sum:5" >> estimate
size="48.6 MB to download; 180 MB on the disk"
installs 0 "installing: gcc libc6-dev ($size)" "a compiler is installed"
: > estimate
installs 0 "installing: gcc libc6-dev" "a compiler is installed, of unknown size"
installs 5 "asking sudo for: gcc libc6-dev
installing: gcc libc6-dev" "a compiler is installed through sudo"
