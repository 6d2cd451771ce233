# SPDX-License-Identifier: LGPL-2.1-or-later
"""What sightline eval writes of each picture, --csv, --worst and --html, against figures that this file works out of `predict`'s answers. And
the page of `bench model`."""
import csv
import html
import html.parser
import io
import json
import os
import re
import resource
import signal
import struct
import zlib

import harness
from harness import data, model, png, png_of, run, some_of, work, write

TIMES = re.compile(r'"ms":[0-9.e-]+|[0-9.]+$', flags=re.M)
NOTHING = "nothing"


def put(path, content):
    os.makedirs(os.path.dirname(work(path)), exist_ok=True)
    return write(path, content if isinstance(content, bytes) else content.encode())


def table(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def read_bytes(path):
    with open(path, "rb") as file:
        return file.read()


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def evaluate(*arguments, status=0):
    """Rows, page and report of one evaluation; the report is as it is without any of the others."""
    rows, page = work("rows.csv"), work("page.html")
    done = run("eval", *arguments, "--json", "--csv", rows, "--html", page).expect(status)
    plain = run("eval", *arguments, "--json").expect(status)
    assert TIMES.sub("", done.out) == TIMES.sub("", plain.out), (done.out, plain.out)
    return table(rows), Page(read(page)), json.loads(done.out)["models"][0]


def predicted(network, pictures, *more):
    """{name: what predict says of the picture}"""
    lines = run("predict", "--json", "--model", network, *more, *pictures).expect(0).out.splitlines()
    return {os.path.basename(one["source"]): one for one in map(json.loads, lines)}


class Page(html.parser.HTMLParser):
    """A page that loads nothing and runs nothing: its text, its charts and its matrix."""

    def __init__(self, text):
        super().__init__()
        self.open, self.text = [], ""
        self.feed(text)
        assert self.open == [], self.open
        self.charts = [Chart(one) for one in re.findall(r'<svg class="chart".*?</svg>', text, flags=re.S)]
        hints = re.findall(r'<rect class="(?:cell|wrong)".*?<title>(.*?) taken for (.*?): (\d+) of (\d+)</title>', text)
        self.matrix = {(html.unescape(truth), html.unescape(guess)): int(n) for truth, guess, n, _ in hints}
        self.images = len(re.findall(r'<img alt="" src="data:image/jpeg;base64,/9j/', text))

    def handle_starttag(self, tag, attrs):
        assert tag not in ("script", "link", "iframe", "object", "form"), tag
        for name, value in attrs:
            assert not name.startswith("on") and name not in ("href", "srcset"), (tag, name)
            assert name != "src" or value.startswith("data:"), value
        if tag not in ("meta", "img", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag

    def handle_data(self, data):
        self.text += data

    def chart(self, title):
        return next(one for one in self.charts if one.title.startswith(title))


class Chart:
    """The data of a chart, read back from what is drawn."""

    def __init__(self, svg):
        self.title = html.unescape(re.search("<title>(.*?)</title>", svg)[1])
        grid = [list(map(float, one)) for one in re.findall(r'"grid" d="M([\d.]+) ([\d.]+)H([\d.]+)M([\d.]+) ([\d.]+)V([\d.]+)"', svg)]
        ticks = [float(one) for one in re.findall(r'text-anchor="(?:middle|end)">([-\d.e+]+)</text>', svg)]
        self.left, self.bottom, self.right, self.top = grid[0][3], grid[0][1], grid[-1][3], grid[-1][1]
        self.x_min, self.x_max, self.y_max = ticks[0], ticks[10], ticks[11]
        self.lines = [(kind, [self.value(*map(float, point.split(","))) for point in points.split()])
                      for kind, points in re.findall(r'<polyline class="(\w+)" points="([^"]*)"', svg)]
        self.hints = re.findall(r'<rect class="bar".*?<title>(.*?)</title>', svg)
        self.notes = re.findall(r'class="note"[^>]*>(.*?)</text>', svg)
        for x, y in re.findall(r'<text x="([\d.]+)" y="([\d.]+)"', svg):
            assert 0 <= float(x) <= 420 and 0 <= float(y) < 320, (x, y)

    def value(self, x, y):
        return (self.x_min + (x - self.left) / (self.right - self.left) * (self.x_max - self.x_min), (self.bottom - y) / (self.bottom - self.top) * self.y_max)

    def line(self, kind="main"):
        return next(points for name, points in self.lines if name == kind)


def same_line(got, wanted, between):
    """Each point is near one of the other line. Confidences that predict prints alike may differ: then there are points @between, too."""
    def near(point, line):
        return min(max(abs(point[0] - x), abs(point[1] - y)) for x, y in line) < 0.004
    assert all(near(point, wanted + between) for point in got), (got, wanted)
    assert all(near(point, got) for point in wanted), (got, wanted)


def curve_of(answers, truths):
    """[(confidence, precision, recall, F1, whether the next confidence is lower)] of [(confidence, right)]."""
    points, ordered = [], sorted(answers, key=lambda one: -one[0])
    for n, (confidence, _) in enumerate(ordered, 1):
        hits = sum(right for _, right in ordered[:n])
        precision, recall = hits / n, hits / truths
        points.append((confidence, precision, recall, 2 * precision * recall / (precision + recall) if hits else 0, n == len(ordered) or ordered[n][0] < confidence))
    return points


def check_charts(page, answers, truths):
    """Curves and calibration of [(confidence, right)]."""
    curve = curve_of(answers, truths)
    best = max((one for one in curve if one[4]), key=lambda one: (one[3], one[0]))
    for title, points in ("Precision", [(one[2], one[1]) for one in curve]), ("F1", [(one[0], one[3]) for one in curve]):
        same_line(page.chart(title).line(), [point for point, one in zip(points, curve) if one[4]], points)
    assert page.chart("F1").notes == ["F1 %.3f at %.3f" % (best[3], best[0])], (page.chart("F1").notes, best)
    bins = [[one for one in answers if min(int(one[0] * 10), 9) == i] for i in range(10)]
    error = sum(abs(sum(confidence for confidence, _ in one) - sum(right for _, right in one)) for one in bins) / len(answers)
    wanted = ["%d answers, mean confidence %.4f, %.4f right" % (len(one), sum(confidence for confidence, _ in one) / len(one), sum(right for _, right in one) / len(one))
              for one in bins if one]
    calibration = page.chart("Calibration")
    assert abs(float(calibration.title.split()[-1]) - error) < 2e-4, (calibration.title, error)
    for got, expected in zip(calibration.hints, wanted, strict=True):
        pairs = list(zip(map(float, re.findall(r"[\d.]+", got)), map(float, re.findall(r"[\d.]+", expected))))
        assert all(abs(one - two) < 2e-4 for one, two in pairs), (got, expected)
    return best


def test_classes():
    """Grey levels of many confidences: the answers are predict's."""
    lines, truths, paths = "", {}, []
    for i in range(24):
        rgb = [20, 20, 20]
        rgb[i % 3] = 60 + 8 * i
        truth = (i // 5 + i) % 3
        paths.append(png("levels/%02d.png" % i if os.path.isdir(work("levels")) else put("levels/%02d.png" % i, b""), 8, 8, rgb))
        truths["%02d.png" % i], lines = truth, lines + "%02d.png %d\n" % (i, truth)
    network, names = model("brightest_channel.tflite"), ["red", "green", "blue"]
    rows, page, _ = evaluate(network, "-d", put("levels/list.txt", lines))
    said = {name: one["labels"][0] for name, one in predicted(network, paths).items()}
    assert [os.path.basename(row["path"]) for row in rows] == sorted(truths) and {row["model"] for row in rows} == {network}
    matrix = {}
    for row in rows:
        name = os.path.basename(row["path"])
        label, truth = said[name]["label_id"], truths[name]
        assert (row["truth"], row["truth_id"], row["prediction"], row["prediction_id"]) == (names[truth], str(truth), names[label], str(label)), row
        assert abs(float(row["score"]) - said[name]["confidence"]) < 1e-5 and row["right"] == str(int(label == truth)), row
        matrix[names[truth], names[label]] = matrix.get((names[truth], names[label]), 0) + 1
    assert page.matrix == matrix, (page.matrix, matrix)
    check_charts(page, [(said[name]["confidence"], said[name]["label_id"] == truth) for name, truth in truths.items()], 24)
    wrong = sorted((name for name in truths if said[name]["label_id"] != truths[name]), key=lambda name: -said[name]["confidence"])
    text = run("eval", network, "-d", work("levels/list.txt"), "--worst", "3").expect(0).out.split("worst pictures\n")[1].splitlines()
    for line, name in zip(text, wrong[:3], strict=True):
        assert line == "  %s: %s taken for %s, %.4f" % (work("levels/" + name), names[truths[name]], said[name]["label"], said[name]["confidence"]), line
    listed = json.loads(run("eval", network, "-d", work("levels/list.txt"), "--worst", "100", "--json").expect(0).out)["models"][0]["worst"]
    assert [os.path.basename(one["picture"]) for one in listed] == wrong and page.images == min(len(wrong), 12), (listed, wrong)


def test_many_classes():
    """32 of 1,000 classes: those with most errors are shown, and the charts are of all."""
    network, pictures = data("quantize", "models", "mobilenetv2_float.onnx"), some_of(data("quantize", "pictures", "evaluate"), 8)
    options = ["--mean", "123.675,116.28,103.53", "--std", "58.395,57.12,57.375"]
    rows, page, report = evaluate(network, "-d", pictures, *options)
    said = predicted(network, [pictures], *options, "--threshold", "0")
    answers = [(one["labels"][0]["confidence"], one["labels"][0]["label_id"] == int(name[5:9])) for name, one in said.items()]
    check_charts(page, answers, 32)
    assert sum(page.matrix.values()) == 32 == len(rows) and len({truth for truth, _ in page.matrix}) <= 25
    assert abs(sum(int(row["right"]) for row in rows) / 32 - report["top1"]) < 1e-6 and "2 more classes" in page.text


def overlap(a, b):
    width, height = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    if width <= 0 or height <= 0:
        return 0
    both = width * height
    return both / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - both)


def match(found, truths, same_class):
    """[(confidence, label, label of what it takes or None)]: the most confident takes the free true box that it overlaps most."""
    free, taken = list(range(len(truths))), []
    for confidence, label, box in sorted(found, key=lambda one: -one[0]):
        near = [(overlap(box, truths[i][1]), truths[i][0] == label, i) for i in free if truths[i][0] == label or not same_class]
        best = max(near, default=(0, False, -1))
        if best[0] >= 0.5:
            free.remove(best[2])
        taken.append((confidence, label, truths[best[2]][0] if best[0] >= 0.5 else None))
    return taken


def test_boxes():
    """A detector on photographs, against what it says of them with more confidence, moved: matched in this file."""
    network = data("models", "yolov8n_full_integer_quant_416.tflite")
    pictures = [data("images", name) for name in ("bus.jpg", "dog.jpg", "person.jpg", "cat_720p.jpg")]
    said = predicted(network, pictures, "--threshold", "0.02", "--top", "1000")
    found, truths, names = {}, {}, {}
    for path in pictures:
        name = os.path.basename(path)
        boxes = [(one["detection"]["confidence"], one["detection"]["label_id"], [one["detection"]["bounding_box"][key] for key in ("x_min", "y_min", "x_max", "y_max")])
                 for one in said[name]["objects"]]
        names.update((one["detection"]["label_id"], one["detection"]["label"]) for one in said[name]["objects"])
        found[name] = boxes
        strong = [one for one in boxes if one[0] > 0.25]
        truths[name] = []
        lines = ""
        for i, (_, label, (x_min, y_min, x_max, y_max)) in enumerate(strong):
            moved = [x_min + 0.2 * (x_max - x_min) * (i % 3), y_min, x_max + 0.2 * (x_max - x_min) * (i % 3), y_max]
            truths[name].append((0 if i == 1 else label, moved))
            lines += "%d %.9f %.9f %.9f %.9f\n" % (truths[name][-1][0], (moved[0] + moved[2]) / 2, (moved[1] + moved[3]) / 2, moved[2] - moved[0], moved[3] - moved[1])
        put("photos/labels/%s.txt" % name[:-4], lines)
        os.makedirs(work("photos/images"), exist_ok=True)
        os.symlink(os.path.abspath(path), work("photos/images/" + name))
    rows, page, _ = evaluate(network, "-d", work("photos"), "--threshold", "0.02")
    matches = {name: match(found[name], truths[name], True) for name in found}
    n = sum(map(len, truths.values()))
    best = check_charts(page, [(confidence, taken is not None) for one in matches.values() for confidence, _, taken in one], n)
    assert len(rows) == 4 and {row["by"] for row in rows} == {"boxes"}
    for row in rows:
        name = os.path.basename(row["path"])
        counted = [taken is not None for confidence, _, taken in matches[name] if confidence >= best[0] - 1e-6]
        hits, wrong, missed = sum(counted), len(counted) - sum(counted), len(truths[name]) - sum(counted)
        assert abs(float(row["confidence"]) - best[0]) < 1e-5, row
        assert (int(row["tp"]), int(row["fp"]), int(row["fn"])) == (hits, wrong, missed), (row, hits, wrong, missed)
        assert abs(float(row["f1"]) - (2 * hits / (2 * hits + wrong + missed) if wrong + missed else 1)) < 1e-5, row
    matrix = {}
    for name in found:
        left = [label for label, _ in truths[name]]
        for confidence, label, taken in match(found[name], truths[name], False):
            if confidence < best[0] - 1e-6:
                continue
            pair = names[taken] if taken is not None else NOTHING, names[label]
            matrix[pair] = matrix.get(pair, 0) + 1
            if taken is not None:
                left.remove(taken)
        for label in left:
            matrix[names[label], NOTHING] = matrix.get((names[label], NOTHING), 0) + 1
    assert page.matrix == matrix, (page.matrix, matrix)


def test_nothing_found():
    """A detector that finds nothing has no curves, and nothing of it counts."""
    png(put("dark/images/a.png", b""), 8, 8, (0, 0, 0))
    put("dark/labels/a.txt", "1 0.5 0.5 0.5 0.5\n")
    rows, page, _ = evaluate(model("one_box.tflite"), "-d", work("dark"), "--threshold", "0.9")
    assert (rows[0]["confidence"], rows[0]["tp"], rows[0]["fp"], rows[0]["fn"], rows[0]["f1"], rows[0]["right"]) == ("", "0", "0", "1", "0", "0"), rows
    assert page.charts == [] and "The model found nothing" in page.text and list(page.matrix.values()) == [1], page.matrix


def test_pixels():
    """Maps by hand: 32 of 64 pixels, and 48 of 48 where two columns are unknown."""
    network = model("brightest_quarter.tflite")
    for name, rgb, row in (("red", (200, 20, 10), None), ("blue", (20, 10, 200), [2] * 6 + [255] * 2)):
        png(put("pixels/images/%s.png" % name, b""), 8, 8, rgb)
        grey_map("pixels/masks/%s.png" % name, [[0] * 8] * 4 + [[1] * 8] * 4 if row is None else [row] * 8)
    rows, page, _ = evaluate(network, "-d", work("pixels"), "--decoder", "segmentation")
    got = {os.path.basename(row["path"]): (row["pixels"], row["right_pixels"], row["score"], row["right"]) for row in rows}
    assert got == {"red.png": ("64", "32", "0.5", "0"), "blue.png": ("48", "48", "1", "1")}, got
    assert sorted(page.matrix.values()) == [32, 32, 48] and page.charts == [] and page.images == 1, page.matrix


def grey_map(path, rows):
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    packed = zlib.compress(b"".join(b"\0" + bytes(row) for row in rows))
    return put(path, b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 0, 0, 0, 0)) + chunk(b"IDAT", packed) + chunk(b"IEND", b""))


def test_odd_names():
    """Names that look like markup, quotes or lines of a table are text, in the page and in the table; names of any letters fit the matrix."""
    labels = ["<script>alert(1)</script>", '"a", & <b>b</b>' + " and so on" * 5, "\u3053\u3093\u306b\u3061\u306f" * 6]
    pictures = ["a&b.png", "<img src=x onerror=y>.png", 'q"uote.png']
    lines = "".join("%s %d\n" % (name, i % 3) for i, name in enumerate(pictures))
    for name in pictures:
        png(put("odd/" + name, b""), 8, 8, (200, 10, 10))
    names = put("odd.txt", "\n".join(labels) + "\n")
    rows, page, _ = evaluate(model("brightest_channel.tflite"), "-d", put("odd/list.txt", lines), "--labels", names)
    assert [os.path.basename(row["path"]) for row in rows] == pictures and rows[0]["prediction"] == labels[0], rows
    for name in labels[:1] + pictures[1:2]:
        assert name in page.text, (name, page.text)
    svg = re.search(r'<svg class="matrix" width="(\d+)" height="(\d+)".*?</svg>', read(work("page.html")), flags=re.S)
    assert int(svg[1]) < 600 and int(svg[2]) < 400 and "\u2026" in svg[0], svg[0][:200]


def test_captions():
    """Pictures of one name in two folders are told apart; what is outside of the data set has its whole path."""
    network = model("brightest_channel.tflite")
    for name in ("twins/red/a.png", "twins/green/a.png", "elsewhere/a.png"):
        png(put(name, b""), 8, 8, (10, 10, 200))
    listed = put("twins/list.txt", "red/a.png red\ngreen/./a.png green\n../elsewhere/a.png red\n%s green\n" % work("elsewhere/a.png"))
    for dataset, captions in ((work("twins"), ["red/a.png", "green/a.png"]), (work("twins") + "/", ["red/a.png", "green/a.png"]),
                              (listed, ["red/a.png", "green/./a.png", "../elsewhere/a.png", work("elsewhere/a.png")])):
        evaluate(network, "-d", dataset)
        got = re.findall(r"<figcaption>(.*?)<br>", read(work("page.html")))
        assert sorted(got) == sorted(captions), (dataset, got)


def test_all_right():
    """One class, wholly right."""
    png(put("one/a.png", b""), 8, 8, (200, 10, 10))
    rows, page, _ = evaluate(model("brightest_channel.tflite"), "-d", put("one/list.txt", "a.png red\n"))
    assert rows[0]["right"] == "1" and page.matrix == {("red", "red"): 1} and page.images == 0 and "None: all of each picture is right." in page.text
    assert "worst pictures\n" in run("eval", model("brightest_channel.tflite"), "-d", work("one/list.txt"), "-w", "5").expect(0).out


def limit_files():
    """Nothing of more than 300 bytes can be written, as on a disk that is nearly full."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300))


def test_not_written():
    picture, network = png(put("lost/a.png", b""), 8, 8, (200, 10, 10)), model("brightest_channel.tflite")
    dataset = put("lost/list.txt", "a.png red\n" * 20)
    for option in "--csv", "--html":
        was = {"--csv": "model,path,as it was", "--html": "<!DOCTYPE html>as it was"}[option]
        kept = write("kept", was.encode())
        done = run("eval", network, "-d", dataset, option, kept, preexec_fn=limit_files)
        done.expect(1, "kept: cannot be written, and what was there stays; make room, or state another %s: " % option)
        assert "top-1" in done.out and read(kept) == was, done
        run("eval", network, "-d", dataset, option, work("no/such")).expect(2, "%s: '%s' cannot be written: there is no such folder" % (option, work("no/such")))
        run("eval", network, "-d", dataset, option, work("lost")).expect(2, "is a folder; expected the file to write")
        run("eval", network, "-d", dataset, option, network).expect(2, "%s and MODEL are one file, which would be lost" % option)
        run("eval", network, "-d", dataset, option, dataset).expect(2, "%s and --dataset are one file" % option)
        for other in picture, put("lost/red.txt", "0 0.5 0.5 1 1\n"), put("lost/own.modelinfo", "[sightline]\n"):
            before = read_bytes(other)
            run("eval", network, "-d", dataset, option, other).expect(
                2, "%s: '%s' is a file of another kind, which would be lost; expected a new name, or a file that %s wrote before" % (option, other, option))
            assert read_bytes(other) == before, other
    for option in "--csv", "--html":
        for kind, place in ((dataset, "lost/"), (work("lost"), "lost/"), (work("lost/"), "lost/more/")):
            os.makedirs(work("lost/more"), exist_ok=True)
            for name in "new.PNG", "new.jpeg", "classes.txt", "a.txt", "a.xml":
                run("eval", network, "-d", kind, option, work(place + name)).expect(
                    2, "%s: '%s' would be a picture or labels of the data set from then on; expected a name outside of " % (option, work(place + name)))
                assert not os.path.exists(work(place + name)), name
    for name in "lost/rows.csv", "lost-rows.txt":
        run("eval", network, "-d", dataset, "--csv", work(name)).expect(0)
    run("eval", network, "-d", dataset, "--csv", work("x"), "--html", work("x")).expect(2, "--html and --csv are one file")
    run("eval", network, "-d", dataset, "--worst", "0").expect(2, "--worst: expected 1..100000, got '0'")


def test_bench():
    page, network = work("bench.html"), model("brightest_channel.tflite")
    out = run("bench", "model", network, "--runs", "200", "--threads", "1,2", "--html", page, "--json").expect(0).out
    got = Page(read(page))
    assert len(got.charts) == 4 and "1 thread" in got.text and "2 threads" in got.text, got.text
    for line, histogram, shares in zip(map(json.loads, out.splitlines()), got.charts[::2], got.charts[1::2], strict=True):
        left_out = int((re.search(r", (\d+) slower", histogram.title) or (0, 0))[1])
        assert sum(int(hint.split()[0]) for hint in histogram.hints) + left_out == 200 and left_out < 10, histogram.title
        assert shares.notes == ["Sightline %.3f" % line["median_ms"]], (shares.notes, line)
        assert all(a[1] <= b[1] for a, b in zip(shares.line(), shares.line()[1:])), shares.line()
        assert "%.3f" % line["max_ms"] in got.text, line
    run("bench", "model", network, "--html", page, "--backends").expect(2, "--html shows times of runs; it goes without --backends and --batch")
    run("bench", "model", network, "--html", network).expect(2, "--html and MODEL are one file")
    run("bench", "model", network, "--html", work("no/such")).expect(2, "there is no such folder")
    run("bench", "model", network, "--html", write("kept.html", b"<!DOCTYPE html>"), preexec_fn=limit_files).expect(1, "kept.html: cannot be written", "state another --html")


harness.main(globals())
