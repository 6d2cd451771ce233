# SPDX-License-Identifier: LGPL-2.1-or-later
"""TAP: average precision against the formula of pycocotools' COCOeval, written down again here, on random cases and worked examples.

Called by meson: boxes.py SCORE_BOXES
"""
import bisect
import math
import random
import subprocess
import sys

# As numpy.linspace() makes them: 35 * 0.01 lies above 0.35, so a recall of 7 in 20 does not reach it.
OVERLAPS = [0.5 + i * ((0.95 - 0.5) / 9) for i in range(9)] + [0.95]
RECALLS = [i * 0.01 for i in range(101)]


def scored(pictures):
    """{label: (truths, found, AP, AP50, AP75)} by the program; a picture is (true boxes, found boxes) of (label, number, box)."""
    lines = []
    for truth, found in pictures:
        for word, boxes in ("true", truth), ("found", found):
            lines += ["%s %d %.17g %s" % (word, label, number, " ".join("%.17g" % value for value in box)) for label, number, box in boxes]
        lines.append("end")
    out = subprocess.run([sys.argv[1]], input="\n".join(lines) + "\n", capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in out.splitlines()]
    return {int(row[0]): (int(row[1]), int(row[2]), *map(float, row[3:])) for row in rows}


def intersection_over_union(a, b):
    w, h = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    if w <= 0 or h <= 0:
        return 0.0
    return w * h / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - w * h)


def evaluate_picture(truth, found, threshold):
    """evaluateImg: [(score, matched, ignored)] of the 100 best."""
    truth = sorted(truth, key=lambda one: one[0])
    taken, rows = set(), []
    for score, box in sorted(found, key=lambda one: -one[0])[:100]:
        bar, match = min(threshold, 1 - 1e-10), None
        for index, (ignored, other) in enumerate(truth):
            if index in taken:
                continue
            if match is not None and not truth[match][0] and ignored:
                break
            overlap = intersection_over_union(box, other)
            if overlap < bar:
                continue
            bar, match = overlap, index
        if match is not None:
            taken.add(match)
        rows.append((score, match is not None, match is not None and bool(truth[match][0])))
    return rows


def average_precision(pictures, label, threshold):
    """accumulate and summarize for one class: None without true boxes."""
    rows, count = [], 0
    for truth, found in pictures:
        boxes = [(number, box) for which, number, box in truth if which == label]
        count += sum(1 for ignored, _ in boxes if not ignored)
        rows += evaluate_picture(boxes, [(number, box) for which, number, box in found if which == label], threshold)
    if count == 0:
        return None
    recalls, precisions, hits, misses = [], [], 0, 0
    for _, matched, ignored in sorted(rows, key=lambda row: -row[0]):
        hits += matched and not ignored
        misses += not matched and not ignored
        recalls.append(hits / count)
        precisions.append(hits / (hits + misses + sys.float_info.epsilon))
    for i in range(len(precisions) - 1, 0, -1):
        precisions[i - 1] = max(precisions[i - 1], precisions[i])
    sampled = [bisect.bisect_left(recalls, recall) for recall in RECALLS]
    return sum(precisions[i] if i < len(precisions) else 0.0 for i in sampled) / len(RECALLS)


def expected(pictures, labels):
    """{label: (AP, AP50, AP75)}, the mean as -1."""
    figures = {}
    for label in labels:
        values = [average_precision(pictures, label, threshold) for threshold in OVERLAPS]
        if values[0] is not None:
            figures[label] = (sum(values) / len(values), values[0], values[5])
    for_mean = list(figures.values())
    figures[-1] = tuple(sum(column) / len(for_mean) for column in zip(*for_mean))
    return figures


def random_case(seed):
    """Boxes around a few places, so that many overlap; equal confidences; ignored boxes; up to 150 found boxes of a picture."""
    rng = random.Random(seed)
    labels, pictures = list(range(rng.randint(1, 4))), []

    def moved(box, far):
        return [value + rng.uniform(-far, far) for value in box]

    for _ in range(rng.randint(1, 12)):
        truth, found = [], []
        for _ in range(rng.randint(0, 8)):
            x, y, w, h = rng.uniform(0, 80), rng.uniform(0, 80), rng.uniform(8, 30), rng.uniform(8, 30)
            truth.append((rng.choice(labels), int(rng.random() < 0.15), [x, y, x + w, y + h]))
        for label, _, box in truth:
            for _ in range(rng.choice((0, 1, 1, 2))):
                said = label if rng.random() < 0.9 else rng.choice(labels)
                found.append((said, round(rng.random(), 2), moved(box, rng.choice((0, 1, 3)))))
        for _ in range(rng.choice((0, 2, 150))):
            x, y = rng.uniform(0, 90), rng.uniform(0, 90)
            found.append((rng.choice(labels), round(rng.random(), 2), [x, y, x + 10, y + 10]))
        rng.shuffle(found)
        pictures.append((truth, found))
    return labels, pictures


def test_random_cases():
    compared = 0
    for seed in range(300):
        labels, pictures = random_case(seed)
        if not any(not ignored for truth, _ in pictures for _, ignored, _ in truth):
            continue
        want, got = expected(pictures, labels), scored(pictures)
        for label, figures in want.items():
            for a, b in zip(figures, got[label][2:]):
                assert abs(a - b) < 1e-4, (seed, label, figures, got[label])
        compared += 1
    assert compared > 250, compared


def test_worked_example():
    """Three true boxes; found: the first, then nothing, then one with an overlap of 0.625. Up to 0.6 precision is 1 at recalls to 1/3,
    of which there are 34, and 2/3 at the 33 recalls to 2/3; beyond, it is 1 at 34 recalls and 0 then."""
    square = [0, 0, 16, 1]
    pictures = [([(0, 0, square)], [(0, 0.9, square)]), ([(0, 0, [50, 50, 60, 60])], [(0, 0.7, square)]),
                ([(0, 0, [0, 0, 10, 1])], [(0, 0.5, square)])]
    truths, found, *figures = scored(pictures)[0]
    assert (truths, found) == (3, 3)
    for a, b in zip(figures, (406 / 1010, 56 / 101, 34 / 101)):
        assert abs(a - b) < 1e-9, figures


def test_edges():
    box = [0, 0, 10, 10]
    assert scored([([], [])])[-1][:2] == (0, 0) and math.isnan(scored([([], [])])[-1][2])
    assert scored([([(3, 0, box)], [])]) == {3: (1, 0, 0, 0, 0), -1: (1, 0, 0, 0, 0)}
    assert math.isnan(scored([([], [(2, 0.5, box)])])[2][2])
    # Found twice: the second is wrong, and comes too late to cost anything.
    assert abs(scored([([(0, 0, box)], [(0, 0.9, box), (0, 0.8, box)])])[0][2] - 1) < 1e-9
    # Ignored: who finds it counts for nothing.
    assert abs(scored([([(0, 1, box), (0, 0, [50, 50, 60, 60])], [(0, 0.9, box), (0, 0.8, [50, 50, 60, 60])])])[0][2] - 1) < 1e-9
    # Only the hundred best of a picture count.
    many = [(0, 0.9, [100, 100, 110, 110])] * 100 + [(0, 0.8, box)]
    assert scored([([(0, 0, box)], many)])[0][1:3] == (100, 0)
    # Boxes without area overlap nothing.
    assert scored([([(0, 0, [5, 5, 5, 5])], [(0, 0.9, [5, 5, 5, 5])])])[0][2] == 0


def main():
    tests = [(name, test) for name, test in globals().items() if name.startswith("test_")]
    failed = 0
    print("1..%d" % len(tests))
    for number, (name, test) in enumerate(tests, 1):
        try:
            test()
            print("ok %d %s" % (number, name))
        except AssertionError as error:
            failed += 1
            print("not ok %d %s\n# %s" % (number, name, error))
    sys.exit(1 if failed else 0)


main()
