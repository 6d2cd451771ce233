#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The files of docs/boards, which `sightline bench field` wrote, as tables.

    scripts/boards.py --page     writes docs/boards.md anew: its tables are made of the files
    scripts/boards.py --check    fails where docs/boards.md is not what --page writes, or a file is not as docs/board.schema.json has it
"""
import glob
import json
import os
import sys

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
PAGE = os.path.join(ROOT, "docs", "boards.md")
MARKS = ("<!-- scripts/boards.py --page writes from here -->", "<!-- to here -->")
NETWORKS = {"mobilenet_v2": "MobileNetV2, 224x224", "yolo_n": "YOLO-n, 640x640", "rfb": "RFB faces, 320x240", "vit_ti": "ViT-Ti, 224x224"}
TYPES = ("float", "fp16", "int8")

sys.path.insert(0, os.path.join(ROOT, "tests", "support"))
import schema  # noqa: E402


def read_boards():
    """{name of the file: object}"""
    with open(os.path.join(ROOT, "docs", "board.schema.json"), encoding="utf-8") as file:
        rules = json.load(file)
    boards = {}
    for path in sorted(glob.glob(os.path.join(ROOT, "docs", "boards", "*.json"))):
        name = os.path.splitext(os.path.basename(path))[0]
        with open(path, encoding="utf-8") as file:
            boards[name] = json.load(file)
        found = list(schema.problems(boards[name], rules, rules))
        if found:
            sys.exit("docs/boards/%s.json: %s" % (name, "; ".join(found)))
    return boards


def describe_cores(machine):
    """"4 Cortex-A76 + Cortex-A55, 2400 MHz"."""
    most = max([core["max_mhz"] or 0 for core in machine["cores"]], default=0)
    words = "%d %s" % (len(machine["cores"]), " + ".join(machine["processors"])) if machine["processors"] else "emulated"
    return words + (", %.0f MHz" % most if most and machine["processors"] else "")


def describe_results(board):
    wrong = {"%s %s" % (row["network"], row["type"]) for row in board["networks"] if not row["right"]}
    wrong |= {"normaliser %s" % row["format"] for row in board["normaliser"] if not row["right"]}
    return "wrong: " + ", ".join(sorted(wrong)) if wrong else "right"


def machine_rows(boards):
    yield "| file | board | cores | kernels | memory | copied a second, 1 thread / all | results |\n|---|---|---|---|---|---|---|"
    for name, board in boards.items():
        machine = board["machine"]
        copy = machine.get("copy_gb_s")
        kernels = sorted({row[key] for row in board["networks"] for key in ("int8_kernels", "float_kernels") if row[key]})
        yield "| `%s` | %s | %s | %s | %s | %s | %s |" % (
            name, machine["model"] or ("-" if board["emulated"] else "x86 machine" if machine["architecture"] == "x86_64" else machine["architecture"]),
            describe_cores(machine), ", ".join(kernels), "-" if board["emulated"] else "%.0f GB" % (machine["memory_mb"] / 1024),
            "%.1f / %.1f GB" % (copy["one_thread"], copy["all_threads"]) if copy else "-", describe_results(board))


def times(board, network, kind):
    """"6.4 / 4.3": the least of each number of threads."""
    rows = [row for row in board["networks"] if row["network"] == network and row["type"] == kind and "least_ms" in row]
    return " / ".join("%.3g" % row["least_ms"] for row in sorted(rows, key=lambda row: row["threads"])) or "-"


def time_rows(boards):
    yield "| file | network | float | fp16 | int8 |\n|---|---|---|---|---|"
    for name, board in boards.items():
        if "seconds" not in board:
            continue
        slow = " (slowed down)" if board["warning"] else ""
        for network, title in NETWORKS.items():
            yield "| `%s`%s | %s | %s |" % (name, slow, title, " | ".join(times(board, network, kind) for kind in TYPES))


def page():
    with open(PAGE, encoding="utf-8") as file:
        text = file.read()
    before, rest = text.split(MARKS[0])
    after = rest.split(MARKS[1])[1]
    boards = read_boards()
    tables = "\n".join(machine_rows(boards)) + "\n\nMilliseconds, the least of up to 50 runs, on 1 / 2 / 4 threads:\n\n" + "\n".join(time_rows(boards))
    return before + MARKS[0] + "\n\n" + tables + "\n\n" + MARKS[1] + after


def main(args):
    if args == ["--page"]:
        text = page()
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write(text)
    elif args == ["--check"]:
        with open(PAGE, encoding="utf-8") as file:
            if file.read() != page():
                sys.exit("docs/boards.md: not of the files of docs/boards as they are; run scripts/boards.py --page")
    else:
        sys.exit("usage: scripts/boards.py --page | --check")


if __name__ == "__main__":
    main(sys.argv[1:])
