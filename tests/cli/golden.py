# SPDX-License-Identifier: LGPL-2.1-or-later
"""Golden files: sightline check makes them, and whatever loads the model refuses a machine that computes otherwise."""
import os
import shutil

import blackbox
import harness
from harness import data, model, png, run, work, write

PICTURE = bytes([200, 100, 40]) * 64


def fresh(name):
    """A copy of a model that no other test has a golden file beside."""
    path = work(name + ".tflite")
    shutil.copy(model("brightest_channel.tflite"), path)
    return path


def golden(path, brightness, more=None):
    """A golden file that says the mean of the picture is @brightness."""
    return blackbox.write(path + ".golden", path, ["uint8[1,8,8,3]"], ["uint8[1,3]"],
                          [blackbox.inference(1, [PICTURE], [bytes(brightness)])], more)


def test_make():
    path = fresh("made")
    out = run("check", "--make-golden", path).expect(0).out
    assert out.startswith(path + ".golden: made with "), out
    keys, inferences = blackbox.read(path + ".golden")
    assert keys["reason"] == "self-test" and keys["inputs"] == "uint8[1,8,8,3];" and len(inferences) == 1, keys
    run("replay", path + ".golden").expect(0)
    run("predict", "--model", path, png("made.png", 8, 8, (1, 2, 3))).expect(0)


def test_usage():
    path = fresh("usage")
    run("check", "--make-golden", path, "a.pipeline").expect(2, "--make-golden: expected no FILE with it, got 'a.pipeline'")
    run("check", "--make-golden", path, "--work-limit", "0").expect(2, "--work-limit: expected 1..1000000, got '0'")
    run("check", "--make-golden", work("none.tflite")).expect(1, "none.tflite: no such file")
    os.mkdir(work("folder.tflite.golden"))
    shutil.copy(path, work("folder.tflite"))
    run("check", "--make-golden", work("folder.tflite")).expect(1, "folder.tflite.golden.part: cannot be renamed: Is a directory")
    assert not os.path.exists(work("folder.tflite.golden.part"))


def test_refused():
    path, picture = fresh("refused"), png("refused.png", 8, 8, (200, 100, 40))
    golden(path, (200, 100, 40))
    run("predict", "--model", path, picture).expect(0)
    golden(path, (200, 101, 40))
    wrong = ("refused.tflite.golden: this machine computes the model differently: value 1 of output 0 of the self-test: expected 101, got 100 "
             "(1 of 3 values differ; expected of plain: 1, got of ")
    run("predict", "--model", path, picture).expect(1, wrong, "test its memory and processor; SIGHTLINE_CPU=c tells")
    description = write("refused.pipeline", ("[pipeline]\nlaunch=videotestsrc num-buffers=3 ! slpredict model=%s ! fakesink\nrestart=no\n" % path).encode())
    run("run", description).expect(1, wrong)
    result = run("check", description)
    assert result.status == 1 and wrong in result.out, result
    os.remove(path + ".golden")
    run("run", description).expect(0, "end of stream")


def test_other_model():
    path = fresh("other")
    golden(path, (200, 100, 40), {"sha256": 64 * "0"})
    run("predict", "--model", path, png("other.png", 8, 8, (1, 2, 3))).expect(
        1, "other.tflite.golden: made for another model, another input-shape or other fixed inputs; make it anew with sightline check --make-golden, or delete it: ")


def test_instruction_sets():
    """One file serves all instruction sets, whose float results differ in their last bits."""
    for name, more in (("nanodet_m.onnx", "mean=0 std=255"), ("ssd_mobilenet_v1.tflite", ""), ("tf2_mobilenet_v2_1.0_224_ptq.tflite", "")):
        path = work(name)
        shutil.copy(data("models", name), path)
        run("check", "--make-golden", path).expect(0)
        launch = "videotestsrc num-buffers=1 ! slnormalize ! slinfer model=%s %s ! fakesink" % (path, more)
        description = write("cpu.pipeline", ("[pipeline]\nlaunch=%s\nrestart=no\n" % launch).encode())
        for cpu in ("c", "sse41", "avx2"):
            result = run("run", description, env=dict(os.environ, SIGHTLINE_CPU=cpu))
            assert result.status == 0 and "differently" not in result.err, (name, cpu, str(result))


harness.main(globals())
