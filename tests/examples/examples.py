# SPDX-License-Identifier: LGPL-2.1-or-later
"""The C examples, as a user runs them. Arguments: SIGHTLINE-or-anything MAKE_MODELS EXAMPLE..."""
import json
import os
import subprocess
import sys

sys.path[:0] = [os.path.join(os.environ["SIGHTLINE_SOURCE_ROOT"], "tests", "cli")]
import harness
from harness import Skip, data, model, run, work, write
from figures import shows_figures
from pictures import ppm, ppm_of_bmp

# The program carries the elements inside.
ALONE = {**{name: value for name, value in os.environ.items() if name != "GST_PLUGIN_PATH"}, "GST_REGISTRY": work("alone.registry")}
EXAMPLES = {os.path.basename(path): os.path.abspath(path) for path in sys.argv[3:]}


def example(name, *args, timeout=200):
    if name not in EXAMPLES:
        raise Skip(name + " was not built")
    done = subprocess.run([EXAMPLES[name], *args], stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout)
    return harness.Result(done.returncode, done.stdout.decode(), done.stderr.decode())


def test_predict_picture():
    picture = ppm("p.ppm", 200, 100, (0, 51, 204))
    assert example("predict_picture", model("brightest_channel.tflite"), picture).expect(0).out == "0.800 blue\n"
    assert example("predict_picture", model("one_box.tflite"), picture).expect(0).out == "0.800 blue at 0.0,25.0, 100.0 x 50.0\n"


def test_predict_picture_errors():
    picture, m = ppm("p.ppm", 9, 9, (1, 2, 3)), model("brightest_channel.tflite")
    example("predict_picture").expect(2, "usage: ")
    example("predict_picture", work("none.tflite"), picture).expect(1, "none.tflite: no such file")
    example("predict_picture", model("unknown_op.tflite"), picture).expect(1, "Frobnicate")
    example("predict_picture", m, work("none.ppm")).expect(1, "none.ppm")
    example("predict_picture", m, write("text.ppm", b"hello")).expect(1, "expected a binary PPM picture that begins with P6")
    example("predict_picture", m, write("short.ppm", b"P6\n9 9\n255\nabc")).expect(1, "frame RGB 9x9: expected 243 bytes", "got 3")
    example("predict_picture", m, write("huge.ppm", b"P6\n99999 9\n255\nabc")).expect(1, "frame of 99999x9 pixels: expected 1..32768")


def test_same_as_the_program():
    if os.path.basename(harness.PROGRAM) != "sightline":
        raise Skip("the program was not built")
    for name, picture in (("mobilenet_v2_1.0_224_quant", "grace_hopper.bmp"), ("mobilenet_v2_1.0_224_quant", "cat.bmp"), ("ssd_mobilenet_v1", "cat.bmp")):
        m, bmp = data("models", name + ".tflite"), data("images", picture)
        lines = example("predict_picture", m, ppm_of_bmp("real.ppm", bmp)).expect(0).out.splitlines()
        frame, = [json.loads(line) for line in run("predict", "--json", "--model", m, bmp, env=ALONE).expect(0).out.splitlines()]
        wanted = ["%.3f %s" % (found["confidence"], found["label"]) for found in frame["labels"]]
        for found in frame["objects"]:
            box, size = found["detection"]["bounding_box"], frame["resolution"]
            x, y = box["x_min"] * size["width"], box["y_min"] * size["height"]
            w, h = box["x_max"] * size["width"] - x, box["y_max"] * size["height"] - y
            wanted.append("%.3f %s at %.1f,%.1f, %.1f x %.1f" % (found["detection"]["confidence"], found["roi_type"], x, y, w, h))
        assert lines == wanted and lines, (lines, wanted)


def test_push_frames():
    result = example("push_frames", model("brightest_channel.tflite"), "7").expect(0)
    assert [line.split() for line in result.out.splitlines()] == [["%d:" % i, ("red", "green", "blue")[i % 3]] for i in range(7)], result
    example("push_frames").expect(2, "usage: ")
    example("push_frames", work("none.tflite")).expect(1, "none.tflite: no such file")


PIPELINE = """[pipeline]
launch=videotestsrc pattern=${colour} num-buffers=3 ! video/x-raw,format=RGB,width=32,height=32,framerate=30/1 !\\
  slnormalize ! slinfer model=${model} ! slpostprocess ! fakesink sync=true
[parameters]
model=
colour=blue
"""


def test_run_pipeline():
    path, m = write("test.pipeline", PIPELINE.encode()), model("brightest_channel.tflite")
    for colour in ("blue", "red"):
        result = example("run_pipeline", path, "model=" + m, "colour=" + colour).expect(0)
        frames = [json.loads(line) for line in result.out.splitlines()]
        assert [f["frame"] for f in frames] == [0, 1, 2], result
        assert all(f["labels"][0]["label"] == colour and f["labels"][0]["confidence"] > 0.95 for f in frames), result
    example("run_pipeline").expect(2, "usage: ")
    example("run_pipeline", work("none.pipeline")).expect(1, "none.pipeline")
    example("run_pipeline", path, "model=" + work("none.tflite")).expect(1, "none.tflite: no such file")
    example("run_pipeline", path, "modle=" + m).expect(1, "modle")


def test_element_figures():
    """What slmotion, slredact and the budget count in a pipeline of 40 frames."""
    path, m = shows_figures(example, "element_figures")
    example("element_figures", path).expect(2, "usage: ")
    example("element_figures", path, "model=" + m, "motion").expect(2, "usage: ")
    example("element_figures", path, "model=" + m, "nobody.stats").expect(1, "no element with name=nobody")
    example("element_figures", path, "model=" + m, "motion.luck").expect(1, "motion.luck: SlMotion has no such property")


harness.main(globals())
