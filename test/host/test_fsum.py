"""The exact sum of doubles on the CPU against Python's math.fsum, another algorithm, and their dot
product and variance against its fractions: equal bits.

    python3 test_fsum.py ROOT [CC]
"""
import array
import ctypes
import fractions
import math
import random
import struct
import subprocess
import sys
import tempfile

root, cc = sys.argv[1], sys.argv[2:] or ['cc']


def library(folder):
    source, shared = folder + '/host.c', folder + '/host.so'
    with open(source, 'w') as file:
        file.write('#define FASTREDUCE_HOST_IMPLEMENTATION\n#include "fastreduce.h"\n')
    subprocess.run(cc + ['-O3', '-shared', '-fPIC', '-I', root, source, '-o', shared], check=True)
    result = ctypes.CDLL(shared)
    result.fastreduce_host_sum_f64.restype = ctypes.c_double
    result.fastreduce_host_sum_f64.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    result.fastreduce_host_dot.argtypes = 3 * [ctypes.c_void_p] + [ctypes.c_size_t]
    result.fastreduce_host_reduce.argtypes = 2 * [ctypes.c_void_p] + [ctypes.c_size_t]
    return result


def any_double(least, most):
    """Of any sign and fraction, the exponent field from `least` to `most`."""
    bits = random.getrandbits(1) << 63 | random.randint(least, most) << 52
    return struct.unpack('<d', struct.pack('<Q', bits | random.getrandbits(52)))[0]


def cancelling(n):
    half = [any_double(1, 2000) for _ in range(n // 2)]
    data = half + [-x for x in half] + [any_double(0, 3) for _ in range(n % 2 + n // 8)]
    random.shuffle(data)
    return data


kinds = {
    'any exponent': lambda n: [any_double(0, 2000) for _ in range(n)],
    'uniform': lambda n: [random.random() for _ in range(n)],
    'normal': lambda n: [random.gauss(0, 1) for _ in range(n)],
    'denormals': lambda n: [any_double(0, 1) for _ in range(n)],
    'cancelling': cancelling,
    'lognormal': lambda n: [random.lognormvariate(0, 30) for _ in range(n)],
    'one huge': lambda n: [random.random() for _ in range(n)] + [1e300],
}

def rounded(fraction):
    try:
        return float(fraction)
    except OverflowError:
        return math.inf if fraction > 0 else -math.inf


def expect(what, got, wanted):
    global checks, failures
    checks += 1
    if struct.pack('<d', got) != struct.pack('<d', wanted):
        failures += 1
        print(f'FAIL: {what}: {got!r} instead of {wanted!r}')


def products(host, name, x, y):
    """The dot product of x and y, and the variance of x."""
    of_x, of_y, got = array.array('d', x), array.array('d', y), ctypes.c_double()
    f64, variance, n = 2, 11, len(x)
    places = of_x.buffer_info()[0], of_y.buffer_info()[0], ctypes.byref(got)
    if host.fastreduce_host_dot(*places, n, f64, 0) != 0:
        got.value = math.nan
    fx, fy = [fractions.Fraction(v) for v in x], [fractions.Fraction(v) for v in y]
    expect(f'{name}, dot, n {n}', got.value, rounded(sum(map(fractions.Fraction.__mul__, fx, fy))))
    if host.fastreduce_host_reduce(places[0], places[2], n, f64, variance, 0) != 0:
        got.value = math.nan
    wanted = (n * sum(v * v for v in fx) - sum(fx)**2) / fractions.Fraction(n)**2
    expect(f'{name}, variance, n {n}', got.value, rounded(wanted))


random.seed(20260101)
checks = failures = 0
with tempfile.TemporaryDirectory() as folder:
    host = library(folder)
    host_sum = host.fastreduce_host_sum_f64
    for turn in range(40):
        for name, make in kinds.items():
            data = make(random.choice([0, 1, 2, 10, 127, 128, 1000, 5000]))
            elements = array.array('d', data)
            got = host_sum(elements.buffer_info()[0] if data else None, len(data))
            expect(f'{name}, n {len(data)}', got, math.fsum(data))
            x = make(random.choice([1, 2, 7, 50, 300]))
            other = random.choice(list(kinds.values()))
            products(host, name, x, (other(len(x)) + x)[:len(x)])
print(f'{checks} checks, {failures} failed')
sys.exit(failures != 0)
