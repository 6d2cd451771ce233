# SPDX-License-Identifier: LGPL-2.1-or-later
"""TAP: scripts/bench_file.py writes what benchmarks printed, as a log of meson 1.0 has it, and says what to do without a log."""
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
LOG = r"""{"name": "sightline:bench / track", "stdout": "20 objects: 4.0 us\n100 objects: 80 us\n", "result": "OK", "starttime": 1.0, "duration": 2.004, "returncode": 0, "env": {}, "command": ["bench-track"]}
{"name": "infer person_detect 1t", "result": "FAIL", "starttime": 3.0, "duration": 0.5, "returncode": 1, "env": {}, "command": ["bench-infer"]}
"""


def run(build):
    return subprocess.run([sys.executable, "-B", os.path.join(ROOT, "scripts", "bench_file.py"), build], capture_output=True, text=True, check=False)


def main():
    with tempfile.TemporaryDirectory() as build:
        missing = run(build)
        os.mkdir(os.path.join(build, "meson-logs"))
        with open(os.path.join(build, "meson-logs", "benchmarklog.json"), "w", encoding="utf-8") as file:
            file.write(LOG)
        done = run(build)
        with open(os.path.join(build, "benchmarks.json"), encoding="utf-8") as file:
            written = json.load(file)
    wanted = [{"name": "track", "result": "OK", "seconds": 2.0, "lines": ["20 objects: 4.0 us", "100 objects: 80 us"]},
              {"name": "infer person_detect 1t", "result": "FAIL", "seconds": 0.5, "lines": []}]
    good = [missing.returncode == 1 and "expected the log of `meson test --benchmark`, got: No such file or directory; run `make bench`" in missing.stderr,
            done.returncode == 0 and written["benchmarks"] == wanted, written["processor"] != "" and written["cores"] == os.cpu_count()]
    print("1..%d" % len(good))
    for number, (name, fine) in enumerate(zip(("no log", "lines of benchmarks", "the machine"), good), 1):
        print("%sok %d %s" % ("" if fine else "not ", number, name))
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
