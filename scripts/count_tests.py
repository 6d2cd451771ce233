#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints how long each suite and the slowest programs took, what ran at the end, and "N passed, N failed, N skipped" for one run of `meson test`.

Called by scripts/test.sh with meson's log folder. Counts TAP test cases where a program reported them, else the
program as one; a program that failed without a failing case (it crashed or timed out) counts as one failure. Before
that, shows what failing programs wrote: TAP diagnostics are on stdout, and a sanitizer's first lines on stderr, which
tell what was wrong, may be far above the end of a log.
"""
import glob
import json
import os
import sys
import xml.etree.ElementTree as ET

GOOD = {"OK", "EXPECTEDFAIL"}
SHOWN_LINES = 60
SHOWN_PROGRAMS = 15
END_SECONDS = 30


def print_times(durations):
    """What took how long, of [(suite, program, seconds)]; programs run side by side, so the sum is more than the time that passed."""
    suites = {}
    for suite, _, seconds in durations:
        suites[suite] = suites.get(suite, 0) + seconds
    print("seconds by suite: " + ", ".join("%s %.0f" % pair for pair in sorted(suites.items(), key=lambda pair: -pair[1])))
    slowest = sorted(durations, key=lambda row: -row[2])[:SHOWN_PROGRAMS]
    print("slowest programs: " + ", ".join("%s %.1f" % (program, seconds) for _, program, seconds in slowest))


def print_end(spans):
    """Programs that ended in the last seconds, of [(program, begin, end)], and how much of this time each ran: one that is alone there had better
    begin earlier (`priority` in meson.build)."""
    last = max(end for _, _, end in spans)
    first = last - END_SECONDS
    ran = sorted(((end, program, end - max(begin, first)) for program, begin, end in spans if end > first), reverse=True)[:SHOWN_PROGRAMS]
    print("last %d s: " % END_SECONDS + ", ".join("%s %.1f" % (program, seconds) for _, program, seconds in ran))


def cases_by_program(path):
    """{program: [passed, failed, skipped]} from meson's JUnit file."""
    programs = {}
    for suite in ET.parse(path).getroot().iter("testsuite"):
        for case in suite.iter("testcase"):
            kinds = {child.tag for child in case}
            column = 1 if kinds & {"failure", "error"} else 2 if "skipped" in kinds else 0
            # A TAP program is the suite "PROJECT.PROGRAM"; any other program is a case of the suite "PROJECT".
            program = suite.get("name").partition(".")[2] or case.get("name")
            programs.setdefault(program, [0, 0, 0])[column] += 1
    return programs


def main():
    logs = sys.argv[1]
    junit = glob.glob(os.path.join(logs, "testlog*.junit.xml"))
    records = glob.glob(os.path.join(logs, "testlog*.json"))
    if not records:
        print("0 passed, 1 failed, 0 skipped")
        print("count_tests: %s has no test log: no test ran" % logs, file=sys.stderr)
        return 1
    cases = {}
    for path in junit:
        cases.update(cases_by_program(path))
    total, durations, spans = [0, 0, 0], [], []
    for path in records:
        with open(path, encoding="utf-8") as lines:
            for line in filter(str.strip, lines):
                record = json.loads(line)
                counts = list(cases.get(record["name"], [0, 0, 0]))
                # "PROJECT:SUITE+SUITE / PROGRAM"
                suite, _, program = record["name"].rpartition(" / ")
                durations.append((suite.partition(":")[2].partition("+")[0], program, record["duration"]))
                spans.append((program, record["starttime"], record["starttime"] + record["duration"]))
                good, skipped = record["result"] in GOOD, record["result"] == "SKIP"
                if not good and not skipped:
                    print("-- %s, end of its output:" % record["name"])
                    print("\n".join(record.get("stdout", "").splitlines()[-SHOWN_LINES:]))
                    print("-- and of what it wrote of errors:")
                    print("\n".join(record.get("stderr", "").splitlines()[:SHOWN_LINES]))
                if not any(counts):
                    counts[0 if good else 2 if skipped else 1] = 1
                elif not good and not skipped and not counts[1]:
                    counts[1] = 1
                total = [a + b for a, b in zip(total, counts)]
    print_times(durations)
    if spans:
        print_end(spans)
    print("%d passed, %d failed, %d skipped" % tuple(total))
    return 0


if __name__ == "__main__":
    sys.exit(main())
