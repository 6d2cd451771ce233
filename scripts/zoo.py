#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The rows of models/zoo/rows, for pages and for nightly trials.

    scripts/zoo.py --page                      writes docs/zoo.md and docs/pictures/zoo.svg anew: tables and plot are made of the rows
    scripts/zoo.py --check                     fails where docs/zoo.md is not what --page writes
    scripts/zoo.py --measure [--int8] SIGHTLINE PICTURES N [NAME...]
                                               measures rows that were tried on N of PICTURES/evaluate, and writes the figures into them
    scripts/zoo.py --try SIGHTLINE SHARED [NAME...]    fetches each row that was tried and predicts its picture: TAP

A row whose `gives` begins with "no: " is refused by predict, as the row says; every other one is decoded.
"""
import configparser
import os
import re
import subprocess
import sys

import zoo_figures
import zoo_plot

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ROWS = os.path.join(ROOT, "models", "zoo", "rows")
PAGE = os.path.join(ROOT, "docs", "zoo.md")
PLOT = os.path.join(ROOT, "docs", "pictures", "zoo.svg")
FIGURES = ("<!-- figures: scripts/zoo.py --page writes from here -->", "<!-- figures: to here -->")
MARKS = ("<!-- scripts/zoo.py --page writes from here -->", "<!-- to here -->")
LIMIT = 120


class Row:
    """A row: its keys as attributes, None where one is missing, and the options of predict that its key file stands for."""

    def __init__(self, name):
        parser = configparser.RawConfigParser(delimiters="=", comment_prefixes="#", interpolation=None, strict=True)
        parser.optionxform = str
        parser.read(os.path.join(ROWS, name + ".ini"), encoding="utf-8")
        self.name, self.keys = name, dict(parser["zoo"])
        info = parser["sightline"].items() if parser.has_section("sightline") else ()
        self.options = self.keys.get("options", "").split()
        self.stated = " ".join(self.options + ["--%s %s" % pair for pair in info])
        source = re.match(r"npm:(@?[^@]+)@([^/]+)/", self.keys["source"])
        self.package = "%s %s" % source.groups() if source else self.keys["source"].split("/")[2]

    def __getattr__(self, key):
        return self.keys.get(key)

    @property
    def decodes(self):
        return not (self.gives or "").startswith("no: ")


def rows():
    return [Row(name[:-4]) for name in sorted(os.listdir(ROWS)) if name.endswith(".ini")]


def run(*args):
    return subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=LIMIT, check=False)


def attempt(program, shared, row):
    """None, or what is not as the row says."""
    done = run(program, "predict", "--model", "zoo:" + row.name, *row.options, os.path.join(shared, "images", row.picture))
    said = (done.stdout + done.stderr).strip().split("\n")[-1]
    if (done.returncode == 0) != row.decodes:
        return "expected '%s', got: %s" % (row.gives, said)
    return None


def try_rows(program, shared, names):
    """The first download of a package serves all of its rows."""
    tried = [row for row in rows() if row.tried == "yes" and (not names or row.name in names)]
    print("1..%d" % len(tried))
    done = subprocess.run([program, "get", *[row.name for row in sorted(tried, key=lambda row: row.source)]], stdout=subprocess.DEVNULL, check=False)
    failed = 0
    for number, row in enumerate(tried, 1):
        wrong = attempt(program, shared, row)
        failed += wrong is not None
        print("%sok %d %s%s" % ("not " if wrong else "", number, row.name, "\n# " + wrong if wrong else ""), flush=True)
    return 1 if failed or done.returncode else 0


def measure_rows(program, pictures, most, names, with_int8):
    chosen = [row for row in rows() if row.tried == "yes" and (not names or row.name in names)]
    subprocess.run([program, "get", *[row.name for row in sorted(chosen, key=lambda row: row.source)]], stdout=subprocess.DEVNULL, check=True)
    zoo_figures.measure(program, pictures, most, chosen, ROWS, with_int8)


def megabytes(text):
    return "%.1f" % (int(text) / 1e6) if text else "-"


def table():
    tried = [row for row in rows() if row.tried == "yes"]
    others = [row for row in rows() if row.tried != "yes"]
    yield "%d models were fetched and run; %d of them are decoded." % (len(tried), sum(row.decodes for row in tried))
    yield ""
    yield "| name | task | MB | download | input | ms | licence stated there | gives |\n|---|---|---|---|---|---|---|---|"
    for row in sorted(tried, key=lambda row: (row.task, row.name)):
        yield "| `%s` | %s | %s | %s | %s | %s | [%s](%s) | %s |" % (row.name, row.task, megabytes(row.size), megabytes(row.download), row.input or "-",
                                                                row.ms or "-", row.licence, row.page, row.gives)
    if others:
        yield ""
        yield "Not tried, and their pages not read: look up the licence before use.\n\n| name | task | licence, not verified | source |\n|---|---|---|---|"
    for row in sorted(others, key=lambda row: (row.task, row.name)):
        yield "| `%s` | %s | [%s](%s) | %s |" % (row.name, row.task, row.licence, row.page, row.source)


def agreement_table():
    measured = sorted((row for row in rows() if row.agreement or row.int8), key=lambda row: (row.task, row.name))
    yield "| name | task | memory, MB | agreement with the reference runtime | 8 bits: agreement, time, size | recipe |\n|---|---|---|---|---|---|"
    for row in measured:
        recipe = row.quantize or ("none needed" if row.int8 else "-")
        yield "| `%s` | %s | %s | %s | %s | %s |" % (row.name, row.task, row.memory or "-", row.agreement or "-", row.int8 or "-",
                                                   "`%s`" % recipe if recipe.startswith("-") and recipe != "-" else recipe)


def plot():
    """Those whose 8 bits were measured by AP50, as text."""
    points = []
    for row in rows():
        found = re.match(r"([\d.]+) AP50, ([\d.]+) ms", row.int8 or "")
        if found:
            points.append((row.name, float(row.ms), float(found[2]), max(100 * (1 - float(found[1])), 0.1)))
    return "\n".join(zoo_plot.svg(points)) + "\n"


def page():
    with open(PAGE, encoding="utf-8") as file:
        text = file.read()
    return fill(fill(text, FIGURES, agreement_table()), MARKS, table())


def fill(text, marks, lines):
    before, _, rest = text.partition(marks[0])
    return before + marks[0] + "\n" + "\n".join(lines) + "\n" + marks[1] + rest.partition(marks[1])[2]


def main(args):
    if args == ["--page"]:
        for path, text in ((PAGE, page()), (PLOT, plot())):
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
    elif args == ["--check"]:
        for path, text in ((PAGE, page()), (PLOT, plot())):
            with open(path, encoding="utf-8") as file:
                if file.read() != text:
                    sys.exit("%s: not of the rows as they are; run scripts/zoo.py --page" % os.path.relpath(path, ROOT))
    elif len(args) >= 3 and args[0] == "--try":
        sys.exit(try_rows(args[1], args[2], args[3:]))
    elif len(args) >= 4 and args[0] == "--measure":
        given = args[2:] if args[1] == "--int8" else args[1:]
        measure_rows(given[0], given[1], int(given[2]), given[3:], args[1] == "--int8")
    else:
        sys.exit("usage: scripts/zoo.py --page | --check | --measure [--int8] SIGHTLINE PICTURES N [NAME...] | --try SIGHTLINE SHARED [NAME...]")


if __name__ == "__main__":
    main(sys.argv[1:])
