#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints how many lines of the product the tests ran, by folder and in all.

    meson setup build-coverage -Db_coverage=true && scripts/test.sh build-coverage && scripts/coverage.py build-coverage

A line counts once, however often its file is compiled: it ran if it ran in any of the objects. gcov has to be that of the compiler.
"""
import json
import os
import subprocess
import sys

FOLDERS = ("core", "models", "pipelines", "plugins", "postprocess", "predict", "preprocess", "tools")
FILES_AT_ONCE = 100


def reports(build, counts):
    """What gcov says of the files @counts, in groups."""
    for i in range(0, len(counts), FILES_AT_ONCE):
        done = subprocess.run(["gcov", "--json-format", "--stdout", *counts[i:i + FILES_AT_ONCE]], cwd=build, check=True, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL)
        yield from map(json.loads, filter(None, done.stdout.decode().split("\n")))


def main():
    build = os.path.abspath(sys.argv[1])
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    counts = [os.path.join(folder, name) for folder, _, names in os.walk(build) for name in names if name.endswith(".gcda")]
    if not counts:
        sys.exit("coverage.py: %s: no .gcda file; expected a build with -Db_coverage=true whose tests have run" % build)
    ran = {}
    for report in reports(build, counts):
        for file in report["files"]:
            path = os.path.relpath(os.path.join(report["current_working_directory"], file["file"]), root)
            if path.split(os.sep)[0] not in FOLDERS:
                continue
            lines = ran.setdefault(path, {})
            for line in file["lines"]:
                lines[line["line_number"]] = lines.get(line["line_number"], False) or line["count"] > 0
    for folder in (*FOLDERS, ""):
        lines = [done for path, of_file in ran.items() if path.startswith(folder + os.sep if folder else "") for done in of_file.values()]
        if lines:
            print("%-12s %6d of %6d lines, %.1f %%" % (folder or "all", sum(lines), len(lines), 100 * sum(lines) / len(lines)))


main()
