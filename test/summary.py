"""What test/run.sh prints of a run of meson test: python3 summary.py LOGS OUTPUT [CI]

LOGS is the build's folder meson-logs, OUTPUT what Meson printed, shown as it is where a
test failed. A line a test, with why it was skipped; what the tests found worth a line
(coverage, cost, parts skipped); with CI not empty, all of that. The last line counts. Exit
1 if a test failed or none ran.
"""
import glob
import json
import re
import sys

NOTED = re.compile(r"(mutants|coverage|cost|fuzz|vendoring): |.*: SURVIVED$")
PARTS = re.compile(r"skip: |.*: skipped, ")
GOOD, SKIP = ("OK", "EXPECTEDFAIL"), ("SKIP", "IGNORED")


def main():
    logs, output, everything = sys.argv[1], sys.argv[2], len(sys.argv) > 3 and sys.argv[3]
    results = []
    for path in glob.glob(logs + "/testlog*.json"):
        with open(path, encoding="utf-8", errors="replace") as file:
            results += [json.loads(line) for line in file]
    failed = [r for r in results if r["result"] not in GOOD + SKIP]
    skipped = [r for r in results if r["result"] in SKIP]
    if failed or not results:
        with open(output, encoding="utf-8", errors="replace") as file:
            print(file.read())
    for r in results:
        name = r["name"].split(" / ")[-1]
        lines = ((r.get("stdout") or "") + "\n" + (r.get("stderr") or "")).splitlines()
        why = ""
        if r in skipped:
            first = next((line for line in lines if line), "")
            why = next((line for line in lines if line.startswith("SKIP")), first)
        print(f"{r['result']:5} {r['duration']:6.1f} s  {name}" + (": " + why[:200] if why else ""))
        for line in lines:
            if NOTED.match(line) or PARTS.match(line) and everything:
                print("                " + line[:150])
    if not results:
        print("error: no test ran: is there one by that name?")
    passed = len(results) - len(failed) - len(skipped)
    print(f"tests: {passed} passed, {len(failed)} failed, {len(skipped)} skipped")
    return 1 if failed or not results else 0


if __name__ == "__main__":
    sys.exit(main())
