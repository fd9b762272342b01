"""Tests the course's grader: python3 test_course.py ROOT FIRST LAST

Of each exercise from FIRST to LAST: as it stands it is not right; filled in it is; and each usual
mistake, which is a change of that, is named for what it is.
"""
import os
import re
import subprocess
import sys
import tempfile

import checks
from checks import that
from course_solutions import SOLUTIONS

ROOT = os.path.abspath(sys.argv[1])
COURSE = os.path.join(ROOT, "examples", "course")
HOLE = "/* YOUR CODE */"


def grade(folder, number, text):
    path = os.path.join(folder, "mine.cu")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    ran = subprocess.run(["sh", os.path.join(COURSE, "check.sh"), str(number), path], check=False,
                         capture_output=True, text=True, env={**os.environ, "COURSE_BUILD": folder})
    with open(path, encoding="utf-8") as file:
        that(file.read() == text, f"lesson {number}: the file has changed")
    return ran.returncode, ran.stdout + ran.stderr


def line_of(text, mark):
    return text[:text.index(mark)].count("\n") + 1


def check_lesson(number, folder):
    name, = (n for n in os.listdir(COURSE) if re.match(rf"{number:02}-.*\.cu$", n))
    with open(os.path.join(COURSE, name), encoding="utf-8") as file:
        exercise = file.read()
    that(exercise.count(HOLE) == 1, f"{name} has no hole, or several")
    filling, mistakes = SOLUTIONS[number]
    right = exercise.replace(HOLE, filling)
    status, said = grade(folder, number, exercise)
    that(status == 1 and "NOT YET" in said, f"{name}, unfinished: {status} {said}")
    status, said = grade(folder, number, right)
    that(status == 0 and "RIGHT" in said, f"{name}, right: {status} {said}")
    that(len(mistakes) >= 3, f"{name}: only {len(mistakes)} mistakes")
    for old, new, expected in mistakes:
        old = filling if old is None else old
        that(right.count(old) == 1, f"{name}: '{old}' is there {right.count(old)} times")
        wrong = right.replace(old, new)
        expected = re.sub(r"@(.*?)@", lambda m: f"mine.cu:{line_of(wrong, m[1])}", expected)
        status, said = grade(folder, number, wrong)
        that(status == 1 and "NOT YET" in said and expected in said,
             f"{name}: expected '{expected}' for '{new}': {status} {said}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        for number in range(int(sys.argv[2]), int(sys.argv[3]) + 1):
            check_lesson(number, folder)
    return checks.finish(f"course, lessons {sys.argv[2]} to {sys.argv[3]}")


if __name__ == "__main__":
    sys.exit(main())
