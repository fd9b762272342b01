"""Breaks fastreduce.h and fastreduce.cuh in small ways, one at a time, and demands that the tests on the CPU notice: every
barrier is taken out, and every edit of the tables in mutant_edits.py is made.

python3 mutants.py ROOT [CXX [WORD]]   a line for each; exit 1 if one goes unnoticed. WORD: only lines that have it

Compiling takes longer than testing, so many edits go into one build, each behind a switch that the environment variable
MUTANT turns on: (mutant == 7 ? (new) : (old)). Edits of what has to be constant are built alone.
"""
import collections
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

import mutant_edits

SWITCH = """#include <stdlib.h>
static int mutant;
__attribute__((constructor)) static void choose_mutant(void)
{
    const char *text = getenv("MUTANT");
    mutant = text ? atoi(text) : 0;
}
"""
BARRIER = re.compile(r"\b(?:__syncthreads|__syncwarp)\(\)")
FUNCTION = re.compile(r"\b(?!__)(\w+)\([^;{}]*\)(?: const)?(?:\s*: [^;{}]*)?\s*\{")
HANGS_AFTER = 4  # times as long as the test takes without a change

Mutant = collections.namedtuple("Mutant", "number file begin end new tests alone line words")


def blank(source):
    """The source with spaces for what is in comments."""
    return re.sub(r"/\*.*?\*/|//[^\n]*", lambda m: re.sub(r"[^\n]", " ", m.group()), source, flags=re.S)


def closing(code, opening):
    """Where the brace or parenthesis at `opening` is closed."""
    pair = {"(": ")", "{": "}"}[code[opening]]
    depth = 0
    for at in range(opening, len(code)):
        depth += (code[at] == code[opening]) - (code[at] == pair)
        if depth == 0:
            return at
    raise ValueError("unbalanced")


def bodies(code, name):
    """Spans of the functions called `name`, with their parameters, or of the struct; "a::b" is b in a; "" is all."""
    spans = [(0, len(code))]
    for part in filter(None, name.split("::")):
        structs, functions = [], []
        for begin, end in spans:
            for match in re.compile(r"\bstruct %s\b[^;{}()]*\{" % re.escape(part)).finditer(code, begin, end):
                structs.append((match.start() + len("struct"), closing(code, match.end() - 1)))
            for match in re.compile(r"(?<!\w)%s\)?\(" % re.escape(part)).finditer(code, begin, end):
                after = closing(code, match.end() - 1) + 1
                head = re.compile(r"(?: const)?(?:\s*: [^;{}]*)?\s*\{").match(code, after)
                if head:
                    functions.append((match.start(), closing(code, head.end() - 1)))
        spans = structs or functions
    return spans


def loose(text):
    """A pattern that matches the text with any white space where it has some."""
    return r"\s+".join(re.escape(word) for word in re.split(r"\s+", text))


def edits_of(sources):
    """All mutants: each barrier, then the tables."""
    mutants = []

    def add(file, begin, end, new, tests, alone, scope):
        text = sources[file]
        words = f"{text[begin:end]} -> {new}" if new != "(void)0" else text[begin:end]
        words = re.sub(r"\s+", " ", f"{words} in {scope or 'the file'}")
        mutants.append(Mutant(len(mutants) + 1, file, begin, end, new, tests, alone,
                              text.count("\n", 0, begin) + 1, words))

    code = {file: blank(text) for file, text in sources.items()}
    for match in BARRIER.finditer(code["fastreduce.cuh"]):
        function = [m for m in FUNCTION.finditer(code["fastreduce.cuh"], 0, match.start())
                    if m.group(1) not in ("if", "for", "while", "switch")
                    and closing(code["fastreduce.cuh"], m.end() - 1) > match.start()][-1].group(1)
        add("fastreduce.cuh", *match.span(), "(void)0", mutant_edits.BARRIER_TESTS, False, function)
    for file, scope, tests, alone, table in mutant_edits.TABLES:
        spans = bodies(code[file], scope)
        if not spans:
            raise SystemExit(f"{file} has no {scope}")
        for old, new in table:
            before, marked, after = ("", old, "") if "@" not in old else old.split("@")
            pattern = re.compile(loose(before) + "(" + loose(marked) + ")" + loose(after))
            places = [m.span(1) for begin, end in spans for m in pattern.finditer(code[file], begin, end)]
            if len(places) != 1:
                raise SystemExit(f"'{old}' occurs {len(places)} times in {scope or 'the file'} of {file}, not once")
            add(file, *places[0], new, tests, alone, scope)
    return mutants


def with_switches(source, mutants, begin=0, end=None):
    """The source, or a part, with each mutant behind its switch; lines keep their numbers."""
    end = len(source) if end is None else end
    parts, at = [], begin
    while mutants:
        outer = min(mutants, key=lambda m: (m.begin, -m.end))
        span = outer.begin, outer.end
        here = [m for m in mutants if (m.begin, m.end) == span]
        inside = [m for m in mutants if m not in here and m.begin < outer.end]
        mutants = [m for m in mutants if m.begin >= outer.end]
        text = with_switches(source, inside, *span)
        for m in here:
            if m.alone:
                text = m.new
            elif source[outer.end - 1] in ";}":
                text = f"{{ if (mutant == {m.number}) {{ {m.new} }} else {{ {text} }} }}"
            else:
                text = f"(mutant == {m.number} ? ({m.new}) : ({text}))"
        parts += [source[at:outer.begin], text]
        at = outer.end
    return "".join(parts) + source[at:end]


def can_share(a, b):
    """Whether two mutants fit into one build: apart, or one in the other."""
    apart = a.file != b.file or a.end <= b.begin or b.end <= a.begin
    nested = a.begin <= b.begin and b.end <= a.end or b.begin <= a.begin and a.end <= b.end
    return not a.alone and not b.alone and (apart or nested)


def grouped(mutants):
    """Lists of mutants that share a build."""
    groups = []
    for m in mutants:
        group = next((g for g in groups if all(can_share(m, other) for other in g)), None)
        if group is None:
            groups.append([m])
        else:
            group.append(m)
    return groups


class Build:
    """A version of the library with the switches of a group, and its tests as they are asked for."""

    def __init__(self, root, compiler, sources, group, folder):
        self.compiler, self.folder, self.limit = compiler, folder, {}
        shutil.copytree(os.path.join(root, "test"), os.path.join(folder, "test"))
        for file, source in sources.items():
            with open(os.path.join(folder, file), "w", encoding="utf-8") as out:
                out.write(with_switches(source, [m for m in group if m.file == file]))
        with open(os.path.join(folder, "mutant.h"), "w", encoding="utf-8") as out:
            out.write(SWITCH)

    def compile(self, test):
        """None, or what the compiler says of a static assertion that fails."""
        source, flags = mutant_edits.TESTS[test]
        compiler = [self.compiler, "-std=c++17"] if source.endswith("cpp") else [mutant_edits.C_COMPILER, "-std=c99"]
        built = subprocess.run(
            compiler + ["-O1", "-g1", "-w", "-DCHECK_STOPS", "-include", "mutant.h", "-I", ".", "-I", "test/simt",
                        "test/" + source, "-o", test] + flags, cwd=self.folder, capture_output=True, text=True, check=False)
        if built.returncode == 0:
            return None
        said = re.search(r"error: (static assertion failed.*)", built.stderr)
        if not said:
            errors = [line for line in built.stderr.splitlines() if "error: " in line]
            raise RuntimeError("\n".join([test + " does not compile:"] + errors[:20]))
        return said.group(1)

    def run(self, test, number):
        """None, or how the test fails. The first run is to be one without a change."""
        started = time.monotonic()
        try:
            ran = subprocess.run([os.path.join(self.folder, test)], env=dict(os.environ, MUTANT=str(number)),
                                 capture_output=True, text=True, timeout=self.limit.get(test, 120), check=False, errors="replace")
        except subprocess.TimeoutExpired:
            return "it hangs"
        if ran.returncode == 0:
            self.limit.setdefault(test, 2 + HANGS_AFTER * (time.monotonic() - started))
            return None
        said = [line for line in (ran.stdout + ran.stderr).splitlines() if line.startswith(("FAIL: ", "out of bounds"))]
        return said[0].replace("FAIL: ", "") if said else f"exit {ran.returncode}"


def main():
    root = os.path.abspath(sys.argv[1])
    compiler = sys.argv[2] if len(sys.argv) > 2 else "c++"
    sources = {}
    for file in ("fastreduce.h", "fastreduce.cuh"):
        with open(os.path.join(root, file), encoding="utf-8") as text:
            sources[file] = text.read()
    mutants = edits_of(sources)
    chosen = [m for m in mutants if len(sys.argv) < 4 or sys.argv[3] in m.words]
    started = time.monotonic()
    results = {}

    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        def prepare(build, test):
            """Compiles a test and runs it without a change; None, or what goes wrong."""
            return build.compile(test) or build.run(test, 0)

        def kill(build, m):
            """What the first test says that notices."""
            for test in m.tests:
                said = prepare(build, test) if m.alone else build.run(test, m.number)
                if said:
                    return f"{said} ({test})"
            return None

        jobs, prepared = {}, []
        for number, group in enumerate(sorted(grouped(chosen), key=len, reverse=True)):
            build = Build(root, compiler, sources, group, os.path.join(scratch, str(number)))
            tests = [] if group[0].alone else sorted({test for m in group for test in m.tests})
            prepared.append((build, group, [(test, pool.submit(prepare, build, test)) for test in tests]))
        for build, group, tests in prepared:
            for test, job in tests:
                if job.result():
                    print(f"{test} fails without any change: {job.result()}")
                    return 1
            for m in group:
                jobs[m.number] = pool.submit(kill, build, m)
        for m in chosen:
            results[m.number] = jobs[m.number].result()
            print(f"{m.file}:{m.line} {m.words}: "
                  + (f"killed: {results[m.number]}" if results[m.number] else "SURVIVED"), flush=True)

    survivors = sum(1 for m in chosen if not results[m.number])
    barriers = sum(1 for m in chosen if m.new == "(void)0")
    print(f"mutants: {len(chosen)}, of which {barriers} take out a barrier: {survivors} survived "
          f"({time.monotonic() - started:.0f} s)")
    return 1 if survivors or len(mutants) < 200 else 0


if __name__ == "__main__":
    sys.exit(main())
