"""Draws a student's kernel at work beside the library's, for check.sh --picture:

    python3 examples/course/picture.py mine.cu YOURS OURS

YOURS and OURS are traces of one block, as picture.h prints them; OURS may be empty. Writes the SVG
mine.svg.
"""
import os
import sys
import textwrap

from ladder_pictures import STYLE, Picture, document, large, legend, numbers, parse, placed, title

LEFT, TOP, RIGHT = 74, 130, 230  # around a picture


def read(path):
    with open(path, encoding="utf-8") as file:
        return parse(file.read(), path)


def words(lines, kind=""):
    text = Picture(None, 1)
    for k, line in enumerate(lines):
        text.text(0, 22 * k, line, kind=kind)
    return text


def beside(kernels):
    """[(heading, kernel)] as one SVG."""
    pictures = [large(kernel) for _, kernel in kernels]
    parts, x = [], 0
    for (heading, kernel), picture in zip(kernels, pictures):
        head = Picture(None, 1)
        head.text(0, 0, heading, 26)
        sentence = numbers(kernel, False).split("; warps ")
        sentence = [f"{kernel.name}, until a fault, which stands below"] if kernel.fault else [
            sentence[0] + ";", "warps " + sentence[1]]
        parts.append("<g>\n" + "\n".join([
            placed(x + LEFT, 30, head), placed(x + LEFT, 60, words(sentence)),
            placed(x + LEFT, TOP, picture),
            placed(x + LEFT, TOP + picture.y + 30, words(textwrap.wrap(kernel.fault, 84), "red")),
        ]) + "\n</g>")
        x += LEFT + picture.width + RIGHT
    height = TOP + max(picture.y + 22 * len(textwrap.wrap(kernel.fault, 84))
                       for (_, kernel), picture in zip(kernels, pictures)) + 44
    key, lines = legend(pictures, x - LEFT)
    parts.append(placed(LEFT, height, key))
    return document(x, height + lines + 12, parts).replace(
        STYLE, STYLE + "\n.race{stroke:#ff1010}")


def main():
    solution, *traces = sys.argv[1:]
    yours, ours = map(read, traces)
    if not yours[0].rows:
        sys.exit("  there is nothing to draw, as the kernel neither loads nor stores")
    kernels = [(os.path.basename(solution), yours[0])] + [(title(k), k) for k in ours]
    path = os.path.splitext(solution)[0] + ".svg"
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(beside(kernels))
    except OSError as error:
        sys.exit(f"  {path}: {error.strerror}")
    print(f"  the picture is {path}")


if __name__ == "__main__":
    main()
