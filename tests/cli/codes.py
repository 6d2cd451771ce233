# SPDX-License-Identifier: LGPL-2.1-or-later
"""The model that comes with Sightline: found without being named, finds the codes on the sample pictures where the renderer
put them, and gives the same bytes on every backend."""
import json
import os
import random

import harness
from harness import ROOT, run, work, write

MODEL = os.path.join(ROOT, "models", "codes", "codes.tflite")
SAMPLES = os.path.join(ROOT, "models", "codes", "samples")
HERE = dict(os.environ, SIGHTLINE_MODEL=MODEL)
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
    out = run("predict", "--json", os.path.join(SAMPLES, name), env=HERE).expect(0, TOLD).out
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


def test_no_model_anywhere():
    missing = dict(HERE, SIGHTLINE_MODEL="/nonexistent/codes.tflite")
    run("predict", os.path.join(SAMPLES, samples()[0][0]), env=missing).expect(
        1, "/nonexistent/codes.tflite, which the environment variable SIGHTLINE_MODEL names", "name a model", "--model FILE")


harness.main(globals())
