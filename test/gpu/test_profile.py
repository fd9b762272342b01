"""Tests profile.py on the output of a made-up ncu: python3 test_profile.py PROFILE SIMT_COUNTS"""
import os
import stat
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "examples"))
import checks
from checks import that

PROFILE, COUNTS = (os.path.abspath(path) for path in sys.argv[1:3])
NCU = '''#!/usr/bin/env python3
import sys
words = sys.argv[1:]
if "--export" in words:
    assert words[-1] == "32768", words
    assert words[words.index("--kernel-name") + 1].startswith("regex:^v"), words
    sys.exit(0)
version = int(words[words.index("--import") + 1].split("/")[-1][1])
print("==PROF== made up")
if "source" in words:
    print('"#","Address","Source","Instructions Executed",'
          '"Predicated-On Thread Instructions Executed","L1 Wavefronts Shared Excessive"')
    barriers = 32768 * 8 * (version + 1)
    for opcode, *numbers in [("      @!P0 LDS R1, [R2]", 32768 * 8, 32768 * 100, 32768 * version),
                             ("STS.64 [R2], R1", "65,536", 32768 * 50, 32768),
                             ("@P1 BRA 0x10", 32768, 0, 0),
                             ("BAR.SYNC.DEFER_BLOCKING 0x0", barriers, 32768 * 256, ""),
                             ("@UP0 LDG.E R4, desc[R6]", 32768 * 9, 32768, 7)]:
        print('"1","2","' + opcode + '",' + ",".join(f'"{n}"' for n in numbers))
else:
    print('"ID","Kernel Name","dram__bytes_read.sum",'
          '"dram__bytes_read.sum.pct_of_peak_sustained_elapsed","gpu__time_duration.sum",'
          '"smsp__sass_branch_targets_threads_divergent.sum"')
    print('"","","byte","%","ns","branches"')
    print(f'"0","v{version}_kernel","134,217,728","{10 + version}.5","{100000 + version}",'
          f'"{32768 * 3}"')
'''


def script(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)
    return path


def profile(*arguments):
    return subprocess.run([sys.executable, PROFILE, *arguments], capture_output=True, text=True,
                          check=False)


def main():
    with tempfile.TemporaryDirectory() as folder:
        ncu, program = script(folder, "ncu", NCU), script(folder, "ladder", "#!/bin/sh\nexit 0\n")
        readme = script(folder, "README.md",
                        "above\n<!-- profile -->\nold\n<!-- /profile -->\nbelow\n")
        done = profile(program, COUNTS, "--ncu", ncu, "--readme", readme)
        rows = done.stdout.splitlines()
        that(done.returncode == 0 and len(rows) == 10, f"exit {done.returncode}: {done.stderr}")
        that(rows[2] == "| V0 | 1 (9) | 150 (1022) | 1 (0) | (150) | 10 | 3 | 1342 | 10.5 % |",
             f"V0: {rows[2]}")
        that(rows[3] == "| V1 | 2 (9) | 150 (1022) | 2 (105) | (45) | 10 | 3 | 1342 | 11.5 % |",
             f"V1: {rows[3]}")
        that(rows[9].startswith("| V7 | 8 (1) | 150 (16) | 8 (0) | (9) | 10 |"), f"V7: {rows[9]}")
        with open(readme, encoding="utf-8") as file:
            that(file.read() == "above\n<!-- profile -->\n\n" + done.stdout +
                 "\n<!-- /profile -->\nbelow\n", "the README")

        without = script(folder, "plain.md", "no marks\n")
        refused = profile(program, COUNTS, "--ncu", ncu, "--readme", without)
        that(refused.returncode == 1 and "has not one line" in refused.stderr,
             "a README without marks")
        other = script(folder, "other", NCU.replace("Shared Excessive", "Shared"))
        refused = profile(program, COUNTS, "--ncu", other)
        that(refused.returncode == 1 and
             "no column 'L1 Wavefronts Shared Excessive'" in refused.stderr,
             "a column that is missing")
        broken = script(folder, "broken", "#!/bin/sh\necho ERR_NVGPUCTRPERM >&2\nexit 3\n")
        refused = profile(program, COUNTS, "--ncu", broken)
        that(refused.returncode == 1 and "ERR_NVGPUCTRPERM" in refused.stderr, "an ncu that fails")
        that(profile(program, COUNTS, "--ncu", "/nonexistent").returncode == 77, "no ncu")
        nothing = script(folder, "nothing", "#!/bin/sh\nexit 77\n")
        that(profile(nothing, COUNTS, "--ncu", ncu).returncode == 77, "no GPU")
    return checks.finish("profile")


if __name__ == "__main__":
    sys.exit(main())
