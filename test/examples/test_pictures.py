"""Tests examples/course/ladder_pictures.py: python3 test_pictures.py SCRIPT TRACE_LADDER FIGURES

The committed pictures are what it draws of the kernels' trace, to the byte; they show what the
trace says; and what is no trace is refused in words.
"""
import os
import re
import stat
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

import checks
from checks import that

SCRIPT, TRACE, FIGURES = (os.path.abspath(path) for path in sys.argv[1:4])
NAMES = ["ladder_all.svg"] + [f"ladder_v{k}.svg" for k in range(8)]


def draw(folder, program, *options):
    """(exit status, standard error, {name: text})"""
    ran = subprocess.run([sys.executable, SCRIPT, program, "--out", folder, *options],
                         capture_output=True, text=True, check=False)
    pictures = {}
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            pictures[name] = file.read()
    return ran.returncode, ran.stderr, pictures


def words(svg):
    texts = ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")
    return [text.text for text in texts]


def classes(svg):
    return set(re.findall(r'<path class="([^"]*)"', svg))


def check_committed_pictures():
    with tempfile.TemporaryDirectory() as folder:
        status, error, pictures = draw(os.path.join(folder, "new"), TRACE)
    that(status == 0 and list(pictures) == NAMES, f"{status} {error} {list(pictures)}")
    for name, svg in pictures.items():
        with open(os.path.join(FIGURES, name), encoding="utf-8") as file:
            that(file.read() == svg, f"{name} is not what is drawn: ninja -C BUILD pictures")
        that(len(svg) < 42000, f"{name} has {len(svg)} bytes")


def check_what_they_show():
    with tempfile.TemporaryDirectory() as folder:
        pictures = draw(folder, TRACE)[2]
        _, _, small = draw(os.path.join(folder, "small"), TRACE, "--block", "64")
    said = {name: words(svg) for name, svg in pictures.items()}
    # the counts of test_counts.cpp's table, of blocks of 128
    for k, (steps, barriers, accesses, more) in enumerate(
            [(23, "8 block barriers", 74, 0), (8, "8 block barriers", 29, 45),
             (8, "8 block barriers", 29, 0), (8, "8 block barriers", 20, 0),
             (8, "2 block barriers", 20, 0), (8, "2 block barriers", 20, 0),
             (8, "2 block barriers", 20, 0), (22, "1 block barrier", 5, 0)]):
        sentence = f"127 additions in {steps} steps of a warp; {barriers}; warps access shared " \
            f"memory {accesses} times, and {more} more because of bank conflicts"
        that(sentence in said[f"ladder_v{k}.svg"], f"V{k}: {said[f'ladder_v{k}.svg'][1]}")
        that(f"V{k}" in " ".join(said["ladder_all.svg"]), f"V{k} among all")
    for k in range(8):
        svg = pictures[f"ladder_v{k}.svg"]
        that(("bank" in classes(svg)) == (k == 1), f"V{k}: bank conflicts")
        that(("meeting" in classes(svg)) == (4 <= k <= 6), f"V{k}: warp barriers")
        that(("vain" in classes(svg)) == (k == 7), f"V{k}: results that nobody takes")
        that("barrier" in classes(svg), f"V{k}: block barriers")
        that(said[f"ladder_v{k}.svg"].count("returned") == 3, f"V{k}: warps return once")
    that("16 threads in 4 warps" in said["ladder_v0.svg"], "V0 keeps all warps")
    that("16 threads in 1 warp" in said["ladder_v1.svg"], "V1 packs its threads")
    that("words 0, 32, 64, 96: bank 0" in said["ladder_v1.svg"] and
         "4-way bank conflict:" in said["ladder_v1.svg"], "V1's bank conflicts")
    for k, line in enumerate(["1 element each"] * 3 + ["2 elements each"] * 3 +
                             ["8 elements each"] * 2):
        that(line in said[f"ladder_v{k}.svg"], f"V{k}: {line}")
    that(list(small) == NAMES and "63 additions in 11 steps of a warp" in small["ladder_v0.svg"],
         "blocks of 64")


def check_refusals():
    trace = subprocess.run([TRACE, "64"], capture_output=True, text=True, check=True).stdout
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "program")
        taken = os.path.join(folder, "taken")
        with open(taken, "w", encoding="utf-8"):
            pass

        def refused(script, part, out="out"):
            with open(program, "w", encoding="utf-8") as file:
                file.write("#!/bin/sh\n" + script)
            os.chmod(program, stat.S_IRWXU)
            status, error, pictures = draw(os.path.join(folder, out), program)
            that(status == 1 and part in error and error.startswith("ladder_pictures: ") and
                 error.count("\n") == 1 and not pictures, f"{part}: {status} {error}")

        def of_trace(text):
            with open(os.path.join(folder, "trace"), "w", encoding="utf-8") as file:
                file.write(text)
            return f"cat '{folder}/trace'\n"

        refused("exit 0", "an empty trace")
        refused("echo something broke >&2; exit 1", "something broke")
        refused("echo hello", "not a trace")
        refused("printf '\\377'", "decode")
        refused(of_trace(trace.replace("load,", "lode,", 1)), "not a trace")
        refused(of_trace(trace.replace("load,1,0,0,1,", "load,1,0,0,,", 1)), "not a trace")
        # another number of conflicts than the machine counted
        refused(of_trace(re.sub(r"(kernel,v1.*),\d+\n", r"\g<1>,3\n", trace)), "conflicts drawn")
        refused(of_trace(trace.split("\n")[0] + "\n"), "an empty trace")
        refused(of_trace(trace), "taken", "taken")
        status, error, _ = draw(taken, os.path.join(folder, "nowhere"))
        that(status == 1 and "nowhere" in error and error.count("\n") == 1, f"nowhere: {error}")
        status, error, _ = draw(taken, TRACE, "--block", "100")
        that(status == 1 and "Traceback" not in error and error.count("\n") == 1, f"100: {error}")


def main():
    for group in (check_committed_pictures, check_what_they_show, check_refusals):
        checks.run(group)
    return checks.finish("pictures")


if __name__ == "__main__":
    sys.exit(main())
