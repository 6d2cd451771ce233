#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes BUILD/benchmarks.json: the machine, the commit, and the lines that each benchmark printed in the last `meson test --benchmark`.

    scripts/bench_file.py BUILD     called by `make bench`
"""
import json
import os
import platform
import subprocess
import sys


def processor():
    """The processor's name as Linux tells it, else its architecture."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        names = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
    return names[0] if names else platform.machine()


def first_line(*command):
    """The first line that @command prints, or an empty string if it fails or is not installed."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, cwd=os.path.dirname(os.path.abspath(__file__))).stdout.split("\n")[0]
    except (OSError, subprocess.CalledProcessError):
        return ""


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: scripts/bench_file.py BUILD")
    log, path = (os.path.join(sys.argv[1], name) for name in ("meson-logs/benchmarklog.json", "benchmarks.json"))
    try:
        with open(log, encoding="utf-8") as file:
            runs = [json.loads(line) for line in file]
    except OSError as error:
        sys.exit("bench_file.py: %s: expected the log of `meson test --benchmark`, got: %s; run `make bench`" % (log, error.strerror))
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"processor": processor(), "cores": os.cpu_count(), "compiler": first_line("cc", "--version"),
                   "commit": first_line("git", "describe", "--always", "--dirty"),
                   "benchmarks": [{"name": run["name"].rpartition("/")[2].strip(), "result": run["result"], "seconds": round(run["duration"], 2),
                                   "lines": run.get("stdout", "").splitlines()} for run in runs]}, file, indent=1)
        file.write("\n")
    print(path)


if __name__ == "__main__":
    main()
