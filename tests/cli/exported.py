# SPDX-License-Identifier: LGPL-2.1-or-later
"""Programs of torch.export through every command, in both forms of the archive. The answer is known: the mean of each channel."""
import contextlib
import json
import math
import os
import signal
import struct
import subprocess
import tempfile

import blackbox
import harness
from broker import Broker
from harness import model, png, run, work, write
from running import Running, eventually

FORMS = ("channels.pt2", "channels.v0.pt2")
COLOUR = (51, 204, 102)
MEANS = tuple(c / 255 for c in COLOUR)
GREEN = math.exp(MEANS[1]) / sum(math.exp(mean) for mean in MEANS)  # the share that softmax gives it
FRAMES = "videotestsrc is-live=true pattern=blue ! video/x-raw,format=RGB,width=32,height=24,framerate=50/1 ! "


def near(got, expected=MEANS, tolerance=1e-5):
    assert len(got) == len(expected) and all(abs(a - b) <= tolerance for a, b in zip(got, expected)), (got, expected)


def picture():
    return png("green.png", 16, 12, COLOUR)


def tensor():
    planes = [value for mean in MEANS for value in [mean] * 64]
    return write("planes.bin", struct.pack("<192f", *planes))


def read(path):
    """The bytes of a file, none of one that is not there yet."""
    with contextlib.suppress(FileNotFoundError), open(path, "rb") as file:
        return file.read()
    return b""


def infer(path, name):
    run("infer", "--model", path, "--input", tensor(), "--output", work(name)).expect(0)
    with open(work(name + ".0.bin"), "rb") as file:
        return struct.unpack("<3f", file.read())


def test_predict():
    for form in FORMS:
        told = json.loads(run("predict", "--model", model(form), "--json", "--top", "1", picture()).expect(0).out)
        label, = told["labels"]
        assert label["label"] == "green", told
        near([label["confidence"]], [GREEN])


def test_inspect():
    for form in FORMS:
        told = json.loads(run("inspect", "--json", model(form)).expect(0).out)
        assert told["inputs"][0]["shape"] == [1, 3, 8, 8] and told["outputs"][0]["shape"] == [1, 3], told
        out = run("inspect", model(form)).expect(0).out
        assert "PyTorch 2.6.0, schema 8.2 of torch.export" in out and "aten.linear.default 1, aten.mean.dim 1" in out, out


def test_vectors():
    """A row of vectors is not asked for the values of pixels."""
    path = harness.data("pytorch2", "models", "sdpa_causal.pt2")
    out = run("inspect", path).expect(0).out
    assert "the first input, float32[1,10,64], is probably no picture: sightline infer runs the model" in out and "range" not in out, out
    run("predict", "--model", path, picture()).expect(1, "if it is no picture, run it with sightline infer")


def test_infer():
    for form in FORMS:
        near(infer(model(form), form))


def test_bench():
    for form in FORMS:
        run("bench", "model", model(form), "--runs", "2", "--warm-up", "0").expect(0)


def test_convert():
    for form in FORMS:
        path = work(form + ".tflite")
        run("convert", model(form), "-o", path).expect(0)
        told = json.loads(run("predict", "--model", path, "--json", "--top", "1", picture()).expect(0).out)
        assert told["labels"][0]["label"] == "green", told


def test_convert_quantised():
    """TensorFlow Lite rounds biases to whole steps, so that results differ by a few steps of 0.026 from PyTorch's."""
    path, target = harness.data("pytorch2", "models", "resnet18_thin_q.pt2e.pt2"), work("pt2e.tflite")
    picture_bytes, expected = (harness.data("pytorch2", "golden", name) for name in ("in.resnet18_thin_q.pt2e.0.bin", "resnet18_thin_q.pt2e.torch.out0.bin"))
    run("convert", path, "-o", target).expect(0)
    run("infer", "--model", target, "--input", picture_bytes, "--output", work("pt2e")).expect(0)
    near(struct.unpack("<100f", read(work("pt2e.0.bin"))), struct.unpack("<100f", read(expected)), 0.2)


def test_quantize():
    folder = tempfile.mkdtemp(dir=harness.WORK.name)
    for i in range(12):
        os.rename(png("colour.png", 8, 8, (20 * i, 255 - 20 * i, 100)), os.path.join(folder, "%d.png" % i))
    for form in FORMS:
        path = work(form + ".8.tflite")
        run("quantize", model(form), "--calibrate", folder, "-o", path).expect(0)
        told = json.loads(run("predict", "--model", path, "--json", "--top", "1", picture()).expect(0).out)
        assert told["labels"][0]["label"] == "green", told
        near([told["labels"][0]["confidence"]], [GREEN], 0.02)


def test_golden():
    for form in FORMS:
        run("check", "--make-golden", model(form)).expect(0)
        run("predict", "--model", model(form), picture()).expect(0)
        os.unlink(model(form) + ".golden")


def test_check_and_replay():
    """A pipeline is checked, runs, and its black box is replayed."""
    for form in FORMS:
        where = tempfile.mkdtemp(dir=harness.WORK.name)
        path = write(form + ".pipeline", ("[pipeline]\nlaunch=%sslpredict model=%s ! fakesink\n" % (FRAMES, model(form))).encode())
        out = run("check", path).expect(0).out
        assert "float32[1,3,8,8] RGB NCHW" in out, out
        running = Running(path, "--blackbox", where)
        running.wait_for("running")
        running.child.send_signal(signal.SIGUSR1)
        running.wait_for("black-box")
        running.stop()
        assert running.status == 0, running.lines
        box, = (os.path.join(where, name) for name in os.listdir(where))
        keys, inferences = blackbox.read(box)
        assert keys["inputs"] == "float32[1,3,8,8];" and inferences, keys
        assert " 0 different" in run("replay", box).expect(0).out


def test_serve():
    """On another machine, for a pipeline's slremote."""
    with contextlib.closing(Broker()) as broker:
        for form in FORMS:
            location = "mqtt://127.0.0.1:%d/%s" % (broker.port, form.replace(".", "-"))
            child = subprocess.Popen([harness.PROGRAM, "serve", "toy=" + model(form), "--location", location],
                                     stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            told = work(form + ".json")
            launch = FRAMES + "slnormalize ! slremote location=%s/toy contract-timeout=200000 ! slpostprocess ! application/x-json ! filesink buffer-mode=unbuffered location=%s" % (location, told)
            running = Running(write(form + ".remote.pipeline", ("[pipeline]\nlaunch=%s\n" % launch).encode()))
            try:
                eventually(lambda: b"blue" in read(told))
                running.stop()
            finally:
                running.child.kill()
                child.kill()
                child.wait()


harness.main(globals())
