"""examples/sum from its command line: python3 test_sum.py PROGRAM

Sums of generated data, NumPy files (written here, byte by byte), raw files and pipes, against exact rational
arithmetic rounded once to float32; every refusal. Standard library alone.
"""
import fractions
import math
import os
import random
import struct
import subprocess
import sys
import tempfile
import time

try:
    import pty
except ImportError:
    pty = None

CHUNK = 8 << 20
checks = failures = 0


def check(good, what):
    global checks, failures
    checks += 1
    if not good:
        failures += 1
        print("FAIL:", what)


def to_f32(x):
    """An exact rational rounded to the nearest float32, ties to even; infinity past the largest."""
    if x == 0:
        return 0.0
    sign, x = (-1.0, -x) if x < 0 else (1.0, x)
    unit = max(math.floor(math.log2(x)) - 1, -127) if x < 2**1000 else 1000
    while x >= fractions.Fraction(2) ** (unit + 1):
        unit += 1
    unit = max(unit, -126) - 23
    scaled = x / fractions.Fraction(2) ** unit
    whole = math.floor(scaled)
    rest = scaled - whole
    if rest > fractions.Fraction(1, 2) or (rest == fractions.Fraction(1, 2) and whole % 2):
        whole += 1
    value = fractions.Fraction(whole) * fractions.Fraction(2) ** unit
    return sign * (math.inf if value >= fractions.Fraction(2) ** 128 else float(value))


def f32(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def exact(values):
    """The sum as a float32, special values as IEEE has them, and the sum of magnitudes."""
    if any(math.isnan(x) for x in values) or (math.inf in values and -math.inf in values):
        return math.nan, 0
    if math.inf in values or -math.inf in values:
        return (math.inf if math.inf in values else -math.inf), 0
    return (to_f32(sum((fractions.Fraction(x) for x in values), fractions.Fraction(0))),
            sum(abs(x) for x in values))


def npy(values, shape, version=1, descr="'<f4'", fortran="False", extra=b""):
    header = f"{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, }}"
    head = b"\x93NUMPY" + bytes([version, 0])
    size = 2 if version == 1 else 4
    pad = -(len(head) + size + len(header) + 1) % 64
    text = (header + " " * pad + "\n").encode("latin1" if version < 3 else "utf8")
    return head + struct.pack("<H" if version == 1 else "<I", len(text)) + text + struct.pack(f"<{len(values)}f", *values) + extra


def run(*arguments, data=None):
    return subprocess.run([PROGRAM, *arguments], input=data, capture_output=True, timeout=200, check=False)


def expect_sum(what, arguments, values, data=None, n=None):
    done = run(*arguments, data=data)
    lines = dict(line.split(None, 1) for line in done.stdout.decode().splitlines())
    check(done.returncode == 0 and {"sum", "n", "ran", "time"} <= lines.keys(),
          f"{what}: exit {done.returncode}, {done.stdout!r} {done.stderr!r}")
    if done.returncode != 0:
        return
    wanted, magnitude = exact(values)
    got = float(lines["sum"])
    if "CPU" in lines["ran"]:
        good = struct.pack("<f", got) == struct.pack("<f", wanted)
    else:  # a tree of at most 80 additions in depth, each off by 2^-24 of a partial sum at most
        good = got == wanted or abs(got - wanted) <= 80 * 2.0**-24 * magnitude or (math.isnan(got) and math.isnan(wanted))
    check(good, f"{what}: {got!r} instead of {wanted!r}")
    check(int(lines["n"]) == (len(values) if n is None else n), f"{what}: n is {lines['n']}")
    check(b"\r" not in done.stderr and done.stderr.count(b"\n") <= 1, f"{what}: noise on stderr: {done.stderr!r}")


def expect_refusal(what, status, word, arguments, data=None):
    done = run(*arguments, data=data)
    lines = [line for line in done.stderr.decode().splitlines() if "summing exactly on the CPU" not in line]
    check(done.returncode == status, f"{what}: exit {done.returncode} instead of {status}")
    check(done.stdout == b"", f"{what}: printed {done.stdout!r}")
    check(len(lines) == 1 and lines[0].startswith("sum: ") and word in lines[0],
          f"{what}: stderr {done.stderr!r}, without '{word}'")


def uniform(n, seed):
    draw = random.Random(seed)
    return [f32(draw.uniform(-1, 1) + 0.125) for _ in range(n)]


def generated(n):
    mask = (1 << 64) - 1
    values = []
    for i in range(n):
        z = (i + 1) * 0x9E3779B97F4A7C15 & mask
        z = (z ^ (z >> 32)) * 0xD6E8FEB86659FD93 & mask
        z ^= z >> 32
        values.append(((z >> 40) - (1 << 23)) / (1 << 23))
    return values


def sums(folder):
    def file(name, content):
        path = os.path.join(folder, name)
        with open(path, "wb") as out:
            out.write(content)
        return path

    for text, n in (("0", 0), ("1", 1), ("1000", 1000), ("2^10", 1024), ("3K", 3072)):
        expect_sum("generated " + text, [text], generated(n))
    for kernel in ["host", "exact", "auto"] + [f"v{k}" for k in range(8)]:
        expect_sum("kernel " + kernel, ["--kernel", kernel, "5000", "--block", "128"], generated(5000))

    for shape, n in (("()", 1), ("(0,)", 0), ("(1,)", 1), ("(3, 5)", 15), ("(7, 0, 2)", 0), ("(2, 3, 4)", 24)):
        for version in (1, 2, 3):
            values = uniform(n, version)
            path = file("a.npy", npy(values, shape, version))
            expect_sum(f".npy {shape} version {version}", [path], values)
    values = uniform(6, 9)
    expect_sum("Fortran order", [file("f.npy", npy(values, "(2, 3)", fortran="True"))], values)
    raw = struct.pack("<1000f", *uniform(1000, 4))
    expect_sum("raw", [file("a.f32", raw)], uniform(1000, 4))
    expect_sum("raw, empty", [file("e.f32", b"")], [])
    expect_sum("pipe", ["-"], uniform(1000, 4), data=raw)
    expect_sum("pipe, empty", ["-"], [], data=b"")

    # pieces that end within floats, slowly
    process = subprocess.Popen([PROGRAM, "-", "--kernel", "host"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    for begin in range(0, len(raw), 997):
        process.stdin.write(raw[begin:begin + 997])
        process.stdin.flush()
        time.sleep(0.01)
    out = process.communicate()[0].decode()
    check(f32(float(out.split()[1])) == exact(uniform(1000, 4))[0], "a slow pipe: " + out)

    # a progress line on a terminal, once it takes longer than a second
    if pty:
        terminal, other_end = pty.openpty()
        process = subprocess.Popen([PROGRAM, "-", "--kernel", "host"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=other_end)
        os.close(other_end)
        time.sleep(1.2)
        out = process.communicate(raw)[0].decode()
        shown = os.read(terminal, 4096)
        os.close(terminal)
        check(b"\r" in shown and b"GB" in shown and shown.rstrip().endswith(b"\x1b[K"), f"progress: {shown!r}")
        check(f32(float(out.split()[1])) == exact(uniform(1000, 4))[0], "a sum with progress: " + out)

    # chunk boundaries: a pattern whose sum is known without adding it up in Python
    for n in (CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK + 5):
        block = uniform(1024, 6)
        repeats, rest = divmod(n, 1024)
        data = struct.pack("<1024f", *block) * repeats + struct.pack(f"<{rest}f", *block[:rest])
        path = file("big.f32", data)
        total = sum(map(fractions.Fraction, block)) * repeats + sum(map(fractions.Fraction, block[:rest]))
        done = run(path, "--kernel", "host")
        check(f32(float(done.stdout.split()[1])) == to_f32(total), f"{n} elements: {done.stdout!r}")
        done = run(path)
        magnitude = sum(map(abs, block)) * (repeats + 1)
        check(abs(float(done.stdout.split()[1]) - to_f32(total)) <= 80 * 2.0**-24 * magnitude,
              f"{n} elements: {done.stdout!r}")
    os.remove(os.path.join(folder, "big.f32"))

    tiny, huge = 2.0**-149, f32(3.4028234663852886e38)
    special = {"nan": [1.0, math.nan, 2.5], "inf": [math.inf, -1.0], "-inf": [3.0, -math.inf],
               "both": [math.inf, -math.inf], "denormals": [tiny] * 3 + [-tiny * 8, 5 * tiny],
               "overflow": [huge, huge, 1.0], "overflow that cancels": [huge, huge, -huge, -huge, 1.5],
               "a tie to even": [f32(2.0**24), 1.0], "a tie, the other way": [f32(2.0**24 + 2), 1.0],
               "past a tie": [f32(2.0**24), 1.0, tiny], "cancellation": [1e30, 3.25, -1e30, 1e-20]}
    for name, values in special.items():
        values = [f32(x) for x in values]
        expect_sum(name, ["-", "--kernel", "host"], values, data=struct.pack(f"<{len(values)}f", *values))

    try:
        import numpy
    except ImportError:
        print("numpy is not installed: files by numpy itself are not tried")
        return
    array = numpy.array(uniform(60, 3), dtype=numpy.float32).reshape(3, 4, 5)
    for name, variant in (("C", array), ("F", numpy.asfortranarray(array)), ("0-d", array[0, 0, 0]),
                          ("1-d", array.ravel()), ("empty", array[:0])):
        path = os.path.join(folder, "numpy.npy")
        numpy.save(path, variant)
        expect_sum("numpy.save " + name, [path], [float(x) for x in numpy.ravel(variant)])


def refusals(folder):
    def file(name, content):
        path = os.path.join(folder, name)
        with open(path, "wb") as out:
            out.write(content)
        return path

    good = npy(uniform(6, 1), "(2, 3)")
    expect_refusal("missing", 1, "No such file", [os.path.join(folder, "missing.npy")])
    expect_refusal("missing, no number", 1, "No such file", ["12x"])
    os.mkdir(os.path.join(folder, "d.npy"))
    expect_refusal("a directory", 1, "directory", [os.path.join(folder, "d.npy")])
    expect_refusal("unknown extension", 1, ".npy", [file("a.txt", raw_zero)])
    for descr in ("'<f8'", "'>f4'", "'<i4'", "'|b1'", "'<c8'", "[('x', '<f4')]"):
        expect_refusal("dtype " + descr, 1, "float32", [file("t.npy", npy(uniform(6, 1), "(6,)", descr=descr))])
    expect_refusal("short", 1, "short", [file("s.npy", good[:-1])])
    expect_refusal("short by a float", 1, "short", [file("s.npy", good[:-4])])
    expect_refusal("bytes after", 1, "after", [file("s.npy", good + b"\0")])
    for name, content in (("not npy", b"hello, world"), ("empty", b""), ("version 4", good[:6] + b"\4" + good[7:]),
                          ("header cut", good[:30]), ("length cut", good[:9])):
        expect_refusal(name, 1, "npy" if name in ("not npy", "empty", "version 4") else "header", [file("h.npy", content)])
    for name, shape in (("negative", "(-1,)"), ("no parenthesis", "6"), ("overflow", "(4294967296, 4294967296)"),
                        ("words", "(six,)"), ("open", "(6"), ("twice", "(6,), 'shape': (6,)")):
        expect_refusal("shape " + name, 1, "header", [file("h.npy", npy(uniform(6, 1), shape))])
    expect_refusal("order", 1, "header", [file("h.npy", npy(uniform(6, 1), "(6,)", fortran="Maybe"))])
    expect_refusal("no key", 1, "header", [file("h.npy", good.replace(b"fortran_order", b"fortran_0rder"))])
    for size in (1, 2, 3, 4001):
        expect_refusal(f"raw of {size} bytes", 1, "whole number", [file("o.f32", b"\1" * size)])
        expect_refusal(f"pipe of {size} bytes", 1, "within a float", ["-"], data=b"\1" * size)

    expect_refusal("no input", 2, "no input", [])
    expect_refusal("two inputs", 2, "more than one", ["5", "6"])
    expect_refusal("an unknown option", 2, "no such option", ["--fast", "5"])
    expect_refusal("a negative number", 2, "no such option", ["-5"])
    for kernel in ("v8", "V1", "", "v", "fast"):
        expect_refusal("kernel " + kernel, 2, "no such kernel", ["--kernel", kernel, "5"])
    for block in ("0", "31", "48", "2048", "x", "-32", ""):
        expect_refusal("block " + block, 2, "no such block size", ["--block", block, "5"])
    expect_refusal("no value", 2, "missing", ["5", "--kernel"])
    if os.path.exists("/dev/full"):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([PROGRAM, "5"], stdout=full, stderr=subprocess.PIPE, check=False)
        check(done.returncode == 1 and b"standard output" in done.stderr, "a full disk goes unnoticed")
    done = run("--help")
    check(done.returncode == 0 and b"usage: sum" in done.stdout and done.stderr == b"", "--help")


raw_zero = struct.pack("<3f", 1.5, 2.0, -0.25)
PROGRAM = os.path.abspath(sys.argv[1])
with tempfile.TemporaryDirectory() as scratch:
    sums(scratch)
    refusals(scratch)
print(f"sum: {checks} checks, {failures} failed")
sys.exit(1 if failures else 0)
