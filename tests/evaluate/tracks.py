# SPDX-License-Identifier: LGPL-2.1-or-later
"""TAP: HOTA, CLEAR MOT and IDF1 against the formulas of the papers, written down again here with every assignment tried, on random
sequences; and against cases that were worked out by hand.

Called by meson: tracks.py SCORE_TRACKS
"""
import itertools
import math
import random
import subprocess
import sys

VALUES = ["HOTA", "DetA", "AssA", "DetRe", "DetPr", "AssRe", "AssPr", "LocA", "MOTA", "MOTP", "IDF1", "IDP", "IDR"]
COUNTS = ["truths", "found", "objects", "tracks", "matched", "switches", "fragments", "mostly_tracked", "mostly_lost"]
EPSILON = 2.0 ** -52


def scored(sequences):
    """Figures of the program; a sequence is (true, found) of (frame, id, box[, kind])."""
    lines = []
    for truth, found in sequences:
        for word, boxes in ("true", truth), ("found", found):
            for frame, number, box, *kind in boxes:
                lines.append("%s %d %d %s %d" % (word, frame, number, " ".join("%.17g" % value for value in box), kind[0] if kind else 0))
        lines.append("end")
    out = subprocess.run([sys.argv[1]], input="\n".join(lines) + "\n", capture_output=True, text=True, check=True).stdout
    return [dict(zip(VALUES + COUNTS, map(float, line.split()))) for line in out.splitlines()]


def overlap(a, b):
    w, h = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    if w <= 0 or h <= 0:
        return 0.0
    return w * h / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - w * h)


def best(rows, columns, gain):
    """Pairs with the largest sum of gains, by trying all."""
    turned = len(rows) > len(columns)
    few, many = (columns, rows) if turned else (rows, columns)
    value = (lambda a, b: gain(b, a)) if turned else gain
    top = max(itertools.permutations(many, len(few)), key=lambda order: sum(value(a, b) for a, b in zip(few, order)))
    return [(b, a) if turned else (a, b) for a, b in zip(few, top) if value(a, b) > 0]


def by_frame(boxes):
    frames = {}
    for frame, number, box, *_ in boxes:
        frames.setdefault(frame, {})[number] = box
    return frames


def lengths(boxes):
    counts = {}
    for _, number, *_ in boxes:
        counts[number] = counts.get(number, 0) + 1
    return counts


def hota(truth, found):
    true_frames, found_frames, true_length, found_length = by_frame(truth), by_frame(found), lengths(truth), lengths(found)
    fit = {}
    for frame in true_frames:
        here, there = true_frames[frame], found_frames.get(frame, {})
        for t, f in itertools.product(here, there):
            own = overlap(here[t], there[f])
            others = sum(overlap(here[t], there[k]) for k in there if k != f) + sum(overlap(here[k], there[f]) for k in here if k != t)
            if own > 0:
                fit[t, f] = fit.get((t, f), 0) + own / (own + others)
    for (t, f), value in fit.items():
        fit[t, f] = value / (true_length[t] + found_length[f] - value)
    matches = []
    for frame in true_frames:
        here, there = true_frames[frame], found_frames.get(frame, {})
        for t, f in best(list(here), list(there), lambda t, f: overlap(here[t], there[f]) * fit.get((t, f), 0)):
            matches.append((t, f, overlap(here[t], there[f])))
    sums = dict.fromkeys(VALUES[:8], 0.0)
    for step in range(1, 20):
        taken = [(t, f, value) for t, f, value in matches if value >= 0.05 * step - EPSILON]
        tp, fn, fp = len(taken), len(truth) - len(taken), len(found) - len(taken)
        association = [0.0, 0.0, 0.0]
        for t, f, _ in taken:
            tpa = sum(1 for a, b, _ in taken if (a, b) == (t, f))
            fna, fpa = true_length[t] - tpa, found_length[f] - tpa
            association = [old + new for old, new in zip(association, (tpa / (tpa + fna + fpa), tpa / (tpa + fna), tpa / (tpa + fpa)))]
        det = tp / (tp + fn + fp)
        ass = [value / max(1, tp) for value in association]
        row = (math.sqrt(det * ass[0]), det, ass[0], tp / max(1, tp + fn), tp / max(1, tp + fp), ass[1], ass[2],
               sum(value for _, _, value in taken) / tp if tp else 1.0)
        for name, value in zip(VALUES, row):
            sums[name] += value / 19
    return sums


def clear(truth, found):
    true_frames, found_frames, length = by_frame(truth), by_frame(found), lengths(truth)
    last, before, seen, runs = {}, {}, dict.fromkeys(length, 0), dict.fromkeys(length, 0)
    matched = switches = 0
    quality = 0.0
    for frame in sorted(true_frames):
        here, there = true_frames[frame], found_frames.get(frame, {})
        if not there:
            continue
        now = {}

        def gain(t, f):
            value = overlap(here[t], there[f])
            return value + 1000 * (before.get(t) == f) if value >= 0.5 - EPSILON else 0
        for t, f in best(list(here), list(there), gain):
            matched, quality, now[t] = matched + 1, quality + overlap(here[t], there[f]), f
            switches += last.get(t, f) != f
            seen[t], runs[t], last[t] = seen[t] + 1, runs[t] + (t not in before), f
        before = now
    return {"matched": matched, "switches": switches, "fragments": sum(max(0, value - 1) for value in runs.values()),
            "MOTA": (matched - (len(found) - matched) - switches) / len(truth), "MOTP": quality / max(1, matched),
            "mostly_tracked": sum(seen[t] / length[t] > 0.8 for t in length), "mostly_lost": sum(seen[t] / length[t] < 0.2 for t in length)}


def identity(truth, found):
    frames = by_frame(found)
    agreed = {}
    for frame, t, box, *_ in truth:
        for f, other in frames.get(frame, {}).items():
            agreed[t, f] = agreed.get((t, f), 0) + (overlap(box, other) >= 0.5)
    right = sum(agreed.get(pair, 0) for pair in best(list(lengths(truth)), list(lengths(found)), lambda t, f: agreed.get((t, f), 0)))
    missed, extra = len(truth) - right, len(found) - right
    return {"IDF1": right / (right + missed / 2 + extra / 2), "IDR": right / len(truth), "IDP": right / max(1, len(found))}


def drawn(source):
    """A short sequence: objects walk, are missed, change their number, and boxes that are none come up."""
    truth, found, names = [], [], {}
    # Sizes differ: a found box inside two true ones of one size would fit both alike, and no figure says which of them it is.
    objects = [(source.uniform(0, 60), source.uniform(0, 30), source.uniform(-6, 6), source.uniform(-3, 3), source.uniform(18, 22))
               for _ in range(source.randint(1, 4))]
    for frame in range(source.randint(1, 12)):
        used = set()
        for t, (x, y, dx, dy, w) in enumerate(objects):
            if source.random() < 0.1:
                continue
            box = (x + dx * frame, y + dy * frame, x + dx * frame + w, y + dy * frame + 30)
            truth.append((frame, t * 7 + 1, box))
            if source.random() < 0.15:
                names[t] = source.randint(1, 5)
            name = names.setdefault(t, t + 1)
            if source.random() < 0.8 and name not in used:
                used.add(name)
                found.append((frame, name, tuple(value + source.uniform(-5, 5) for value in box)))
        if source.random() < 0.2 and 5 not in used:
            found.append((frame, 5, (0.0, 0.0, 25.0 + source.random(), 30.0)))
    source.shuffle(truth)
    source.shuffle(found)
    return truth, found


def near(got, expected, what):
    for name, value in expected.items():
        assert abs(got[name] - value) < 1e-9, "%s: %s is %.12g, expected %.12g" % (what, name, got[name], value)


def test_random():
    source = random.Random(11)
    sequences = [one for one in (drawn(source) for _ in range(400)) if one[0]]
    for i, (got, (truth, found)) in enumerate(zip(scored(sequences), sequences)):
        expected = {**hota(truth, found), **clear(truth, found), **identity(truth, found), "truths": len(truth), "found": len(found),
                    "objects": len(lengths(truth)), "tracks": len(lengths(found))}
        near(got, expected, "sequence %d" % i)


BOX = (0, 0, 10, 10)


def test_by_hand():
    truth = [(frame, 1, BOX) for frame in range(10)]
    away = (100, 0, 110, 10)
    third = (5, 0, 15, 10)  # covers half of BOX: an overlap of 1/3, which 6 of 19 steps take
    cases = [
        ("all right", truth, [(frame, 4, BOX) for frame in range(10)],
         dict.fromkeys(VALUES, 1.0) | {"switches": 0, "mostly_tracked": 1}),
        # Each half has A = 5 / (5 + 5 + 0).
        ("one switch", truth, [(frame, 1 + frame // 5, BOX) for frame in range(10)],
         {"DetA": 1, "AssA": 0.5, "HOTA": math.sqrt(0.5), "MOTA": 0.9, "IDF1": 0.5, "switches": 1, "fragments": 0}),
        ("half is missed", truth, [(frame, 1, BOX) for frame in range(5)],
         {"DetA": 0.5, "AssA": 0.5, "HOTA": 0.5, "DetRe": 0.5, "DetPr": 1, "MOTA": 0.5, "IDF1": 2 / 3, "IDP": 1, "IDR": 0.5}),
        ("a gap", truth, [(frame, 1, BOX) for frame in range(10) if frame != 4] + [(4, 2, away)],
         {"matched": 9, "switches": 0, "fragments": 1, "MOTA": 0.8, "DetA": 9 / 11, "AssA": 0.9, "tracks": 2}),
        ("at an overlap of a third", truth, [(frame, 1, third) for frame in range(10)],
         {"DetA": 6 / 19, "AssA": 6 / 19, "HOTA": 6 / 19, "MOTA": -1, "IDF1": 0, "mostly_lost": 1}),
        ("nothing found", truth, [], {"HOTA": 0, "DetA": 0, "AssA": 0, "MOTA": 0, "IDF1": 0, "mostly_lost": 1}),
        ("no truth", [], [(1, 1, BOX)], {"HOTA": 0, "MOTA": 0, "IDF1": 0, "found": 1, "truths": 0}),
        ("two swap", truth + [(frame, 2, away) for frame in range(10)],
         [(frame, 1 + (frame >= 5), BOX) for frame in range(10)] + [(frame, 2 - (frame >= 5), away) for frame in range(10)],
         {"DetA": 1, "AssA": 1 / 3, "HOTA": math.sqrt(1 / 3), "MOTA": 0.9, "IDF1": 0.5, "switches": 2}),
        # Reflections absorb what is found on them; other ignored objects do not.
        ("ignored", truth + [(frame, 2, away, 2) for frame in range(10)], [(frame, 1, BOX) for frame in range(10)] + [(3, 9, away)],
         {"HOTA": 1, "MOTA": 1, "found": 10, "objects": 1}),
        ("ignored, found", truth + [(frame, 2, away, 1) for frame in range(10)], [(frame, 1, BOX) for frame in range(10)] + [(3, 9, away)],
         {"MOTA": 0.9, "found": 11, "objects": 1}),
    ]
    for got, (name, _, _, expected) in zip(scored([case[1:3] for case in cases]), cases):
        near(got, expected, name)


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
