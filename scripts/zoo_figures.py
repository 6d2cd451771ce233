# SPDX-License-Identifier: LGPL-2.1-or-later
"""Figures of the zoo's models, for scripts/zoo.py: time, memory, agreement with the reference runtime, and the loss with 8 bits.

What is measured becomes keys of the rows: ms, memory, agreement, int8. A key that could not be measured stays as it was, and so does a smaller
number of milliseconds: other work on the machine only makes it worse.
"""
import json
import os
import re
import subprocess
import tempfile

LIMIT = 600
SAME_BOX = 0.5
SAME_VALUE = 0.01


def run(*args):
    try:
        return subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=LIMIT, check=False)
    except subprocess.TimeoutExpired:
        return None


def pick(folder, most, into):
    """A folder of links to @most of the pictures of @folder and its folders, evenly over their names."""
    found = sorted(os.path.join(place, name) for place, _, names in os.walk(folder) for name in names if name.lower().endswith((".jpg", ".jpeg", ".png")))
    chosen = [found[i * len(found) // min(most, len(found))] for i in range(min(most, len(found)))]
    for number, path in enumerate(chosen):
        os.symlink(os.path.abspath(path), os.path.join(into, "%04d%s" % (number, os.path.splitext(path)[1].lower())))
    return len(chosen)


def overlap(a, b):
    width = min(a["x_max"], b["x_max"]) - max(a["x_min"], b["x_min"])
    height = min(a["y_max"], b["y_max"]) - max(a["y_min"], b["y_min"])
    area = lambda box: (box["x_max"] - box["x_min"]) * (box["y_max"] - box["y_min"])
    both = max(width, 0) * max(height, 0)
    return both / (area(a) + area(b) - both) if both > 0 else float(a == b)


def same_objects(ours, theirs):
    """F1 of objects of the same label that overlap."""
    left, matched = [one["detection"] for one in theirs], 0
    for one in (one["detection"] for one in ours):
        near = [other for other in left if other["label"] == one["label"] and overlap(one["bounding_box"], other["bounding_box"]) >= SAME_BOX]
        if near:
            left.remove(max(near, key=lambda other: overlap(one["bounding_box"], other["bounding_box"])))
            matched += 1
    return 2 * matched / (len(ours) + len(theirs)) if ours or theirs else 1


def same_values(ours, theirs):
    largest = max([abs(value or 0) for value in theirs] + [1e-6])
    return float(all(abs((a or 0) - (b or 0)) <= SAME_VALUE * largest for a, b in zip(ours, theirs)))


def cells(mask):
    return b"".join(bytes([kind & 255]) * length for kind, length in zip(mask["runs"][::2], mask["runs"][1::2]))


def same_masks(ours, theirs):
    """The share of cells of the same class."""
    a, b = cells(ours), cells(theirs)
    return sum(x == y for x, y in zip(a, b)) / len(a) if len(a) == len(b) > 0 else 0


def agreement(ours, theirs):
    """0..1 for two lines of predictions of one picture."""
    if ours.get("mask") and theirs.get("mask"):
        return same_masks(ours["mask"], theirs["mask"])
    if ours.get("vector") and theirs.get("vector"):
        return same_values(ours["vector"]["values"], theirs["vector"]["values"])
    if ours["labels"] or theirs["labels"]:
        return float([one["label"] for one in ours["labels"][:1]] == [one["label"] for one in theirs["labels"][:1]])
    return same_objects(ours["objects"], theirs["objects"])


def predictions(program, row, folder, *more):
    done = run(program, "predict", "--json", "--model", "zoo:" + row.name, *row.options, *more, folder)
    lines = [json.loads(line) for line in done.stdout.splitlines()] if done is not None else []
    return {line["source"]: line for line in lines}


def compare(program, row, folder):
    """(agreement, pictures, those with results, runtime) of a model here and in the runtime of its format, or None."""
    runtime = "onnxruntime" if row.file.endswith(".onnx") else "tflite"
    ours, theirs = predictions(program, row, folder), predictions(program, row, folder, "--backend", runtime)
    both = [agreement(ours[name], theirs[name]) for name in ours if name in theirs]
    full = sum(bool(line["objects"] or line["labels"] or line.get("vector") or line.get("mask")) for line in theirs.values())
    return (sum(both) / len(both), len(both), full, {"onnxruntime": "ONNX Runtime", "tflite": "TensorFlow Lite"}[runtime]) if both else None


def time_and_memory(program, row):
    """Milliseconds, and megabytes of weights, packed weights and tensors; None where it does not run."""
    bench = run(program, "bench", "model", "zoo:" + row.name, *row.options, "--runs", "5", "--warm-up", "1", "--json")
    shown = run(program, "inspect", "--json", *row.options, "zoo:" + row.name)
    if bench is None or shown is None or bench.returncode or shown.returncode:
        return None
    told = json.loads(shown.stdout)
    return json.loads(bench.stdout.splitlines()[0])["min_ms"], sum(told[key] for key in ("weight_bytes", "packed_bytes", "arena_bytes")) / 1e6


def quantized(program, row, pictures):
    """The report of quantize with the row's recipe, on other pictures than it learned from, or the sentence of its failure."""
    with tempfile.TemporaryDirectory() as folder:
        target = os.path.join(folder, "int8.tflite")
        done = run(program, "quantize", "zoo:" + row.name, *row.options, "--calibrate", os.path.join(pictures, "calibrate"), "--evaluate",
                   os.path.join(pictures, "evaluate"), "--json", "--output", target)
        if done is None or done.returncode:
            return None if done is None else done.stderr.strip().split("\n")[-1]
        report = json.loads(done.stdout)
        timed = run(program, "bench", "model", target, "--runs", "25", "--warm-up", "3", "--json")
        report["min_ms"] = json.loads(timed.stdout.splitlines()[0])["min_ms"]
        return report


def write(path, **keys):
    """Writes @keys into the group [zoo] of a row, in front of gives=."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for key, value in keys.items():
        text = re.sub(r"^%s=.*\n" % key, "", text, flags=re.M)
        text = re.sub(r"^gives=", lambda found, line="%s=%s\n" % (key, value): line + found[0], text, count=1, flags=re.M)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def figures(program, row, folder, pictures, with_int8):
    """The keys of a row that could be measured."""
    keys = {}
    cost = time_and_memory(program, row)
    if cost is not None:
        keys.update(ms="%.3g" % min(cost[0], float(row.ms or cost[0])), memory="%.1f" % cost[1])
    same = compare(program, row, folder) if cost is not None and row.decodes else None
    if same is not None:
        keys["agreement"] = "%.4f, %d pictures, %d with results, %s" % same if same[2] > 0 else "no: none of %d pictures gives a result" % same[1]
    report = quantized(program, row, pictures) if with_int8 and cost is not None and row.decodes else None
    if isinstance(report, dict) and report.get("agreement") is not None:
        keys["int8"] = "%.4f %s, %.3g ms, %.2f MB" % (report["agreement"], report["measure"], report["min_ms"], report["bytes"] / 1e6)
    return keys


def measure(program, pictures, most, rows, where, with_int8):
    """Measures @rows on @most of @pictures, and writes what was measured into their files."""
    with tempfile.TemporaryDirectory() as folder:
        n = pick(os.path.join(pictures, "evaluate"), most, folder)
        print("%d pictures" % n, flush=True)
        for row in rows:
            keys = figures(program, row, folder, pictures, with_int8)
            write(os.path.join(where, row.name + ".ini"), **keys)
            print(row.name, *("%s=%s" % pair for pair in keys.items()), flush=True)
