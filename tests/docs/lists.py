#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""TAP: the lists in docs/ name every operator, decoder and package that is built, and nothing else."""
import glob
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


def operators_below(heading, name=r"[A-Z]\w+"):
    section = read("docs", "operators.md").split("\n" + heading + "\n", 1)[1].split("\n## ", 1)[0]
    return set(re.findall(r"`(%s)`" % name, "\n".join(re.findall(r"(?m)^\|.*\|$", section))))


def main():
    lists = {
        "operators in docs/operators.md": (
            set(re.findall(r"\bX \((\w+), \w+, ", read("core", "graph", "op.h").split("SL_TFLITE_OPERATORS(X)")[1].split("\n\n")[0])),
            operators_below("## TensorFlow Lite", r"[A-Z][A-Z0-9_]+")),
        "ONNX operators in docs/operators.md": (
            {name for room in ("lower", "onnx") for path in glob.glob(os.path.join(ROOT, "models", room, "*.c"))
             for name in re.findall(r"\{ LOWER_(?:ROW|EACH) \((\w+)", read(path))}, operators_below("## ONNX")),
        "TorchScript operators in docs/operators.md": (
            {name.replace("aten::", "") for path in glob.glob(os.path.join(ROOT, "models", "aten", "ops_*.c"))
             for name in re.findall(r'(?m)^  \{ "(\w+::\w+)"', read(path))},
            operators_below("## TorchScript", r"(?:\w+::)?\w+")),
        "decoders in docs/predictions.md": (
            {name.replace("_", "-") for name in re.findall(r"'(\w+)'", re.search(r"(?m)^decoders = \[(.*?)\]", read("postprocess", "meson.build"), re.S)[1])},
            set(first_column(read("docs", "predictions.md"), "## Decoders"))),
    }
    stated = re.findall(r"over (\d+) TensorFlow Lite operators and (\d+) of ONNX", read("README.md")) \
        + re.findall(r"(?m)^\| operators \| over (\d+) of TensorFlow Lite, (\d+) of ONNX", read("docs", "features.md"))
    built = [len(lists[name][0]) for name in ("operators in docs/operators.md", "ONNX operators in docs/operators.md")]
    lists["numbers of operators in README.md and docs/features.md"] = (
        {"two statements", "true"},
        {"two statements" if len(stated) == 2 else "other", "true" if all(int(least) <= n for row in stated for least, n in zip(row, built)) else "false"})
    packages = [row.split("|")[1] for row in read("docs", "install.md").split("\n## Debian packages\n")[1].splitlines() if row.startswith("| `")]
    lists["packages in docs/install.md, version in debian/changelog"] = (
        set(re.findall(r"(?m)^Package: (\S+)", read("debian", "control"))) | {re.search(r"version: '([\d.]+)'", read("meson.build"))[1]},
        {name for row in packages for name in re.findall(r"`([\w.-]+)`", row)} | {re.match(r"sightline \(([\d.]+)\)", read("debian", "changelog"))[1]})
    good = True
    print("1..%d" % len(lists))
    for number, (name, (built, listed)) in enumerate(lists.items(), 1):
        same = len(built) > 1 and built == listed
        good &= same
        print("%s %d /lists/%s" % ("ok" if same else "not ok", number, name.replace(" ", "-")))
        if not same:
            print("# missing in the page: %s" % ", ".join(map(str, sorted(built - listed))))
            print("# listed, but not built: %s" % ", ".join(map(str, sorted(listed - built))))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
