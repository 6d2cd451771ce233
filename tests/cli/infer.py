# SPDX-License-Identifier: LGPL-2.1-or-later
"""sightline infer and sightline inspect on models whose answers are known."""
import hashlib
import json
import os
import struct

import harness
from harness import data, model, run, work, write


def floats(*values):
    return struct.pack("<%df" % len(values), *values)


def test_add():
    a, b = write("a.bin", floats(1, 2, 3, -4)), write("b.bin", floats(0.5, 0.25, -3, 100))
    for threads in ("1", "2"):
        result = run("infer", "--model", model("add.tflite"), "--input", a, "--input", b, "--output", work("sum"), "--threads",
                     threads).expect(0)
        with open(work("sum.0.bin"), "rb") as file:
            assert file.read() == floats(1.5, 2.25, 0, 96)
        assert result.out == "sum\tfloat32\t[1,4]\t0\t0\t16\n", result


def test_mean_codes():
    picture = write("picture.bin", bytes([200, 100, 40]) * 64)
    result = run("infer", "-m", model("brightest_channel.tflite"), "-i", picture, "-o", work("mean")).expect(0)
    with open(work("mean.0.bin"), "rb") as file:
        assert list(file.read()) == [200, 100, 40]
    fields = result.out.rstrip("\n").split("\t")
    assert fields[1:3] == ["uint8", "[1,3]"] and abs(float(fields[3]) - 1 / 255) < 1e-9 and fields[4:] == ["0", "3"], result


def test_wrong_inputs():
    m, good = model("add.tflite"), write("good.bin", bytes(16))
    more = ["--output", work("never")]
    run("infer", "--model", m, "--input", good, *more).expect(1, m, "expected 2 times --input ('a' float32[1,4], 'b' float32[1,4]), got 1")
    for name, size in (("short.bin", 15), ("long.bin", 17), ("zero.bin", 0)):
        path = write(name, bytes(size))
        run("infer", "--model", m, "--input", good, "--input", path, *more).expect(
            1, "%s: expected 16 bytes for input 1 'b' float32[1,4], got %d" % (path, size))
    run("infer", "--model", m, "--input", good, "--input", work("none.bin"), *more).expect(
        1, "none.bin: No such file or directory; expected a file with the bytes of input 1")
    run("infer", "--model", m, "--input", good, "--input", harness.WORK.name, *more).expect(1, ": is a directory; expected a file with the bytes of input 1")
    run("infer", "--model", m, "--input", good, "--input", good, "--output", work("no/such/dir/x")).expect(1, "x.0.bin")
    assert not os.path.exists(work("never.0.bin"))


def test_inspect_text():
    out = run("inspect", model("brightest_channel.tflite")).expect(0).out
    for words in ("uint8[1,8,8,3]", "uint8[1,3]", "8x8, RGB NHWC", "stretch", "decoder   labels", "3: red, green, blue", "MEAN", "arena",
                  "weights"):
        assert words in out, out


def test_inspect_json():
    described = json.loads(run("inspect", "--json", model("brightest_channel.tflite")).expect(0).out)
    assert described["format"] == "tflite"
    assert [t["shape"] for t in described["inputs"]] == [[1, 8, 8, 3]]
    assert described["inputs"][0]["dtype"] == "uint8" and described["inputs"][0]["bytes"] == 192
    assert abs(described["outputs"][0]["scales"][0] - 1 / 255) < 1e-9
    assert described["picture"]["width"] == 8 and described["picture"]["colour"] == "RGB"
    assert described["decoder"] == "labels" and described["problem"] is None
    assert described["labels"] == ["red", "green", "blue"]
    for op in described["operators"]:
        assert op["count"] == op["int8"] + op["xnnpack"] + op["plain"] + op["view"], op
    assert [op["name"] for op in described["operators"]] == ["MEAN"]
    assert described["arena_bytes"] >= described["arena_lower_bound"]


def test_inspect_needs():
    """What a build keeps: of the file what was read, of rewriting what may come of it; several models together."""
    version = run("--version").expect(0).out.split()[1]
    one = run("inspect", "--needs", model("brightest_channel.tflite")).expect(0).out.splitlines()
    for line in ("reader tflite", "operator MEAN", "operator AVERAGE_POOL_2D", "decoder labels", "backend plain", "version " + version):
        assert line in one, line
    assert one == sorted(set(one)) and not [line for line in one if line.startswith("onnx ")]
    assert "operator CONV_2D" not in one and "operator RESIZE_BILINEAR" not in one
    both = run("inspect", "--needs", model("brightest_channel.tflite"), model("add.tflite")).expect(0).out.splitlines()
    assert set(one) < set(both) and "operator ADD" in both
    run("inspect", "--needs").expect(2, "expected one MODEL or more, got 0")
    run("inspect", "--needs", model("brightest_channel.tflite"), "missing.tflite").expect(1, "missing.tflite")


def test_inspect_needs_onnx():
    needs = run("inspect", "--needs", data("models", "mobilenet_v2_quant.onnx")).expect(0).out.splitlines()
    with open(data("models", "mobilenet_v2_quant.onnx"), "rb") as file:
        whole = file.read()
    names = [line[len("onnx "):] for line in needs if line.startswith("onnx ")]
    assert "QLinearConv" in names and "reader onnx" in needs
    assert all(name.encode() in whole for name in names)


def test_inspect_problems():
    described = json.loads(run("inspect", "--json", model("float_range.tflite")).expect(0).out)
    assert described["picture"]["range_known"] is False and "mean" in described["problem"]
    described = json.loads(run("inspect", "--json", model("add.tflite")).expect(0).out)
    assert described["picture"] is None and len(described["inputs"]) == 2
    assert "no picture" in run("inspect", model("add.tflite")).expect(0).out
    assert "range     unknown: " in run("inspect", model("float_range.tflite")).expect(0).out


def test_inspect_shared():
    described = json.loads(run("inspect", "--json", data("models", "ssd_mobilenet_v1.tflite")).expect(0).out)
    assert described["inputs"][0]["shape"] == [1, 300, 300, 3] and described["decoder"] == "ssd"
    assert described["labels"][0] == "person" and len(described["outputs"]) == 4
    ops = {op["name"]: op for op in described["operators"]}
    assert ops["CONV_2D"]["int8"] + ops["CONV_2D"]["xnnpack"] == ops["CONV_2D"]["count"] > 30
    described = json.loads(run("inspect", "--json", data("models", "person_detect.tflite")).expect(0).out)
    assert described["picture"]["colour"] == "GRAY" and described["inputs"][0]["dtype"] == "int8"


def test_inspect_direct():
    m = data("models", "tf2_mobilenet_v2_1.0_224_ptq.tflite")
    described = json.loads(run("inspect", "--json", m).expect(0).out)
    assert described["inputs"][0]["dtype"] == "uint8" and described["inputs"][0]["zero_points"] == [127]
    picture = described["picture"]
    assert (picture["dtype"], picture["zero_point"], picture["already_quantised"]) == ("int8", -1, True)
    assert picture["gain"] == [1, 1, 1] and picture["offset"] == [-128, -128, -128]
    assert [op["count"] for op in described["operators"] if op["name"] == "QUANTIZE"] == [1]
    assert "given as  int8 " in run("inspect", m).expect(0).out
    picture = json.loads(run("inspect", "--json", model("brightest_channel.tflite")).expect(0).out)["picture"]
    assert (picture["dtype"], picture["already_quantised"]) == ("uint8", False)


def test_infer_golden():
    cases = (("mobilenet_v2_1.0_224_quant", "grace_hopper", 1), ("tf2_mobilenet_v2_1.0_224_ptq", "cat", 1), ("person_detect", "cat", 1),
             ("ssd_mobilenet_v1", "bus", 4))
    for name, picture, outputs in cases:
        m, given = data("models", name + ".tflite"), data("golden", "%s.%s.in" % (name, picture))
        for threads in ("1", "2"):
            run("infer", "--model", m, "--input", given, "--output", work("golden"), "--threads", threads).expect(0)
            for i in range(outputs):
                with open(work("golden.%d.bin" % i), "rb") as got, \
                        open(data("golden", "%s.%s.xnn.out%d.bin" % (name, picture, i)), "rb") as wanted:
                    got, wanted = got.read(), wanted.read()
                assert got == wanted, "%s %s output %d at %s threads: %s, expected %s" % (
                    name, picture, i, threads, hashlib.md5(got).hexdigest(), hashlib.md5(wanted).hexdigest())


harness.main(globals())
