#!/bin/sh
# Copies of the library that differ, in one program: sh copies.sh ROOT NVCC. No GPU: a stand-in for
# the CUDA runtime logs what each part of the program gets, and that has to be what the part gets in
# a program of its own.
#
# Templates and inline functions are weak symbols: of those that have one name the linker keeps one,
# for all parts. So what two parts compile differently has to have two names.
set -eu
root=$(CDPATH= cd "$1" && pwd)
nvcc=$2
. "$(dirname "$0")/setup.sh"

# compile PART ARCHITECTURE(S) [OPTION ...]: PART.o, and PART.log of what it does alone.
# -O0: an inline function that two parts share by mistake is then called, not inlined.
# PTX is enough, as no kernel runs.
compile()
{
    part=$1
    newest=${2##* }
    code=
    for architecture in $2; do
        code="$code -gencode=arch=compute_$architecture,code=compute_$architecture"
    done
    shift 2
    "$nvcc" -O0 $code $nvcc_werror -Xcompiler=-fPIC,-Wall,-Wextra "$@" -I. -I"$tests" -DPART=$part \
        -c "$tests/copies.cu" -o $part.o
    link $part
    ./program > $part.log || fail "$part alone: exit $?"
    grep answers $part.log | grep -v 'answers 0$' && fail "$part alone: an error"
    grep launches $part.log | grep -v " of $part (compute_$newest)" &&
        fail "$part alone: not its own kernels"
    # an architecture without griddepcontrol.wait would start before its input is there
    grep overlapped $part.log | grep 'compute_[78]' &&
        fail "$part alone: overlapped, which its code does not know"
    grep -E ': (C function, )?(auto|auto of integers|exact): ' $part.log |
        grep 'compute_90.*plainly' &&
        fail "$part alone: could have been overlapped"
    return 0
}

# link PART ...: program, which calls the parts in this order, and with
# an argument in the opposite one
link()
{
    declarations= calls= backwards= objects=
    for name; do
        declarations="$declarations void $name(void);"
        calls="$calls $name();"
        backwards="$name(); $backwards"
        objects="$objects $name.o"
    done
    cat > main.c <<MAIN
$declarations
int main(int n, char **v)
{
    (void)v;
    if (n > 1) { $backwards } else { $calls }
    return 0;
}
MAIN
    $cc -c main.c -o main.o
    $cxx main.o $objects standin_runtime.o -o program || fail "$* do not link"
}

# same_as EXPECTED LOG WHAT
same_as()
{
    cmp -s "$1" "$2" && return
    diff "$1" "$2" | head -n 8 | c++filt
    fail "$3"
}

# apart PART PART [sharing]: each gets its own, whichever the linker meets first and whichever is
# called first. Sharing: what each gets is the same as its own, but kernels may be the other's,
# which are compiled alike.
apart()
{
    owner=
    [ "${3:-}" != sharing ] || owner='s/ of \(\( and \)\{0,1\}[a-z0-9_]* (compute_80)\)\{1,\}//'
    for order in "$1 $2" "$2 $1"; do
        link $order
        for opposite in '' opposite; do
            ./program $opposite > both.log || fail "$order: exit $?"
            for name in $1 $2; do
                grep "^$name:" both.log | sed "$owner" > $name.here
                sed "$owner" $name.log > $name.alone
                same_as $name.alone $name.here \
                    "$name, linked in the order $order${opposite:+, called the other way round}"
            done
        done
    done
}

# shared PART PART: these are compiled alike, and the templates that they call are the same
shared()
{
    link $1 $2
    ./program > both.log || fail "$1 $2: exit $?"
    for name in $1 $2; do
        grep "^$name:" both.log | grep -v 'C function' | sed "s/^$name//" > $name.here
    done
    grep -q launches $1.here || fail "$1 launches nothing"
    same_as $1.here $2.here "$1 and $2 do not share what they could"
}

# unlike PART PART WORD: the two differ in what WORD finds, or else to keep
# them apart would prove nothing
unlike()
{
    for name in $1 $2; do
        grep "$3" $name.log | sed "s/$name//g" > $name.here
        [ -s $name.here ] || fail "the log of $name has no line with $3"
    done
    cmp -s $1.here $2.here && fail "$1 and $2 were to differ in $3"
    return 0
}

# nvcc before 13 made weak symbols of the functions that stand for
# templates of kernels on the host, too.
weak=
! "$nvcc" --help | grep -q static-global-template-stub || weak=-static-global-template-stub=false

"$nvcc" -Xcompiler=-Wall,-Wextra -c "$tests/standin_runtime.c" -o standin_runtime.o
# The C functions, each part's own, and the templates in the same files; below, templates alone.
functions="-DFASTREDUCE_IMPLEMENTATION -DFASTREDUCE_STATIC $sums"

compile c80 80 $functions
compile c90 90 $functions
unlike c80 c90 launches
apart c80 c90
pass "the C functions for compute_80 and for compute_90: own kernels," \
    "overlapped on compute_90 alone"

compile t80 80 $weak
compile t90 90 $weak
compile t80_90 '80 90' $weak
unlike t80 t90 launches
apart t80 t90
pass "the templates for compute_80 and for compute_90: own kernels, overlapped on compute_90 alone"
unlike t80 t80_90 launches
apart t80 t80_90
apart t90 t80_90
pass "the templates for both architectures beside those for one"
apart c80 t90
apart t80 c90
pass "the C functions for one architecture, the templates for another"

# Another version: what AUTO and EXACT take as workspace, and where they change kernels, are not
# the same. EXACT's table counts in mebibytes, so that with larger ones all its boundaries are
# elsewhere; AUTO's words are one for each tile, of which a small one is smaller here.
mkdir other
sed 's/\(#define FASTREDUCE_VERSION_PATCH\) .*/\1 99/' fastreduce.h > other/fastreduce.h
sed -e 's/\(most_single_tiles =\) [0-9]*/\1 8192/' \
    -e 's/\(mebibyte =\) [0-9]* \* kibibyte/\1 2048 * kibibyte/' \
    -e 's/SmallBlock = small_block/SmallBlock = small_block \/ 2/' \
    fastreduce.cuh > other/fastreduce.cuh
compile c80_other 80 -Iother $functions
compile t80_other 80 -Iother $weak
for kind in c80 t80; do
    unlike $kind ${kind}_other version
    unlike $kind ${kind}_other 'auto: of 2^20 needs'
    unlike $kind ${kind}_other 'auto: launches'
    unlike $kind ${kind}_other 'integers: of 2^20 needs'
    unlike $kind ${kind}_other 'integers: launches'
    apart $kind ${kind}_other
done
pass "two versions, the C functions and the templates: own workspace, own choice, own kernels"
apart c80 t80_other
apart t80 c80_other
pass "two versions, the C functions of one beside the templates of another"

# Macros that change what a template is.
for kind in c80 t80; do
    options=$weak
    [ $kind = t80 ] || options=$functions
    compile ${kind}_block 80 $options -DFASTREDUCE_BLOCK_SIZE=128
    unlike $kind ${kind}_block launches
    apart $kind ${kind}_block sharing # the macro chooses among kernels, and changes none
    compile ${kind}_items 80 $options -DFASTREDUCE_ITEMS_PER_THREAD=4
    unlike $kind ${kind}_items launches
    apart $kind ${kind}_items sharing
    compile ${kind}_tag 80 $options -DFASTREDUCE_TAG=fast -use_fast_math
    apart $kind ${kind}_tag
    # a null stream is then another one, by other functions of the runtime
    compile ${kind}_stream 80 $options --default-stream per-thread
    unlike $kind ${kind}_stream "thread's stream\|launches"
    apart $kind ${kind}_stream
done
pass "another FASTREDUCE_BLOCK_SIZE; another FASTREDUCE_ITEMS_PER_THREAD; FASTREDUCE_TAG;" \
    "--default-stream per-thread"

# No more names than needed.
compile t80_again 80 $weak
shared t80 t80_again
pass "the templates in two files compiled alike: linked together, and one for both"
compile a80 80 $weak -DFASTREDUCE_IMPLEMENTATION $sums
shared a80 t80
shared t80 a80
pass "the C functions, not static, and templates in a file compiled alike: the same"
apart a80 t90
pass "the C functions, not static, beside templates for another architecture"
compile a80_other 80 $weak -Iother -DFASTREDUCE_IMPLEMENTATION $sums
unlike a80 a80_other version
apart a80 a80_other
nm a80.o | grep -E ' [TW] fastreduce' > own
grep -q ' T fastreduce_reduce_segments_' own || fail "no names seen"
grep -v '_[0-9]*_[0-9]*_[0-9]*$' own | grep -v ' W ' && fail "names without the version"
pass "two versions of the C functions, not static"
done_testing
