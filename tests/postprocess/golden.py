#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Outputs of real models, decoded by the library and by NumPy: the same boxes, classes, points and masks.

Called by meson: golden.py DECODE_TOOL. Skipped without NumPy; single cases where the outputs are missing.
"""
import hashlib
import json
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("1..0 # SKIP python3-numpy is not installed")
    sys.exit(0)

TOOL = sys.argv[1]
ROOT = os.environ.get("SIGHTLINE_SOURCE_ROOT", ".")
DATA = os.environ.get("SIGHTLINE_TEST_DATA", os.path.join(ROOT, "..", "shared"))
GOLDEN = os.path.join(DATA, "golden")
# Half a pixel of the largest picture these boxes are drawn on, as a fraction of it.
TOLERANCE = 0.5 / 1280


class Skip(Exception):
    pass


def manifest(model, picture, runtime):
    """Input size and outputs [(file, log line)] of a case."""
    path = os.path.join(GOLDEN, "manifest.json")
    if not os.path.exists(path):
        raise Skip("golden outputs not found; set SIGHTLINE_TEST_DATA")
    with open(path, encoding="utf-8") as file:
        for case in json.load(file):
            if case["model"].startswith(model + ".") and case["picture"].startswith(picture):
                for output in case["outputs"]:
                    if runtime in output["runtime"]:
                        return case, output
    raise Skip("no golden output of %s on %s" % (model, picture))


def tensor(path, dtype, dims, scale=0.0, zero=0):
    name = os.path.join(GOLDEN, path)
    codes = np.fromfile(name, dtype).reshape(dims)
    spec = "%s:%.9g:%d:%s:%s" % (np.dtype(dtype).name, scale, zero, "x".join(map(str, dims)), name)
    return (codes.astype(np.float64) - zero) * scale if scale else codes, spec


def litert(model, picture, runtime="xnnpack"):
    """[(values, spec)] of a LiteRT case, from the manifest's log lines."""
    case, output = manifest(model, picture, runtime)
    types = {"u8": np.uint8, "i8": np.int8, "f32": np.float32, "i64": np.int64}
    tensors = []
    for name, log in zip(output["files"], output["log"]):
        words = dict(word.split("=", 1) for word in log.split() if "=" in word)
        dims = tuple(int(d) for d in words["dims"].split("x"))
        tensors.append(tensor(name, types[words["type"]], dims, float(words["scale"]), int(words["zp"])))
    return case["input_shape"], tensors


def decode(decoder, width, height, threshold, tensors, labels=0, most=100, name=None):
    args = [TOOL, decoder, "%dx%d" % (width, height), repr(threshold), str(most), str(labels)] + [spec for _, spec in tensors]
    done = subprocess.run(args, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    assert lines[0] == ["decoder", name or decoder.split(",")[0]], lines[0]
    return lines[1:]


def iou(a, b):
    w = max(0, min(a[2], b[2]) - max(a[0], b[0]))
    h = max(0, min(a[3], b[3]) - max(a[1], b[1]))
    area = lambda r: (r[2] - r[0]) * (r[3] - r[1])
    return w * h / (area(a) + area(b) - w * h)


def suppress(boxes, scores, labels, threshold, limit):
    """Greedy suppression by class, one pair at a time; [(box, score, label, row)]."""
    kept = []
    for i in sorted(range(len(scores)), key=lambda k: -scores[k]):
        if scores[i] >= threshold and all(labels[i] != k[2] or iou(boxes[i], k[0]) <= limit for k in kept):
            kept.append((boxes[i], scores[i], labels[i], i))
    return kept


def centred(cx, cy, w, h):
    return np.stack([cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2], -1)


def compare(lines, expected):
    """Each box printed has one expected of its class at the same place, and nothing is left over."""
    got = [(list(map(float, line[1:5])), float(line[5]), int(line[6])) for line in lines if line[0] == "box"]
    assert len(got) == len(expected), "%d boxes, expected %d:\n%s\n%s" % (len(got), len(expected), got, expected)
    left = list(expected)
    for box, score, label in got:
        match = [k for k in left if k[2] == label and abs(k[1] - score) < 1e-4 and max(abs(np.array(box) - k[0])) < TOLERANCE]
        assert match, "%s %g %d is not among %s" % (box, score, label, left)
        left.remove(match[0])
    return got


def yolo_answer(values, threshold):
    rows = np.asarray(values, np.float64)[0].T
    return suppress(centred(*rows[:, :4].T), rows[:, 4:].max(1), rows[:, 4:].argmax(1), threshold, 0.45)


def check_yolo(model, picture, threshold, *classes):
    shape, tensors = litert(model, picture)
    for decoder in ("auto", "yolo", "yolo,preset=v8"):
        lines = decode(decoder, shape[1], shape[0], threshold, tensors, 80, name="yolo")
        got = compare(lines, yolo_answer(tensors[0][0], threshold))
    assert [k[2] for k in got[: len(classes)]] == list(classes), got


def test_yolo_416_bus():
    check_yolo("yolov8n_full_integer_quant_416", "bus", 0.5, 0, 5)


def test_yolo_416_dog():
    check_yolo("yolov8n_full_integer_quant_416", "dog", 0.5, 16)


def test_yolo_224_bus():
    check_yolo("yolov8n_full_integer_quant_224", "bus", 0.25)


def test_yolo_224_dog():
    check_yolo("yolov8n_full_integer_quant_224", "dog", 0.25)


def test_yolo_hybrid_bus():
    check_yolo("yolov8n_int8_224", "bus", 0.25, 0)


def test_yolo_hybrid_dog():
    check_yolo("yolov8n_int8_224", "dog", 0.25)


def test_yolo_low_threshold():
    check_yolo("yolov8n_full_integer_quant_416", "bus", 0.05)


def written(folder, name, values, dtype, zero=0):
    """@values as a tensor file of @dtype: (the values that its numbers stand for, spec)."""
    scale = 0.0 if dtype == np.float32 else float(np.float32(np.ptp(values) / 250))
    codes = values.astype(np.float32) if not scale else np.clip(np.round(values / scale) + zero, np.iinfo(dtype).min, np.iinfo(dtype).max).astype(dtype)
    path = os.path.join(folder, name)
    codes.tofile(path)
    spec = "%s:%.9g:%d:%s:%s" % (np.dtype(dtype).name, scale, zero, "x".join(map(str, codes.shape)), path)
    return (codes.astype(np.float64) - zero) * scale if scale else codes.astype(np.float64), spec


def check_masks(dtype, zero, planes, swapped, end_to_end):
    """Six objects over prototypes that are waves: each mask is its sigmoid of the weighted sum, cell by cell."""
    side, classes, rows, most = 40, 3, 6, 32
    random = np.random.default_rng(7)
    y, x = np.mgrid[0:side, 0:side]
    waves = np.stack([np.sin(x * random.uniform(0, 0.5) + y * random.uniform(0, 0.5) + random.uniform(0, 6)) for _ in range(most)])
    boxes = np.array([[0.3, 0.3, 0.2, 0.3], [0.7, 0.3, 0.5, 0.4], [0.2, 0.8, 0.5, 0.5], [0.8, 0.8, 0.1, 0.02], [0.5, 0.5, 1.0, 1.0], [0.95, 0.1, 0.3, 0.2]])
    coefficients = random.uniform(-1, 1, (rows, most))
    labels = np.arange(rows) % classes
    scores = np.linspace(0.9, 0.6, rows)
    if end_to_end:
        table = np.concatenate([centred(*boxes.T), scores[:, None], labels[:, None], coefficients], 1)[None]
    else:
        table = np.concatenate([boxes, np.eye(classes)[labels] * scores[:, None], coefficients], 1).T[None]
    with tempfile.TemporaryDirectory() as folder:
        detections = written(folder, "boxes", table, dtype, zero)
        prototypes = written(folder, "prototypes", (waves if planes else waves.transpose(1, 2, 0))[None], dtype, zero)
        tensors = [prototypes, detections] if swapped else [detections, prototypes]
        parameters = "yolo,units=normalised,iou-threshold=1" + (",end-to-end=yes" if end_to_end else ",preset=v8")
        lines = decode(parameters, 160, 160, 0.5, tensors, classes)
        without = decode(parameters + ",masks=no", 160, 160, 0.5, tensors, classes)
    maps = prototypes[0][0] if planes else prototypes[0][0].transpose(2, 0, 1)
    weights = detections[0][0][:, 6:] if end_to_end else detections[0][0][4 + classes :].T
    order = np.argsort(-(detections[0][0][:, 4] if end_to_end else detections[0][0][4 : 4 + classes].max(0)), kind="stable")
    found = [line for line in lines if line[0] == "box"]
    instances = [line for line in lines if line[0] == "instance"]
    assert len(found) == len(instances) == rows, lines
    assert [line for line in without if line[0] == "box"] == found and len(without) == rows, without
    both = 0
    for box, line, row in zip(found, instances, order):
        x0, y0, x1, y1 = (int(round(float(v) * side)) for v in line[1:5])
        width, height = int(line[5]), int(line[6])
        assert (x1 - x0, y1 - y0) == (width, height), line[:7]
        corners = np.array(box[1:5], float) * side
        assert x0 <= max(corners[0], 0) and y0 <= max(corners[1], 0) and x1 >= min(corners[2], side) and y1 >= min(corners[3], side), (line[:7], corners)
        sums = np.tensordot(weights[row], maps, 1)[y0:y1, x0:x1]
        got = np.frombuffer(bytes.fromhex(line[7]), np.uint8).reshape(height, width)
        assert abs(got - 255 / (1 + np.exp(-sums))).max() < 1.6, abs(got - 255 / (1 + np.exp(-sums))).max()
        assert ((got >= 128) == (sums >= 0))[abs(sums) > 2e-3].all()
        both += got.min() < 100 and got.max() > 150
    assert both >= 4, "nothing to tell apart"


def test_yolo_masks_float():
    for planes in (False, True):
        for swapped in (False, True):
            check_masks(np.float32, 0, planes, swapped, False)
    check_masks(np.float32, 0, False, False, True)


def test_yolo_masks_codes():
    for planes in (False, True):
        check_masks(np.int8, 0, planes, False, False)
        check_masks(np.int8, -20, planes, True, False)
        check_masks(np.uint8, 110, planes, False, False)


def ultraface_priors(width, height):
    priors = []
    for stride, sizes in zip((8, 16, 32, 64), ((10, 16, 24), (32, 48), (64, 96), (128, 192, 256))):
        rows, columns = -(-height // stride), -(-width // stride)
        for y in range(rows):
            for x in range(columns):
                priors += [((x + 0.5) / columns, (y + 0.5) / rows, min(s / width, 1), min(s / height, 1)) for s in sizes]
    return np.array(priors)


def test_ultraface_corners():
    for picture in ("face", "bus"):
        case, output = manifest("version-RFB-320", picture, "onnx")
        boxes = tensor(output["files"][0], np.float32, (1, 4420, 4))
        scores = tensor(output["files"][1], np.float32, (1, 4420, 2))
        expected = suppress(boxes[0][0].astype(np.float64), scores[0][0, :, 1], np.zeros(4420, int), 0.7, 0.3)
        for tensors in ([boxes, scores], [scores, boxes]):
            got = compare(decode("auto", 320, 240, 0.7, tensors, name="ultraface"), expected)
        if picture == "face":
            assert max(abs(np.array(got[0][0]) - (0.260, 0.232, 0.437, 0.571))) < 1e-3, got


def test_ultraface_offsets():
    shape, tensors = litert("version-RFB-320_without_postprocessing", "face")
    offsets, prior = tensors[0][0][0].astype(np.float64), ultraface_priors(320, 240)
    centre, size = prior[:, :2] + offsets[:, :2] * 0.1 * prior[:, 2:], prior[:, 2:] * np.exp(offsets[:, 2:] * 0.2)
    boxes = centred(centre[:, 0], centre[:, 1], size[:, 0], size[:, 1])
    expected = suppress(boxes, tensors[1][0][0, :, 1], np.zeros(4420, int), 0.7, 0.3)
    got = compare(decode("auto", shape[1], shape[0], 0.7, tensors, name="ultraface"), expected)
    corners = manifest("version-RFB-320", "face", "onnx")[1]["files"]
    boxes, scores = tensor(corners[0], np.float32, (1, 4420, 4))[0][0], tensor(corners[1], np.float32, (1, 4420, 2))[0][0, :, 1]
    assert max(abs(np.array(got[0][0]) - boxes[scores.argmax()])) < 1e-3, got


def test_nanodet():
    for picture in ("bus", "dog"):
        case, output = manifest("nanodet_m", picture, "onnx")
        tensors, boxes, scores = [], [], []
        for k, (stride, side) in enumerate(((8, 52), (16, 26), (32, 13))):
            classes = tensor(output["files"][2 * k], np.float32, (1, side * side, 80))
            distances = tensor(output["files"][2 * k + 1], np.float32, (1, side * side, 32))
            tensors += [classes, distances]
            logits = distances[0][0].astype(np.float64).reshape(-1, 4, 8)
            weights = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
            d = (weights * np.arange(8)).sum(-1) * stride
            y, x = np.mgrid[0:side, 0:side]
            cx, cy = (x.ravel() + 0.5) * stride, (y.ravel() + 0.5) * stride
            boxes.append(np.stack([cx - d[:, 0], cy - d[:, 1], cx + d[:, 2], cy + d[:, 3]], -1) / 416)
            scores.append(classes[0][0])
        boxes, scores = np.concatenate(boxes), np.concatenate(scores)
        expected = suppress(boxes, scores.max(1), scores.argmax(1), 0.4, 0.6)
        assert expected, "nothing found on " + picture
        compare(decode("auto", 416, 416, 0.4, tensors, 80, name="nanodet"), expected)


def test_yunet():
    case, output = manifest("yunet_2026may", "face", "onnx")
    files = {name.split(".")[-2]: name for name in output["files"]}
    tensors, boxes, points, scores = [], [], [], []
    for stride in (8, 16, 32):
        side = 320 // stride
        parts = {}
        for kind, columns in (("cls", 1), ("obj", 1), ("bbox", 4), ("kps", 10)):
            parts[kind] = tensor(files["%s_%d" % (kind, stride)], np.float32, (1, side * side, columns))
            tensors.append(parts[kind])
        y, x = np.mgrid[0:side, 0:side]
        cell = np.stack([x.ravel(), y.ravel()], -1)
        b = parts["bbox"][0][0].astype(np.float64)
        centre, size = (b[:, :2] + cell) * stride, np.exp(b[:, 2:]) * stride
        boxes.append(centred(centre[:, 0], centre[:, 1], size[:, 0], size[:, 1]) / 320)
        points.append((parts["kps"][0][0].astype(np.float64).reshape(-1, 5, 2) + cell[:, None]) * stride / 320)
        scores.append(np.sqrt(np.clip(parts["cls"][0][0, :, 0], 0, 1) * np.clip(parts["obj"][0][0, :, 0], 0, 1)))
    boxes, points, scores = map(np.concatenate, (boxes, points, scores))
    expected = suppress(boxes, scores, np.zeros(len(scores), int), 0.7, 0.3)
    lines = decode("auto", 320, 320, 0.7, tensors, name="yunet")
    compare(lines, expected)
    assert len(expected) == 4, expected
    for line, face in zip(lines, expected):
        got = np.array(line[7:], float).reshape(5, 3)[:, :2]
        assert abs(got - points[face[3]]).max() < TOLERANCE, got


def test_yolox_one_class():
    """Rows of six numbers are one class with objectness, not finished boxes, where they are as many as the input has cells."""
    path = os.path.join(DATA, "wild", "golden", "kazuhito00_model.person.litert.out0.bin")
    if not os.path.exists(path):
        raise Skip("golden outputs not found; set SIGHTLINE_TEST_DATA")
    tensors = [tensor(path, np.float32, (1, 756, 6))]
    rows = tensors[0][0][0].astype(np.float64)
    cells = np.array([(x, y, s) for s in (8, 16, 32) for y in range(192 // s) for x in range(192 // s)])
    centres, sizes = (rows[:, :2] + cells[:, :2]) * cells[:, 2:] / 192, np.exp(rows[:, 2:4]) * cells[:, 2:] / 192
    expected = suppress(centred(*centres.T, *sizes.T), rows[:, 4] * rows[:, 5], [0] * 756, 0.3, 0.45)
    assert expected and expected[0][1] > 0.5, expected[:1]
    compare(decode("auto", 192, 192, 0.3, tensors, name="yolo"), expected)


def test_yolo_v2():
    """The person of a grid of five anchors a cell, whose sizes the source gives in cells: where the person of the picture is."""
    path = os.path.join(DATA, "wild", "golden", "yolo_lc_192.person.litert.out0.bin")
    if not os.path.exists(path):
        raise Skip("golden outputs not found; set SIGHTLINE_TEST_DATA")
    anchors = np.array([(0.076023, 0.258508), (0.163031, 0.413531), (0.234769, 0.702585), (0.427054, 0.715892), (0.748154, 0.857092)])
    tensors = [tensor(path, np.float32, (1, 12, 12, 30))]
    rows = tensors[0][0].astype(np.float64).reshape(12, 12, 5, 6)
    sigmoid = lambda x: 1 / (1 + np.exp(-x))
    line, column = np.mgrid[:12, :12]
    boxes = centred((column[..., None] + sigmoid(rows[..., 0])) / 12, (line[..., None] + sigmoid(rows[..., 1])) / 12,
                    np.exp(rows[..., 2]) * anchors[:, 0] / 12, np.exp(rows[..., 3]) * anchors[:, 1] / 12)
    expected = suppress(boxes.reshape(-1, 4), sigmoid(rows[..., 4]).ravel(), [0] * 720, 0.4, 0.45)
    assert iou(expected[0][0], (0.27, 0.23, 0.45, 0.86)) > 0.7, expected
    stated = "yolo-raw,anchors=" + ",".join("%.9g" % (16 * side) for side in anchors.ravel())
    compare(decode(stated, 192, 192, 0.4, tensors), expected)


def test_blazeface():
    """Boxes and points of the two faces, decoded from their anchors as MediaPipe's graph has it."""
    folder = os.path.join(DATA, "wild", "golden")
    paths = [os.path.join(folder, "blazeface_front_128.face.litert.out%d.bin" % i) for i in range(4)]
    if not all(map(os.path.exists, paths)):
        raise Skip("golden outputs not found; set SIGHTLINE_TEST_DATA")
    tensors = [tensor(path, np.float32, dims) for path, dims in zip(paths, ((1, 512, 16), (1, 512, 1), (1, 384, 1), (1, 384, 16)))]
    anchors = [((x + 0.5) / n, (y + 0.5) / n) for n, per_cell in ((16, 2), (8, 6)) for y in range(n) for x in range(n) for _ in range(per_cell)]
    rows = np.concatenate([tensors[0][0][0], tensors[3][0][0]]).astype(np.float64) / 128
    scores = 1 / (1 + np.exp(-np.concatenate([tensors[1][0][0], tensors[2][0][0]]).astype(np.float64)[:, 0]))
    centres = rows[:, :2] + np.array(anchors)
    expected = suppress(centred(*centres.T, *rows[:, 2:4].T), scores, [0] * len(scores), 0.6, 0.3)
    assert len(expected) == 2, expected
    lines = decode("auto", 128, 128, 0.6, tensors, name="mediapipe")
    compare(lines, expected)


def test_face_mesh():
    """All 468 points, and whether there is a face."""
    folder = os.path.join(DATA, "wild", "golden")
    paths = {picture: [os.path.join(folder, "face_landmarks_192.%s.litert.out%d.bin" % (picture, i)) for i in range(2)] for picture in ("face", "prng")}
    if not all(os.path.exists(path) for pair in paths.values() for path in pair):
        raise Skip("golden outputs not found; set SIGHTLINE_TEST_DATA")
    for picture, pair in paths.items():
        tensors = [tensor(path, np.float32, dims) for path, dims in zip(pair, ((1, 1, 1, 1404), (1, 1, 1, 1)))]
        points = tensors[0][0].astype(np.float64).reshape(-1, 3)[:, :2] / 192
        score = 1 / (1 + np.exp(-float(tensors[1][0].ravel()[0])))
        expected = [(np.concatenate([points.min(0), points.max(0)]), score, 0)] if score >= 0.5 else []
        compare(decode("auto", 192, 192, 0.5, tensors, name="landmarks"), expected)


def test_deeplab():
    shape, tensors = litert("deeplabv3_mnv2_dm05_pascal_quant", "dog_segmentation")
    lines = decode("auto", shape[1], shape[0], 0.5, tensors, name="segmentation")
    classes = tensors[0][0][0]
    assert set(np.unique(classes)) == {0, 8, 12, 20}
    assert lines == [["mask", "513", "513", hashlib.sha256(classes.astype(np.uint8).tobytes()).hexdigest()]], lines


def test_movenet():
    shape, tensors = litert("movenet_single_pose_lightning_ptq", "person")
    lines = decode("auto", shape[1], shape[0], 0.25, tensors, name="pose")
    points = tensors[0][0][0, 0].astype(np.float64)
    seen = points[points[:, 2] >= 0.2]
    assert len(lines) == 1, lines
    box = np.array(lines[0][1:6], float)
    expected = [seen[:, 1].min(), seen[:, 0].min(), seen[:, 1].max(), seen[:, 0].max(), points[:, 2].mean()]
    assert abs(box - expected).max() < 1e-6, (box, expected)
    assert abs(np.array(lines[0][7:], float).reshape(17, 3) - points[:, [1, 0, 2]]).max() < 1e-6


def test_ssd():
    for picture, classes in (("bus", [0, 0, 0, 7]), ("dog", [1, 2, 17]), ("cat", [16])):
        shape, tensors = litert("ssd_mobilenet_v1", picture)
        lines = decode("auto", shape[1], shape[0], 0.5, tensors, name="ssd")
        boxes, ids, scores = tensors[0][0][0][:, [1, 0, 3, 2]], tensors[1][0][0], tensors[2][0][0]
        expected = [(boxes[i], scores[i], int(ids[i]), i) for i in range(10) if scores[i] >= 0.5]
        got = compare(lines, expected)
        assert [k[2] for k in got[: len(classes)]] == classes, got


def test_labels():
    for model, picture, label in (("mobilenet_v2_1.0_224_quant", "grace_hopper", 653), ("mobilenet_v2_1.0_224_quant", "cat", 286),
                                  ("mobilenet_v1_0.25_128_quant", "grace_hopper", None), ("person_detect", "cat", None)):
        shape, tensors = litert(model, picture)
        scores = tensors[0][0][0]
        lines = decode("auto", shape[1], shape[0], 0.0, tensors, most=3, name="labels")
        ids = [int(line[2]) for line in lines if line[0] == "class"]
        assert ids[0] == scores.argmax() and label in (None, ids[0]), ids
        assert abs(np.array([float(line[1]) for line in lines]) - np.sort(scores)[::-1][: len(lines)]).max() < 1e-6


def main():
    tests = [(name, test) for name, test in globals().items() if name.startswith("test_")]
    print("1..%d" % len(tests))
    failed = 0
    for number, (name, test) in enumerate(tests, 1):
        try:
            test()
            print("ok %d %s" % (number, name))
        except Skip as reason:
            print("ok %d %s # SKIP %s" % (number, name, reason))
        except Exception as problem:  # each test stands alone
            failed += 1
            print("not ok %d %s" % (number, name))
            print("# %s: %s" % (type(problem).__name__, str(problem).replace("\n", "\n# ")))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
