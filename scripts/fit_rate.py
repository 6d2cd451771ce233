#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Says how often `sightline fit` finds the pixels that a model wants, of models whose pixels their makers or programs state.

    scripts/fit_rate.py SIGHTLINE SHARED [NAME...]

A model is found when the first reading has its values and its order of channels, and named when the second has them and nothing is chosen.
Five pictures each; NAME: only models with that in their path.
"""
import concurrent.futures
import glob
import json
import os
import subprocess
import sys

THINGS = ("bus.jpg", "dog.jpg", "cat_720p.jpg", "person.jpg", "grace_hopper.bmp")
FACES = ("face.jpg", "grace_hopper.bmp", "person.jpg", "bus.jpg", "cat_720p.jpg")
PEOPLE = ("person.jpg", "grace_hopper.bmp", "bus.jpg", "face.jpg", "dog.jpg")
HANDS = ("asl_A1.jpg", "asl_C1.jpg", "face.jpg", "cat_720p.jpg", "dog.jpg")
CLASSES = "quantize/pictures/evaluate"  # of which five, evenly
LIMIT = 300
# Model, options, values and orders of channels that are right, pictures. Two values or orders: its makers say one, and it does not tell them apart.
MODELS = (
    ("formats/models/yolox_nano.onnx", "", ("0..255",), ("BGR",), THINGS),
    ("models/nanodet_m.onnx", "", ("ImageNet",), ("BGR",), THINGS),
    ("formats/models/mobilenetv2_dynq_s8.onnx", "", ("ImageNet",), ("RGB",), THINGS),
    ("models/mobilenet_v2_quant.onnx", "", ("ImageNet",), ("RGB",), THINGS),
    ("quantize/models/mobilenetv2_float.onnx", "", ("ImageNet",), ("RGB",), THINGS),
    ("quantize/models/mobilenetv2_float.onnx", "", ("ImageNet",), ("RGB",), CLASSES),
    ("models/mobilenet_v2_quant.onnx", "", ("ImageNet",), ("RGB",), CLASSES),
    ("quantize/models/yolov8n_float.onnx", "", ("0..1",), ("RGB",), THINGS),
    ("formats/models/yolov8n_dynq_s8.onnx", "", ("0..1",), ("RGB",), THINGS),
    ("formats/models/yolov8n_qdq_u8s8.onnx", "", ("0..1",), ("RGB",), THINGS),
    ("models/yolov8n_int8_224.tflite", "", ("0..1",), ("RGB",), THINGS),
    ("formats/models/FastestDet.onnx", "", ("0..1",), ("BGR",), THINGS),
    ("models/version-RFB-320.onnx", "", ("-1..1",), ("RGB",), FACES),
    ("models/version-RFB-320_without_postprocessing.tflite", "", ("-1..1",), ("RGB",), FACES),
    ("models/yunet_2026may.onnx", "--input-shape 1,3,320,320", ("0..255",), ("BGR",), FACES),
    ("models/asl.ptl", "--input-shape 1,3,200,200", ("0..255",), ("RGB",), HANDS),
    ("wild/models/selfie_segmenter.tflite", "--decoder segmentation", ("0..1",), ("RGB",), PEOPLE),
    ("wild/models/blazeface_front_128.tflite", "", ("0..1", "-1..1"), ("RGB",), FACES),
    ("wild/models/hugocornellier_pose_detection.tflite", "", ("-1..1",), ("RGB",), PEOPLE),
    ("wild/models/kazuhito00_model.tflite", "", ("0..255",), ("RGB", "BGR"), PEOPLE),
    ("wild/models/pefm_hourglass_v2.tflite", "--decoder pose", ("0..255",), ("BGR",), PEOPLE),
    ("formats/models/SqueezeNet_fp16.onnx", "--decoder labels", ("0..255", "Caffe"), ("BGR",), THINGS),
    ("formats/models/d2go_optimized.pt", "--input-shape 3,240,320", ("0..1", "0..255"), ("RGB", "BGR"), THINGS),
    ("wild/models/semanticsegmentation_frozen_person_quantized_08.tflite", "--decoder segmentation", ("0..1",), ("RGB",), PEOPLE),
    ("wild/models/model_lite_age_q.tflite", "--decoder vector", ("0..1",), ("RGB",), FACES),
)


def paths(shared, pictures):
    if isinstance(pictures, tuple):
        return [os.path.join(shared, "images", name) for name in pictures]
    found = sorted(glob.glob(os.path.join(shared, pictures, "*")))
    return found[::max(len(found) // 5, 1)][:5]


def attempt(program, shared, row):
    """(row, report or None, complaint)"""
    path, options, _, _, pictures = row
    done = subprocess.run([program, "fit", os.path.join(shared, path), *paths(shared, pictures), "--json", *options.split()],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=LIMIT, check=False)
    return row, json.loads(done.stdout) if done.returncode == 0 else None, done.stderr.strip()


def main(args):
    if len(args) < 2:
        sys.exit("usage: scripts/fit_rate.py SIGHTLINE SHARED [NAME...]")
    program, shared, names = args[0], args[1], args[2:]
    rows = [row for row in MODELS if os.path.exists(os.path.join(shared, row[0])) and (not names or any(name in row[0] for name in names))]
    found = named = wrong = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for (path, _, values, colours, _), report, complaint in pool.map(lambda row: attempt(program, shared, row), rows):
            readings = report["readings"] if report else []
            right = [i for i, r in enumerate(readings) if r["values"] in values and r["colour"] in colours]
            others = [i for i, r in enumerate(readings) if (r["values"], r["colour"]) != (readings[0]["values"], readings[0]["colour"])]
            is_named = bool(others) and others[0] in right and not report["chosen"] and right[:1] != [0]
            found += right[:1] == [0]
            named += is_named
            wrong += bool(report and report["chosen"] and right[:1] != [0])
            best = "%(values)s %(colour)s %(fit)s %(score).2f" % readings[0] if readings else complaint
            print("%-8s right at %-3s %s: %s" % ("found" if right[:1] == [0] else "named" if is_named else "not", right[0] + 1 if right else "-", path, best), flush=True)
    print("%d of %d found; %d more named as one of two; %d others were chosen" % (found, len(rows), named, wrong))


if __name__ == "__main__":
    main(sys.argv[1:])
