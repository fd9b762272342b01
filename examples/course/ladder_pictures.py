"""Draws V0 to V7 at work on one block, from the trace that the CPU machine takes of the kernels:

    ninja -C build/test pictures         once sh test/run.sh --full has made that folder; or
    python3 examples/course/ladder_pictures.py build/test/trace_ladder --out examples/figures

Writes ladder_v0.svg to ladder_v7.svg and ladder_all.svg. Threads run across and time runs down: a
row of threads between rows of words of shared memory, with lines from what a thread reads to the
thread, and on to what it writes. Nothing here knows one version from another.
"""
import argparse
import collections
import os
import re
import subprocess
import sys
from xml.sax.saxutils import escape

WARP = BANKS = 32
THICK = {"bank": 3, "race": 4}
STYLE = """text{font-family:sans-serif;fill:#808080}svg{font-size:11px}
path{fill:none;stroke:#808080}
.thread,.vain{stroke:#2f81f7}.word{stroke:#3fa34d}.input,.output{stroke:#808080}
.read{stroke:#2f81f7}.write{stroke:#3fa34d}.conflict{stroke:#e5534b}.bank{stroke:#e5534b}
.vain.read{stroke-opacity:.4}.register{stroke-opacity:.5}
.barrier{stroke:#a371f7;stroke-width:4}.meeting{stroke:#a371f7;stroke-width:2.5;
stroke-dasharray:8 4}
.warps{stroke-opacity:.5}
.red{fill:#e5534b}.end{text-anchor:end}.middle{text-anchor:middle}"""


def fail(sentence):
    sys.exit(f"ladder_pictures: {sentence}")


# ---- What the trace says -------------------------------------------------------------------------


class Work:
    """What a thread does between two barriers or meetings of its warp."""

    def __init__(self):
        self.input, self.output, self.load, self.store, self.shuffle = [], [], [], [], []
        self.adds = 0
        self.accesses = []  # (access of the warp that it is part of, word)
        self.in_vain = False

    def keeps(self):
        """Whether one operand is what the thread has in a register."""
        return len(self.load) + len(self.input) + len(self.shuffle) <= self.adds


class Kernel:
    """rows: {(block barriers before, meetings of the warp since): {thread: Work}}"""

    def __init__(self, name, block, barriers, accesses, conflicts):
        self.name, self.block, self.barriers = name, int(block), int(barriers)
        self.accesses, self.conflicts = int(accesses), int(conflicts)
        self.rows, self.exits = {}, {}
        self.fault, self.race = "", set()  # (block barriers before, thread, word) of a race

    def add(self, what, interval, meetings, thread, where, site):
        key, thread, where = (int(interval), int(meetings)), int(thread), int(where)
        if what == "exit":
            self.exits[thread] = key
            return
        work = self.rows.setdefault(key, {}).setdefault(thread, Work())
        if what == "add":
            work.adds += 1
            return
        getattr(work, what).append(where)
        if what in ("load", "store"):
            time = sum(access[:2] == (what, site) for access, _ in work.accesses)
            work.accesses.append(((what, site, time), where))

    def finish(self):
        """Sorts, as compilers order operands differently, and finds what no result needs."""
        self.rows = {key: dict(sorted(row.items())) for key, row in sorted(self.rows.items())}
        for row in self.rows.values():
            for work in row.values():
                work.accesses.sort(key=lambda a: (a[0][0], a[1]))
        needed = set()
        for row in reversed(self.rows.values()):
            sources, made = set(), set()
            for thread, work in row.items():
                makes = {thread, *(("word", w) for w in work.store)}
                work.in_vain = not (work.output or makes & needed or self.fault)
                if work.in_vain:
                    continue
                sources |= {("word", w) for w in work.load} | set(work.shuffle)
                sources |= {thread} if work.keeps() else set()
                made |= makes
            needed = (needed - made) | sources
        self.find_race()

    def find_race(self):
        """Between the threads that the fault names, since the last barrier."""
        named = re.match(r"a race: thread (\d+) .* thread (\d+) ", self.fault)
        if not named or not self.rows:
            return
        last, (a, b) = max(self.rows)[0], map(int, named.groups())

        def accesses(thread):
            return [(key[1], what, word) for key, row in self.rows.items()
                    if key[0] == last and thread in row
                    for (what, *_), word in row[thread].accesses]
        words = [word for meetings, what, word in accesses(a) for m, w, other in accesses(b)
                 if word == other and "store" in (what, w) and
                 (meetings == m or a // WARP != b // WARP)]
        self.race = {(last, thread, min(words)) for thread in (a, b) if words}

    def check(self):
        extra = sum(ways - 1 for row in self.rows.values() for ways, _ in collisions(row).values())
        if extra != self.conflicts:
            fail(f"{self.name}: {extra} conflicts drawn, {self.conflicts} counted")


def collisions(row):
    """{(warp, access): (n-way, sorted words in the first bank that so many of them are in)}"""
    words = collections.defaultdict(set)
    for thread, work in row.items():
        for access, word in work.accesses:
            words[thread // WARP, access].add(word)
    result = {}
    for access, touched in words.items():
        banks = collections.defaultdict(list)
        for word in sorted(touched):
            banks[word % BANKS].append(word)
        fullest = max(banks.values(), key=len)
        result[access] = len(fullest), fullest
    return result


def worst(ways):
    """The most n-way of these collisions: (n, words); of several that with the first words."""
    return min(ways.values(), key=lambda way: (-way[0], way[1]), default=(1, []))


def parse(text, source):
    kernels = []
    try:
        for line in text.splitlines():
            what, *numbers = line.split(",")
            if what == "kernel":
                kernels.append(Kernel(*numbers))
            elif what == "fault":
                kernels[-1].fault = line.partition(",")[2]
            else:
                kernels[-1].add(what, *numbers)
    except (AttributeError, IndexError, TypeError, ValueError):
        fail(f"{source}: not a trace")
    for kernel in kernels:
        kernel.finish()
    return kernels


def read(program, block):
    try:
        ran = subprocess.run([os.path.abspath(program), block], capture_output=True, text=True,
                             check=True)
    except (OSError, UnicodeDecodeError) as error:
        fail(f"{program}: {error}")
    except subprocess.CalledProcessError as error:
        fail(f"{program}: {error.stderr.strip() or error}")
    kernels = parse(ran.stdout, program)
    if not kernels or not all(kernel.rows for kernel in kernels):
        fail(f"{program}: an empty trace")
    for kernel in kernels:
        kernel.check()
    return kernels


# ---- Drawing -------------------------------------------------------------------------------------


def strokes(drawn):
    """The data of a path. Lines begin at that end which is level with the latest's, to be short."""
    if isinstance(drawn[0], str):
        return "".join(drawn)
    out, x, y = [], 0, 0
    for x1, y1, x2, y2 in drawn:
        if out and y2 == y:
            x1, y1, x2, y2 = x2, y2, x1, y1
        out.append((f"m{x1 - x} {y1 - y}" if out else f"M{x1} {y1}") + f"l{x2 - x1} {y2 - y1}")
        x, y = x2, y2
    return "".join(out).replace(" -", "-")


class Picture:
    """Paths by class, and texts, of one kernel. scale 1: 8 a thread."""

    def __init__(self, kernel, scale):
        self.kernel, self.pitch, self.scale = kernel, round(8 * scale), scale
        self.paths, self.texts, self.uprights = {}, [], {}
        self.y = 0

    def high(self, height):
        return max(2, round(height * self.scale))

    def centre(self, column):
        return column * self.pitch + self.pitch * 3 // 8

    def path(self, kind, drawn, width=0, dashes=""):
        self.paths.setdefault((kind, width, dashes), []).append(drawn)

    def line(self, kind, from_column, from_y, to_column, to_y, width=1.4):
        """Upright ones are kept for svg(), which draws neighbours as one stroke."""
        if from_column == to_column:
            self.uprights.setdefault((kind, from_y, to_y, width), set()).add(from_column)
            return
        self.path(kind, (self.centre(from_column), from_y, self.centre(to_column), to_y), width)

    def cells(self, kind, columns, y, height, wide=0):
        """A dash a column; a run of them at one distance is one stroke."""
        columns = sorted(columns)
        steps = {b - a for a, b in zip(columns, columns[1:])}
        step = steps.pop() if len(steps) == 1 else 1
        wide = wide or self.pitch - self.pitch // 4
        inset = 0 if wide > 2 else self.pitch * 3 / 8 - wide / 2
        dashes = f"{wide:g} {step * self.pitch - wide:g}"
        for k, column in enumerate(columns):
            begin = begin if k and column == columns[k - 1] + step else column
            if k + 1 == len(columns) or columns[k + 1] != column + step:
                length = (column - begin) * self.pitch + wide
                self.path(kind, f"M{begin * self.pitch + inset:g} {y:g}h{length:g}", height, dashes)

    def text(self, x, y, words, size=16, kind=""):
        size = max(11, round(size * self.scale ** 0.5))
        extra = f' font-size="{size}"' if size != 11 else ""
        extra += f' class="{kind}"' if kind else ""
        self.texts.append(f'<text x="{x}" y="{y}"{extra}>{escape(words)}</text>')

    def svg(self):
        for (kind, top, bottom, width), columns in self.uprights.items():
            self.cells(kind, columns, (top + bottom) / 2, bottom - top, width)
        self.uprights = {}
        out = []
        above = sorted(self.paths, key=lambda path: path[0] == "race")
        for kind, width, dashes in above:
            drawn = self.paths[kind, width, dashes]
            extra = f' stroke-width="{width:g}"' if width else ""
            extra += f' stroke-dasharray="{dashes}"' if dashes else ""
            out.append(f'<path class="{kind}"{extra} d="{strokes(drawn)}"/>')
        return "\n".join(out + self.texts)

    # ---- one kernel, from the top down

    def draw(self):
        kernel = self.kernel
        self.width = kernel.block * self.pitch
        self.latest = {}  # thread: where it was last seen
        self.returned = set()  # warps
        self.shared_y = None  # of the latest row of words
        self.top = self.y
        keys = list(kernel.rows)
        self.step = 0
        for before, key in zip([keys[0], *keys], keys):
            self.between(before, key)
            self.row(key, kernel.rows[key])
        for warp in range(1, kernel.block // WARP):
            x = warp * WARP * self.pitch - self.pitch // 8
            self.path("warps", f"M{x} {self.top}V{self.y}")

    def between(self, key, following):
        """Block barriers, and __syncwarp of the warps that meet without a shuffle."""
        row = self.kernel.rows[following]
        if key == following or key[0] == following[0] and any(w.shuffle for w in row.values()):
            return
        self.y += self.high(8)
        if key[0] != following[0]:
            self.path("barrier", f"M0 {self.y}H{self.width}")
        else:
            for warp in sorted({thread // WARP for thread in row}):
                x = warp * WARP * self.pitch
                self.path("meeting", f"M{x} {self.y}h{WARP * self.pitch}")
        self.y += self.high(4)

    def row(self, key, row):
        self.interval = key[0]
        if any(work.input for work in row.values()):
            self.inputs(row)
        begin = self.y
        ways = collisions(row)
        width = self.room(row, "load", 24)
        y = self.y + self.high(6)
        for thread, work in row.items():
            self.operands(thread, work, begin, y - self.high(6), ways, width)
        self.threads(key, row, y)
        self.y = y + self.high(6)
        for thread in row:
            self.latest[thread] = self.y
        if any(work.store for work in row.values()):
            self.stores(row, ways)
        if any(work.output for work in row.values()):
            self.outputs(row)
        self.words_of_row(row, y, ways)

    def room(self, row, what, least):
        """Goes down far enough for the lines of a row; how wide they may be to be told apart."""
        spans = [abs(thread - other) for thread, work in row.items() if not work.in_vain
                 for other in getattr(work, what) + (work.shuffle if what == "load" else [])]
        span, crowd = max(spans, default=0), sum(s > 0 for s in spans) / 48
        height = self.high(least if span else 16) + round(span * self.pitch / 14 * min(crowd, 1))
        self.y += height
        return max(0.4, min(1.4, round(0.5 * height / span / crowd, 1))) if span else 1.4

    def inputs(self, row):
        columns = [(e // self.kernel.block, e % self.kernel.block)
                   for work in row.values() for e in work.input]
        for item in range(max(item for item, _ in columns) + 1):
            self.cells("input", [c for i, c in columns if i == item], self.y + self.high(3),
                       self.high(5))
            self.y += self.high(7)
        if self.scale == 1:
            self.text(-8, self.y, "input", 14, kind="end")

    def operands(self, thread, work, begin, y, ways, width):
        vain = "vain " if work.in_vain else ""
        for column in {e % self.kernel.block for e in work.input}:
            self.line("read", column, begin, thread, y)
        for source in work.shuffle:
            if not work.in_vain or (self.scale == 1 and self.latest.get(source) == begin):
                self.line(vain + "read", source, self.latest.get(source, begin), thread, y, width)
        for access, word in work.accesses:
            if access[0] == "load":
                kind = self.kind("read", thread, access, word, ways)
                above = begin if self.shared_y is None else self.shared_y
                self.line(kind, word, above, thread, y, THICK.get(kind, width))
        if work.keeps() and thread in self.latest and not work.in_vain and self.scale == 1:
            self.line("register", thread, self.latest[thread], thread, y, 1)

    def kind(self, kind, thread, access, word, ways):
        """Of the line of an access. Where lanes collide, one bank of one access is told apart."""
        if (self.interval, thread, word) in self.kernel.race:
            return "race"
        n, words = ways[thread // WARP, access]
        if n == 1:
            return kind
        return "bank" if word in words and (n, words) == worst(ways) else "conflict"

    def threads(self, key, row, y):
        """Full cells work; low ones are idle lanes of a warp that works; a thin line is a warp
        that waits."""
        for warp in range(self.kernel.block // WARP):
            lanes = range(warp * WARP, warp * WARP + WARP)
            if any(t in row for t in lanes):
                self.cells("thread", [t for t in lanes if t in row and not row[t].in_vain], y,
                           self.high(12))
                self.cells("vain", [t for t in lanes if t in row and row[t].in_vain], y,
                           self.high(6))
                self.cells("idle", [t for t in lanes if t not in row], y, self.high(3))
            elif any(self.kernel.exits.get(t, (key[0] + 1,)) > key for t in lanes):
                self.path("waits", f"M{lanes[0] * self.pitch} {y}h{WARP * self.pitch * 31 // 32}")
            elif warp not in self.returned:
                self.returned.add(warp)
                self.text(self.centre(lanes[16]), y + self.high(5), "returned", 13, kind="middle")

    def stores(self, row, ways):
        begin = self.y
        width = self.room(row, "store", 16)
        written = set()
        for thread, work in row.items():
            for access, word in work.accesses:
                if access[0] == "store":
                    written.add(word)
                    kind = self.kind("write", thread, access, word, ways)
                    self.line(kind, thread, begin, word, self.y, THICK.get(kind, width))
        self.cells("word", written, self.y + self.high(4), self.high(8))
        self.y = self.shared_y = self.y + self.high(8)

    def outputs(self, row):
        for thread, work in row.items():
            for _ in work.output:
                self.y += self.high(10)
                self.cells("output", [thread], self.y, self.high(8))
                self.text(self.centre(thread) + self.pitch, self.y + self.high(4), "the sum", 14)
                self.y += self.high(4)

    def words_of_row(self, row, y, ways):
        """Beside the threads: what the row does, by how many, and where lanes collide."""
        small, y, right = self.scale < 1, y + self.high(5), self.width + 8
        adds, each = sum(work.adds > 0 for work in row.values()), len(row[min(row)].input)
        warps = len({thread // WARP for thread in row})
        if each:
            self.text(-8, y, "load", kind="end")
            self.text(right, y, f"{each} each" if small else f"{count(each, 'element')} each")
        elif adds:
            self.step += 1
            self.text(-8, y, f"{self.step}" if small else f"step {self.step}", kind="end")
            self.text(right, y, f"{adds} in {count(warps, 'warp')}" if small else
                      f"{count(adds, 'thread')} in {count(warps, 'warp')}")
        elif not small:
            self.text(-8, y, "result" if row[min(row)].output else "read", kind="end")
        n, words = worst(ways)
        if n > 1:
            self.text(right, y + (13 if small else 19),
                      f"{n}-way conflict" if small else f"{n}-way bank conflict:", kind="red")
            if not small:
                self.text(right, y + 36, "words " + ", ".join(map(str, words)) +
                          f": bank {words[0] % BANKS}", 14, "red")


def title(kernel):
    version, _, words = kernel.name.partition("_")
    return f"{version.upper()}  {words.replace('_', ' ')}"


def count(number, singular):
    return f"{number} {singular}{'' if number == 1 else 's'}"


def numbers(kernel, small):
    """What the steps after the load cost; steps of a warp count once for each warp that works."""
    tree = [row for row in kernel.rows.values() if not any(work.input for work in row.values())]
    adds = sum(work.adds > 0 and not work.in_vain for row in tree for work in row.values())
    steps = sum(len({thread // WARP for thread in row}) for row in tree
                if any(work.adds for work in row.values()))
    if small:
        return f"{steps} warp steps, {count(kernel.barriers, 'barrier')}, " \
            f"{kernel.accesses} + {kernel.conflicts} accesses"
    return f"{count(adds, 'addition')} in {count(steps, 'step')} of a warp; " \
        f"{count(kernel.barriers, 'block barrier')}; warps access shared memory " \
        f"{kernel.accesses} times, and {kernel.conflicts} more because of bank conflicts"


def document(width, height, parts):
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}">\n'
            f"<style>{STYLE}</style>\n" + "\n".join(parts) + "\n</svg>\n")


def placed(x, y, picture):
    return f'<g transform="translate({x} {y})">\n{picture.svg()}\n</g>'


LEGEND = [  # of the paths' classes: a sample, its width, and its words
    ("thread", "h14", 12, "works"),
    ("vain", "h14", 6, "works, and nobody takes the result"),
    ("idle", "h14", 3, "idle lane of a warp that works"),
    ("waits", "h30", 1, "warp waits"),
    ("read", "l24 8", 1.4, "reads, from above"),
    ("write", "l24 8", 1.4, "writes, to below"),
    ("word", "h14", 8, "word of shared memory, written"),
    ("register", "v16", 1, "kept in a register"),
    ("bank", "l24 8", 3, "words of one bank, one after the other"),
    ("race", "l24 8", 4, "race: no barrier lies between"),
    ("barrier", "h30", 4, "block barrier, __syncthreads()"),
    ("meeting", "h30", 0, "warp barrier, __syncwarp()"),
]


def legend(pictures, width):
    """Of what the pictures have, in lines as wide as they are."""
    used = {kind for picture in pictures for kind, *_ in [*picture.paths, *picture.uprights]}
    legend_ = Picture(None, 1)
    x = y = 0
    for kind, sample, wide, words in LEGEND:
        if kind not in used:
            continue
        needed = round(66 + 8.2 * len(words))
        if x + needed > width:
            x, y = 0, y + 28
        higher = {"l": 4, "v": 8}.get(sample[0], 0)
        legend_.path(kind, f"M{x + 14 * (sample[0] == 'v')} {y - 5 - higher}{sample}", wide,
                     "6 2" if sample == "h14" else "")
        legend_.text(x + 38, y, words)
        x += needed
    return legend_, y


def large(kernel):
    picture = Picture(kernel, 1)
    picture.draw()
    for warp in range(kernel.block // WARP):
        first = warp * WARP
        picture.text(picture.centre(first + WARP // 2), -12,
                     f"warp {warp}: threads {first} to {first + WARP - 1}", 14, kind="middle")
    return picture


def one(kernel):
    picture = large(kernel)
    left, top, right = 74, 100, 230
    key, lines = legend([picture], picture.width + right)
    head = Picture(None, 1)
    head.text(0, 0, title(kernel), 26)
    head.text(0, 30, numbers(kernel, False))
    width, height = left + picture.width + right, top + picture.y + 44 + lines + 12
    return document(width, height, [placed(left, 30, head), placed(left, top, picture),
                                    placed(left, top + picture.y + 44, key)])


def together(kernels):
    """All, two beside each other."""
    parts, pictures, left, right, y = [], [], 40, 110, 0
    for number, kernel in enumerate(kernels):
        picture = Picture(kernel, 0.5)
        picture.draw()
        pictures.append(picture)
        if number % 2 == 0:
            y += 30
        column = left + number % 2 * (left + picture.width + right)
        head = Picture(None, 1)
        head.text(0, 0, title(kernel), 20)
        head.text(picture.width, 0, numbers(kernel, True), 14, kind="end")
        parts += [placed(column, y, head), placed(column, y + 14, picture)]
        if number % 2 or number + 1 == len(kernels):
            y += max(p.y for p in pictures[number // 2 * 2:]) + 30
    width = 2 * (left + pictures[0].width + right)
    key, lines = legend(pictures, width - left)
    parts.append(placed(left, y + 20, key))
    return document(width, y + lines + 32, parts)


def main():
    parser = argparse.ArgumentParser(prog="ladder_pictures", description="Draws V0 to V7 at work.")
    parser.add_argument("program", help="trace_ladder, as test/run.sh --full builds it")
    parser.add_argument("--block", default="128", metavar="THREADS", help="64 or 128 (default)")
    parser.add_argument("--out", default=".", metavar="FOLDER", help="where the figures go")
    arguments = parser.parse_args()
    kernels = read(arguments.program, arguments.block)
    pictures = {kernel.name.partition("_")[0]: one(kernel) for kernel in kernels}
    pictures["all"] = together(kernels)
    for name, picture in pictures.items():
        path = os.path.join(arguments.out, f"ladder_{name}.svg")
        try:
            os.makedirs(arguments.out, exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(picture)
        except OSError as error:
            fail(error)
        print(path)


if __name__ == "__main__":
    main()
