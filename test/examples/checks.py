"""Counts checks, for the tests that are Python programs: that(good, what) for each, in groups by
run(), finish() at the end."""
import time

count = failures = 0


def that(good, what):
    global count, failures
    count += 1
    if not good:
        failures += 1
        print("FAIL:", what)
    return good


def run(group):
    """Calls a function check_..., and prints what it counted; or that it was
    skipped, and why, if it returns that."""
    before, began = (count, failures), time.monotonic()
    skipped = group()
    seconds = time.monotonic() - began
    counts = f"{count - before[0]} checks, {failures - before[1]} failed, {seconds:.1f} s"
    name = group.__name__.replace("check_", "").replace("_", " ")
    print(f"{name}: {'skipped, ' + skipped if skipped else counts}")


def finish(what):
    """Prints the counts; the exit status."""
    print(f"{what}: {count} checks, {failures} failed")
    return 1 if failures else 0
