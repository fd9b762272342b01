"""Breaks fastreduce.h and fastreduce.cuh in small ways, one at a time, and demands that the tests
on the CPU notice.

python3 mutants.py ROOT [CXX [WORD]] [--all | --count | --sample=N[.SEED]] [--tests=NAME,...]

A line for each change; exit 1 if one goes unnoticed. WORD: only changes whose line has it (as a
regular expression), or, if it is as 690-3190, that are in these lines of fastreduce.cuh. --all:
every change, where a share of them is tried otherwise, and those that no test can notice, to see
that none does. --sample: so many of those that WORD means, at random, another sample by another
seed. --tests: builds and runs these tests alone, by their names in mutant_list.py: a sample of a
room takes minutes by the tests of that room. --count: tries none; exit 1 if the source cannot be
read, or mutant_list.py is not of it.

mutant_source.py lists the changes, from the source as it is. mutant_list.py has a few more, which
take knowledge, and says which changes no test can notice. Compiling takes longer than testing, so
all that are tried go into one build of each test, each behind a switch that the environment
variable MUTANT turns on: (mutant == 7 ? (new) : (old)). A run without a change notes which switches
a test comes by, and how often it goes round each loop: only tests that come by a change try it, and
going round a loop far oftener ends a run.
"""
import collections
import concurrent.futures
import copy
import functools
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zlib

import mutant_list
import mutant_source

FILES = ("fastreduce.h", "fastreduce.cuh")
SHARE = 6  # % of the changes that are tried without --all
MOST_UNREAD = 250  # lines of code without a change; more mean that they are not read
COMPILES = 8  # of a test at the most; each time less what the compiler refuses
HANGS_AFTER = 8  # times as long as the test takes without a change

SWITCH = """
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/resource.h>
static int mutant;
static unsigned char mutant_reached[%d];
/* Most rounds of a loop, by its number: without a change, those there were. */
static unsigned long long mutant_most[%d];
static int mutant_measures;
#define MUTANT_AT(first, count) \\
    (mutant_reached[first] = 1, (unsigned)(mutant - first) < count)
/* in constexpr functions: not where the compiler evaluates them */
#define MUTANT_AT_RUN_TIME(first, count) \\
    (!__builtin_is_constant_evaluated() && MUTANT_AT(first, count))
#define MUTANT_ROUND(loop) \\
    (++mutant_rounds > mutant_most[loop] ? mutant_goes_on(loop, mutant_rounds) : (void)0)
static void mutant_goes_on(int loop, unsigned long long rounds)
{
    if (mutant_measures) {
        mutant_most[loop] = rounds;
        return;
    }
    printf("FAIL: it hangs\\n");
    fflush(stdout);
    _exit(97);
}
__attribute__((unused)) static int mutant_forever(void)
{
    unsigned long long mutant_rounds = 0;
    for (;;) MUTANT_ROUND(0);
}
__attribute__((constructor)) static void mutant_begin(void)
{
    const char *number = getenv("MUTANT"), *name = getenv("MUTANT_MEASURED");
    struct rlimit memory = {4ull << 30, 4ull << 30}, none = {0, 0};
    FILE *file;
    size_t loop;
    mutant = number ? atoi(number) : 0;
    mutant_measures = !mutant;
    setrlimit(RLIMIT_AS, &memory);
    setrlimit(RLIMIT_CORE, &none);
    if (mutant_measures) return;
    file = fopen(name, "rb");
    if (!file || fread(mutant_most, sizeof mutant_most, 1, file) != 1) abort();
    fclose(file);
    for (loop = 0; loop < sizeof mutant_most / sizeof *mutant_most; ++loop)
        mutant_most[loop] = 1000 + 10 * mutant_most[loop];
}
__attribute__((destructor)) static void mutant_end(void)
{
    FILE *file = mutant_measures ? fopen(getenv("MUTANT_MEASURED"), "wb") : NULL;
    if (!file) return;
    fwrite(mutant_most, sizeof mutant_most, 1, file);
    fwrite(mutant_reached, sizeof mutant_reached, 1, file);
    fclose(file);
}
#ifdef __cplusplus
#include <type_traits>
/* One operand instead of both: of the type of both, or the end of the program. */
template <class Both, class One>
Both mutant_as(One one)
{
    if constexpr (std::is_convertible<One, Both>::value) return static_cast<Both>(one);
    abort();
}
/* One more, of what can be added to. */
template <class T>
constexpr auto mutant_next(T x)
{
    if constexpr (std::is_arithmetic<T>::value || std::is_pointer<T>::value ||
                  std::is_convertible<T, int>::value)
        return x + 1;
    else
        return x;
}
#else
#define mutant_next(x) ((x) + 1)
#endif
"""

# number: what MUTANT chooses it by; site: the least number at its place
Mutant = collections.namedtuple("Mutant", "number site change line")


# ---- The source with switches

def compiler_of(test, cxx):
    """The command that compiles a test, its source, and what comes behind."""
    source, flags = mutant_list.TESTS[test]
    command = [cxx, "-std=c++17"] if source.endswith("cpp") else \
        [mutant_list.C_COMPILER, "-std=c99"]
    return command + ["-w", "-DCHECK_STOPS", "-I", "test/simt"], "test/" + source, flags


def active_lines(root, cxx):
    """By file, the lines that the compiler sees in any of the tests."""
    active = {file: set() for file in FILES}
    for test in mutant_list.TESTS:
        command, source, flags = compiler_of(test, cxx)
        said = subprocess.run(command + ["-E", source] + [f for f in flags if f[:2] == "-D"],
                              cwd=root, capture_output=True, text=True, check=True).stdout
        lines, number = None, 0
        for line in said.splitlines():
            marker = re.match(r'# (\d+) "([^"]*)"', line)
            if marker:
                number = int(marker.group(1))
                lines = active.get(os.path.basename(marker.group(2)))
                continue
            if lines is not None and line.strip():
                lines.add(number)
            number += 1
    return active


def with_switches(source, name, mutants, loops, typed, first_loop):
    """The source of a file with each mutant behind its switch, and loops that count their rounds.
    A new text is in a file of its own, "mutant", for the compiler to name where it refuses it.
    typed: in C++, where one operand instead of two has to be of their type."""
    starts = mutant_source.line_starts(source)
    spans = collections.defaultdict(list)
    for m in mutants:
        spans[m.change.begin, -m.change.end].append(m)
    numbers = {loop: number for number, loop in enumerate(loops, first_loop)}
    around = {loop[:2]: loop for loop in loops}
    within = {loop[2:]: loop for loop in loops}
    for begin, end in list(around) + list(within):
        spans[begin, -end] += []  # a span, with mutants or without
    order = sorted(spans)
    at = 0

    def render(begin, end):
        """A part of the source; the spans that begin in it are taken from the list."""
        nonlocal at
        parts = []
        while at < len(order) and order[at][0] < end:
            span = order[at][0], -order[at][1]
            if span[1] > end:
                raise SystemExit(f"{name}: '{source[slice(*span)]}' overlaps another change")
            here = spans[order[at]]
            at += 1
            parts += [source[begin:span[0]], switched(here, span, render(*span))]
            begin = span[1]
        return "".join(parts) + source[begin:end]

    def switched(here, span, text):
        """A part with its mutants."""
        where = f'\n# {mutant_source.line_of(starts, span[0])} "{name}"\n'
        others = [m for m in here if m.change.new != ""]
        if others:
            chain = ""
            for m in others:
                chain += ("" if m is others[-1] else f"mutant == {m.number} ?") + \
                    f'\n# {m.number} "mutant"\n({new_of(m.change)})' + \
                    ("" if m is others[-1] else " : ")
            old = f"!!({text})" if all(m.change.truth for m in others) else f"({text})"
            count = others[-1].number - others[0].site + 1
            text = f"({at_of(others[0])}({others[0].site}, {count}) ? ({chain}) :{where}{old})"
        for m in here:
            if m.change.new == "":
                text = f"{{ if (!{at_of(m)}({m.number}, 1)) {{ {text} }} }}"
        if span in around: # a loop may be all that another one repeats
            text = f"{{ unsigned long long mutant_rounds = 0; {text} }}"
        if span in within:
            text = f"{{ MUTANT_ROUND({numbers[within[span]]}); {text} }}"
        return text

    def new_of(change):
        """The new text, of the old one's type."""
        if change.operator == "next":
            return f"mutant_next({source[change.begin:change.end]})".replace("\n", " ")
        if typed and change.operator in ("left", "right"):
            old = re.sub(r"\s+", " ", source[change.begin:change.end])
            return f"mutant_as<__typeof__({old})>({change.new})"
        return change.new

    def at_of(m):
        return "MUTANT_AT_RUN_TIME" if m.change.constant else "MUTANT_AT"

    # inlining takes the compiler ten times as long, for little at run time
    return render(0, len(source)).replace("__forceinline__", "inline")


class Build:
    """A test of the library with its switches."""

    def __init__(self, test, folder, cxx):
        self.test, self.folder, self.cxx, self.loops = test, folder, cxx, 0
        self.command = [os.path.join(folder, test)]
        self.refused, self.reached, self.seconds = set(), b"", 0

    def compile(self, root, sources, loops, mutants):
        """Compiles with all of these changes that the compiler takes."""
        self.loops = sum(len(loops[file]) for file in FILES)
        os.makedirs(self.folder)
        shutil.copytree(os.path.join(root, "test"), os.path.join(self.folder, "test"))
        with open(os.path.join(self.folder, "mutant.h"), "w", encoding="utf-8") as out:
            out.write(SWITCH % (mutants[-1].number + 1, self.loops))
        command, test_source, flags = compiler_of(self.test, self.cxx)
        first = dict(zip(FILES, (0, len(loops[FILES[0]])))) # numbers of loops
        # the real tests have all sanitizers; these take next to no time
        command += ["-O1", "-fsanitize=bounds-strict,alignment,shift-exponent",
                    "-fsanitize-undefined-trap-on-error",
                    "-Wno-narrowing", "-fmax-errors=0", "-include", "mutant.h", test_source]
        for _ in range(COMPILES):
            for file in FILES:
                with open(os.path.join(self.folder, file), "w", encoding="utf-8") as out:
                    out.write(with_switches(
                        sources[file], file, [m for m in mutants if m.change.file == file and
                                              m.number not in self.refused],
                        loops[file], test_source.endswith("cpp"), first[file]))
            built = subprocess.run(command + ["-o", self.test] + flags, cwd=self.folder,
                                   capture_output=True, text=True, check=False)
            if built.returncode == 0:
                return
            refused = {int(number) for number in
                       re.findall(r"^mutant:(\d+):.*error: ", built.stderr, re.M)}
            if not refused:
                break
            self.refused |= refused
        errors = [line for line in built.stderr.splitlines() if "error: " in line]
        raise SystemExit("\n".join([f"{self.test} does not compile:"] + errors[:20]))

    def parts(self):
        """The test; where it runs in parts, one after the other with an argument each, those."""
        def part(argument):
            made = copy.copy(self)
            made.test, made.command = f"{self.test} {argument}", self.command + [argument]
            return made

        return [part(argument) for argument in mutant_list.PARTS.get(self.test, [])] or [self]

    def measured(self):
        """The file that says what the test does without a change."""
        return ".".join(self.command) + ".measured"

    def compile_alone(self, root, sources, change):
        """Compiles with one change and no switches; what a static assertion says that fails."""
        os.makedirs(self.folder)
        shutil.copytree(os.path.join(root, "test"), os.path.join(self.folder, "test"))
        for file in FILES:
            text = sources[file]
            if file == change.file:
                text = text[:change.begin] + change.new + text[change.end:]
            with open(os.path.join(self.folder, file), "w", encoding="utf-8") as out:
                out.write(text)
        command, test_source, flags = compiler_of(self.test, self.cxx)
        built = subprocess.run(command + [test_source, "-o", self.test] + flags, cwd=self.folder,
                               capture_output=True, text=True, check=False)
        if built.returncode == 0:
            return None
        said = re.search(r"error: (static assertion failed.*)", built.stderr)
        if said:
            return said.group(1)
        raise SystemExit(f"{words_of(change)}: {built.stderr}")

    def measure(self):
        """Runs without a change, and notes what it does; what fails."""
        started = time.monotonic()
        said = self.run(0)
        self.seconds = time.monotonic() - started
        if not said:
            with open(self.measured(), "rb") as file:
                self.reached = file.read()[8 * self.loops:]
        return said

    def run(self, number):
        """None, or how the test fails with this change."""
        settings = {"MUTANT": str(number), "MUTANT_MEASURED": self.measured()}
        try:
            ran = subprocess.run(self.command, env=settings, capture_output=True, text=True,
                                 check=False, errors="replace",
                                 timeout=1 + HANGS_AFTER * self.seconds if self.seconds else 120)
        except subprocess.TimeoutExpired:
            return "it hangs"
        if ran.returncode == 0:
            return None
        said = [line for line in (ran.stdout + ran.stderr).splitlines()
                if line.startswith(("FAIL: ", "out of bounds"))]
        return said[0].replace("FAIL: ", "") if said else f"exit {ran.returncode}"

    def comes_by(self, m):
        """Whether the test can notice a mutant."""
        return m.number not in self.refused and self.reached[m.site] != 0


class Judge:
    """Runs the tests that can notice a mutant, first those that are the most likely to do it soon,
    by what they did for its function and its file."""

    def __init__(self, builds):
        self.builds = builds
        self.tried, self.kills, self.spent = (collections.Counter() for _ in range(3))

    def kill(self, m):
        """How a test notices; None if none does."""
        can = [build for build in self.builds if build.comes_by(m)]
        if not can and any(m.number in build.refused for build in self.builds):
            return "the compiler refuses it"

        def kills_a_second(build):
            function, file = ((name, build.test) for name in (m.change.function, m.change.file))
            likely = (self.kills[file] + 1) / (self.tried[file] + 2)
            return (self.kills[function] + likely) / (self.spent[function] + build.seconds)

        for build in sorted(can, key=kills_a_second, reverse=True):
            started = time.monotonic()
            said = build.run(m.number)
            for name in (m.change.function, m.change.file):
                self.tried[name, build.test] += 1
                self.kills[name, build.test] += bool(said)
                self.spent[name, build.test] += time.monotonic() - started
            if said:
                return f"{said} ({build.test})"
        return None


# ---- Which changes

def words_of(change):
    """What is printed of a change."""
    return f"{change.before} -> {change.after} in {change.function or 'the file'}"


def loose(text):
    """A pattern that matches the text with any white space where it has some."""
    return r"\s+".join(re.escape(word) for word in re.split(r"\s+", text))


def by_hand(entry, sources, functions):
    """A change of mutant_list.BY_HAND."""
    file, function, old, new = entry[:4]
    spans = [(begin, end) for name, begin, end in functions[file] if name == function] \
        if function else [(0, len(sources[file]))]
    before, marked, after = ("", old, "") if "@" not in old else old.split("@")
    pattern = re.compile(loose(before) + "(" + loose(marked) + ")" + loose(after))
    code = mutant_source.without_comments(sources[file])
    places = [m.span(1) for span in spans for m in pattern.finditer(code, *span)]
    if len(places) != 1:
        raise SystemExit(f"mutant_list.BY_HAND: '{old}' is {len(places)} times in "
                         f"{function or 'the file'} of {file}, and not once")
    begin, end = places[0]
    text = mutant_source.tidy(code[begin:end])
    return mutant_source.Change(file, function, begin, end, new, "by hand", text,
                                new or "nothing", text, False, False)


@functools.lru_cache(None) # re's own cache is too small for all entries
def compiled(pattern):
    """A pattern in which * is anything."""
    return re.compile(".*".join(re.escape(part) for part in pattern.split("*")))


def matches(pattern, text):
    """Whether a text is as a pattern says, in which * is anything."""
    return compiled(pattern).fullmatch(text) is not None


class Equivalents:
    """The list of changes that no test can notice."""

    def __init__(self, entries, sources):
        self.entries, self.sources, self.used = entries, sources, collections.Counter()

    def __contains__(self, change):
        text, found = f"{change.before} -> {change.after}", False
        for entry in self.entries:
            if matches(entry[0], change.function) and matches(entry[1], text) and \
                    self.is_there(change, entry[2]):
                self.used[entry] += 1
                found = True
        return found

    def is_there(self, change, part):
        """Whether a part of the statement is in it; if it ends with @, right before the change."""
        if not part.endswith("@"):
            return part in change.statement
        before = self.sources[change.file][:change.begin][-200:]
        return mutant_source.tidy(before).endswith(part[:-1])

    def unused(self):
        """In words, entries for which there is no change."""
        return [f"mutant_list: there is no '{entry[1]}' in {entry[0]}"
                + (f", in a statement with '{entry[2]}'" if entry[2] else "")
                for entry in self.entries if not self.used[entry]]


def self_checks(changes, sources):
    """At the first place of each file that will do, three changes: one that changes nothing, one
    that ends the program, one that never ends."""
    checks = []
    for file in FILES:
        c = next(c for c in changes if c.file == file and c.operator in ("+", "-", "<=")
                 and not c.constant)
        old = re.sub(r"\s+", " ", sources[file][c.begin:c.end])
        for new, what in ((f"({old})", "itself"), (f"(abort(), ({old}))", "the end"),
                          (f"(mutant_forever(), ({old}))", "for ever")):
            checks.append(c._replace(new=new, operator="check", after=what))
    return checks


def checked(builds, mutants, some):
    """What is wrong with the way of noticing, in words: of each change, by the quickest test. Of
    some tests alone none may come by it."""
    wrong = []
    for m in mutants:
        can = [build for build in builds if build.comes_by(m)]
        if not can and some:
            continue
        noticed = can and min(can, key=lambda build: build.seconds).run(m.number)
        if not can or bool(noticed) == (m.change.after == "itself"):
            wrong.append(f"self-check: {words_of(m.change)}: {noticed or 'not noticed'}")
    return wrong


def unread(file, source, changes, active):
    """In words, long pieces of a file that have no change."""
    starts, lines = mutant_source.line_starts(source), sorted(active)
    changed = {mutant_source.line_of(starts, c.begin) for c in changes}
    places = [-1] + [k for k, line in enumerate(lines) if line in changed] + [len(lines)]
    return [f"{file}:{lines[before + 1]}-{lines[after - 1]} have no change: are they read?"
            for before, after in zip(places, places[1:]) if after - before > MOST_UNREAD]


def numbered(changes, sources):
    """Mutants of changes, in their order in the source."""
    starts = {file: mutant_source.line_starts(text) for file, text in sources.items()}
    mutants, sites = [], {}
    for number, c in enumerate(sorted(changes, key=lambda c: (
            c.file, c.begin, -c.end, c.new == "")), 1):
        site = number if c.new == "" else sites.setdefault((c.file, c.begin, c.end), number)
        mutants.append(Mutant(number, site, c, mutant_source.line_of(starts[c.file], c.begin)))
    return mutants


def random_number(change, seed=""):
    """A number that depends on what a change is, whatever else is changed."""
    text = "|".join((change.function, change.operator, words_of(change), change.statement))
    return zlib.crc32((seed + text).encode())


def in_share(change):
    """Whether a change is tried without --all."""
    if change.operator == "by hand" or change.before.startswith("__sync"):
        return True
    return random_number(change) % 100 < SHARE


def main():
    arguments = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    options = dict(argument.partition("=")[::2] for argument in sys.argv[1:]
                   if argument.startswith("--"))
    wrong = set(options) - {"--all", "--count", "--sample", "--tests"}
    tests = options["--tests"].split(",") if "--tests" in options else list(mutant_list.TESTS)
    wrong |= set(tests) - set(mutant_list.TESTS)
    if wrong:
        sys.exit("error: " + " ".join(sorted(wrong)))
    everything = "--all" in options
    root = os.path.abspath(arguments[0])
    cxx = arguments[1] if len(arguments) > 1 else "c++"
    word = arguments[2] if len(arguments) > 2 else None
    lines = re.fullmatch(r"(\d+)-(\d+)", word or "")
    started = time.monotonic()
    active = active_lines(root, cxx)
    sources, loops, functions, changes, bad = {}, {}, {}, [], []
    for file in FILES:
        with open(os.path.join(root, file), encoding="utf-8") as text:
            sources[file] = text.read()
        try:
            found, loops[file], functions[file] = mutant_source.changes_of(file, sources[file],
                                                                           active[file])
        except mutant_source.Unreadable as error:
            print(f"error: {error}")
            return 1
        changes += found
        bad += unread(file, sources[file], found, active[file])
    changes += [by_hand(entry, sources, functions) for entry in mutant_list.BY_HAND]
    alone = [(by_hand(entry, sources, functions), entry[4]) for entry in mutant_list.ALONE]
    equivalents = Equivalents(mutant_list.EQUIVALENT, sources)
    equal = {change for change in changes if change in equivalents}
    debts = Equivalents(mutant_list.NOT_NOTICED, sources)
    unnoticed = {change for change in changes if change in debts}
    mutants = numbered(changes + self_checks(changes, sources), sources)
    bad += equivalents.unused() + debts.unused()
    if "--count" in options:
        for line in bad:
            print("error: " + line)
        print(f"mutants: {len(mutants)}, of which {len(equal)} have no effect")
        return 1 if bad else 0

    def is_chosen(m):
        if m.change.operator == "check":
            return False
        if lines:
            return m.change.file == FILES[1] and int(lines[1]) <= m.line <= int(lines[2])
        if word is not None:
            return re.search(word, f"{m.change.file}:{m.line} {words_of(m.change)}")
        return everything or m.change not in equal | unnoticed and in_share(m.change)

    chosen = [m for m in mutants if is_chosen(m)]
    if "--sample" in options:
        count, _, seed = options["--sample"].partition(".")
        some = [m for m in chosen if m.change not in equal | unnoticed]
        chosen = sorted(sorted(some, key=lambda m: random_number(m.change, seed))[:int(count)])
    checks = [m for m in mutants if m.change.operator == "check"]
    built = sorted(chosen + checks) # the fewer switches, the sooner it compiles
    with tempfile.TemporaryDirectory() as scratch, \
            concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        builds = [Build(test, os.path.join(scratch, test), cxx) for test in tests]

        def prepare(build):
            build.compile(root, sources, loops, built)
            return [(part, part.measure()) for part in build.parts()]

        def kill_alone(number, change, test):
            build = Build(test, os.path.join(scratch, str(number)), cxx)
            said = build.compile_alone(root, sources, change) or build.run(0)
            return said and f"{said} ({test}, built alone)"

        parts = [part for prepared in pool.map(prepare, builds) for part in prepared]
        for part, said in parts:
            if said:
                print(f"{part.test} fails without any change: {said}")
                return 1
        builds = [part for part, _ in parts]
        build_seconds = time.monotonic() - started
        judge = Judge(builds)
        bad += checked(builds, checks, "--tests" in options)
        jobs = [(m.change, m.line, any(build.comes_by(m) for build in builds) or
                 any(m.number in build.refused for build in builds), pool.submit(judge.kill, m))
                for m in chosen]
        if word is None and "--sample" not in options:
            jobs += [(change, "", True, pool.submit(kill_alone, number, change, test))
                     for number, (change, test) in enumerate(alone)]
        survivors = 0
        for change, line, reached, job in jobs:
            said = job.result()
            if change in equal:
                end = "without effect, as listed"
                if said:
                    end = f"listed as without effect, but killed: {said}"
                    bad.append(f"{words_of(change)}: {end}")
            else:
                end = f"killed: {said}" if said else \
                    "SURVIVED" if reached else "no test comes by it: SURVIVED"
                survivors += not said
            print(f"{change.file}:{line} {words_of(change)}: {end}", flush=True)

    for line in bad:
        print("error: " + line)
    barriers = sum(change.before.startswith("__sync") for change, _, _, _ in jobs)
    print(f"mutants: {len(jobs)}, of which {barriers} take out a barrier, of {len(mutants)}, of "
          f"which {len(equal)} have no effect: {survivors} survived "
          f"({build_seconds:.0f} s to build, {time.monotonic() - started:.0f} s)")
    return 1 if survivors or bad else 0


if __name__ == "__main__":
    sys.exit(main())
