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
FUNCTION = re.compile(r"\b(\w+)\([^;{}]*\)(?: const)?(?:\s*: [^;{}]*)?\s*\{")
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
            for match in re.compile(r"(?<!\w)%s\(" % re.escape(part)).finditer(code, begin, end):
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


def with_switches(source, mutants):
    """The source with each mutant behind its switch; lines keep their numbers."""
    by_span = collections.defaultdict(list)
    for m in mutants:
        by_span[m.begin, m.end].append(m)
    for (begin, end), here in sorted(by_span.items(), reverse=True):
        text = old = source[begin:end]
        for m in here:
            if m.alone:
                text = m.new
            elif old[-1] in ";}":
                text = f"{{ if (mutant == {m.number}) {{ {m.new} }} else {{ {text} }} }}"
            else:
                text = f"(mutant == {m.number} ? ({m.new}) : ({text}))"
        source = source[:begin] + text + source[end:]
    return source


def grouped(mutants):
    """Lists of mutants that can share a build: spans are equal or apart."""
    groups = []
    for m in mutants:
        for group in groups:
            if not m.alone and not group[0].alone and all(
                    other.file != m.file or other.end <= m.begin or m.end <= other.begin
                    or (other.begin, other.end) == (m.begin, m.end) for other in group):
                group.append(m)
                break
        else:
            groups.append([m])
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
        def try_mutant(build, m, tests):
            for test in tests:
                said = build.run(test, m.number)
                if said:
                    return f"{said} ({test})"
            return None

        def compiled(build, m, tests):
            """A mutant that is built alone."""
            for test in tests:
                said = build.compile(test) or build.run(test, 0)
                if said:
                    return f"{said} ({test})"
            return None

        jobs, after = {}, []
        for number, group in enumerate(grouped(chosen)):
            build = Build(root, compiler, sources, group, os.path.join(scratch, str(number)))
            if group[0].alone:
                jobs[group[0].number] = pool.submit(compiled, build, group[0], group[0].tests)
                continue
            tests = {test for m in group for test in m.tests}
            after.append((build, group, {test: pool.submit(build.compile, test) for test in sorted(tests)}))
        for build, group, builds in after:
            for test, job in builds.items():
                if job.result():
                    raise RuntimeError(job.result())
            whole = [(test, pool.submit(build.run, test, 0)) for test in builds]
            for test, job in whole:
                if job.result():
                    print(f"{test} fails without any change: {job.result()}")
                    return 1
            for m in group:
                jobs[m.number] = pool.submit(try_mutant, build, m, m.tests)
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
