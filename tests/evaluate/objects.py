# SPDX-License-Identifier: LGPL-2.1-or-later
"""TAP: average precision and recall against the formula of pycocotools' COCOeval, written down again here, on random cases and worked
examples; masks against dense pictures, keypoints against the formula.

Called by meson: objects.py SCORE_OBJECTS SCORE_MASKS
"""
import bisect
import math
import random
import resource
import subprocess
import sys

# As numpy.linspace() makes them: 35 * 0.01 lies above 0.35, so a recall of 7 in 20 does not reach it.
OVERLAPS = [0.5 + i * ((0.95 - 0.5) / 9) for i in range(9)] + [0.95]
RECALLS = [i * 0.01 for i in range(101)]


AREAS = [(0, 1e10), (0, 32 ** 2), (32 ** 2, 96 ** 2), (96 ** 2, 1e10)]


def area_of(box):
    return (box[2] - box[0]) * (box[3] - box[1])


def scored(pictures):
    """{label: (truths, found, AP, AP50, AP75, small, medium, large, AR1, AR10, AR, small, medium, large, AR50, AR75)} by the
    program; a picture is (true boxes, found boxes) of (label, number, box) or (label, number, box, crowd, area)."""
    lines = []
    for truth, found in pictures:
        for word, boxes in ("true", truth), ("found", found):
            for label, number, box, crowd, area in map(whole, boxes):
                lines.append("%s %d %.17g %d %.17g %s" % (word, label, number, crowd, area, " ".join("%.17g" % value for value in box)))
        lines.append("end")
    out = subprocess.run([sys.argv[1]], input="\n".join(lines) + "\n", capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in out.splitlines()]
    return {int(row[0]): (int(row[1]), int(row[2]), *map(float, row[3:])) for row in rows}


def whole(one):
    """A box with what most do not state."""
    return one if len(one) == 5 else (*one, 0, area_of(one[2]))


def intersection_over_union(a, b, crowd=False):
    w, h = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    if w <= 0 or h <= 0:
        return 0.0
    return w * h / (area_of(a) if crowd else area_of(a) + area_of(b) - w * h)


def evaluate_picture(truth, found, threshold, limits, most=100):
    """evaluateImg: [(score, matched, ignored)] of the @most best."""
    truth = [(bool(ignored or area < limits[0] or area > limits[1]), box, crowd) for _, ignored, box, crowd, area in truth]
    truth.sort(key=lambda one: one[0])
    taken, rows = set(), []
    for _, score, box, _, area in sorted(found, key=lambda one: -one[1])[:most]:
        bar, match = min(threshold, 1 - 1e-10), None
        for index, (ignored, other, crowd) in enumerate(truth):
            if index in taken and not crowd:
                continue
            if match is not None and not truth[match][0] and ignored:
                break
            overlap = intersection_over_union(box, other, crowd)
            if overlap < bar:
                continue
            bar, match = overlap, index
        if match is not None:
            taken.add(match)
        rows.append((score, match is not None, truth[match][0] if match is not None else area < limits[0] or area > limits[1]))
    return rows


def average_precision(pictures, label, threshold, limits):
    """accumulate and summarize for one class: None without true boxes."""
    rows, count = [], 0
    for truth, found in pictures:
        boxes = [one for one in map(whole, truth) if one[0] == label]
        count += sum(1 for _, ignored, _, _, area in boxes if not ignored and limits[0] <= area <= limits[1])
        rows += evaluate_picture(boxes, [one for one in map(whole, found) if one[0] == label], threshold, limits)
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


def average_recall(pictures, label, limits, most, thresholds):
    """The last recall of accumulate(), averaged over thresholds as summarize() does: None without true boxes."""
    hits = count = 0
    for truth, found in pictures:
        boxes, others = ([one for one in map(whole, some) if one[0] == label] for some in (truth, found))
        count += sum(1 for _, ignored, _, _, area in boxes if not ignored and limits[0] <= area <= limits[1])
        for threshold in thresholds:
            hits += sum(matched and not ignored for _, matched, ignored in evaluate_picture(boxes, others, threshold, limits, most))
    return hits / count / len(thresholds) if count > 0 else None


def expected(pictures, labels):
    """{label: (AP, AP50, AP75, small, medium, large, AR1, AR10, AR, small, medium, large, AR50, AR75)}, the mean as -1; None where
    there is nothing to be found."""
    figures = {}
    for label in labels:
        by_area = [[average_precision(pictures, label, threshold, limits) for threshold in OVERLAPS] for limits in AREAS]
        means = [sum(values) / len(values) if values[0] is not None else None for values in by_area]
        recalls = [average_recall(pictures, label, limits, 100, OVERLAPS) for limits in AREAS]
        few = [average_recall(pictures, label, AREAS[0], most, OVERLAPS) for most in (1, 10)]
        at = [average_recall(pictures, label, AREAS[0], 100, [OVERLAPS[i]]) for i in (0, 5)]
        figures[label] = (means[0], by_area[0][0], by_area[0][5], *means[1:], *few, *recalls, *at)
    columns = [[value for value in column if value is not None] for column in zip(*figures.values())]
    figures[-1] = tuple(sum(column) / len(column) if column else None for column in columns)
    return figures


def same(a, b):
    return math.isnan(b) if a is None else abs(a - b) < 1e-4


def random_case(seed):
    """Boxes around a few places, so that many overlap; equal confidences; ignored boxes, crowds, sizes on both sides of the limits; up to
    150 found boxes of a picture."""
    rng = random.Random(seed)
    scale = rng.choice((1, 2, 5))
    labels, pictures = list(range(rng.randint(1, 4))), []

    def moved(box, far):
        return [value + rng.uniform(-far, far) for value in box]

    for _ in range(rng.randint(1, 12)):
        truth, found = [], []
        for _ in range(rng.randint(0, 8)):
            x, y, w, h = rng.uniform(0, 80), rng.uniform(0, 80), rng.uniform(8, 30), rng.uniform(8, 30)
            box, crowd = [scale * value for value in (x, y, x + w, y + h)], rng.random() < 0.1
            truth.append((rng.choice(labels), int(crowd or rng.random() < 0.1), box, int(crowd), area_of(box) * rng.choice((1, 1, 0.6))))
        for label, _, box, _, _ in truth:
            for _ in range(rng.choice((0, 1, 1, 2))):
                said = label if rng.random() < 0.9 else rng.choice(labels)
                found.append((said, round(rng.random(), 2), moved(box, scale * rng.choice((0, 1, 3)))))
        for _ in range(rng.choice((0, 2, 150))):
            x, y = rng.uniform(0, 90), rng.uniform(0, 90)
            found.append((rng.choice(labels), round(rng.random(), 2), [x, y, x + 10, y + 10]))
        rng.shuffle(found)
        pictures.append((truth, found))
    return labels, pictures


def test_random_cases():
    compared = 0
    for seed in range(25):
        labels, pictures = random_case(seed)
        if not any(not one[1] for truth, _ in pictures for one in truth):
            continue
        want, got = expected(pictures, labels), scored(pictures)
        for label, figures in want.items():
            if label in got or any(figures):
                assert len(figures) == 14 and all(same(a, b) for a, b in zip(figures, got[label][2:])), (seed, label, figures, got[label])
        compared += 1
    assert compared > 20, compared


def test_worked_example():
    """Three true boxes; found: the first, then nothing, then one with an overlap of 0.625. Up to 0.6 precision is 1 at recalls to 1/3,
    of which there are 34, and 2/3 at the 33 recalls to 2/3; beyond, it is 1 at 34 recalls and 0 then."""
    square = [0, 0, 16, 1]
    pictures = [([(0, 0, square)], [(0, 0.9, square)]), ([(0, 0, [50, 50, 60, 60])], [(0, 0.7, square)]),
                ([(0, 0, [0, 0, 10, 1])], [(0, 0.5, square)])]
    truths, found, *figures = scored(pictures)[0]
    assert (truths, found) == (3, 3)
    for a, b in zip(figures[:3], (406 / 1010, 56 / 101, 34 / 101)):
        assert abs(a - b) < 1e-9, figures
    # At three overlaps, 0.5 to 0.6, two of three are found, at the others one.
    assert all(abs(value - 13 / 30) < 1e-9 for value in figures[6:9]), figures
    assert all(abs(a - b) < 1e-9 for a, b in zip(figures[12:], (2 / 3, 1 / 3))), figures


def test_worked_recall():
    """Eleven true boxes of a picture, found in this order with one wrong before them: the first is none of them, ten have nine."""
    boxes = [[20 * i, 0, 20 * i + 10, 10] for i in range(11)]
    found = [(0, 0.95, [500, 500, 510, 510])] + [(0, 0.9 - i / 100, box) for i, box in enumerate(boxes)]
    figures = scored([([(0, 0, box) for box in boxes], found)])[0][8:]
    assert figures[0] == 0 and abs(figures[1] - 9 / 11) < 1e-9 and abs(figures[2] - 1) < 1e-9 and abs(figures[3] - 1) < 1e-9, figures
    assert math.isnan(figures[4]) and math.isnan(figures[5]), figures


def test_edges():
    box = [0, 0, 10, 10]
    assert scored([([], [])])[-1][:2] == (0, 0) and math.isnan(scored([([], [])])[-1][2])
    assert scored([([(3, 0, box)], [])])[3][:6] == scored([([(3, 0, box)], [])])[-1][:6] == (1, 0, 0, 0, 0, 0)
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


def test_areas_and_crowds():
    """A box of 32 x 32 is small and medium; a crowd is found twice, and what lies in it is not wrong."""
    square, inner, far = [0, 0, 32, 32], [40, 0, 44, 4], [200, 200, 210, 210]
    got = scored([([(0, 0, square), (0, 1, [40, 0, 80, 40], 1, 1600)],
                   [(0, 0.9, inner), (0, 0.8, inner), (0, 0.7, square), (0, 0.6, far)])])[0]
    assert got[:2] == (1, 4) and all(abs(value - 1) < 1e-9 for value in got[2:7]) and math.isnan(got[7]), got


def fill(polygon, width, height):
    """The pixels of a polygon, as COCO's annotators have it, column by column, by another way: the outline as a list of fine points, each
    change of column toggling what is below."""
    fine, points, changes = 5, [], [0] * (width * height + 1)
    corners = [(int(fine * x + 0.5), int(fine * y + 0.5)) for x, y in polygon]
    for (x0, y0), (x1, y1) in zip(corners, corners[1:] + corners[:1]):
        steep = abs(y1 - y0) > abs(x1 - x0)
        if steep:
            x0, y0, x1, y1 = y0, x0, y1, x1
        flip = x0 > x1
        if flip:
            x0, y0, x1, y1 = x1, y1, x0, y0
        edge = [(x, int(y0 + (y1 - y0) / max(x1 - x0, 1) * (x - x0) + 0.5)) for x in range(x0, x1 + 1)]
        edge = [(y, x) for x, y in edge] if steep else edge
        points += edge[::-1] if flip else edge
    for (x0, y0), (x1, y1) in zip(points, points[1:]):
        if x0 == x1 or (min(x0, x1) - fine // 2) % fine != 0:
            continue
        column = (min(x0, x1) - fine // 2) // fine
        if 0 <= column < width:
            changes[column * height + math.ceil(min(max((min(y0, y1) + 0.5) / fine - 0.5, 0), height))] ^= 1
    inside, mask = 0, []
    for i in range(width * height):
        inside ^= changes[i]
        mask.append(inside)
    return mask


def run_lengths(mask):
    lengths, last = [0], 0
    for bit in mask:
        if bit != last:
            lengths.append(0)
        lengths[-1] += 1
        last = bit
    return lengths


def compressed(lengths):
    text = ""
    for i, length in enumerate(lengths):
        value, more = length - (lengths[i - 2] if i > 2 else 0), True
        while more:
            bits, value = value & 31, value >> 5
            more = value != (-1 if bits & 16 else 0)
            text += chr(48 + bits + 32 * more)
    return text


def answers(lines):
    out = subprocess.run([sys.argv[2]], input="\n".join(lines) + "\n", capture_output=True, text=True, check=True).stdout
    return out.splitlines()


def random_mask(rng, width, height):
    """(text for the program, pixels): polygons, some partly outside, or noise as runs."""
    if rng.random() < 0.6:
        text, mask = "", [0] * (width * height)
        for _ in range(rng.randint(1, 3)):
            polygon = [(round(rng.uniform(-0.3, 1.3) * width, rng.choice((0, 2))), round(rng.uniform(-0.3, 1.3) * height, 2))
                       for _ in range(rng.randint(1, 9))]
            text += "p %d %s " % (len(polygon), " ".join("%r %r" % point for point in polygon))
            mask = [a | b for a, b in zip(mask, fill(polygon, width, height))]
        return text, mask
    if rng.random() < 0.3:
        x, y = rng.randrange(width), rng.randrange(height)
        w, h = rng.randint(0, width - x), rng.randint(0, height - y)
        cells = [rng.choice((0, 127, 128, 255)) for _ in range(w * h)]
        mask = [int(x <= i // height < x + w and y <= i % height < y + h and cells[(i % height - y) * w + i // height - x] >= 128)
                for i in range(width * height)]
        return "m %d %d %d %d %s " % (x, y, w, h, " ".join(map(str, cells))), mask
    mask, share = [], rng.choice((0, 0.1, 0.9, 1))
    for _ in range(width * height):
        mask.append(int(rng.random() < share) if rng.random() < 0.3 or not mask else mask[-1])
    lengths = run_lengths(mask)
    return rng.choice(("c %d %s " % (len(lengths), " ".join(map(str, lengths))), "t %s " % compressed(lengths))), mask


def test_masks():
    rng, lines, want = random.Random(1), [], []
    for _ in range(300):
        width, height, crowd = rng.randint(1, 60), rng.randint(1, 60), rng.randint(0, 1)
        (one, a), (two, b) = random_mask(rng, width, height), random_mask(rng, width, height)
        lines.append("mask %d %d %d 0 0 %s/ %s/" % (width, height, crowd, one, two))
        both, either = sum(x & y for x, y in zip(a, b)), sum(x | y for x, y in zip(a, b))
        want.append((sum(a), sum(b), both / (sum(a) if crowd else either) if both else 0))
    for line, got, figures in zip(lines, answers(lines), want):
        assert all(abs(a - float(b)) < 1e-9 for a, b in zip(figures, got.split())), (line, got, figures)
    assert sum(figures[2] > 0 for figures in want) > 100


def test_worked_masks():
    """pycocotools' own text of a mask; and a rectangle, whose pixels are those between its sides."""
    got = answers(["mask 10 8 0 0 0 p 4 2 1 6 1 6 5 2 5 / p 4 4 1 8 1 8 5 4 5 /", "mask 4 3 0 0 0 c 3 3 6 3 / t 363 /"])
    assert got == ["16 16 %.17g" % (8 / 24), "6 6 1"], got


def test_refused_masks():
    for text, message in (("4 4 0 0 0 c 2 3 14 / /", "runs of at least 17 pixels; expected 16"),
                          ("4 4 0 0 0 c 1 15 / /", "runs of 15 pixels"),
                          ("4 4 0 0 0 t \x07 / /", "run 1 is none"), ("4 4 0 0 0 t ooooooooo / /", "run 1 is none"),
                          ("4 4 0 0 0 t 3O / /", "run 2 is none"), ("0 4 0 0 0 c 0 / /", "a mask of 0x4"),
                          ("4 99999 0 0 0 c 0 / /", "expected 1..16384"), ("4 4 0 0 0 p 1 1e300 0 / /", "x of point 1 is 1e+300"),
                          ("4 4 0 0 0 p 1 0 nan / /", "y of point 1 is nan; expected -4..8"),
                          ("16384 16384 0 0 0 p 700 %s / /" % ("0 0 16384 0 " * 350), "passes 11468800 columns of pixels; expected"),
                          ("4 4 0 0 0 %s / /" % ("p 3 0 0 4 0 4 4 " * 10001), "10001 polygons; expected at most 10000")):
        got = answers(["mask " + text])
        assert len(got) == 1 and message in got[0], (text[:60], got)


def test_masks_together():
    """What all masks may cost: a square of 4 x 4 pixels in 8 x 8 has eight changes, and its outline passes eight columns; joining two
    of them looks at sixteen changes."""
    square, runs, most_changes, most_steps = "p 4 1 1 5 1 5 5 1 5 ", "c 9 9 4 4 4 4 4 4 4 27 ", 256 << 20, 512 << 20
    for changes, steps, mask, message in ((8, 8, square, None), (7, 8, square, "more than 268435456 runs; split the file"),
                                          (8, 7, square, "joins of all polygons take more than 536870912 steps; split the file"),
                                          (16, 32, 2 * square, None), (15, 32, 2 * square, "more than 268435456 runs"),
                                          (16, 31, 2 * square, "joins of all polygons take more than"),
                                          (8, 0, runs, None), (7, 0, runs, "more than 268435456 runs")):
        # The second mask has what the joined polygons of the first one no longer need.
        second = "/ %s/" % (runs if mask == 2 * square else "c 1 64 ")
        got = answers(["mask 8 8 0 %d %d %s%s" % (most_changes - changes, most_steps - steps, mask, second)])
        assert len(got) == 1 and (message in got[0] if message else got[0].split()[0] == "16"), (changes, steps, mask, got)


def seconds_computed():
    """By the programs that have ended, however busy the machine is."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def test_long_outlines():
    """Ways up and down pass no column and cost nothing; ways across cost by the columns, a billion fine steps of them seconds."""
    started = seconds_computed()
    assert answers(["mask 16384 16384 0 0 0 p 20000 %s/ c 1 268435456 /" % ("3 0 3 16384 " * 10000)]) == ["0 0 0"]
    across = "p 600 %s" % ("-16384 0 32768 16384 " * 300)
    got = answers(["mask 16384 16384 0 0 0 %s/ c 1 268435456 /" % (5 * across)])
    assert got == ["0 0 0"] and seconds_computed() - started < 60, got
    got = answers(["mask 16384 16384 0 0 0 p 1400 %s/ c 1 268435456 /" % ("-16384 0 32768 16384 " * 700)])
    assert got == ["an outline that passes 22937600 columns of pixels; expected at most 10000000"], got  # 1400 ways across 16384


def test_many_polygons():
    """Ten thousand, the most, of one mask: joined one after the other, this would take an hour."""
    rng, width, height = random.Random(5), 2000, 1000
    corners = [(rng.randrange(width - 1), rng.randrange(height - 1)) for _ in range(10000)]
    text = "".join("p 4 %d %d %d %d %d %d %d %d " % (x, y, x + 1, y, x + 1, y + 1, x, y + 1) for x, y in corners)
    started = seconds_computed()
    got = answers(["mask %d %d 0 0 0 %s/ %s/" % (width, height, text, text)])
    assert got == ["%d %d 1" % (len(set(corners)), len(set(corners)))] and seconds_computed() - started < 60, got


def similarity(found, truth, box, area):
    """computeOks for one pair."""
    spreads = [2 * value / 10 for value in (.26, .25, .25, .35, .35, .79, .79, .72, .72, .62, .62, 1.07, 1.07, .87, .87, .89, .89)]
    x0, x1, y0, y1 = box[0] - box[2], box[0] + 2 * box[2], box[1] - box[3], box[1] + 2 * box[3]
    terms = []
    labelled = sum(v > 0 for _, _, v in truth)
    for (fx, fy, _), (x, y, v), spread in zip(found, truth, spreads):
        dx, dy = (fx - x, fy - y) if labelled else (max(0, x0 - fx) + max(0, fx - x1), max(0, y0 - fy) + max(0, fy - y1))
        if v > 0 or not labelled:
            terms.append(math.exp(-(dx ** 2 + dy ** 2) / spread ** 2 / (area + sys.float_info.epsilon) / 2))
    return sum(terms) / len(terms)


def test_keypoints():
    rng, lines, want = random.Random(2), [], []
    for _ in range(200):
        x, y, w, h = (rng.uniform(5, 100) for _ in range(4))
        truth = [(rng.uniform(x, x + w), rng.uniform(y, y + h), rng.choice((0, 1, 2))) for _ in range(17)]
        if rng.random() < 0.3:
            truth = [(0, 0, 0)] * 17
        found = [(rng.gauss(px, w / 8), rng.gauss(py, h / 8), 0) if v else (rng.uniform(0, 300), rng.uniform(0, 300), 0) for px, py, v in truth]
        area = rng.choice((w * h, 0.5 * w * h, 0))
        want.append(similarity(found, truth, (x, y, w, h), area))
        numbers = [area, x, y, x + w, y + h] + [value for point in truth + found for value in point]
        lines.append("points " + " ".join("%.17g" % number for number in numbers))
    for got, value in zip(answers(lines), want):
        assert abs(float(got) - value) < 1e-9, (got, value)
    assert len(set(want)) > 100


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
