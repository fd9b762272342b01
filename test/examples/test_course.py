"""Tests the course in examples/course: python3 test_course.py ROOT FIRST LAST, or ROOT lessons

Of each exercise from FIRST to LAST: as it stands it is not right; filled in it is; and each usual
mistake, which is a change of that, is named for what it is. Of the lessons: what they show of the
kernels is made from them, what they say was measured is in examples/results.md, links lead
somewhere, and questions have answers.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

import checks
from checks import that
from course_solutions import HOLE, SOLUTIONS

ROOT = os.path.abspath(sys.argv[1])
COURSE = os.path.join(ROOT, "examples", "course")
ANSWERS = {  # what is known of them from elsewhere: test_counts.cpp, examples/results.md
    1: "in a tree 7 steps", 2: "9 block barriers", 3: "so no warp could be saved there",
    4: "bank conflicts in all: 105", 5: "V2 1048576, V3 524288",
    6: "v3_add_during_load 9, v4_unroll_last_warp 3", 7: "64 loads of warps for 2048 elements",
    8: "v6_multi_add 766, v7_shuffle 16", 9: "of 512 3, of 2048 2", 10: "one for 128",
    11: "67 shuffles", 12: "12 block barriers", 13: "512 + 488 first; 10 additions",
    14: "2^25 ones, one loop: 16777216", 15: "from 2^20 elements",
    16: "282 have other bits", 17: "2 orders give 0, and 4 give 1", 18: "6 warp barriers",
    19: "24 threads of the last block have no element, in 1 of", 20: "reverse order: block 0",
}
BROKEN = {  # what is said of a kernel to mend, as it stands
    16: " has other bits alone than among 256 rows: ",
    17: " has other bits when threads run in another order: ",
    18: "a race: thread 16 writes at @input[i]@ what thread 0 reads at "
        "@lane < stride@, and no barrier lies between. They are of one warp",
    19: "a barrier that some threads miss: thread 255 of block 3 has met 0 block barriers when it "
        "leaves, and thread 231 meets 9.",
    20: "a race between blocks: block 1 reads at @partials[k]@ what block 0 writes at "
        "@partials[blockIdx@. Its atomic comes after that, but may be seen before it",
}

SHOWN_BEHIND = {  # the exercises
    "v0_baseline", "v1_no_divergence", "v2_no_bank_conflict", "v3_add_during_load",
    "v4_unroll_last_warp", "v6_multi_add", "v7_shuffle", "launch_levels", "pack_sum",
    "warp_pairs", "one_launch", "carry",
}


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def run(folder, *command, **environment):
    ran = subprocess.run(command, check=False, capture_output=True, text=True, cwd=ROOT,
                         env={**os.environ, "COURSE_BUILD": folder, **environment})
    return ran.returncode, ran.stdout + ran.stderr


def check_sh(folder, *arguments, **environment):
    return run(folder, "sh", os.path.join(COURSE, "check.sh"), *arguments, **environment)


def grade(folder, number, texts, **environment):
    """Of all at once: what is said of each."""
    paths = []
    for k, text in enumerate(texts):
        os.makedirs(os.path.join(folder, str(k)), exist_ok=True)
        paths.append(os.path.join(folder, str(k), "mine.cu"))
        with open(paths[-1], "w", encoding="utf-8") as file:
            file.write(text)
    status, said = check_sh(folder, str(number), *paths, **environment)
    for path, text in zip(paths, texts):
        that(read(path) == text, f"lesson {number}: the file has changed")
    parts = said.split(f"lesson {number}: ")
    that(parts[0] == "" and len(parts) == len(texts) + 1, f"lesson {number}: {said}")
    for part in parts[1:]:
        that(("  RIGHT   " in part) != ("  NOT YET " in part), f"lesson {number}: {part}")
    that(status == int("  NOT YET " in said), f"lesson {number}: {status} {said}")
    return parts[1:]


def line_of(text, mark):
    return text[:text.index(mark)].count("\n") + 1


def check_lesson(number, folder):
    name, = (n for n in os.listdir(COURSE) if re.match(rf"{number:02}-.*\.cu$", n))
    exercise = read(COURSE, name)
    that(exercise.count(HOLE) == (number not in BROKEN), f"{name} has no hole, or several")
    filling, mistakes = SOLUTIONS[number]
    right = filling if number in BROKEN else exercise.replace(HOLE, filling)
    that(len(mistakes) >= 3, f"{name}: only {len(mistakes)} mistakes")
    texts, sentences = [exercise, right], [BROKEN.get(number, "  NOT YET "), "  RIGHT   "]
    for old, new, expected in mistakes:
        old = filling if old is None else old
        that(right.count(old) == 1, f"{name}: '{old}' is there {right.count(old)} times")
        texts.append(right.replace(old, new))
        sentences.append(expected)
    said_of = grade(folder, number, texts)
    for text, expected, said in zip(texts, sentences, said_of):
        expected = re.sub(r"@(.*?)@", lambda m: f"mine.cu:{line_of(text, m[1])}", expected)
        that(expected in said and ("RIGHT" in said) == ("RIGHT" in expected),
             f"{name}: expected '{expected}' of\n{text}\n{said}")


def check_documents(folder):
    names = sorted(n[:-3] for n in os.listdir(COURSE) if re.match(r"\d.*\.cu$", n))
    that([int(n[:2]) for n in names] == sorted(SOLUTIONS) == sorted(ANSWERS), f"lessons {names}")
    measured = read(ROOT, "examples", "results.md")
    links = re.findall(r"\]\((.*?)\)", read(COURSE, "README.md"))
    pages = [name + ".md" for name in names + ["teachers"]]
    that(links == pages + ["../results.md"], f"README.md: {links}")
    for name in names:
        text, number = read(COURSE, name + ".md"), int(name[:2])
        that(text.startswith(f"# {number}. ") and text.count("\n") < 145, f"{name}: its size")
        for part in ("## Predict first", "## Exercise", f"check.sh {number} --answer\n",
                     f"check.sh {number} examples/course/{name}.cu\n"):
            that(part in text, f"{name} has no '{part}'")
        above = re.findall(r"made: (?:diff \w+|kernel) (\w+)", text[:text.index("## Exercise")])
        that(not SHOWN_BEHIND.intersection(above), f"{name} gives its answer: {above}")
        for link in re.findall(r"\]\(([^)]*)\)", text):
            that(os.path.exists(os.path.join(COURSE, link)), f"{name}: nothing at {link}")
        for figure, unit in re.findall(r"([\d.]+) (µs|GB/s|% of)", text):
            that(figure in measured, f"{name}: {figure} {unit} is not in examples/results.md")
    table = r"\{\{12, ([\d.]+)\}, \{20, ([\d.]+)\}, \{24, ([\d.]+)\}, \{28, ([\d.]+)\}\}"
    for figure in re.findall(table, read(COURSE, "host.h"))[0] + ("3192",):
        that(re.search(rf"\b{figure}\b", measured), f"{figure} is not in examples/results.md")


def check_made(folder):
    status, said = run(folder, "sh", os.path.join(COURSE, "made.sh"), "--check")
    that(status == 0, said)
    drawn = os.path.join(folder, "roofline.svg")
    status, said = run(folder, sys.executable, os.path.join(COURSE, "roofline.py"), "--out", drawn)
    that(status == 0 and read(drawn) == read(COURSE, "roofline.svg"), f"roofline.svg {said}")


def check_pictures(folder):
    """Of steps 1 and 2, as of V0 to V7, from a trace."""
    check_sh(folder, "11", "--answer") # builds what traces
    pictures = os.path.join(folder, "pictures")
    status, said = run(folder, sys.executable, os.path.join(COURSE, "ladder_pictures.py"),
                       os.path.join(folder, "answers"), "--block", "64", "--out", pictures)
    for name in ("ladder_step1.svg", "ladder_step2.svg"):
        that(status == 0 and read(pictures, name) == read(COURSE, name), f"{name} {said}")


def check_own_picture(folder):
    """A right kernel is drawn as ours is; a wrong one is not, and its race is red."""
    right = read(COURSE, "04-bank-conflicts.cu").replace(HOLE, SOLUTIONS[4][0])
    v1, barrier = SOLUTIONS[4][1][0][1], "        __syncthreads();\n"
    kernels = {"right": right, "v1": right.replace(SOLUTIONS[4][0], v1),
               "race & <more>": right.replace(barrier, ""),
               "short": right.replace("i < n ? input[i] : 0", "input[i]"),
               "ends": right.replace(barrier, "exit(0);")}
    faults = {"race & <more>": "a race: thread ", "short": "out of bounds: thread 39 "}
    paths = {name: os.path.join(folder, name + ".cu") for name in kernels}
    for name, text in kernels.items():
        with open(paths[name], "w", encoding="utf-8") as file:
            file.write(text)
    status, said = check_sh(folder, "4", "--picture", *paths.values())
    drawn = [line[17:] for line in said.splitlines() if line.startswith("  the picture is ")]
    that(status == 1 and drawn == [paths[name][:-2] + "svg" for name in list(kernels)[:4]] and
         "there is nothing to draw: it ends the program" in said, f"pictures: {status} {said}")
    kinds = {}
    for name, path in zip(kernels, drawn):
        root = ElementTree.parse(path).getroot()
        halves = [list(half) for half in root.findall("{*}g") if not half.get("transform")]
        titles = ["".join(half[0].itertext()).strip() for half in halves]
        that(titles == [name + ".cu", "V2  no bank conflict"], f"{titles}")
        yours, ours = [[(mark.attrib, mark.text) for part in half[1:] for mark in part]
                       for half in halves]
        that((yours == ours) == (name == "right"), f"the picture of {name}: {yours} {ours}")
        kinds[name] = {path.get("class") for path in root.iter() if path.get("class")}
        fault = "".join(halves[0][3].itertext()).strip()
        that(fault.startswith(faults[name]) if name in faults else not fault, f"{name}: {fault}")
    that([("bank" in kinds[name], "race" in kinds[name]) for name in kinds] ==
         [(False, False), (True, False), (False, True), (False, False)], f"{kinds}")
    status, said = check_sh(folder, "1", "--picture")
    that(status == 1 and "nothing to draw, as no kernel" in said, f"lesson 1: {status} {said}")


def check_steps(folder):
    """The kernels in steps.cuh pass as solutions of their lessons."""
    whole = "void sum(const float *input, float *output, word *words, size_t n)\n{\n" \
        "    const unsigned blocks = static_cast<unsigned>((n - 1) / (256 * tile_items) + 1);\n" \
        "    launch(one_launch<256>, blocks, 256, 0, input, output, words, n);\n}\n"
    all_steps = '#pragma push_macro("LESSON")\n#undef LESSON\n#undef COURSE_STEPS_CUH\n' \
        '#include "steps.cuh"\n#pragma pop_macro("LESSON")\n'
    for number, text in ((10, "#define block_sums vector_loads\n"),
                         (11, "#define block_sums handing_over\n"), (12, whole)):
        said, = grade(folder, number, [all_steps + text])
        that("RIGHT" in said, f"step of lesson {number}: {said}")
        said, = grade(folder, number, ['#include "steps.cuh"\n' + text])
        that("does not compile" in said, f"lesson {number} has its own answer: {said}")


def check_answers(folder):
    for number, expected in ANSWERS.items():
        status, said = check_sh(folder, str(number), "--answer")
        that(status == 0 and expected in said, f"answer {number}: {status} {said}")
    for arguments in (["99"], ["three"], ["-h"], ["4", "--hnit"]):
        status, said = check_sh(folder, *arguments)
        that(status == 2 and "check.sh 3 " in said, f"{arguments}: {status} {said}")
    exercise = read(COURSE, "02-baseline.cu")
    right = exercise.replace(HOLE, SOLUTIONS[2][0])
    said = grade(folder, 2, [right.replace("size_t i", "no such i"), right,
                             right.replace("__syncthreads", "simt::reset(); __syncthreads", 1)])
    that("NOT YET it does not compile" in said[2] and "which_CUDA_has_not" in said[2], said[2])
    that("NOT YET it does not compile" in said[0] and "mine.cu:9" in said[0], said[0])
    that("RIGHT" in said[1], said[1])


def check_valid(folder):
    """What nvcc takes, the grader takes."""
    said, = grade(folder, 9, [read(ROOT, "test", "examples", "course_valid.cu")])
    that("RIGHT" in said and "\n-21 42 printed 3\n" in said, said)


def check_hints(folder):
    """Each call gives the next hint, at last the solution; and then the first one again."""
    for number in SOLUTIONS:
        text = read(COURSE, "hints", f"{number:02}.md")
        parts = ["## " + part for part in text.split("## ")[1:]]
        hints = len(parts) - 1
        titles = [f"## Hint {k} of {hints}" for k in range(1, hints + 1)] + ["## Solution"]
        that([part.splitlines()[0] for part in parts] == titles and 2 <= hints <= 3, f"{parts}")
        for expected in parts + parts[:1] if number == 4 else parts[:1]:
            status, said = check_sh(folder, str(number), "--hint")
            that((status, said) == (0, expected), f"hint of lesson {number}: {said}")


def check_results(folder):
    """For programs, of a class; and for the student, of one solution at a time."""
    exercise = read(COURSE, "06-last-warp.cu")
    filling, mistakes = SOLUTIONS[6]
    slow, = (new for _, new, said in mistakes if said.startswith("9 barriers"))
    files = [os.path.join(folder, name + ".cu") for name in ("slow", "fast", "none")]
    for file, text in zip(files, (slow, filling)):
        with open(file, "w", encoding="utf-8") as to:
            to.write(exercise.replace(HOLE, text))
    if os.path.exists(os.path.join(folder, "results.tsv")):
        os.remove(os.path.join(folder, "results.tsv"))
    status, said = check_sh(folder, "--tsv", "6", *files)
    rows = [line.split("\t") for line in said.splitlines()]
    names = re.findall(r"^\| `(\w+)` \|", read(COURSE, "teachers.md"), re.M)
    that(status == 1 and rows[0] == names, f"{status} {said}")
    counts = {files[0]: ["9", "0", "0"], files[1]: ["3", "0", "0"], files[2]: ["", "", ""]}
    that({row[1]: row[4:7] for row in rows[1:]} == counts, f"{rows}")
    sentences = {files[0]: "9 barriers where 3 are enough (one block of 256 threads).",
                 files[1]: "the last warp goes on alone", files[2]: "there is no such file."}
    that({row[1]: row[3] for row in rows[1:]} == sentences, f"{rows}")
    that([row[2] for row in sorted(rows[1:])] == ["right", "wrong", "wrong"], f"{rows}")
    for file, expected in zip(files, (r"not yet +9 \(3\) +0 \(0\)", r"yes +3 \(3\) ",
                                      r"yes +3 \(3\) ")):
        check_sh(folder, "6", file)
        status, said = check_sh(folder, "--progress")
        that(status == 0 and re.search("\n06-last-warp +" + expected, said), said)
        that(re.search(r"\n01-two-loops +-\n", said), said)
    that("\n1 of " in said, said)


def check_endings(folder):
    """What does not end, or ends the program, is not right; one beside it is graded all the same,
    and nothing that was started goes on."""
    right = read(COURSE, "02-baseline.cu").replace(HOLE, SOLUTIONS[2][0])
    barrier, loop = "__syncthreads();", "for (volatile int k = 1; k;) {}"
    in_kernel = {
        "": "RIGHT",
        "if (n == 1000) exit(0);": "it ends the program",
        "exit(3);": "it ends the program",
        "_Exit(0);": "it ends the program",
        'fprintf(stderr, "\\nfinished\\n"); _exit(0);': "it ends the program",
        "signal(SIGALRM, SIG_IGN); pause();": "it does not end: after 2 seconds",
        "static const bool daemon = fork() == 0; if (daemon) setsid(), pause();": "RIGHT",
        loop: "it does not end: after 2 seconds",
        f"static const bool child = fork() == 0; if (child) {loop}": "RIGHT",
    }
    said = grade(folder, 2, [right.replace(barrier, barrier + " " + more, 1)
                             for more in in_kernel], COURSE_SECONDS="2")
    for part, (more, wanted) in zip(said, in_kernel.items()):
        that(wanted in part, f"{more}: {part}")
    initialisers = [right + f"\nstatic int begin() {{ {body} return 1; }}\n"
                    "static int begun = begin();\n"
                    for body in ("if (fork() == 0) setsid(), pause();", loop, "_exit(40);")]
    said = grade(folder, 2, initialisers, COURSE_SECONDS="2")
    that("RIGHT" in said[0], said[0])
    for part in said[1:]:
        that("an initialiser of a global" in part, part)
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            arguments = read("/proc", process, "cmdline")
        except OSError: # it has ended
            continue
        that(os.path.join(folder, "grader-") not in arguments, f"{process}: {arguments}")


def check_environment(folder):
    """With CDPATH, and a compiler of two words; without a compiler, which is installed: by an
    apt-get of its own, on a PATH with everything else."""
    without = os.path.join(folder, "without")
    os.mkdir(without)
    for place in os.environ["PATH"].split(os.pathsep):
        for name in os.listdir(place) if os.path.isdir(place) else ():
            if name not in ("c++", "id", "sudo", "apt-get") and not os.path.lexists(
                    os.path.join(without, name)):
                os.symlink(os.path.join(place, name), os.path.join(without, name))
    command = "sh", "examples/course/check.sh", "2", "--answer"
    status, said = run(os.path.join(folder, "words"), *command, CDPATH=".", CXX="env c++")
    that(status == 0 and ANSWERS[2] in said, f"CDPATH and CXX: {status} {said}")
    status, said = run(os.path.join(folder, "none"), *command, PATH=without)
    that(status == 1 and "error: no 'c++': no apt-get here; please install what these Debian "
         "packages hold: g++\n" in said, f"no c++: {status} {said}")
    for name, script in (("id", "echo 0"), ("apt-get", "case $* in *'install -y'*g++*) "
                         f"ln -s '{shutil.which('c++')}' '{without}/c++' ;; esac")):
        with open(os.path.join(without, name), "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\n{script}\n")
        os.chmod(os.path.join(without, name), 0o755)
    status, said = run(os.path.join(folder, "apt"), *command, PATH=without)
    that(status == 0 and "installing: g++\n" in said and ANSWERS[2] in said,
         f"c++ is installed: {status} {said}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        if sys.argv[2:] == ["lessons"]:
            for check in (check_documents, check_made, check_pictures, check_own_picture,
                          check_steps, check_answers, check_hints, check_valid, check_results,
                          check_endings, check_environment):
                check(folder)
        else:
            for number in range(int(sys.argv[2]), int(sys.argv[3]) + 1):
                check_lesson(number, folder)
    return checks.finish("course, " + " to ".join(sys.argv[2:]))


if __name__ == "__main__":
    sys.exit(main())
