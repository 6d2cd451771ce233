# SPDX-License-Identifier: LGPL-2.1-or-later
"""--precision of predict, infer and bench model, and of a key file: what is wrong, what it changes, and that it is said where it changes nothing."""
import json
import re
import struct

import harness
from harness import model, run, write

IN, OUT = 64, 96


def field(number, data):
    size, rest = b"", len(data)
    while rest > 127:
        size, rest = size + bytes([rest & 127 | 128]), rest >> 7
    return bytes([number << 3 | 2]) + size + bytes([rest]) + data


def varint(number, value):
    return bytes([number << 3, value])


def convolution():
    """x float32[1,64,8,8] through a convolution of one by one to 96 channels, an ONNX file. Its weights have more bits than either precision."""
    def edge(name, channels):
        shape = b"".join(field(1, varint(1, size)) for size in (1, channels, 8, 8))
        return field(1, name) + field(2, field(1, varint(1, 1) + field(2, shape)))
    weights = struct.pack(f"<{IN * OUT}f", *(((i * 7919) % 1009 - 504) / 5000 for i in range(IN * OUT)))
    tensor = b"".join(varint(1, size) for size in (OUT, IN, 1, 1)) + varint(2, 1) + field(8, b"w") + field(9, weights)
    node = field(1, b"x") + field(1, b"w") + field(2, b"y") + field(4, b"Conv")
    graph = field(1, node) + field(2, b"g") + field(5, tensor) + field(11, edge(b"x", IN)) + field(12, edge(b"y", OUT))
    return write("convolution.onnx", varint(1, 8) + field(7, graph) + field(8, varint(2, 13)))


def bench(path, *options):
    return run("bench", "model", path, "--runs", "3", "--warm-up", "0", *options)


def test_wrong():
    said = "precision=half: expected float, bf16 or fp16"
    bench(convolution(), "--precision", "half").expect(2, said)
    run("infer", "--model", convolution(), "--input", write("x.bin", bytes(4 * IN * 64)), "--output", harness.work("y"), "--precision", "half").expect(2, said)
    picture = harness.png("red.png", 8, 8, (255, 0, 0))
    run("predict", "--model", model("brightest_channel.tflite"), "--precision", "half", picture).expect(2, said)
    bench(convolution(), "--precision", "bf16", "--backend", "onnxruntime").expect(1, "precision=bf16 goes with backend=sightline or auto")


def test_difference():
    """Products of numbers with 8 and with 11 bits of fraction, as a share of the largest sum."""
    for name, most in (("bf16", 1e-2), ("fp16", 1e-3)):
        shown = bench(convolution(), "--precision", name).expect(0).out
        assert re.search(rf"^ +1 {name} is at most [0-9.e-]+ from float on noise, [0-9.e-]+ % of the largest value; top-1 \w+", shown, flags=re.M), shown
        lines = [json.loads(line) for line in bench(convolution(), "--precision", name, "--json").expect(0).out.splitlines()]
        assert lines[1]["precision"] == name and isinstance(lines[1]["top1_same"], bool), lines
        assert 0 <= lines[1]["relative_difference"] < most and lines[1]["max_difference"] >= 0, lines
    assert "from float" not in bench(convolution(), "--precision", "float").expect(0).out


def test_key_file():
    path = convolution()
    write("convolution.onnx.modelinfo", b"[modelinfo]\nversion=1.0\ngroup-id=x\n[sightline]\nprecision=fp16\n")
    assert "fp16 is at most" in bench(path).expect(0).out
    assert "bf16 is at most" in bench(path, "--precision", "bf16").expect(0).out
    write("convolution.onnx.modelinfo", b"[modelinfo]\nversion=1.0\ngroup-id=x\n[sightline]\nprecision=fp8\n")
    bench(path).expect(1, "precision=fp8: expected float, bf16 or fp16")
    write("convolution.onnx.modelinfo", b"[modelinfo]\nversion=1.0\ngroup-id=x\n")


def five_layers():
    """Convolutions of one by one in a row, whose tensors between them are most of the memory."""
    def edge(name):
        shape = b"".join(field(1, varint(1, size)) for size in (1, IN, 8, 8))
        return field(1, name) + field(2, field(1, varint(1, 1) + field(2, shape)))
    weights = struct.pack(f"<{IN * IN}f", *(((i * 7919) % 1009 - 504) / 5000 for i in range(IN * IN)))
    tensor = b"".join(varint(1, size) for size in (IN, IN, 1, 1)) + varint(2, 1) + field(8, b"w") + field(9, weights)
    names = [b"x", b"a", b"b", b"c", b"d", b"y"]
    nodes = b"".join(field(1, field(1, x) + field(1, b"w") + field(2, y) + field(4, b"Conv")) for x, y in zip(names, names[1:]))
    graph = nodes + field(2, b"g") + field(5, tensor) + field(11, edge(b"x")) + field(12, edge(b"y"))
    return write("five.onnx", varint(1, 8) + field(7, graph) + field(8, varint(2, 13)))


def test_inspect():
    """The arena is that of the precision which predict uses: of the option, else of the key file."""
    path = five_layers()
    plain, narrow = (json.loads(run("inspect", "--json", *more, path).expect(0).out) for more in ((), ("--precision", "fp16")))
    assert (plain["precision"], narrow["precision"]) == ("float", "fp16")
    assert plain["arena_bytes"] >= 2 * 4 * IN * 64 and narrow["arena_bytes"] <= 0.52 * plain["arena_bytes"], (plain["arena_bytes"], narrow["arena_bytes"])
    assert "precision" not in run("inspect", path).expect(0).out
    write("five.onnx.modelinfo", b"[modelinfo]\nversion=1.0\ngroup-id=x\n[sightline]\nprecision=fp16\nbackend=onnxruntime\n")
    shown = run("inspect", path).expect(0).out
    assert "\n  precision fp16\n" in shown and f"\n  arena     {narrow['arena_bytes']} bytes" in shown, shown
    assert json.loads(run("inspect", "--json", "--precision", "float", path).expect(0).out)["arena_bytes"] == plain["arena_bytes"]
    run("inspect", "--precision", "half", path).expect(2, "precision=half: expected float, bf16 or fp16")


def test_nothing():
    """A model of 8 bits."""
    said = "precision=bf16 changes nothing: none of its convolutions and fully connected layers computes in floats"
    bench(model("brightest_channel.tflite"), "--precision", "bf16").expect(0, said)


harness.main(globals())
