# SPDX-License-Identifier: LGPL-2.1-or-later
"""The model that comes with Sightline: found without being named, finds the codes on the sample pictures where the renderer
put them, and gives the same bytes on every backend."""
import csv
import io
import json
import os
import random

import harness
from harness import ROOT, Skip, run, work, write

MODEL = os.path.join(ROOT, "models", "codes", "codes.tflite")
SAMPLES = os.path.join(ROOT, "models", "codes", "samples")
HERE = dict(os.environ, SIGHTLINE_MODEL=MODEL)
NOWHERE = dict(HERE, GST_PLUGIN_PATH="/nonexistent", GST_REGISTRY=work("nowhere.registry"))
TOLD = "sightline predict: no --model is given: looking for codes (QR, bar codes) with the model that comes with Sightline\n"


def samples():
    with open(os.path.join(SAMPLES, "truth.json"), encoding="utf-8") as file:
        return sorted(json.load(file).items())


def overlap(a, b):
    """Intersection over union of two boxes x, y, w, h."""
    w = min(a[0] + a[2], b[0] + b[2]) - max(a[0], b[0])
    h = min(a[1] + a[3], b[1] + b[3]) - max(a[1], b[1])
    both = max(w, 0) * max(h, 0)
    return both / (a[2] * a[3] + b[2] * b[3] - both)


def found_on(name):
    """By the finder alone: a code that does not read counts less by default."""
    out = run("predict", "--json", "--threshold", "0.6", os.path.join(SAMPLES, name), env=HERE).expect(0, TOLD).out
    objects = json.loads(out.splitlines()[0])["objects"]
    return [(o["detection"]["label"], [o[k] for k in "xywh"]) for o in objects]


def test_codes_are_found():
    for name, truth in samples():
        found = found_on(name)
        for code in truth["codes"]:
            best = max((overlap(code["box"], box) for label, box in found if label == code["label"]), default=0)
            assert best >= 0.5, "%s: %s: best overlap %.2f of %s" % (name, code, best, found)
        assert len(found) == len(truth["codes"]), "%s: found %s, expected %s" % (name, found, truth["codes"])


def test_samples_have_every_kind():
    labels = {code["label"] for _, truth in samples() for code in truth["codes"]}
    assert labels == {"qr", "matrix", "linear", "stacked"}, labels


def test_annotated_picture():
    out = work("drawn.png")
    run("predict", "--draw", out, os.path.join(SAMPLES, samples()[0][0]), env=HERE).expect(0, TOLD)
    with open(out, "rb") as file:
        assert file.read(8) == b"\x89PNG\r\n\x1a\n"


def test_backends_agree():
    pictures = [bytes(320 * 320 * 3), random.Random(1).randbytes(320 * 320 * 3)]
    for i, pixels in enumerate(pictures):
        path, outputs = write("in%d.bin" % i, pixels), {}
        for backend in ("int8", "xnnpack", "plain"):
            prefix = work("out-%d-%s" % (i, backend))
            run("infer", "--model", MODEL, "--input", path, "--output", prefix, env=dict(HERE, SIGHTLINE_BACKEND=backend)).expect(0)
            with open(prefix + ".0.bin", "rb") as file:
                outputs[backend] = file.read()
        assert len(outputs["plain"]) == 2100 * 8
        assert outputs["int8"] == outputs["xnnpack"] == outputs["plain"], "picture %d differs between backends" % i


def ean_picture():
    """A gray picture with 4006381333931 on it, by the tables of EAN-13."""
    left = "0001101 0011001 0010011 0111101 0100011 0110001 0101111 0111011 0110111 0001011".split()
    turned = [code.translate(str.maketrans("01", "10"))[::-1] for code in left]
    sides = ["".join((left if kind == "L" else turned)[int(digit)] for digit, kind in zip("006381", "LGLLGG")),
             "".join(left[int(digit)].translate(str.maketrans("01", "10")) for digit in "333931")]
    bars = "101" + sides[0] + "01010" + sides[1] + "101"
    row = b"\xff" * 150 + b"".join((b"\x10" if bar == "1" else b"\xff") * 9 for bar in bars) + b"\xff" * 150
    blank = b"\xff" * len(row)
    return harness.png_of("ean.png", len(row) // 3, 300, [blank] * 40 + [row] * 220 + [blank] * 40)


def test_reading():
    """By default where an slread is there; with --read else an error, which says what is missing."""
    picture = ean_picture()
    asked = run("predict", "--read", picture, env=HERE)
    if asked.status != 0:
        asked.expect(1, "--read: there is no element slread", "libzbar-dev, libzxing-dev; meson options zbar, zxing")
        raise Skip("built without a reader of codes")
    for options in ([], ["--read"]):
        table = run("predict", *options, picture, env=HERE).expect(0, TOLD).out
        assert "linear  ean-13 4006381333931" in table, table
    found = json.loads(run("predict", "--json", picture, env=HERE).expect(0, TOLD).out)["objects"]
    assert [(o["code"]["symbology"], o["code"]["text"], o["code"]["checked"]) for o in found] == [("ean-13", "4006381333931", True)], found
    row, = csv.DictReader(io.StringIO(run("predict", "--format=csv", picture, env=HERE).expect(0, TOLD).out))
    assert (row["symbology"], row["code"]) == ("ean-13", "4006381333931"), row
    assert all(0 <= p["x"] <= 1 and 0 <= p["y"] <= 1 for p in found[0]["code"]["corners"]), found
    assert "ean-13" not in run("predict", "--no-read", picture, env=HERE).expect(0, TOLD).out
    run("predict", "--read", "--no-read", picture, env=HERE).expect(2, "--read and --no-read: expected one of them")


def confidences(picture, *options):
    objects = json.loads(run("predict", "--json", *options, picture, env=HERE).expect(0, TOLD).out.splitlines()[0])["objects"]
    return [(o["detection"]["label"], o["detection"]["confidence"]) for o in objects]


def test_what_does_not_read_counts_less():
    """Photographs without a code on which the finder takes something for a matrix; that none can be read there says that there is none."""
    if run("predict", "--read", ean_picture(), env=HERE).status != 0:
        raise Skip("built without a reader of codes")
    for parts in (["images", "bus.jpg"], ["quantize", "pictures", "evaluate", "class0188.jpg"]):
        picture = harness.data(*parts)
        stated = confidences(picture, "--threshold", "0.6")
        assert stated and all(label == "qr" and 0.6 <= confidence < 0.8 for label, confidence in stated), stated
        assert confidences(picture, "--no-read") == stated
        assert confidences(picture) == []
        named = json.loads(run("predict", "--json", "--read", "--model", MODEL, picture).expect(0).out)["objects"]
        assert [o["detection"]["confidence"] for o in named] == [confidence for _, confidence in stated], named


def test_reading_is_absent():
    asked = run("predict", "--read", ean_picture(), env=NOWHERE)
    if asked.status == 0:
        raise Skip("an installed slread is there")
    asked.expect(1, "--read: there is no element slread; expected it in a plugin file of Sightline")


def test_readers_are_missing():
    """Once, whatever is read; and nothing where reading is not wanted."""
    picture = ean_picture()
    asked = run("predict", "--read", picture, env=HERE)
    if asked.status != 0:
        raise Skip("built without a reader of codes")
    said = run("predict", picture, picture, env=NOWHERE)
    if "is no element" in said.err:
        assert said.err.count("codes are found and not read: there is no element slread; expected it in a plugin file of Sightline") == 1, said.err
        assert "not read" not in run("predict", "--no-read", picture, env=NOWHERE).expect(0, TOLD).err
    if "SIGHTLINE_ZXING" not in os.environ:
        raise Skip("built without zxing-cpp")
    alone = dict(HERE, SIGHTLINE_ZXING="/nonexistent/zxing")
    said = run("predict", picture, picture, env=alone)
    if "/nonexistent/zxing" in said.err:
        assert said.err.count("codes are read without zxing, whose program /nonexistent/zxing is not there: Data Matrix, Aztec and PDF417 are not read") == 1, said


def test_shared_codes():
    """What others wrote in a QR code's Kanji mode, in a light EAN on dark ground, and in those with an add-on, which is apart from the text."""
    if run("predict", "--read", ean_picture(), env=HERE).status != 0:
        raise Skip("built without a reader of codes")
    texts = {"t_qr_kanji.png": "\u70b9\u8317", "w_isbn_inv.png": "9781234567897", "w_isbn5.png": "9781234567897", "t_ean2.png": "4006381333931"}
    add_ons = {"w_isbn_inv.png": "52495", "w_isbn5.png": "52495", "t_ean2.png": "12"}
    for name, text in texts.items():
        found, = json.loads(run("predict", "--json", harness.data("bugs", "codes", name), env=HERE).expect(0, TOLD).out)["objects"]
        assert (found["code"]["text"], found["code"].get("add_on")) == (text, add_ons.get(name)), found
    picture = harness.data("bugs", "codes", "w_isbn5.png")
    assert "ean-13 9781234567897 + 52495" in run("predict", picture, env=HERE).expect(0, TOLD).out


def test_share_of_tiles():
    """A crop share leaves no gaps between tiles: they are looked at whole."""
    words = ["predict", "--json", "--model", harness.data("models", "ssd_mobilenet_v1.tflite"), "--fit", "stretch", "--tiles", "2x2", harness.data("images", "bus.jpg")]
    whole, share = (run(*words, "--crop-share", text).expect(0).out for text in ("1", "0.5"))
    assert share == whole and whole.count('"detection"') > 4, (whole, share)


def test_tiles():
    for options in (["--tiles=2x2"], ["--tiles=1x1"]):
        run("predict", "--no-read", *options, ean_picture(), env=HERE).expect(0, TOLD)
    run("predict", "--tiles=2x9", ean_picture(), env=HERE).expect(2, "--tiles=2x9: expected COLUMNSxROWS, each 1..8, such as tiles=2x2")


def test_no_model_anywhere():
    missing = dict(HERE, SIGHTLINE_MODEL="/nonexistent/codes.tflite")
    run("predict", os.path.join(SAMPLES, samples()[0][0]), env=missing).expect(
        1, "/nonexistent/codes.tflite, which the environment variable SIGHTLINE_MODEL names", "name a model", "--model FILE")


harness.main(globals())
