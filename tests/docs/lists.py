#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""TAP: the lists in docs/ name every operator and every decoder that is built, and nothing else."""
import os
import re
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


def first_column(page, heading):
    """Names in the first column of the first table below a heading."""
    section = page.split("\n" + heading + "\n", 1)[1]
    rows = re.findall(r"(?m)^\|.*\|$", section.split("\n## ", 1)[0])
    return re.findall(r"(?m)^\| `([\w-]+)`", "\n".join(rows))


def main():
    lists = {
        "operators in docs/operators.md": (
            set(re.findall(r"\bX \((\w+), \w+\)", read("core", "graph", "op.h").split("SL_TFLITE_OPERATORS(X)")[1].split("\n\n")[0])),
            set(re.findall(r"`([A-Z][A-Z0-9_]+)`(?! or)", "\n".join(re.findall(r"(?m)^\|.*\|$", read("docs", "operators.md")))))),
        "decoders in docs/predictions.md": (
            {name.replace("_", "-") for name in re.findall(r"'(\w+)'", re.search(r"(?m)^decoders = \[(.*?)\]", read("postprocess", "meson.build"), re.S)[1])},
            set(first_column(read("docs", "predictions.md"), "## Decoders"))),
    }
    number_of = str(len(lists["operators in docs/operators.md"][0]))
    lists["counts of operators in README.md and docs/features.md"] = (
        {"README.md " + number_of, "features.md " + number_of},
        {"README.md " + number for number in re.findall(r"(\d+) TensorFlow Lite operators", read("README.md"))}
        | {"features.md " + number for number in re.findall(r"(?m)^\| operators \| (\d+)", read("docs", "features.md"))})
    lists["decoders in data/sightline.1"] = (
        lists["decoders in docs/predictions.md"][0],
        set(re.findall(r"[a-z-]+(?=,| or|\.)|(?<=or )[a-z]+", re.search(r"What the outputs mean: (.*)", read("data", "sightline.1"))[1].replace("\\", ""))))
    good = True
    print("1..%d" % len(lists))
    for number, (name, (built, listed)) in enumerate(lists.items(), 1):
        same = len(built) > 1 and built == listed
        good &= same
        print("%s %d /lists/%s" % ("ok" if same else "not ok", number, name.replace(" ", "-")))
        if not same:
            print("# missing in the page: %s" % ", ".join(sorted(built - listed)))
            print("# listed, but not built: %s" % ", ".join(sorted(listed - built)))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
