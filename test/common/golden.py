"""The rows of golden.h, computed from the contract of AUTO's bits by itself, in Python's integers,
doubles and fractions: level by level, where pairwise.h recurses. EXACT's means are true ones.

    python3 golden.py           is golden.h right? names each row that is not
    python3 golden.py --write   writes its rows anew
"""
import array
import ctypes
import fractions
import math
import operator
import os
import struct
import sys

golden = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'golden.h')
marker = 'static const golden_row golden_rows[] = {\n'

# type: bytes of an element, and of floats the bits of a fraction
floats = {'F32': (4, 23), 'F64': (8, 52), 'F16': (2, 10), 'BF16': (2, 7)}
integers = {sign + str(8 * size): size for sign in 'IU' for size in (1, 2, 4, 8)}

# type, operator, n, seed, lowest exponent, number of exponents. The seeds were searched for: with
# them as many mistakes as can be show in the bits, such as other orders, within packs of 16 bytes
# and beyond; limits of norms off by ten; products that should not be rounded by themselves. The
# greatest magnitude of 16-bit floats and 32-bit integers has both signs, and -128 follows 127.
rows = [
    ('F32', 'SUM', 0, 1, 110, 30),
    ('F32', 'SUM', 1, 2, 110, 30),
    ('F32', 'SUM', 2, 3, 120, 10),
    ('F32', 'SUM', 7, 40004, 120, 10),
    ('F32', 'SUM', 1000, 50004, 0, 20),
    ('F32', 'SUM', 65537, 6, 100, 40),
    ('F32', 'SUM', 1000000, 7, 120, 10),
    ('F32', 'SUM_ABS', 4097, 80009, 115, 20),
    ('F32', 'SUM_SQUARES', 16389, 90035, 110, 20),
    ('F32', 'PRODUCT', 1000, 10, 126, 2),
    ('F32', 'MEAN', 0, 11, 120, 10),
    ('F32', 'MEAN', 100003, 120002, 120, 10),
    ('F32', 'NORM2', 5, 130110, 100, 40),
    ('F32', 'NORM2', 333, 14, 0, 40),
    ('F32', 'NORM2', 4099, 15, 0, 245),
    ('F32', 'NORM2', 100001, 16, 120, 10),
    ('F32', 'NORM2', 12, 1290810, 83, 3),
    ('F32', 'NORM2', 12, 5181714, 188, 3),
    ('F32', 'VARIANCE', 2, 17, 120, 10),
    ('F32', 'VARIANCE', 1001, 180008, 125, 3),
    ('F32', 'VARIANCE', 3002, 190082, 120, 72),
    ('F32', 'VARIANCE', 65543, 20, 120, 10),
    ('F32', 'VARIANCE', 2, 21, 40, 3),
    ('F32', 'DOT', 1023, 210031, 100, 50),
    ('F32', 'DOT', 262147, 22, 120, 10),
    ('F64', 'SUM', 33, 300001, 1000, 60),
    ('F64', 'SUM', 1000000, 310003, 1010, 20),
    ('F64', 'SUM_ABS', 1025, 320016, 0, 70),
    ('F64', 'SUM_SQUARES', 2047, 330033, 1000, 40),
    ('F64', 'PRODUCT', 10000, 34, 1022, 2),
    ('F64', 'MEAN', 999, 35, 1010, 20),
    ('F64', 'NORM2', 77, 360155, 0, 300),
    ('F64', 'NORM2', 50, 370017, 1700, 340),
    ('F64', 'NORM2', 3001, 380100, 400, 300),
    ('F64', 'NORM2', 1003, 390724, 1020, 470),
    ('F64', 'NORM2', 100000, 400031, 1010, 20),
    ('F64', 'VARIANCE', 3, 410003, 1010, 20),
    ('F64', 'VARIANCE', 65538, 420002, 1010, 20),
    ('F64', 'VARIANCE', 1003, 1040014, 1023, 2),
    ('F64', 'VARIANCE', 2, 22, 400, 3),
    ('F64', 'DOT', 100003, 430004, 1010, 20),
    ('F16', 'SUM', 5001, 500004, 0, 31),
    ('F16', 'SUM', 777, 49, 0, 2),
    ('F16', 'SUM_ABS', 257, 510024, 0, 31),
    ('F16', 'SUM_SQUARES', 8195, 520066, 0, 31),
    ('F16', 'PRODUCT', 300, 53, 14, 2),
    ('F16', 'MEAN', 6500, 540001, 0, 31),
    ('F16', 'NORM2', 2049, 550039, 0, 31),
    ('F16', 'VARIANCE', 9, 560004, 10, 10),
    ('F16', 'VARIANCE', 10027, 570025, 0, 31),
    ('F16', 'DOT', 4100, 580006, 0, 31),
    ('BF16', 'SUM', 5001, 60, 100, 40),
    ('BF16', 'SUM_ABS', 4099, 610021, 100, 40),
    ('BF16', 'SUM_SQUARES', 8195, 620031, 110, 20),
    ('BF16', 'PRODUCT', 300, 630003, 126, 2),
    ('BF16', 'MEAN', 6500, 640003, 110, 20),
    ('BF16', 'NORM2', 1003, 65, 0, 245),
    ('BF16', 'NORM2', 12345, 660224, 120, 10),
    ('BF16', 'NORM2', 24, 2080965, 76, 10),
    ('BF16', 'NORM2', 24, 217, 181, 9),
    ('BF16', 'VARIANCE', 515, 670018, 120, 10),
    ('BF16', 'VARIANCE', 3001, 680587, 120, 72),
    ('BF16', 'DOT', 4100, 690004, 100, 40),
    ('I8', 'NORM2', 3001, 70, 1, 8),
    ('I8', 'VARIANCE', 300, 1020001, 6, 2),
    ('U8', 'NORM2', 3002, 72, 1, 8),
    ('U8', 'VARIANCE', 300, 102, 7, 2),
    ('I16', 'NORM2', 100003, 74, 10, 7),
    ('I16', 'VARIANCE', 3003, 750004, 1, 16),
    ('U16', 'NORM2', 3004, 76, 1, 16),
    ('U16', 'VARIANCE', 301, 110, 15, 2),
    ('I32', 'NORM2', 3005, 780007, 1, 32),
    ('I32', 'VARIANCE', 333, 1020085, 30, 2),
    ('U32', 'NORM2', 3006, 800038, 1, 32),
    ('U32', 'VARIANCE', 3006, 810152, 1, 32),
    ('I64', 'NORM2', 3007, 820077, 1, 64),
    ('I64', 'VARIANCE', 3007, 830166, 1, 64),
    ('I64', 'VARIANCE', 7, 1000211, 60, 5),
    ('U64', 'NORM2', 3008, 840128, 1, 64),
    ('U64', 'VARIANCE', 3008, 850038, 1, 64),
    ('U64', 'VARIANCE', 7, 1080051, 60, 5),
    ('F32', 'VARIANCE', 0, 23, 120, 10),
    ('F32', 'MIN_MAX', 4097, 24, 0, 250),
    ('F64', 'MIN_MAX', 1003, 25, 0, 2000),
    ('F16', 'MIN_MAX', 0, 26, 0, 31),
    ('BF16', 'MIN_MAX', 6500, 27, 0, 255),
    ('I8', 'MIN_MAX', 300, 28, 1, 6),
    ('U16', 'MIN_MAX', 333, 29, 1, 16),
    ('I64', 'MIN_MAX', 3007, 30, 1, 64),
    ('F32', 'ARGMAX_ABS', 4097, 31, 0, 250),
    ('F64', 'ARGMAX_ABS', 0, 32, 0, 2000),
    ('F16', 'ARGMAX_ABS', 10027, 79, 0, 31),
    ('BF16', 'ARGMAX_ABS', 6500, 35, 110, 9),
    ('I8', 'ARGMAX_ABS', 300, 319, 1, 8),
    ('U8', 'ARGMAX_ABS', 300, 36, 1, 8),
    ('I32', 'ARGMAX_ABS', 3005, 36, 1, 4),
    ('U64', 'ARGMAX_ABS', 3008, 38, 1, 64),
]


# ---- Data ----------------------------------------------------------------------------------------

def elements(kind, n, seed, lowest, exponents):
    """Floats as Python's, which holds all of them; integers as integers."""
    mask = (1 << 64) - 1
    found = []
    for i in range(1, n + 1):
        z = seed + i * 0x9e3779b97f4a7c15 & mask
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9 & mask
        z = (z ^ z >> 27) * 0x94d049bb133111eb & mask
        z ^= z >> 31
        e = lowest + (z >> 52) % exponents
        if kind in floats:
            size, fraction = floats[kind]
            sign = (z >> 63 == 0) << 8 * size - 1
            found.append(sign | e << fraction | z & (1 << fraction) - 1)
        else:
            width, number = 8 * integers[kind], z & (1 << e) - 1
            if kind[0] == 'I' and z >> 63 == 0:
                number = -number
            number &= (1 << width) - 1
            if kind[0] == 'I' and number >> width - 1:
                number -= 1 << width
            found.append(number)
    if kind == 'BF16':
        kind, found = 'F32', [bits << 16 for bits in found]
    if kind in floats:
        integer, real = {'F32': 'If', 'F64': 'Qd', 'F16': 'He'}[kind]
        found = list(struct.unpack(f'<{n}{real}', struct.pack(f'<{n}{integer}', *found)))
    return found


# ---- Arithmetic ----------------------------------------------------------------------------------

def f32(x):
    """Rounded to a float. Of a sum or a product of two floats, which a double holds exactly or
    rounds so far below a float's last bit that it does not matter: as if rounded once."""
    return ctypes.c_float(x).value


def fma(a, b, c):
    if not all(map(math.isfinite, (a, b, c))):
        return a * b + c
    exact = fractions.Fraction(a) * fractions.Fraction(b) + fractions.Fraction(c)
    if exact == 0:
        return a * b + c  # which knows the sign
    try:
        return float(exact)
    except OverflowError:
        return math.copysign(math.inf, exact)


def levels(values, combine):
    """Neighbours meet, and then their results, until one is left: the last of an odd number goes on
    as it is. These are the pairs of pairwise()."""
    while len(values) > 1:
        odd = values[-1:] if len(values) % 2 else []
        values = list(map(combine, values[0::2], values[1::2])) + odd
    return values[0]


def total(values, single):
    """The sum of floats or doubles."""
    if not single:
        return levels(values, operator.add) if values else 0.0
    values = array.array('f', values)  # rounds what is put into it
    while len(values) > 1:
        odd = values[-1:] if len(values) % 2 else array.array('f')
        values = array.array('f', map(operator.add, values[0::2], values[1::2])) + odd
    return values[0] if values else 0.0


# ---- Results -------------------------------------------------------------------------------------

def product(values, single):
    if not values:
        return 1.0
    return levels(values, (lambda a, b: f32(a * b)) if single else operator.mul)


def packs(values, size, filler):
    """Of 16 bytes, the last one filled up."""
    values = values + [filler] * (-len(values) % size)
    return [values[i:i + size] for i in range(0, len(values), size)]


least, most = f32(1e-25), f32(1e38)


def squares_of_pack(pack):
    squares = total([f32(x * x) for x in pack], True)
    if least <= squares <= most or math.isnan(squares) or not any(pack):
        return squares
    return total([x * x for x in pack], False)


def bucket_of(x):
    one = x * x
    if 2.0**-900 <= one <= 2.0**900 or math.isnan(one):
        return one, 0
    bucket = 1 if one > 1 else -1
    scaled = x * 2.0**(-600 * bucket)
    return scaled * scaled, bucket


def buckets_added(a, b):
    if a[1] == b[1]:
        return a[0] + b[0], a[1]
    (high, bucket), (low, _) = (a, b) if a[1] > b[1] else (b, a)
    return fma(low * 2.0**-600, 2.0**-600, high), bucket


def norm2(kind, x):
    if kind == 'F64':
        squares, bucket = levels([bucket_of(value) for value in x], buckets_added)
        return math.sqrt(squares) * 2.0**(600 * bucket)
    if kind == 'F16':
        return math.sqrt(total([f32(value * value) for value in x], True))
    if kind in floats:
        each = packs(x, 16 // floats[kind][0], 0.0)
        return math.sqrt(total([squares_of_pack(pack) for pack in each], False))
    if integers[kind] == 1:
        return math.sqrt(float(sum(value * value for value in x)))
    return math.sqrt(total([float(value) * float(value) for value in x], False))


def moments_added(a, b):
    return a[0] + b[0], a[1] + b[1]


def moments_of(distance):
    return distance, distance * distance


def moments_of_pack(pack, pivot):
    own = pack[0]
    away = [f32(x - own) for x in pack]
    near, squares = total(away, True), total([f32(d * d) for d in away], True)
    if squares == math.inf:
        return levels([moments_of(x - pivot) for x in pack], moments_added)
    by = own - pivot
    far = fma(float(len(pack)), by, near)
    return far, fma(by, far + near, squares)


def moments(kind, x):
    """The sum of distances from the first element, and of their squares."""
    if kind in ('F32', 'F16', 'BF16'):
        each = [moments_of_pack(pack, x[0]) for pack in packs(x, 16 // floats[kind][0], x[0])]
    else:  # the difference of integers is exact, and then rounded
        each = [moments_of(float(value - x[0])) for value in x]
    return levels(each, moments_added)


def variance(kind, x):
    if not x:
        return math.nan
    by_sum, squares = moments(kind, x)
    quotient = fma(-by_sum, by_sum / len(x), squares) / len(x)
    return 0.0 if quotient <= 0 else quotient  # where squares underflow: no -0


def true_mean(x, single):
    """Rounded once: to an odd double first, if to a float, which never lies between two floats."""
    if not x:
        return math.nan
    mean = sum(map(fractions.Fraction, x)) / len(x)
    double = float(mean)
    if single and double != mean:
        away = math.nextafter(double, math.inf if double < mean else -math.inf)
        is_odd = struct.unpack('<Q', struct.pack('<d', double))[0] & 1
        double = double if is_odd else away
    return f32(double) if single else double


def result_of(kind, op, x, y):
    single = kind in ('F32', 'F16', 'BF16')
    rounded = f32 if single else float
    if op == 'SUM':
        return total(x, single)
    if op == 'SUM_ABS':
        return total([abs(value) for value in x], single)
    if op == 'SUM_SQUARES':
        return total([rounded(value * value) for value in x], single)
    if op == 'DOT':
        return total([rounded(a * b) for a, b in zip(x, y)], single)
    if op == 'PRODUCT':
        return product(x, single)
    if op == 'MEAN':
        return rounded(total(x, single) / len(x)) if x else math.nan
    return rounded((norm2 if op == 'NORM2' else variance)(kind, x))


def bits_of(kind, value):
    """In hexadecimal, as C has it."""
    if kind not in floats:
        size = integers[kind]
        return f'0x{value & (1 << 8 * size) - 1:0{2 * size}x}'
    real = {'F32': 'f', 'BF16': 'f', 'F64': 'd', 'F16': 'e'}[kind]
    return '0x' + struct.pack('>' + real, value).hex()[:2 * floats[kind][0]]


def all_bits(row):
    """Of AUTO's result, of its second one, and of the second one of EXACT; '0' if there is none."""
    kind, op, n, seed, lowest, exponents = row
    x = elements(kind, n, seed, lowest, exponents)
    y = elements(kind, n, seed + 1, lowest, exponents) if op == 'DOT' else []
    single = kind in ('F32', 'F16', 'BF16')
    output = 'F32' if single else 'F64'
    if op == 'MIN_MAX':
        least, most = (min(x), max(x)) if x else (math.inf, -math.inf)
        return bits_of(kind, least), bits_of(kind, most), '0'
    if op == 'ARGMAX_ABS':
        index = max(range(n), key=lambda i: abs(x[i]), default=-1)
        return bits_of('I64', index), bits_of(kind, x[index] if x else 0), '0'
    first = bits_of(output, result_of(kind, op, x, y))
    if op != 'VARIANCE':
        return first, '0', '0'
    mean = float(x[0]) + moments(kind, x)[0] / n if x else math.nan
    exact = bits_of(output, true_mean(x, single)) if kind in floats else '0'
    return first, bits_of(output, mean), exact


def line_of(row):
    op = 'GOLDEN_DOT' if row[1] == 'DOT' else 'FASTREDUCE_' + row[1]
    first, second, exact = all_bits(row)
    between = ' ' if second == '0' else '\n     '
    numbers = ', '.join(map(str, row[2:]))
    return f'    {{FASTREDUCE_{row[0]}, {op}, {numbers}, {first},{between}{second}, {exact}}},\n'


if __name__ == '__main__':
    before, marked, after = open(golden, encoding='utf-8').read().partition(marker)
    there, end, after = after.partition('};\n')
    assert marked and end, 'golden.h has no rows'
    wanted = [line_of(row) for row in rows]
    if sys.argv[1:] == ['--write']:
        with open(golden, 'w', encoding='utf-8') as file:
            file.write(before + marker + ''.join(wanted) + end + after)
    else:
        there = [line + '},\n' for line in there.split('},\n')[:-1]]
        for line in wanted:
            if line not in there:
                print('FAIL: golden.h does not say', *line.split())
        for line in there:
            if line not in wanted:
                print('FAIL: golden.h says', *line.split())
        print(f'{len(wanted)} rows computed, {len(there)} in golden.h')
        sys.exit(there != wanted)
