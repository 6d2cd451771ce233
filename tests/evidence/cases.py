# SPDX-License-Identifier: LGPL-2.1-or-later
"""Files of strangers that were read in a wrong way once, each with the value that its case states. The picture of most cases is 128x96 and has two
objects, a cat at 16,24 of 32x48 and a dog at 80,12 of 32x24."""
import json
import os
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))

from harness import PROGRAM, Skip, data, main, png, run, work, write  # noqa: E402
from media import difference, read_png  # noqa: E402

FRACTIONS = ("--mean", "0", "--std", "255")
CAT, DOG = ("cat", 16, 24, 32, 48), ("dog", 80, 12, 32, 24)


def bug(*parts):
    return data("bugs", *parts)


def found(*args):
    """The objects of each frame: name and box."""
    lines = run("predict", "--json", *args).expect(0).out.splitlines()
    return [[(o["roi_type"], o["x"], o["y"], o["w"], o["h"]) for o in json.loads(line)["objects"]] for line in lines]


def test_binary_sigmoid():
    """One sigmoid with two names is the share of the second."""
    model, picture = bug("binary_sigmoid", "cat_vs_dog.onnx"), bug("binary_sigmoid", "p.png")
    out = run("predict", "--model", model, *FRACTIONS, "--labels", bug("binary_sigmoid", "l.txt"), picture).expect(0).out
    assert out.split()[-2:] == ["0.92", "cat"], out


def test_labels_files():
    """Files of any kind name the classes; one of another model is refused."""
    model, picture = bug("labels_files", "m.onnx"), bug("labels_files", "p.png")
    for name in ("labelmap.pbtxt", "data.yaml", "labels.csv", "labels.json", "comment.txt"):
        got = found("--model", model, *FRACTIONS, "--labels", bug("labels_files", name), picture)
        assert got == [[CAT, DOG]], (name, got)
    result = run("predict", "--model", model, *FRACTIONS, "--labels", bug("labels_files", "coco80.txt"), picture)
    result.expect(1, "80 names for the 2 classes of ")


def test_yolov5_metadata():
    """Names and stride without a task: mean, std, fit and names of YOLOv5 without being asked."""
    got = found("--model", bug("yolov5_metadata", "yolov5.onnx"), bug("yolov5_metadata", "p.png"))
    assert got == [[("dog", 16, 16, 32, 64)]], got


def test_winml_output_colour():
    """A picture that comes out as it went in, in BGR on both sides."""
    drawn, picture = work("drawn.png"), bug("labels_files", "p.png")
    result = run("predict", "--model", bug("winml-output-colour", "identity_bgr.onnx"), "--draw", drawn, picture)
    if "made without Pango" in result.err:
        raise Skip("no sloverlay")
    result.expect(0)
    scaled = work("scaled.png")
    rows = read_png(drawn)
    done = subprocess.run(["gst-launch-1.0", "-q", "filesrc", "location=" + picture, "!", "pngdec", "!", "videoconvert", "!", "videoscale", "!",
                           "video/x-raw,format=RGB,width=%d,height=%d" % (len(rows[0]), len(rows)), "!", "pngenc", "!", "filesink", "location=" + scaled],
                          capture_output=True)
    if done.returncode != 0:
        raise Skip(done.stderr.decode())
    wanted = read_png(scaled)
    assert difference(rows, wanted) < 12, difference(rows, wanted)
    swapped = [[pixel[::-1] for pixel in row] for row in wanted]
    assert difference(rows, swapped) > 2 * difference(rows, wanted), "red and blue are swapped"


def test_advice_for_pictures():
    """A picture of one channel, three times the input's size, is proposed as such, and no detector is."""
    model, picture = bug("wrong-advice-superres", "lite.ai.toolkit__examples_hub_onnx_cv_subpixel-cnn.onnx"), bug("labels_files", "p.png")
    result = run("predict", "--model", model, *FRACTIONS, picture).expect(1, "decoder=image,range=0,1")
    assert "decoder=yolo" not in result.err and "decoder=segmentation" not in result.err, result
    run("predict", "--model", model, *FRACTIONS, "--decoder", "image,range=0,1", picture).expect(0)


def test_float16_input():
    """What predict says of float16 pixels is what the model gives for them as raw numbers."""
    model = bug("float16-input", "classes.onnx")
    shape = json.loads(run("inspect", "--json", model, *FRACTIONS).expect(0).out)["inputs"][0]["shape"]
    n = shape[1] * shape[2] * shape[3]
    picture = png("plain.png", 64, 64, (255, 255, 255))
    line = json.loads(run("predict", "--json", "--model", model, *FRACTIONS, "--top", "1", picture).expect(0).out)
    run("infer", "--model", model, "--input", write("ones.bin", struct.pack("<e", 1) * n), "--output", work("raw")).expect(0)
    with open(work("raw.0.bin"), "rb") as file:
        raw = file.read()
    numbers = struct.unpack("<%de" % (len(raw) // 2), raw)
    best = max(range(len(numbers)), key=numbers.__getitem__)
    got = line["classification"][0] if "classification" in line else line["labels"][0]
    assert str(best) in json.dumps(got), (best, line)


def test_detr_of_any_queries():
    for n in (50, 100, 300):
        contract = run("inspect", bug("detr-zero-config", "detr_%d.onnx" % n)).expect(0).out
        assert "decoder   detr\n" in contract, contract


def test_yunet_2021():
    for name in ("yunet_120x160.onnx", "yunet_float32.tflite"):
        contract = run("inspect", bug("yunet-2021", name)).expect(0).out
        assert "decoder   yunet-2021\n" in contract, contract


def test_torchscript():
    """A list that is turned around, and an input of whole numbers."""
    run("infer", "--model", bug("torchscript-list-slice", "rev.pt"), "--input-shape", "1,3,8,16", "--input",
        write("pixels.bin", bytes(4 * 3 * 8 * 16)), "--output", work("rev")).expect(0)
    towers = bug("torchscript-int64-input", "two_tower.pt")
    run("inspect", towers, "--input-shape", "1,3,8,8").expect(1, "state a shape for each input, as in input-shape=1,3,224,224;int64:1,77")
    run("infer", "--model", towers, "--input-shape", "1,3,8,8;int64:1,4", "--input", write("picture.bin", bytes(4 * 3 * 8 * 8)), "--input",
        write("words.bin", struct.pack("<4q", 1, 2, 3, 0)), "--output", work("towers")).expect(0)


def test_models_page():
    """The options that the page of models states give what the cases say."""
    page = open(os.path.join(os.environ["SIGHTLINE_SOURCE_ROOT"], "docs", "models.md"), encoding="utf-8").read()

    def options(name):
        row = next(line for line in page.splitlines() if line.startswith("| %s |" % name))
        return next(cell for cell in row.split("|") if "--mean" in cell).strip().strip("`").split()

    def of(name):
        return ["--model", data("formats", "models", name), *options(name)]

    bus, dog = data("images", "bus.jpg"), data("images", "dog.jpg")
    names = [o[0] for o in found(*of("yolox_nano.onnx"), "--labels", bug("deepstream_yolo_head", "coco80.txt"), bus)[0]]
    assert len(names) >= 4, names
    out = run("predict", *of("mobilenetv2_dynq_s8.onnx"), "--top", "2", dog).expect(0).out
    assert "235" in out.split(), out  # with another dog as likely; 669 with the values that the page had


def test_geometry_after_predict():
    """Elements that move pixels behind the model: the boxes follow."""
    folder = os.path.dirname(bug("geometry_after_predict", "m.onnx"))
    for change, boxes in (("videocrop left=20", [("cat", 0, 24, 28, 48), ("dog", 60, 12, 32, 24)]),
                          ("videoflip video-direction=horiz", [("cat", 80, 24, 32, 48), ("dog", 16, 12, 32, 24)]),
                          ("videoscale add-borders=true ! video/x-raw,width=128,height=128,pixel-aspect-ratio=1/1",
                           [("cat", 16, 40, 32, 48)])):
        lines = work("lines.json")
        path = write("after.pipeline", ("[pipeline]\nlaunch=filesrc location=%s/p.png ! decodebin ! videoconvert ! slpredict model=%s/m.onnx mean=0 std=255 "
                                        "labels=%s/l.txt ! video/x-raw ! %s ! slpublish location=%s\n" % (folder, folder, folder, change, lines)).encode())
        done = subprocess.run([PROGRAM, "run", path], capture_output=True, timeout=60)
        assert done.returncode == 0, done.stderr
        with open(lines, encoding="utf-8") as file:
            objects = [(o["roi_type"], o["x"], o["y"], o["w"], o["h"]) for o in json.loads(file.readline())["objects"]]
        os.unlink(lines)
        for wanted in boxes:
            assert any(o[0] == wanted[0] and all(abs(a - b) <= 1 for a, b in zip(o[1:], wanted[1:])) for o in objects), (change, wanted, objects)


main(globals())
