"""examples/sum from its command line: python3 test_sum.py PROGRAM

Sums of generated data, NumPy files (written here, byte by byte), raw files and pipes, against exact
rational arithmetic rounded once to float32; and every refusal. The CPU's sum has to have the
oracle's bits. A GPU kernel's may be off by 2^-24 of the sum of magnitudes for each of 80 additions
in a row, many more than any of its trees is deep; where all partial sums are small integers it has
to have the same bits too. Needs the standard library alone.
"""
import fractions
import gzip
import io
import math
import os
import random
import re
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import zipfile

import checks

try:
    import pty
except ImportError:
    pty = None

Fraction = fractions.Fraction
DEPTH = 80
FALLBACK = "summed exactly on the CPU"
NO_GPU = 77
FORMS = "1000, 10k, 3M, 2G, 1T (k = 2^10), 1e9 or 2^30"
check = checks.that


# ---- The oracle ----------------------------------------------------------------------------------


def to_f32(x):
    """An exact rational rounded once to the nearest float32, ties to
    even; infinity past the largest."""
    if x == 0:
        return 0.0
    magnitude = abs(x)
    # 2^exponent is off by one at most
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    if magnitude < Fraction(2) ** exponent:
        exponent -= 1
    unit = Fraction(2) ** (max(exponent, -126) - 23)
    rounded = round(magnitude / unit) * unit  # Python rounds rationals half to even
    value = math.inf if rounded >= 2**128 else float(rounded)
    return -value if x < 0 else value


def f32(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def pack(values):
    return struct.pack(f"<{len(values)}f", *values)


def exact(values):
    """The sum as a float32, special values as IEEE has them, and the sum of magnitudes."""
    if any(math.isnan(x) for x in values) or (math.inf in values and -math.inf in values):
        return math.nan, 0
    if math.inf in values or -math.inf in values:
        return (math.inf if math.inf in values else -math.inf), 0
    return to_f32(sum(map(Fraction, values), Fraction(0))), math.fsum(map(abs, values))


def self_check():
    """The oracle's rounding, against bits known by hand: ties, carries,
    denormals, overflow, no double rounding."""
    one, tiny = Fraction(1), Fraction(2) ** -149
    for x, bits in ((one, 0x3F800000), (one + one / 2**24, 0x3F800000),
                    (one + 3 * one / 2**24, 0x3F800002),
                    (one + one / 2**24 + one / 2**80, 0x3F800001), (2 - one / 2**25, 0x40000000),
                    (tiny, 1), (tiny / 2, 0), (tiny * 3 / 2, 2),
                    (Fraction(2) ** -126 - tiny / 2, 0x00800000),
                    (Fraction(2) ** 128 - 2**104, 0x7F7FFFFF),
                    (Fraction(2) ** 128 - 2**103, 0x7F800000)):
        for sign, flag in ((1, 0), (-1, 1 << 31)):
            got = struct.unpack("<I", struct.pack("<f", to_f32(sign * x)))[0]
            check(got == (bits | flag) or (bits == 0 and got & ~(1 << 31) == 0),
                  f"oracle: {sign * x} gives {got:#x}")


# ---- Running the program -------------------------------------------------------------------------


def run(*arguments, data=None, **more):
    if data is not None:
        more["input"] = data
    else:
        more.setdefault("stdin", subprocess.DEVNULL)
    more.setdefault("stdout", subprocess.PIPE)
    return subprocess.run([PROGRAM, *arguments], stderr=subprocess.PIPE, timeout=300, check=False,
                          **more)


def check_output(what, code, out, err, wanted, magnitude, n):
    """One run's output, whole: its labels in order, the sum, n, what ran,
    and nothing unexpected on stderr."""
    out, err = out.decode(), err.decode()
    rows = [line.split(None, 1) for line in out.splitlines()]
    labels = [row[0] for row in rows]
    if not check(code == 0 and
                 labels in (["sum", "n", "ran", "time"], ["sum", "n", "ran", "time", "kernel"]),
                 f"{what}: exit {code}, {out!r}, {err!r}"):
        return
    fields = dict(rows)
    got = float(fields["sum"])
    on_cpu = re.fullmatch(r"exact on the CPU, (1 thread|\d+ threads)", fields["ran"]) is not None
    if on_cpu or fields["ran"].startswith("exact") or not magnitude:
        good = (struct.pack("<f", got) == struct.pack("<f", wanted) or
                math.isnan(got) and math.isnan(wanted))
    else:
        good = abs(got - wanted) <= DEPTH * 2.0**-24 * magnitude
    check(good and fields["sum"] == f"{f32(got):.9g}",
          f"{what}: {fields['sum']} instead of {wanted:.9g}")
    check(int(fields["n"]) == n, f"{what}: n is {fields['n']} instead of {n}")
    check(all(re.fullmatch(r"[-+.e\d]+ s, [-+.e\d]+ GB/s", fields[k]) for k in fields
              if k in ("time", "kernel"))
          and ("kernel" in fields) <= (not on_cpu), f"{what}: {out!r}")
    check(err == "" or (on_cpu and err.count("\n") == 1 and FALLBACK in err),
          f"{what}: on stderr {err!r}")


def expect_sum(what, arguments, values, data=None, integers=False):
    """integers: no partial sum rounds, so that every kernel must have the same bits."""
    done = run(*arguments, data=data)
    wanted, magnitude = exact(values)
    check_output(what, done.returncode, done.stdout, done.stderr, wanted,
                 0 if integers else magnitude, len(values))


def check_refusal(what, status, words, code, out, err):
    err = err.decode()
    check(code == status, f"{what}: exit {code} instead of {status}")
    check(out == b"", f"{what}: printed {out!r}")
    check(err.count("\n") == 1 and err.endswith("\n") and err.startswith("sum: ") and words in err,
          f"{what}: on stderr {err!r}, not one line with '{words}'")


def expect_refusal(what, status, words, arguments, data=None, **more):
    done = run(*arguments, data=data, **more)
    check_refusal(what, status, words, done.returncode, done.stdout or b"", done.stderr)


# ---- Data ----------------------------------------------------------------------------------------


def uniform(n, seed):
    draw = random.Random(seed)
    return [f32(draw.uniform(-1, 1) + 0.125) for _ in range(n)]


def generated(n):
    mask = (1 << 64) - 1
    for i in range(1, n + 1):
        z = i * 0x9E3779B97F4A7C15 & mask
        z = (z ^ z >> 32) * 0xD6E8FEB86659FD93 & mask
        yield (z ^ z >> 32) >> 40


def generated_floats(n):
    return [z / 2**23 - 1 for z in generated(n)]


def npy_header(text, version=1, minor=0):
    magic, size = b"\x93NUMPY" + bytes([version, minor]), 2 if version == 1 else 4
    encoded = text.encode("latin1" if version < 3 else "utf8")
    encoded += b" " * (-(len(magic) + size + len(encoded) + 1) % 64) + b"\n"
    return magic + struct.pack("<H" if version == 1 else "<I", len(encoded)) + encoded


def npy(values, shape, version=1, descr="'<f4'", order="False"):
    return npy_header(f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}",
                      version) + pack(values)


def write(name, content):
    path = os.path.join(FOLDER, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as out:
        out.write(content)
    return path


# ---- What must work ------------------------------------------------------------------------------


def check_generated():
    for text, n in (("0", 0), ("1", 1), ("2", 2), ("3", 3), ("007", 7), ("1000", 1000), ("2^0", 1),
                    ("2^10", 1024), ("1K", 1024), ("3K", 3072), ("0M", 0), ("0G", 0),
                    ("1M", 1 << 20), ("2k", 2048), ("1m", 1 << 20), ("1e3", 1000), ("3E2", 300),
                    ("0e9", 0), ("0T", 0), ("10^3", 1000), ("0g", 0), ("0t", 0)):
        expect_sum("generated " + text, [text], generated_floats(n))
    # far too large to wait for: taken, as they are still being summed
    for text in ("2^61", "4294967295G", "1T", "4e18"):
        process = subprocess.Popen([PROGRAM, "--kernel", "host", text], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        time.sleep(0.3)
        process.send_signal(signal.SIGKILL)
        out, err = process.communicate()
        check(process.returncode == -signal.SIGKILL and out + err == b"",
              f"{text}: {out!r} {err!r}")


def check_options():
    missing = os.path.join(FOLDER, "missing.npy")
    for kernel in ["host", "exact", "auto"] + [f"v{k}" for k in range(8)]:
        if ON_GPU or kernel in ("host", "exact"):
            expect_sum("kernel " + kernel, ["--kernel", kernel, "5000"], generated_floats(5000))
        else:  # and before any input is opened
            for name in ("5000", missing):
                expect_refusal(f"kernel {kernel}, no GPU", NO_GPU,
                               "needs a GPU; only exact is available on the CPU",
                               ["--kernel", kernel, name])
    for block in ("32", "64", "128", "256", "512", "1024", "1K", "2^6"):
        expect_sum("block " + block, ["777", "--block", block], generated_floats(777))
    some = "v3" if ON_GPU else "exact"
    for arguments in (["--kernel", some, "--block", "64", "99"],
                      ["99", "--block", "64", "--kernel", some],
                      ["--block", "64", "99", "--kernel", some],
                      ["--kernel", "v1", "--kernel", some, "99"],
                      [f"--kernel={some}", "--block=64", "99"], ["--block=2^6", "--", "99"],
                      [f"--kernel={some}", "--", "99"]):
        expect_sum(" ".join(arguments), arguments, generated_floats(99))

    # what ran, in words
    host, v3, exact_ = (run("9", "--kernel", kernel) for kernel in ("host", "v3", "exact"))
    check(b"exact on the CPU" in host.stdout and host.stderr == b"",
          f"--kernel host: {host.stdout!r} {host.stderr!r}")
    if not ON_GPU:
        reason = rb"(no CUDA device|built without CUDA)[^:\n]*: "
        for done in (run("9"), exact_):
            check(re.fullmatch(reason + FALLBACK.encode() + rb"\n", done.stderr),
                  f"the reason for the CPU: {done.stderr!r}")
        check(re.match(rb"sum: " + reason + rb"v3_add_during_load needs a GPU", v3.stderr),
              f"v3: {v3.stderr!r}")
    else:
        check(b"v3_add_during_load on " in v3.stdout and v3.stderr == b"",
              f"v3: {v3.stdout!r} {v3.stderr!r}")
        check(b"on the CPU" not in exact_.stdout or FALLBACK.encode() in exact_.stderr,
              f"exact: {exact_.stderr!r}")

    for arguments in (["--kernel", "v1", "--help"], ["-h"], ["5", "-h", "--fast"]):
        done = run(*arguments)
        check(done.returncode == 0 and done.stderr == b"" and
              done.stdout.startswith(b"usage: sum "), f"{arguments}")
    check(all(word in done.stdout for word in (b"--kernel", b"--block", b"--help", b".npy", b".f32",
                                               b"Exit status", b"0x9e3779b97f4a7c15",
                                               b"0xd6e8feb86659fd93", FORMS.encode())),
          "--help is not whole")
    done = run("5", "--version")
    check(done.returncode == 0 and done.stderr == b"" and
          re.fullmatch(rb"sum \(FastReduce\) \d+\.\d+\.\d+\n", done.stdout),
          f"--version: {done}")


def check_npy():
    shapes = (("()", 1), ("(0,)", 0), ("(1,)", 1), ("(7,)", 7), ("(3, 5)", 15), ("(7, 0, 2)", 0),
              ("(2, 3, 4)", 24), ("(0, 9223372036854775807)", 0), ("(1000,)", 1000),
              ("(3L, 5L)", 15), ("(3L,)", 3))
    for shape, n in shapes:
        for version in (1, 2, 3):
            for order in ("False", "True"):
                values = uniform(n, 10 * n + version)
                path = write("a.npy", npy(values, shape, version, order=order))
                expect_sum(f".npy {shape}, version {version}, Fortran {order}", [path], values)
    values = uniform(6, 1)
    # another order, no comma at the end; many spaces
    for text in ("{'shape': (6,), 'fortran_order': False, 'descr': '<f4'}",
                 "{'descr': '<f4', 'fortran_order': False, 'shape': (6,), }" + " " * 5000):
        expect_sum(".npy header " + text[:60], [write("a.npy", npy_header(text) + pack(values))],
                   values)
    for descr in ("'float32'", "'=f4'", "'f4'"):
        expect_sum(".npy of " + descr, [write("a.npy", npy(values, "(6,)", descr=descr))], values)
    for name in ("a.f32", "a.txt", "a"):  # known by its first bytes
        expect_sum(".npy called " + name, [write(name, npy(values, "(6,)"))], values)
    ones = npy([1.0] * 1000, "(1000,)")
    expect_sum(".npy on standard input", ["-"], [1.0] * 1000, data=ones)
    with open(write("a.npy", ones), "rb") as file:
        done = run("-", stdin=file)
    check_output(".npy, standard input from a file", done.returncode, done.stdout, done.stderr,
                 1000.0, 0, 1000)
    # a header whose end is no multiple of 4 bytes: the floats are not where they could be mapped
    odd = b"{'descr': '<f4', 'fortran_order': False, 'shape': (6,), }"
    for extra in range(4):
        header = b"\x93NUMPY\1\0" + struct.pack("<H", len(odd) + extra) + odd + b" " * extra
        expect_sum(f".npy at {len(header)}", [write("a.npy", header + pack(values))], values)
    values = uniform(12345, 2)
    fifo = os.path.join(FOLDER, "pipe.npy")
    os.mkfifo(fifo)
    data = npy(values, "(5, 2469)")
    writer = threading.Thread(target=lambda: open(fifo, "wb", buffering=0).write(data))
    writer.start()
    expect_sum(".npy through a named pipe", [fifo], values)
    writer.join()


def check_numpy():
    try:
        import numpy
    except ImportError:
        return "numpy is not installed"
    array = numpy.array(uniform(60, 3), dtype=numpy.float32).reshape(3, 4, 5)
    variants = {"C": array, "Fortran": numpy.asfortranarray(array), "strided": array[::2, ::-1],
                "0-d": array[0, 0, 0], "1-d": array.ravel(), "empty": array[:0],
                "20-d": array.ravel()[:1].reshape((1,) * 20)}
    for name, variant in variants.items():
        for version in ((1, 0), (2, 0), (3, 0)):
            path = os.path.join(FOLDER, "numpy.npy")
            with open(path, "wb") as out:
                numpy.lib.format.write_array(out, numpy.asarray(variant), version=version)
            expect_sum(f"numpy {name} {version}", [path], [float(x) for x in numpy.ravel(variant)])
    for dtype in (">f4", "f8", "f2", "i4", "?", "S4", "M8[s]", "c8", [("x", "<f4"), ("y", "<f4")]):
        path = os.path.join(FOLDER, "numpy.npy")
        numpy.save(path, numpy.zeros(3, dtype=dtype))
        expect_refusal(f"numpy {dtype}", 1, "not float32", [path])
    return None


def check_raw_and_pipes():
    values = uniform(1000, 4)
    raw = pack(values)
    expect_sum("raw", [write("a.f32", raw)], values)
    expect_sum("raw, two dots", [write("a.npy.f32", raw)], values)
    expect_sum("raw, empty", [write("e.f32", b"")], [])
    expect_sum("pipe", ["-"], values, data=raw)
    expect_refusal("pipe, empty", 1, "standard input: is empty: no input", ["-"], data=b"")
    with open(os.path.join(FOLDER, "a.f32"), "rb") as file:
        done = run("-", stdin=file)
    check_output("standard input from a file", done.returncode, done.stdout, done.stderr,
                 *exact(values), 1000)

    # from the middle of a file; what a shell's <(cat a.npy) and zcat make
    with open(os.path.join(FOLDER, "a.f32"), "rb") as file:
        file.seek(400)
        done = run("-", stdin=file)
    check_output("standard input from the middle of a file", done.returncode, done.stdout,
                 done.stderr, *exact(values[100:]), 900)
    array = npy(values, "(1000,)")
    for data in (raw, array):
        reader, writer = os.pipe()
        os.write(writer, data)
        os.close(writer)
        done = run(f"/dev/fd/{reader}", pass_fds=[reader])
        os.close(reader)
        check_output("a pipe by name", done.returncode, done.stdout, done.stderr, *exact(values),
                     1000)
    with gzip.open(os.path.join(FOLDER, "a.npy.gz"), "wb") as file:
        file.write(array)
    with subprocess.Popen(["gzip", "-dc", os.path.join(FOLDER, "a.npy.gz")],
                          stdout=subprocess.PIPE) as unzip:
        done = run("-", stdin=unzip.stdout)
    check_output("gzip -dc a.npy.gz | sum -", done.returncode, done.stdout, done.stderr,
                 *exact(values), 1000)

    # a writer slower than a second, in pieces that end within floats: the same sum, and no progress
    # off a terminal
    for options in ([], ["--kernel", "host"]):
        process = subprocess.Popen([PROGRAM, "-", *options], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        draw, begin = random.Random(5), 0
        while begin < len(raw):
            size = draw.choice((1, 3, 5, 63, 127))
            process.stdin.write(raw[begin:begin + size])
            process.stdin.flush()
            begin += size
            time.sleep(0.015)
        out, err = process.communicate()
        check_output(f"a slow pipe, {options}", process.returncode, out, err, *exact(values),
                     len(values))


def falls_back():
    if b"no CUDA" in run("1").stderr:
        return "no GPU: a program built without CUDA takes the same way, and is tested"
    return None


def check_several():
    first, second = uniform(1000, 7), uniform(77, 8)
    paths = [write("one.npy", npy(first, "(10, 100)")), write("two.f32", pack(second))]
    expect_sum("two files", paths, first + second)
    expect_sum("two files and numbers", ["3", *paths, "0", "5"],
               first + second + generated_floats(3) + generated_floats(5))
    expect_sum("a file twice, and a pipe", [paths[0], "-", paths[0]], 2 * first + second,
               data=pack(second))
    expect_sum("exact, a pipe between files", ["--kernel=exact", paths[1], "-", paths[0]],
               2 * first + second, data=npy(first, "(1000,)"))
    # a mapped file, whose parts are larger than a buffer, and then what goes through buffers
    many = generated_floats(300000)
    ones = pack([1.0]) * (1 << 20)
    write("ones.f32", ones)
    done = run(os.path.join(FOLDER, "ones.f32"), "300000", "-", data=pack(second) + ones)
    wanted, magnitude = exact(many + second + [2.0**21])
    check_output("a large file, numbers and a pipe", done.returncode, done.stdout, done.stderr,
                 wanted, magnitude, (2 << 20) + 300000 + 77)
    os.chdir(FOLDER)
    write("--help", npy(second, "(77,)"))
    expect_sum("a file called --help", ["--", "--help"], second)
    expect_refusal("a second file that is missing", 1, "missing.npy: No such file",
                   [paths[0], "missing.npy"])
    expect_refusal("a second file that is bad", 1, "one.npy: ",
                   [paths[1], write("bad/one.npy", npy(first, "(10, 101)"))])

    # what can be read only once is refused before anything is read; other pipes may stand beside it
    array = npy(first, "(1000,)")
    for data in (pack(second), array, b""):
        for names in (["-", "-"], ["3", "-", paths[0], "-"], ["--", "-", "-"], ["-", "/dev/stdin"],
                      ["/dev/stdin", "-"], ["/dev/fd/0", "/dev/stdin"], ["-", "/dev/fd/0", "-"]):
            reader, writer = os.pipe()
            os.write(writer, data)
            os.close(writer)
            expect_refusal(f"a pipe twice, {names}", 2, "more than once, but can be read only once",
                           names, stdin=reader)
            check(os.read(reader, 1 << 16) == data, f"a pipe twice, {names}: it was read")
            os.close(reader)
    with open(paths[0], "rb") as file:
        expect_refusal("standard input twice, a file", 2, "can be read only once: -", ["-", "-"],
                       stdin=file)
    fifo = os.path.join(FOLDER, "twice.f32")  # that no one writes to: opened, it would wait
    os.mkfifo(fifo)
    expect_refusal("a named pipe twice", 2, "can be read only once: ", [fifo, "3", fifo])
    readers = []
    for data in (pack(second), array):
        reader, writer = os.pipe()
        os.write(writer, data)
        os.close(writer)
        readers.append(reader)
    done = run("-", f"/dev/fd/{readers[1]}", paths[1], paths[1], "/dev/null", "/dev/null",
               stdin=readers[0], pass_fds=readers[1:])
    check_output("two pipes, and files twice", done.returncode, done.stdout, done.stderr,
                 *exact(first + 3 * second), 1231)
    for reader in readers:
        os.close(reader)

    # one that shrinks while standard input is awaited
    write("shrinks.f32", bytes(1 << 20))
    process = subprocess.Popen([PROGRAM, "-", "shrinks.f32"], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdin.write(bytes(64))
    process.stdin.flush()
    time.sleep(0.5)
    os.truncate("shrinks.f32", 5000)
    out, err = process.communicate()
    check_refusal("a file that shrinks", 1, "became shorter", process.returncode, out, err)


def check_generated_chunks():
    if reason := falls_back():
        return reason
    # around the end of a chunk; whole numbers until the end, for speed
    sizes, total = {CHUNK - 1, CHUNK, CHUNK + 1}, 0
    for n, z in enumerate(generated(CHUNK + 1), 1):
        total += z - (1 << 23)
        if n in sizes:
            done = run(str(n))
            check_output(f"generated {n}", done.returncode, done.stdout, done.stderr,
                         to_f32(Fraction(total, 1 << 23)), n / 2, n)
    return None


def check_chunks():
    if reason := falls_back():
        return reason
    # Small integers, so that no partial sum rounds: a GPU kernel, too, has the
    # oracle's bits. A period that is prime tells the chunks apart, and the ends of the
    # input are found nowhere else in it.
    draw = random.Random(6)
    pattern = [draw.choice((-1, 0, 1, 1, 2)) for _ in range(9973)]
    period, prefix = pack(pattern), [0]
    for x in pattern:
        prefix.append(prefix[-1] + x)
    for n in (CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK - 1, 2 * CHUNK, 2 * CHUNK + 1, 3 * CHUNK + 5):
        repeats, rest = divmod(n, len(pattern))
        data = bytearray((period * (repeats + 1))[:4 * n])
        data[:4], data[-4:] = pack([1001]), pack([-70003])
        total = prefix[-1] * repeats + prefix[rest] + 1001 - 70003
        total -= pattern[0] + pattern[(n - 1) % len(pattern)]
        wanted = to_f32(Fraction(total))
        raw, array = write("big.f32", data), write("big.npy", npy([], f"({n},)") + data)
        on_gpu = [[raw, "--kernel", "v2"]] if ON_GPU else []
        for arguments in ([raw], [array], *on_gpu, [array, "--kernel", "exact"], ["-"]):
            done = run(*arguments, data=bytes(data) if arguments == ["-"] else None)
            check_output(f"{n} elements, {os.path.basename(arguments[0])}", done.returncode,
                         done.stdout, done.stderr, wanted, 0, n)
        expect_refusal(f"{n} elements and a byte", 1, "whole number",
                       [write("big.f32", data + b"\1")])
        expect_refusal(f"{n} elements and a byte, pipe", 1, "within a float", ["-"],
                       data=bytes(data) + b"\1")
    os.remove(os.path.join(FOLDER, "big.f32"))
    os.remove(os.path.join(FOLDER, "big.npy"))
    return None


def check_special():
    tiny, huge, inf, nan = 2.0**-149, f32(3.4028234663852886e38), math.inf, math.nan
    everywhere = {"nan": [1.0, nan, 2.5], "inf": [inf, -1.0], "-inf": [3.0, -inf],
                  "both infinities": [inf, 1.0, -inf], "nan and inf": [nan, inf],
                  "denormals": [tiny] * 3 + [-tiny * 8, tiny * 7, tiny * 9],
                  "overflow": [huge, huge, 1.0], "negative overflow": [-huge, -huge],
                  "largest": [huge], "negative zeros": [-0.0, -0.0, -1.5]}
    exactly = {"overflow that cancels": [huge, huge, -huge, -huge, 1.5],
               "the last overflow": [huge, 2.0**103],
               "just not an overflow": [huge, f32(2.0**103 - 2.0**80)],
               "a tie to even": [2.0**24, 1.0], "a tie, the other way": [2.0**24 + 2, 1.0],
               "past a tie": [2.0**24, 1.0, tiny], "short of a tie": [2.0**24 + 2, 1.0, -tiny],
               "cancellation": [1e30, 3.25, -1e30, 1e-20], "a zero": [0.1, -0.1, -0.0]}
    for name, values in everywhere.items():
        values = [f32(x) for x in values]
        expect_sum(name, ["-"], values, data=pack(values), integers=True)
    for name, values in {**everywhere, **exactly}.items():
        values = [f32(x) for x in values]
        expect_sum(name + ", host", ["-", "--kernel", "host"], values, data=pack(values))
        expect_sum(name + ", exact", ["-", "--kernel", "exact"], values, data=pack(values))


# ---- What must be refused ------------------------------------------------------------------------


def other_formats(array):
    """What is neither .npy nor raw floats says what it is, in a file and on standard input."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("arr_0.npy", array)
    # of whole floats, which their length does not give away
    zipped, archived = (x + bytes(-len(x) % 4) for x in (gzip.compress(array), archive.getvalue()))
    text = "is text: read it by numpy.loadtxt"
    for what, content in (("is gzip: zcat it", zipped),
                          ("is zip, as .npz is: unzip -p it", archived),
                          ("is empty: no input", b""), (text, b"12\n"), (text, b"123\n"),
                          (text, b"1.5 2.5 3.25"), (text, b"a;b\r\n" * 20)):
        path = write("other.npy", content)
        expect_refusal(f"{content[:9]}", 1, "other.npy: " + what, [path])
        expect_refusal(f"a pipe {content[:9]}", 1, "standard input: " + what, ["-"], data=content)
        with open(path, "rb") as file:
            expect_refusal(f"standard input {content[:9]}", 1, "standard input: " + what, ["-"],
                           stdin=file)
    with subprocess.Popen(["false"], stdout=subprocess.PIPE) as failed:
        expect_refusal("false | sum -", 1, "no input", ["-", "5"], stdin=failed.stdout)
    # floats that look so: of raw floats by name, few or with others beside them
    for content in (zipped[:8], b"123\n", b"text of 20 bytes....", b"PK\3\4"):
        values = list(struct.unpack(f"<{len(content) // 4}f", content))
        expect_sum(f"raw floats {content}", [write("a.f32", content)], values)
    for content in (b"text", b"textmore", b"text" * 15 + b"\0\0\0\0", b"\x1f\x8b\0\0"):
        values = list(struct.unpack(f"<{len(content) // 4}f", content))
        expect_sum(f"a pipe {content}", ["-"], values, data=content)


def check_bad_files():
    good = npy(uniform(6, 1), "(2, 3)")
    expect_refusal("missing", 1, "No such file", [os.path.join(FOLDER, "missing.npy")])
    expect_refusal("missing, without an extension", 1, "No such file",
                   [os.path.join(FOLDER, "missing")])
    expect_refusal("an empty name", 1, "No such file", [""])
    for name in ("d", "d.npy", "d.f32"):
        os.mkdir(os.path.join(FOLDER, name))
        expect_refusal("directory " + name, 1, "is a directory", [os.path.join(FOLDER, name)])
    for name in ("a.txt", "a", "a.F32", "a.npy", "f32"):
        expect_refusal("raw floats called " + name, 1, "neither begins as a .npy file does",
                       [write(name, pack(uniform(6, 1)))])
    for name, shown in (("a\nb", "a?b: "), ("\x1b[31m\x7f", "?[31m?: "), ("é\u2029ö", "é\u2029ö: "),
                        (b"\x9bx\xc2\x9by", "?x??y: ")):
        expect_refusal(f"the control characters of {name!r}", 1, f"sum: {shown}No such", [name])

    for size in (1, 2, 3, 4001):
        expect_refusal(f"raw of {size} bytes", 1, "whole number", [write("o.f32", b"\1" * size)])
        expect_refusal(f"pipe of {size} bytes", 1, "within a float", ["-"], data=b"\1" * size)
    directory = os.open(FOLDER, os.O_RDONLY)
    expect_refusal("standard input is a directory", 1, "standard input: ", ["-"], stdin=directory)
    os.close(directory)

    def refuse(what, words, content):
        expect_refusal(".npy: " + what, 1, words, [write("r.npy", content)])

    other_formats(good)
    for descr in ("'<f8'", "'>f4'", "'<i4'", "'|b1'", "'<c8'", "'|S4'", "'<f2'", "'<M8[ns]'",
                  "'|O'"):
        refuse("type " + descr, f"its elements are {descr}, not float32",
               npy(uniform(6, 1), "(6,)", descr=descr))
    for kind in ("f2", "f8"):
        refuse(kind, f"; sum_mpi --type f{8 * int(kind[1])} sums these",
               npy([], "(0,)", descr=f"'<{kind}'"))
    refuse("records", "records, not float32", npy(uniform(6, 1), "(6,)", descr="[('x', '<f4')]"))
    for cut in (1, 4, 23, 24):
        refuse(f"short by {cut}", f"{24 - cut} bytes of data where its header promises 24",
               good[:-cut])
    refuse("a byte after", "1 bytes too many", good + b"\0")
    refuse("a float after", "4 bytes too many", good + b"\0" * 4)
    refuse("short by its shape", "bytes of data where", npy(uniform(6, 1), "(2, 4)"))
    refuse("long by its shape", "bytes too many", npy(uniform(6, 1), "(0, 3)"))
    refuse("other contents", "neither begins as", b"hello, w\0rld")
    for version, minor in ((0, 0), (4, 0), (1, 1), (255, 0)):
        refuse(f"version {version}.{minor}", f"format {version}.{minor}",
               good[:6] + bytes([version, minor]) + good[8:])
    for length in (1, 5):
        refuse(f"cut to {length} bytes", "neither begins as", good[:length])
    for length in (6, 7, 8, 9, 10, 30, 127):
        refuse(f"cut to {length} bytes", "ends within its header", good[:length])
        expect_refusal(f"standard input cut to {length} bytes", 1, "ends within its header", ["-"],
                       data=good[:length])
    for name in ("numbers", "<f8"):
        expect_refusal("standard input, a header", 1, "not", ["-"],
                       data=npy(uniform(6, 1), "(6,)", descr=f"'{name}'"))
    refuse("a header of 4 GB", "its header claims 4294967295 bytes",
           b"\x93NUMPY\2\0" + b"\xff" * 4 + good[10:])

    fields = "{'descr': '<f4', 'fortran_order': False, 'shape': (6,), }"
    for text in ("", " ", "{}", "hello", fields[1:], fields[:-1], "[" + fields[1:],
                 fields.replace("fortran", "f0rtran"),
                 fields.replace("'fortran_order': False, ", ""),
                 fields.replace("'descr': '<f4', ", ""), fields.replace("'shape': (6,), ", ""),
                 fields.replace("False", "false"), fields.replace("False", "0"),
                 fields.replace("'<f4'", "<f4"), fields.replace("'<f4'", "'<f4"),
                 fields.replace("<f4", "<f\n4"), fields.replace("<f4", "<" * 99),
                 fields.replace("'<f4',", "'<f4'"), fields.replace("False,", "False"),
                 fields.replace("': ", "' "), fields + "x", fields + fields, fields + "\0x",
                 fields[:9] + "\0" + fields[9:],
                 fields.replace("'shape'", "'descr': '<f4', 'shape'"),
                 fields.replace("}", "'more': 1}"), fields.replace("}", ", }")):
        refuse(f"header {text!r}", "not one that NumPy writes",
               npy_header(text) + pack(uniform(6, 1)))
    for shape in ("(-6,)", "6", "(6)", "(six,)", "(6", "(6,), 'shape': (6,)", "(2 3)", "(2,,3)",
                  "(,)", "(,6)", "[6]", "(6.0,)", "(+6,)", "(2; 3)", "(0x6,)", "()()", "((6,),)",
                  "None"):
        refuse("shape " + shape, "not one that NumPy writes", npy(uniform(6, 1), shape))
    for shape in ("(4294967296, 4294967296)", "(18446744073709551622,)",
                  "(18446744073709551615, 2)", "(4611686018427387904,)",
                  "(2305843009213693952, 8, 3)"):
        refuse("shape " + shape, "more elements than any file can hold", npy(uniform(6, 1), shape))

    # a pipe shows only at its end that it is too short or too long
    fifo = os.path.join(FOLDER, "bad.npy")
    os.mkfifo(fifo)
    for words, content in (("ends early, after 5 of 6 floats", good[:-4]),
                           ("bytes after its array", good + b"\0")):
        writer = threading.Thread(target=lambda: open(fifo, "wb", buffering=0).write(content))
        writer.start()
        expect_refusal("a named pipe: " + words, 1, words, [fifo])
        writer.join()
        expect_refusal("standard input: " + words, 1, words, ["-"], data=content)


def check_bad_command_lines():
    for what, words, arguments in (
            ("nothing", "no input", []), ("an option alone", "no input", ["--kernel", "host"]),
            ("an option", "no such option: --fast", ["--fast", "5"]),
            ("a short option", "no such option: -k", ["-k", "v1", "5"]),
            ("minus five", "no such option: -5", ["-5"]),
            ("no kernel", "a value is missing after --kernel", ["5", "--kernel"]),
            ("no block", "a value is missing after --block", ["5", "--block"])):
        expect_refusal(what, 2, words, arguments)
        # how to see the help of this very program, not of another that is called sum
        expect_refusal(what, 2, f" ({PROGRAM} --help tells more)", arguments)
    for kernel in ("v8", "V1", "", "v", "v10", "v1 ", "fast", "EXACT"):
        expect_refusal(f"kernel '{kernel}'", 2, "no such kernel: " + kernel,
                       ["--kernel", kernel, "5"])
    for block in ("0", "1", "16", "31", "33", "48", "2048", "x", "-32", "", "64x", "4294967328"):
        expect_refusal(f"block '{block}'", 2, "no such block size: " + block,
                       ["--block", block, "5"])
    for number in ("12x", "1KB", "2^", "2^x", "2^62", "2^64", "2^99999999999999999999", "3^40",
                   "1e", "1e19", "1e+3", "1.5G", "0x10", "4611686018427387904",
                   "18446744073709551616", "4294967296G", "5000000T", "16777216T", "1e20", "10^40",
                   "99999999999999999999K",
                   "1^63"):
        expect_refusal("number " + number, 2, f"no such number: {number}; numbers are like {FORMS}",
                       [number])

    if os.path.exists("/dev/full"):
        for argument in ("5", "--help"):
            with open("/dev/full", "wb") as full:
                done = run(argument, stdout=full)
            check_refusal("a full disk, " + argument, 1, "standard output: ", done.returncode, b"",
                          done.stderr)


def on_terminal(arguments, pieces):
    """What a terminal shows as standard error, while standard input gets pieces, a pause of some
    seconds after each."""
    master, slave = pty.openpty()
    process = subprocess.Popen([PROGRAM, *arguments], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=slave)
    os.close(slave)
    for piece, pause in pieces:
        process.stdin.write(piece)
        process.stdin.flush()
        time.sleep(pause)
    process.communicate()
    shown = b""
    try:
        while piece := os.read(master, 4096):
            shown += piece
    except OSError:  # how Linux tells the end
        pass
    os.close(master)
    return shown


def check_terminal():
    """On a terminal, a slow pipe shows its progress, from the first second on, and leaves none of
    it behind; a complaint has its own line."""
    if not pty:
        return "no pseudo-terminals"
    try:
        for descriptor in pty.openpty():
            os.close(descriptor)
    except OSError as error:  # a root folder without /dev/pts
        return str(error)
    where, number, end = rb"\rsumming on the CPU: ", rb"[\d.]+ [kMG]?(B|bytes)", rb"\x1b\[K"
    for last, wanted in ((b"\0\0\x80\x3f", rb""), (b"\1", rb"sum: [^\r\n]*\r\n")):
        shown = on_terminal(["-", "--kernel", "host"],
                            ((b"\0\0\x80\x3f" * 1000, 1.7), (last, 0)))
        progress = b"(" + where + rb"4 kB, " + number + b"/s" + end + rb")+\r" + end
        check(re.fullmatch(progress + wanted, shown), f"terminal: {shown!r}")
    # how much of it, how fast, how long to go; 100 % is never shown, as then the sum is
    array = npy([1.0] * 1000, "(1000,)")
    shown = on_terminal(["-", "--kernel=host"], ((array[:1128], 1.7), (array[1128:-1], 0.6),
                                                 (array[-1:], 0)))
    line = where + number + rb" of 4 kB, (\d+) %, " + number + rb"/s, (\d+) s left" + end
    found = [(int(m[2]), int(m[4])) for m in re.finditer(line, shown)]
    check(re.fullmatch(b"(" + line + b")+\r" + end, shown) and found[0] in ((25, 3), (25, 4)) and
          found[-1] == (99, 0) and sorted(found)[0] == found[0], f"terminal: {shown!r}")
    return None


if len(sys.argv) != 2:
    sys.exit("usage: test_sum.py PROGRAM")
PROGRAM = os.path.abspath(sys.argv[1])
ON_GPU = b"on the CPU" not in run("1").stdout
CHUNK = int(re.search(rb"in chunks of (\d+) MiB", run("--help").stdout)[1]) << 18
with tempfile.TemporaryDirectory() as FOLDER:
    for group in (self_check, check_generated, check_options, check_npy, check_numpy,
                  check_raw_and_pipes, check_several, check_generated_chunks, check_chunks,
                  check_special, check_bad_files, check_bad_command_lines, check_terminal):
        checks.run(group)
sys.exit(checks.finish("sum"))
