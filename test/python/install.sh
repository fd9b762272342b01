#!/bin/sh
# The Python package from its source distribution, in a virtual environment of its own: built for
# the CPU alone, tested, uninstalled; then built with nvcc, of few types, where there is one:
#
#     sh install.sh ROOT
#
# Downloads 50 MB from PyPI. 77 where that or python3-venv is missing. PACKAGES names more packages
# to test with: torch, 'jax jax-tvm-ffi'.
set -eu
root=$(CDPATH= cd "$1" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' INT TERM
python3 -m venv "$folder/venv" > "$folder/log" 2>&1 || { echo "SKIP: no python3-venv"; exit 77; }
python=$folder/venv/bin/python
$python -m pip install -q --disable-pip-version-check --retries 1 build scikit-build-core cmake \
    ninja apache-tvm-ffi numpy ${PACKAGES:-} > "$folder/log" 2>&1 ||
    { echo "SKIP: PyPI: $(tail -n 1 "$folder/log")"; exit 77; }
# a copy: the source distribution is made with copies of the two files beside it
mkdir -p "$folder/tree/examples"
cp "$root/fastreduce.h" "$root/fastreduce.cuh" "$folder/tree"
cp -r "$root/examples/python" "$folder/tree/examples"

failed=0
# expect WHAT COMMAND...
expect()
{
    what=$1
    shift
    if "$@" > "$folder/log" 2>&1; then
        echo "ok: $what"
    else
        echo "FAIL: $what"
        tail -n 25 "$folder/log"
        failed=1
    fi
}
pip_install()
{
    CDPATH= cd "$folder"
    $python -m pip install -q --no-build-isolation --no-index --disable-pip-version-check "$@"
}
run()
{
    CDPATH= cd /
    PYTHONPATH= $python "$@"
}
expect "a source distribution" $python -m build -q --no-isolation --sdist -o "$folder/dist" \
    "$folder/tree/examples/python"
expect "which holds the two files" sh -c "tar -tzf '$folder'/dist/*.tar.gz |
    grep -c 'src/fastreduce.cuh\$\|src/fastreduce.h\$' | grep -qx 2"
rm -rf "$folder/tree"
begin=$(date +%s)
option=--config-settings=cmake.define.FASTREDUCE_
expect "for the CPU alone" pip_install ${option}CUDA=off "$folder"/dist/*.tar.gz
echo "built in $(($(date +%s) - begin)) s"
expect "which says so" run -c "import fastreduce; config = fastreduce.show_config()
assert config['cuda'] is None and config['gpu'] == {} and config['version'] in '$folder/dist'.join(
    __import__('os').listdir('$folder/dist')), config"
run "$root/test/python/test_package.py" || failed=1
run "$root/test/python/test_torch.py" || [ $? = 77 ] || failed=1
expect "uninstalled" $python -m pip uninstall -q -y fastreduce
expect "nothing is left" sh -c "! ls -d '$folder'/venv/lib/python*/site-packages/*fastreduce*"
if command -v nvcc > /dev/null; then
    begin=$(date +%s)
    expect "by nvcc, of two types" pip_install ${option}ARCHITECTURES=90 \
        ${option}TYPES=FASTREDUCE_F32+FASTREDUCE_BF16 ${option}OPERATORS=FASTREDUCE_SUM \
        "$folder"/dist/*.tar.gz
    echo "built in $(($(date +%s) - begin)) s"
    expect "which says so" run -c "import fastreduce; gpu = fastreduce.show_config()['gpu']
some = ['sum', 'exact sum', 'dot', 'exact dot']
assert gpu == {'float32': some, 'bfloat16': some}, gpu"
else
    echo "no nvcc: what it compiles is not tested"
fi
exit $failed
