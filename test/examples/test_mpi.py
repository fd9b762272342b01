"""examples/sum_mpi from its command line: python3 test_mpi.py MPIRUN PROGRAM

The generator is written here a second time, in integers, and the array summed exactly and rounded
once, and in pairs by index: every number of ranks has to print those bits. Then files, and
failures, also of a single rank: each ends all ranks, with one line and the right exit status. Needs
the standard library alone. Exits with 77 where mpirun cannot start even `true`, or takes too long
to start anything.
"""
import fractions
import math
import os
import random
import re
import resource
import socket
import struct
import subprocess
import sys
import tempfile
import time

import checks

Fraction = fractions.Fraction
MASK = (1 << 64) - 1
check = checks.that


# ---- The oracle ----------------------------------------------------------------------------------


def generated(n):
    """The first n numbers of the array, in units of 2^-43."""
    for i in range(1, n + 1):
        z = i * 0x9E3779B97F4A7C15 & MASK
        z = (z ^ z >> 32) * 0xD6E8FEB86659FD93 & MASK
        z ^= z >> 32
        yield (2 * (z >> 41) + 1 - 2**23) << (z % 2**24 * 41 >> 24)


def f32_bits(x):
    """The bits of the float32 nearest to an exact rational, ties to even."""
    magnitude = abs(x)
    exponent = 0
    while magnitude >= Fraction(2) ** (exponent + 24):
        exponent += 1
    while exponent > -149 and magnitude < Fraction(2) ** (exponent + 23):
        exponent -= 1
    significand = round(magnitude / Fraction(2) ** exponent)  # Python rounds rationals half to even
    # a normal number's top bit and a carry out of rounding add to the exponent
    bits = min((exponent + 149 << 23) + significand, 0x7F800000)
    return bits | (1 << 31 if x < 0 else 0)


def float_bits(x):
    return struct.unpack("<I", struct.pack("<f", x))[0]


def f64_bits(x):
    """The bits of the double nearest to an exact rational, which Python rounds to itself."""
    return struct.unpack("<Q", struct.pack("<d", x.numerator / x.denominator))[0]


def bits_of_sum(values):
    if any(math.isnan(x) for x in values) or (math.inf in values and -math.inf in values):
        return 0x7FC00000
    for special in (math.inf, -math.inf):
        if special in values:
            return float_bits(special)
    return f32_bits(sum(map(Fraction, values), Fraction(0)))


def rounded(values, form):
    """The values as struct's form f or d has them: d leaves Python's floats as they are."""
    layout = struct.Struct(f"<{len(values)}{form}")
    return list(layout.unpack(layout.pack(*values)))


def pairwise(values, form, length=0):
    """AUTO's sum of at least one value: neighbours first, and the last of an odd number goes on as
    it is. Of two floats a sum in doubles rounds to theirs. Given a length, the sum of the sums of
    shards of that length."""
    if length:
        return pairwise([pairwise(values[i:i + length], form)
                         for i in range(0, len(values), length)], form)
    while len(values) > 1:
        odd = values[len(values) // 2 * 2:]
        values = rounded([x + y for x, y in zip(values[::2], values[1::2])], form) + odd
    return values[0]


def check_oracle():
    """Its rounding, by bits known by hand and by the processor's; and that the
    array's order matters, as claimed."""
    one = Fraction(1)
    for x, bits in ((0 * one, 0), (one, 0x3F800000), (one + one / 2**24, 0x3F800000),
                    (-5 * one, 0xC0A00000), (one + 3 * one / 2**24, 0x3F800002),
                    (2 - one / 2**25, 0x40000000), (one / 2**149, 1), (one / 2**150, 0),
                    (-3 * one / 2**150, 0x80000002), (one / 2**126, 0x00800000),
                    (Fraction(2) ** 128, 0x7F800000)):
        check(f32_bits(x) == bits, f"oracle: {x} gives {f32_bits(x):#x}")
    draw = random.Random(1)
    for _ in range(200):
        x = draw.uniform(-1, 1) * 2.0 ** draw.randint(-140, 120)
        check(f32_bits(Fraction(x)) == float_bits(x), f"oracle: {x!r}")

    array = [x / 2**43 for x in generated(20000)]
    check(all(x == struct.unpack("<f", struct.pack("<f", x))[0] != 0 for x in array),
          "a generated number is no float")
    sums = set()
    for values in (array, array[::-1], array[10000:] + array[:10000], sorted(array)):
        total = 0.0
        for x in values:
            total = struct.unpack("<f", struct.pack("<f", total + x))[0]
        sums.add(total)
    check(len(sums) > 1, "the order does not matter to a sum in float")
    check(pairwise(array[:5], "f") == rounded([rounded([rounded([array[0] + array[1]], "f")[0] +
          rounded([array[2] + array[3]], "f")[0]], "f")[0] + array[4]], "f")[0], "pairs of five")
    whole = pairwise(array, "f")
    check(all(pairwise(array, "f", 1 << k) == whole for k in range(16)), "oracle: shards of 2^k")
    check(any(pairwise(array, "f", length) != whole for length in (3, 1000, 6667, 10000)),
          "the length of shards does not matter to a sum in float")


# ---- Running the program -------------------------------------------------------------------------


def mpirun(*arguments):
    """The outcome of one mpirun, which must not hang."""
    try:
        return subprocess.run([MPIRUN, *OPTIONS, *arguments], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=60, check=False)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(arguments, -1, "", "hangs")


def expect_sum(what, ranks, argument, n, bits, options=(), form="f"):
    """form: of the sum, as struct has it: f or d."""
    done = mpirun("-n", str(ranks), PROGRAM, *options, argument)
    what += f", {ranks} ranks"
    fields = dict(line.split(None, 1) for line in done.stdout.splitlines())
    labels = ["sum", "bits", "n", "ranks", "ran", "time", "merge"]
    if not check(done.returncode == 0 and list(fields) == labels and "sum_mpi:" not in done.stderr,
                 f"{what}: exit {done.returncode}, {done.stdout!r}, {done.stderr!r}"):
        return
    digits, shown, words = (8, ".9g", "<I") if form == "f" else (16, ".17g", "<Q")
    wanted = f"{bits:#0{digits + 2}x}"
    check(fields["bits"] == wanted, f"{what}: bits {fields['bits']} instead of {wanted}")
    value = struct.unpack("<" + form, struct.pack(words, bits))[0]
    check(fields["sum"] == f"{value:{shown}}" or
          math.isnan(value) and fields["sum"].endswith("nan"),
          f"{what}: sum {fields['sum']} instead of {value:{shown}}")
    check(fields["n"] == str(n) and fields["ranks"] == str(ranks), f"{what}: {done.stdout!r}")
    kernel = "auto" if "auto" in options else "exact"
    ran = re.fullmatch(kernel + r", (\d+) on GPUs and (\d+) on CPUs", fields["ran"])
    check(ran and int(ran[1]) + int(ran[2]) == ranks,
          f"{what}: ran {fields['ran']}")
    check(re.fullmatch(r"[-+.e\d]+ s, [-+.e\d]+ GB/s", fields["time"]),
          f"{what}: time {fields['time']}")
    check(re.fullmatch(r"[-+.e\d]+ s", fields["merge"]), f"{what}: merge {fields['merge']}")


def expect_failure(what, status, words, *arguments):
    """The status of every rank, and one line on standard error between them all: each
    rank of WATCHED tells its own."""
    done = mpirun(*arguments)
    statuses = done.stdout.splitlines()
    ranks = sum(int(count) for option, count in zip(arguments, arguments[1:]) if option == "-n")
    check(statuses == [f"status {status}"] * ranks,
          f"{what}: exit {done.returncode}, {statuses} instead of {status}")
    lines = [line for line in done.stderr.splitlines() if "sum_mpi:" in line]
    check(len(lines) == 1 and words in lines[0],
          f"{what}: not one line with '{words}' in {done.stderr!r}")


def write(name, content):
    path = os.path.join(FOLDER, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as out:
        out.write(content)
    return path


def pack(values):
    return struct.pack(f"={len(values)}f", *values)


# ---- What must work, and what must fail ----------------------------------------------------------


def check_generated():
    chunk_and_5 = (1 << 20) + 5  # more than goes to a GPU at once
    wanted, total = {0: 0}, 0
    for n, x in enumerate(generated(chunk_and_5), 1):
        total += x
        if n in (6, 1024, 100003, chunk_and_5):
            wanted[n] = f32_bits(Fraction(total, 2**43))
    for text, n, ranks in (("0", 0, 3), ("6", 6, 7), ("1K", 1024, 3), ("1k", 1024, 2),
                           ("2^10", 1024, 2), ("100003", 100003, 1), ("100003", 100003, 2),
                           ("100003", 100003, 3), ("100003", 100003, 7),
                           (str(chunk_and_5), chunk_and_5, 1)):
        expect_sum("generated " + text, ranks, text, n, wanted[n])
    array = [x / 2**43 for x in generated(chunk_and_5)]
    for n, ranks in ((1, 2), (3, 7), (6, 2), (1025, 3), (chunk_and_5, 1), (chunk_and_5, 5)):
        expect_sum("AUTO, generated", ranks, str(n), n, float_bits(pairwise(array[:n], "f")),
                   ["--kernel", "auto"])
    expect_sum("AUTO of none", 3, "0", 0, 0, ["--kernel", "auto"])


def check_types():
    """Of each type, generated: what the program makes of the floats' bits, made here once more."""
    n = 10007
    floats = [x / 2**43 for x in generated(n + 1)]
    bits = [float_bits(x) for x in floats]
    arrays = {
        "f32": floats[:n],
        "f64": [x * y for x, y in zip(floats, floats[1:])],
        "bf16": [struct.unpack("<f", struct.pack("<I", b & 0xFFFF0000))[0] for b in bits[:n]],
        "f16": [struct.unpack("<e", struct.pack("<H", b >> 16 & 0x8000 | b >> 3 & 0x3FFF))[0]
                for b in bits[:n]]}
    for name, array in arrays.items():
        exact = sum(map(Fraction, array))
        wide = name == "f64"
        in_pairs = ["--type", name, "--kernel", "auto"]
        for ranks in (1, 2, 3, 4, 7):
            form = "d" if wide else "f"
            total = pairwise(array, form)
            expect_sum("AUTO of " + name, ranks, str(n), n,
                       f64_bits(Fraction(total)) if wide else float_bits(total), in_pairs, form)
            if ranks % 2 and not wide:
                squares = rounded([x * x for x in array], form)
                expect_sum("AUTO's squares of " + name, ranks, str(n), n,
                           float_bits(pairwise(squares, form)), [*in_pairs, "--op=sum_squares"])
        for ranks in (1, 3):
            expect_sum(name, ranks, str(n), n, f64_bits(exact) if wide else f32_bits(exact),
                       ["--type", name], "d" if wide else "f")
        if not wide:
            squares = sum(Fraction(x) ** 2 for x in array)
            expect_sum("squares of " + name, 3, str(n), n, f64_bits(squares),
                       ["--op=sum_squares", "--type=" + name], "d")

    values, halves = arrays["f64"], arrays["f16"]
    raw = struct.pack(f"<{n}d", *values)
    bits = f64_bits(sum(map(Fraction, values)))
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (10007,), }"
    npy = b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header
    for path in (write("a.f64", raw), write("b.npy", npy + raw)):
        expect_sum("doubles in a file", 2, path, n, bits, ["--type", "f64"], "d")
    raw = struct.pack(f"<{n}e", *halves)
    expect_sum("halves in a file", 2, write("a.f16", raw), n,
               f32_bits(sum(map(Fraction, halves))), ["--type", "f16"])
    for what, words, options, path in (
            ("doubles for floats", "its elements are '<f8', not float32 ('<f4')", [], "b.npy"),
            ("doubles for bf16", "its elements are '<f8', not bfloat16", ["--type", "bf16"],
             "b.npy"),
            ("an extension of another type", "that of raw floats, .f64", ["--type", "f64"],
             "a.f16"),
            ("half a double", "20014 bytes are not a whole number", ["--type", "f64"], "c.f64")):
        write("c.f64", raw)
        expect_failure(what, 1, words, "-n", "2", *WATCHED, *options, os.path.join(FOLDER, path))


def check_files():
    draw = random.Random(2)
    values = [draw.uniform(-1, 1) * 2.0 ** draw.randint(-100, 100) for _ in range(10007)]
    values = [struct.unpack("=f", struct.pack("=f", x))[0] for x in values]
    for ranks in (1, 2, 3, 7):
        expect_sum("a file", ranks, write("a.f32", pack(values)), len(values), bits_of_sum(values))
        expect_sum("AUTO of a file", ranks, write("a.f32", pack(values)), len(values),
                   float_bits(pairwise(values, "f")), ["--kernel=auto", "--kernel", "auto"])
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (10007,), }"
    array = b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header + pack(values)
    expect_sum("a .npy file", 3, write("a.npy", array), len(values), bits_of_sum(values))
    huge = struct.unpack("<f", b"\xff\xff\x7f\x7f")[0]
    for what, values in (("an overflow that cancels over the ranks",
                          [huge, huge, -huge, -huge, 1.5]),
                         ("infinities on different ranks", [math.inf, 1.0, 2.0, 3.0, -math.inf]),
                         ("an infinity on the last rank", [1.0, 2.0, -math.inf])):
        expect_sum(what, 3, write("s.f32", pack(values)), len(values), bits_of_sum(values))


def check_memory():
    """A file of holes, 1 GB, never is in memory."""
    n = 1 << 28
    with open(os.path.join(FOLDER, "holes.f32"), "wb") as file:
        file.truncate(4 * n)
        file.write(pack([2.5, -1.0]))
    expect_sum("a large file", 2, file.name, n, float_bits(1.5))
    used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
    check(used < 400, f"{used} MB of memory for a file of 1024")
    os.remove(file.name)


def check_command_lines():
    for what, words, arguments in (("nothing", "no input", []),
                                   ("two inputs", "more than one input: 6", ["5", "6"]),
                                   ("an option", "no such option: --fast", ["5", "--fast"]),
                                   ("an option after --", "no input", ["--"]),
                                   ("a number", "no such number: 12x; numbers are like 1000,",
                                    ["12x"]),
                                   ("a type", "no such type of floats: i32", ["--type", "i32"]),
                                   ("no type", "a value is missing after --type", ["--type"]),
                                   ("an operator", "neither sum nor sum_squares: max",
                                    ["--op", "max", "5"]),
                                   ("a kernel", "neither exact nor auto: v7",
                                    ["--kernel=v7", "5"]),
                                   ("squares of doubles", "no squares of f64",
                                    ["--op", "sum_squares", "--type", "f64", "5"])):
        expect_failure(what, 2, words, "-n", "2", *WATCHED, *arguments)
    if not TWO_PROGRAMS_CRASH:
        expect_failure("a wrong command line on one rank", 2, "no such option: --fast", "-n", "2",
                       *WATCHED, "5", ":", "-n", "1", *WATCHED, "--fast")
        for one, two in (("--help", "100"), ("100", "--help"), ("--fast", "-h")):
            done = mpirun("-n", "1", PROGRAM, one, ":", "-n", "1", PROGRAM, two)
            wanted = (2, "") if one == "--fast" else (0, "usage: ")
            check(done.returncode == wanted[0] and done.stdout.startswith(wanted[1]) and
                  done.stdout.count("usage: ") == wanted[1].count("usage: "),
                  f"{one} on one rank, {two} on another: exit {done.returncode}, {done.stdout!r}")
    done = mpirun("-n", "2", PROGRAM)
    check(done.returncode == 2 and done.stdout == "",
          f"mpirun's own exit status is {done.returncode}")
    for option, begin in (("--help", "usage: "), ("-h", "usage: "), ("--version", "sum_mpi (")):
        done = mpirun("-n", "2", PROGRAM, option)
        check(done.returncode == 0 and done.stdout.startswith(begin) and
              done.stdout.count(begin) == 1, option)


def check_failures():
    one_float = pack([1.0])
    for what, words, path in (("a missing file", "No such file",
                               os.path.join(FOLDER, "missing.f32")),
                              ("half a float", "6 bytes are not a whole number of floats",
                               write("h.f32", b"123456")),
                              ("a directory", "is a directory", FOLDER),
                              ("an extension", "neither begins as a .npy file does, nor",
                               write("a.npy", one_float)),
                              ("standard input", "is not a regular file", "-"),
                              ("a name with control characters", "a?b?: No such file",
                               "a\nb\x1b")):
        expect_failure(what, 1, words, "-n", "2", *WATCHED, path)

    # one rank alone fails, and takes the others with it: the ranks' folders differ
    if TWO_PROGRAMS_CRASH:
        return check_full_disk()
    write("one/x.f32", pack([1.0, 2.0]))
    write("two/x.f32", one_float)
    for what, words, folder in (("a file that one rank lacks",
                                 "rank 2: x.f32: No such file", FOLDER),
                                ("a file of two sizes", "x.f32: its size is not the same on all",
                                 os.path.join(FOLDER, "two"))):
        expect_failure(what, 1, words, "-n", "2", "-wdir", os.path.join(FOLDER, "one"), *WATCHED,
                       "x.f32", ":", "-n", "1", "-wdir", folder, *WATCHED, "x.f32")
    expect_failure("numbers of two sizes", 1, "rank 0: 7: its size is not the same on all", "-n",
                   "2", *WATCHED, "7", ":", "-n", "1", *WATCHED, "8")
    check_full_disk()


def check_full_disk():
    if os.path.exists("/dev/full"):  # without mpirun, which would stand between
        with open("/dev/full", "wb") as full:
            done = subprocess.run([PROGRAM, "5"], stdin=subprocess.DEVNULL, stdout=full,
                                  stderr=subprocess.PIPE, text=True, timeout=60, check=False)
        check(done.returncode == 1 and "standard output: " in done.stderr, f"a full disk: {done}")


if len(sys.argv) != 3:
    sys.exit("usage: test_mpi.py MPIRUN PROGRAM")
MPIRUN, PROGRAM = sys.argv[1], os.path.abspath(sys.argv[2])
WATCHED = ["sh", "-c", '"$@"; echo "status $?"', "sh", PROGRAM]
OPTIONS = []
if "Open MPI" in subprocess.run([MPIRUN, "--version"], capture_output=True, text=True,
                                check=False).stdout:
    OPTIONS = ["--oversubscribe"]
    # root in a container, more ranks than cores, one machine without a network and perhaps without
    # ssh; and no second of waiting after each failure
    for name, value in (("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
                        ("OMPI_MCA_plm_rsh_agent", "/bin/true"), ("OMPI_MCA_pml", "ob1"),
                        ("OMPI_MCA_btl", "^openib,tcp,ofi,uct,usnic"),
                        ("OMPI_MCA_mpi_yield_when_idle", "1"),
                        ("OMPI_MCA_oob_tcp_if_include", "lo"),
                        ("OMPI_MCA_btl_vader_single_copy_mechanism", "none"),
                        ("OMPI_MCA_odls_base_sigkill_timeout", "0")):
        os.environ.setdefault(name, value)
# leaks: MPI's own; null: an allocation that is too large is one of the tests
os.environ.setdefault("ASAN_OPTIONS", "detect_leaks=0:allocator_may_return_null=1")
trial = mpirun("-n", "2", "true")
if trial.returncode != 0:
    print("SKIP: mpirun cannot start a program here:", " ".join(trial.stderr.split())[:120])
    sys.exit(77)
began = time.monotonic()
mpirun("-n", "2", PROGRAM, "5")
took = time.monotonic() - began
if took > 3:  # the other hundred runs would, too
    try:
        socket.gethostbyname(socket.gethostname())
        socket.gethostbyname("localhost")
    except OSError as error:
        print(f"SKIP: a program takes {took:.1f} s to start, as the name of this host does not "
              f"resolve: {error}")
        sys.exit(77)
# Open MPI 5.0.7 crashes at the colon between two programs, whichever they are
TWO_PROGRAMS_CRASH = mpirun("-n", "1", "true", ":", "-n", "1", "true").returncode < 0
if TWO_PROGRAMS_CRASH:
    print("skip: one rank that differs from the others (this mpirun crashes where it starts two "
          "programs)")
with tempfile.TemporaryDirectory() as FOLDER:
    for group in (check_oracle, check_generated, check_types, check_files, check_memory,
                  check_command_lines, check_failures):
        checks.run(group)
sys.exit(checks.finish("sum_mpi"))
