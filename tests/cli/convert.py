# SPDX-License-Identifier: LGPL-2.1-or-later
"""sightline convert: the results of ONNX Runtime and torch, and files that a reader of its own in Python walks."""
import array
import json
import os
import signal
import struct
import subprocess

import harness
from flatbuffer import Model
from harness import Skip, data, run, work, write

MEANS, STDS = (.485, .456, .406), (.229, .224, .225)
PIXELS = {
    "nchw_imagenet": lambda p, c: (p[c] / 255 - MEANS[c]) / STDS[c],
    "nchw_01": lambda p, c: p[c] / 255,
    "nchw_bgr_raw": lambda p, c: p[2 - c],
    "nchw_bgr_01": lambda p, c: p[2 - c] / 255,
}
# By model, further options: what TensorFlow Lite can express of the shared models.
MODELS = {
    "yolox_nano.onnx": [], "FastestDet.onnx": [], "cntk_mnist.onnx": [], "super_resolution.onnx": [], "mobilenet_v2_035.ext.onnx": [],
    "mobilenet_v3_small_050.op17.onnx": [], "shufflenet_v2_x05.op9.onnx": [], "upsample.op9.onnx": [], "softmax.op11.onnx": [],
    "softmax.op13.onnx": [], "yolo_techno.torchscript": [], "if_loop.op13.onnx": [], "lraspp_mnv3.op11.dyn.onnx": ["--input-shape", "1,3,128,160"],
    "style.op11.onnx": ["--input-shape", "1,3,64,96"], "mobilenet_v2_035.traced.pt": ["--input-shape", "1,3,160,160"],
    "mobilenet_v2_035.ptl": ["--input-shape", "1,3,160,160"], "mobilenet_v3_small_050.scripted.pt": ["--input-shape", "1,3,160,160"],
}


def cases():
    with open(data("formats", "golden", "manifest.json"), encoding="utf-8") as file:
        return [case for case in json.load(file) if case["model"] in MODELS and case["outputs"]]


def nhwc(values, shape):
    _, channels, height, width = shape
    plane = height * width
    return array.array("f", [values[c * plane + i] for i in range(plane) for c in range(channels)])


def tensor(case):
    """The case's input as NCHW floats."""
    with open(data("formats", "golden", case["input"]), "rb") as file:
        raw = file.read()
    if not case["input_stored"].startswith("rgb8"):
        return array.array("f", raw)
    pixel = PIXELS[case["preprocess"]]
    return array.array("f", [pixel(raw[i:i + 3], c) for c in range(3) for i in range(0, len(raw), 3)])


def shape_of(path):
    return json.loads(run("inspect", "--json", path).expect(0).out)["inputs"][0]["shape"]


def infer(path, values, prefix, options=()):
    name = work(prefix + ".in")
    with open(name, "wb") as file:
        values.tofile(file)
    lines = run("infer", "-m", path, "-i", name, "-o", work(prefix), *options).expect(0).out.splitlines()
    outputs = []
    for i, line in enumerate(lines):
        with open(work("%s.%d.bin" % (prefix, i)), "rb") as file:
            kind = {"float32": "f", "int64": "q", "int32": "i", "bool": "b", "uint8": "B"}[line.split("\t")[1]]
            outputs.append(array.array(kind, file.read()))
    return outputs


def off(got, want):
    """The largest difference, as a part of the largest magnitude."""
    assert len(got) == len(want), "%d values, expected %d" % (len(got), len(want))
    top = max(map(abs, want)) or 1
    return max(abs(a - b) for a, b in zip(got, want)) / top


def test_results():
    for case in cases():
        options, source = MODELS[case["model"]], data("formats", "models", case["model"])
        target = work(case["model"] + ".tflite")
        run("convert", source, "-o", target, *options).expect(0)
        values, shape = tensor(case), case["input_shape"]
        before = infer(source, values, "source", options or ["--input-shape", ",".join(map(str, shape))])
        taken = shape_of(target)
        # A picture is taken as NHWC from now on.
        after = infer(target, nhwc(values, shape) if taken != shape else values, "target")
        for got, same, stated in zip(after, before, case["outputs"][0]["tensors"]):
            kind = {"float32": "f", "int64": "q", "bool": "b", "int32": "i"}[stated["dtype"]]
            with open(data("formats", "golden", stated["file"]), "rb") as file:
                want = array.array(kind, file.read())
            where = "%s %s %s" % (case["model"], case["picture"], stated["name"])
            assert off(got, same) <= 1e-5, "%s: off by %g of the source model's" % (where, off(got, same))
            strided = got[::stated["stride"]][:len(want)]
            assert off(strided, want) <= 1e-4, "%s: off by %g of the reference" % (where, off(strided, want))


def test_structure():
    for name in ("yolox_nano.onnx", "mobilenet_v2_035.ext.onnx", "softmax.op13.onnx"):
        target = work("structure.tflite")
        run("convert", data("formats", "models", name), "-o", target).expect(0)
        with open(target, "rb") as file:
            found = Model(file.read())
        assert found.constants > 0 and found.operators, name
        # CONV_2D, DEPTHWISE_CONV_2D, MAX_POOL_2D, ... of float tensors have version 1; LOGISTIC is 14 and MUL is 18.
        assert {version for code, version in found.codes if code in (3, 4, 14, 17, 18)} <= {1}, found.codes
        assert set(found.metadata) == {"TFLITE_METADATA"} and found.metadata["TFLITE_METADATA"][4:8] == b"M001", name


def test_same_bytes():
    for i in (1, 2):
        run("convert", data("formats", "models", "yolo_techno.torchscript"), "-o", work("same%d.tflite" % i)).expect(0)
    with open(work("same1.tflite"), "rb") as one, open(work("same2.tflite"), "rb") as two:
        assert one.read() == two.read()


def test_contract():
    source, target = data("formats", "models", "yolo_techno.torchscript"), work("contract.tflite")
    run("convert", source, "-o", target).expect(0)
    before, after = (json.loads(run("inspect", "--json", path).expect(0).out) for path in (source, target))
    for key in ("labels", "decoder", "problem"):
        assert before[key] == after[key], key
    for key in before["picture"]:
        assert before["picture"][key] == after["picture"][key] or key == "layout", key
    assert after["picture"]["layout"] == "NHWC" and after["format"] == "tflite"
    stated = ["--mean", "123.675,116.28,103.53", "--std", "58.395,57.12,57.375", "--colour", "BGR", "--fit", "crop"]
    run("convert", data("formats", "models", "mobilenet_v2_035.ext.onnx"), "-o", target, *stated).expect(0)
    picture = json.loads(run("inspect", "--json", target).expect(0).out)["picture"]
    assert picture["mean"] == [123.675, 116.28, 103.53] and picture["colour"] == "BGR" and picture["fit"] == "crop", picture


def test_refusals():
    target = work("never.tflite")
    source = data("formats", "models", "resize_modes.op13.onnx")
    run("convert", source, "-o", target).expect(1, source, "RESAMPLE", "TensorFlow Lite has no such operator")
    run("convert", data("formats", "models", "windows.op11.onnx"), "-o", target).expect(1, "AVERAGE_POOL_2D 'y6_AveragePool'")
    assert not os.path.exists(target)
    run("convert", source).expect(2, "--output FILE is required")
    run("convert", "-o", target).expect(2, "expected one MODEL")
    add = harness.model("add.tflite")
    run("convert", add, "-o", work("no/such/x.tflite")).expect(2, "x.tflite", "no such folder")
    run("convert", add, "-o", "/proc/x.tflite").expect(1 if os.geteuid() == 0 else 2, "/proc/x.tflite", "cannot be written")
    run("convert", add, "-o", work("x.onnx")).expect(2, "x.onnx", "expected a name that ends in .tflite")
    run("convert", add, "-o", "model").expect(2, "expected a name that ends in .tflite")
    os.mkdir(work("folder.tflite"))
    run("convert", add, "-o", work("folder.tflite")).expect(2, "is a folder")


def test_float32_is_kept():
    """A constant's bytes are those of the source: TensorFlow Lite's own model in, the same weights out."""
    source = data("models", "mobilenet_v1_1.0_224.tflite") if os.path.exists(os.path.join(harness.DATA, "models", "mobilenet_v1_1.0_224.tflite")) else harness.model("add.tflite")
    target = work("again.tflite")
    run("convert", source, "-o", target).expect(0)
    with open(target, "rb") as file:
        assert struct.unpack_from("<I", file.read(8), 4) == struct.unpack("<I", b"TFL3")


def open_files(process):
    """What the files that @process has open are called, as long as it runs."""
    names = []
    try:
        for entry in os.scandir("/proc/%d/fd" % process):
            names.append(os.readlink(entry.path))
    except OSError:  # closed meanwhile
        pass
    return names


def test_killed_at_the_write():
    """Ctrl-C while the file goes to a slow disk: what was there stays, and nothing comes beside it."""
    if "SIGHTLINE_SLOW_DISK" not in os.environ:
        raise Skip("the slow disk was not built")
    try:
        os.close(os.open(harness.WORK.name, os.O_TMPFILE | os.O_WRONLY))
    except OSError as problem:
        raise Skip("this file system has no files without a name") from problem
    target = write("killed.tflite", b"as it was")
    slow = {**os.environ, "LD_PRELOAD": os.environ["SIGHTLINE_SLOW_DISK"], "SLOW_DISK": "600"}
    child = subprocess.Popen([harness.PROGRAM, "convert", harness.model("add.tflite"), "-o", target], env=slow)
    opened = []
    while not opened and child.poll() is None:
        opened = [name for name in open_files(child.pid) if name.startswith((work("#"), target + "."))]
    child.send_signal(signal.SIGINT)
    assert child.wait() == -signal.SIGINT and opened, opened
    with open(target, "rb") as file:
        assert file.read() == b"as it was"
    assert [name for name in os.listdir(harness.WORK.name) if name.startswith("killed")] == ["killed.tflite"]


harness.main(globals())
