# SPDX-License-Identifier: LGPL-2.1-or-later
"""Protocol buffers of small ONNX models, byte by byte."""


def message(number, data):
    length = len(data)
    size = bytes([length & 127]) if length < 128 else bytes([length & 127 | 128, length >> 7 & 127 | 128, length >> 14])
    return bytes([number << 3 | 2]) + size + data


def edge(name, sizes):
    """A tensor of float32 as an input or an output; sizes are encoded dimensions."""
    shape = message(2, b"".join(message(1, size) for size in sizes))
    return message(1, name) + message(2, message(1, b"\x08\x01" + shape))


def node(operator, inputs, output):
    return b"".join(message(1, name) for name in inputs) + message(2, output) + message(3, output) + message(4, operator)


def model(nodes, inputs, outputs):
    """Of opset 13."""
    graph = b"".join(message(1, n) for n in nodes) + message(2, b"g") + b"".join(message(11, i) for i in inputs) + b"".join(message(12, o) for o in outputs)
    return b"\x08\x08" + message(7, graph) + message(8, b"\x10\x0d")
