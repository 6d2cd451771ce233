# SPDX-License-Identifier: LGPL-2.1-or-later
"""The example of a decoder plug-in, built outside of the tree against the public headers alone, and run by the program and in a pipeline.
Arguments: SIGHTLINE MAKE_MODELS COMPILER..."""
import json
import os
import shutil
import subprocess
import sys

sys.path[:0] = [os.path.join(os.environ["SIGHTLINE_SOURCE_ROOT"], "tests", "cli")]
import harness
from harness import model, run, work, write

ROOT = os.environ["SIGHTLINE_SOURCE_ROOT"]
COMPILER = sys.argv[3:]


def build():
    """The plug-in's path; built once, from copies."""
    plugin, headers = work("cells.so"), work("include")
    if not os.path.exists(plugin):
        shutil.copytree(os.path.join(ROOT, "include"), headers)
        source = shutil.copy(os.path.join(ROOT, "examples", "c", "cells_decoder.c"), work("cells_decoder.c"))
        subprocess.run(COMPILER + ["-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-O2", "-I", headers, source, "-o", plugin], check=True, timeout=300)
    return plugin


def picture():
    """8 x 8 pixels: black, but for a blue quarter of a quarter at the right bottom."""
    pixels = b"".join(bytes((0, 0, 204 if x >= 6 and y >= 6 else 0)) for y in range(8) for x in range(8))
    return write("p.ppm", b"P6\n8 8\n255\n" + pixels)


def predict(*args, decoder, **more):
    return run("predict", "--json", "--model", model("brightest_quarter.tflite"), "--decoder", decoder, *args, picture(), **more)


def boxes(result):
    frame, = [json.loads(line) for line in result.expect(0).out.splitlines()]
    return [(found["roi_type"], found["x"], found["y"], found["w"], found["h"], round(found["detection"]["confidence"], 3)) for found in frame["objects"]]


def test_program():
    plugin = build()
    assert boxes(predict(decoder=plugin)) == [("blue", 6, 6, 2, 2, 0.8)]
    assert boxes(predict(decoder=plugin + ",size=2,iou-threshold=0.3")) == [("blue", 5, 5, 3, 3, 0.8)], "clipped to the frame"
    assert boxes(predict("--threshold", "0.9", decoder=plugin)) == []
    assert boxes(predict(decoder="./cells.so", cwd=harness.WORK.name)) == [("blue", 6, 6, 2, 2, 0.8)]


def test_by_name():
    build()
    assert boxes(predict(decoder="cells", env={**os.environ, "SIGHTLINE_DECODERS": harness.WORK.name})) == [("blue", 6, 6, 2, 2, 0.8)]
    predict(decoder="cells").expect(2, "got 'cells'; a plug-in is named by its path, ./cells.so")


def test_errors():
    plugin = build()
    predict(decoder=plugin + ",size=0").expect(1, "decoder cells", "size: expected above 0, up to 100, got '0'", "got uint8[1,4,4,3]")
    predict(decoder=plugin + ",colour=red").expect(2, "decoder cells: no parameter 'colour'; there are: size, iou-threshold, agnostic")
    predict(decoder=work("none.so")).expect(1, "none.so: no such file; expected the path of a decoder plug-in")


def test_modelinfo():
    plugin, theirs = build(), work("downloaded.tflite")
    shutil.copy(model("brightest_quarter.tflite"), theirs)
    info = write("downloaded.tflite.modelinfo", ("[modelinfo]\nversion=1.0\n[sightline]\ndecoder=%s\ndecoder-size=2\n" % plugin).encode())
    for command in (["predict", "--json", "--model", theirs, picture()], ["inspect", "--json", theirs]):
        result = run(*command)
        assert "names a file of code" in result.err + result.out and "state decoder=" in result.err + result.out, result
    run("predict", "--model", theirs, picture()).expect(1, "names a file of code, '%s', which is loaded only if you state it" % plugin)
    assert boxes(run("predict", "--json", "--model", theirs, "--decoder", plugin, picture())) == [("blue", 5, 5, 3, 3, 0.8)]
    with open(info, "w", encoding="utf-8") as file:
        file.write("[modelinfo]\nversion=1.0\n[sightline]\ndecoder=cells\n")
    found = run("predict", "--json", "--model", theirs, picture(), env={**os.environ, "SIGHTLINE_DECODERS": harness.WORK.name})
    assert boxes(found) == [("blue", 6, 6, 2, 2, 0.8)]


def test_pipeline():
    text = ("[pipeline]\nlaunch=videotestsrc pattern=blue num-buffers=1 ! video/x-raw,format=RGB,width=8,height=8 ! slpredict model=%s decoder=%s,size=0.9 ! "
            "slpublish location=%s\n")
    path = write("p.pipeline", (text % (model("brightest_quarter.tflite"), build(), work("out.jsonl"))).encode())
    result = run("run", path)
    assert result.status == 0, result
    with open(work("out.jsonl"), encoding="utf-8") as file:
        frame = json.loads(file.readline())
    assert len(frame["objects"]) == 16 and {found["roi_type"] for found in frame["objects"]} == {"blue"}, frame


def test_length():
    with open(os.path.join(ROOT, "examples", "c", "cells_decoder.c"), encoding="utf-8") as file:
        assert len(file.readlines()) < 60


def test_uninstalled():
    """A program that is built as `meson devenv` has it, against the files for pkg-config that are not installed."""
    tree = os.path.dirname(os.path.dirname(harness.PROGRAM))
    found = dict(os.environ, PKG_CONFIG_PATH=os.path.join(tree, "meson-uninstalled"))
    if shutil.which("pkg-config") is None or not os.path.exists(os.path.join(tree, "meson-uninstalled")):
        raise harness.Skip("pkg-config, or its files of a build, is missing")
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "sightline-1.0"], env=found, check=True, capture_output=True, text=True).stdout.split()
    if harness.SANITIZED:
        raise harness.Skip("a sanitizer's library needs the compiler's option")
    source = os.path.join(ROOT, "examples", "c", "predict_picture.c")
    subprocess.run(COMPILER + [source, *flags, "-o", work("uninstalled")], check=True, timeout=300, cwd=harness.WORK.name)


harness.main(globals())
