# SPDX-License-Identifier: LGPL-2.1-or-later
"""Networks of known shapes with made weights, as ONNX files, for scripts/modelled.py: their times are those of the real ones."""

import numpy
from onnx import TensorProto, helper, numpy_helper, save


class Net:
    """A graph under construction. A value is (name, channels, height, width)."""

    def __init__(self, channels, size):
        self.nodes, self.constants, self.random = [], [], numpy.random.default_rng(1)
        self.input = ("input", channels, size, size)

    def constant(self, array):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def node(self, op, inputs, outputs=1, **attributes):
        names = [f"v{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(op, inputs, names, f"{op}_{len(self.nodes)}", **attributes))
        return names[0] if outputs == 1 else names

    def weights(self, *shape):
        return (self.random.standard_normal(shape) / numpy.sqrt(numpy.prod(shape[1:]))).astype(numpy.float32)

    def curve(self, name, curve):
        if curve == "silu":
            return self.node("Mul", [name, self.node("Sigmoid", [name])])
        if curve == "relu6":
            return self.node("Clip", [name, self.constant(numpy.float32(0)), self.constant(numpy.float32(6))])
        return self.node("Relu", [name]) if curve == "relu" else name

    def conv(self, x, channels, kernel=1, stride=1, curve=None, depthwise=False):
        name, c, h, w = x
        out = self.node("Conv", [name, self.constant(self.weights(channels, 1 if depthwise else c, kernel, kernel)), self.constant(self.weights(channels, 1)[:, 0])],
                        kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[kernel // 2] * 4, group=c if depthwise else 1)
        return self.curve(out, curve), channels, (h + stride - 1) // stride, (w + stride - 1) // stride

    def add(self, x, y):
        return (self.node("Add", [x[0], y[0]]),) + x[1:]

    def concat(self, parts):
        return (self.node("Concat", [p[0] for p in parts], axis=1), sum(p[1] for p in parts)) + parts[0][2:]

    def halves(self, x):
        return [(name, x[1] // 2) + x[2:] for name in self.node("Split", [x[0], self.constant(numpy.array([x[1] // 2] * 2))], 2, axis=1)]

    def reshape(self, name, shape):
        return self.node("Reshape", [name, self.constant(numpy.array(shape))])

    def write(self, path, outputs):
        graph = helper.make_graph(self.nodes, "made", [helper.make_tensor_value_info("input", TensorProto.FLOAT, [1, *self.input[1:]])],
                                  [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs], self.constants)
        save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7), path)


def mobilenet_v2(path):
    net = Net(3, 224)
    x = net.conv(net.input, 32, 3, 2, "relu6")
    for expand, channels, n, stride in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)):
        for i in range(n):
            y = net.conv(x, x[1] * expand, 1, 1, "relu6") if expand > 1 else x
            y = net.conv(y, y[1], 3, stride if i == 0 else 1, "relu6", depthwise=True)
            y = net.conv(y, channels)
            x = net.add(x, y) if i > 0 else y
    x = net.conv(x, 1280, 1, 1, "relu6")
    flat = net.node("Flatten", [net.node("GlobalAveragePool", [x[0]])])
    net.write(path, [net.node("Gemm", [flat, net.constant(net.weights(1000, 1280)), net.constant(net.weights(1000, 1)[:, 0])], transB=1)])


class Yolo(Net):
    def silu(self, x, channels, kernel=1, stride=1):
        return self.conv(x, channels, kernel, stride, "silu")

    def bottleneck(self, x, share):
        return self.add(x, self.silu(self.silu(x, int(x[1] * share), 3), x[1], 3))

    def c3k(self, x):
        y = self.silu(x, x[1] // 2)
        for _ in range(2):
            y = self.bottleneck(y, 1)
        return self.silu(self.concat([y, self.silu(x, x[1] // 2)]), x[1])

    def attention(self, x):
        """A block of attention with its two layers behind it; heads of 64, keys of 32."""
        name, c, h, w = x
        heads, n = max(c // 64, 1), h * w
        each = c // heads
        qkv = self.reshape(self.conv(x, c * 2)[0], [1, heads, each * 2, n])
        q, k, v = self.node("Split", [qkv, self.constant(numpy.array([each // 2, each // 2, each]))], 3, axis=2)
        scores = self.node("Mul", [self.node("MatMul", [self.node("Transpose", [q], perm=[0, 1, 3, 2]), k]), self.constant(numpy.float32((each / 2) ** -0.5))])
        weighed = self.node("MatMul", [v, self.node("Transpose", [self.node("Softmax", [scores], axis=-1)], perm=[0, 1, 3, 2])])
        places = self.conv((self.reshape(v, [1, c, h, w]), c, h, w), c, 3, depthwise=True)
        x = self.add(x, self.conv(self.add((self.reshape(weighed, [1, c, h, w]), c, h, w), places), c))
        return self.add(x, self.conv(self.silu(x, c * 2), c))

    def c3k2(self, x, channels, deep, share=0.5, attention=False):
        parts = self.halves(self.silu(x, int(channels * share) * 2))
        last = parts[1]
        parts.append(self.attention(self.bottleneck(last, 0.5)) if attention else self.c3k(last) if deep else self.bottleneck(last, 0.5))
        return self.silu(self.concat(parts), channels)

    def pooled(self, x):
        parts = [self.conv(x, x[1] // 2)]
        for _ in range(3):
            parts.append((self.node("MaxPool", [parts[-1][0]], kernel_shape=[5, 5], strides=[1, 1], pads=[2] * 4),) + parts[0][1:])
        return self.add(x, self.silu(self.concat(parts), x[1]))

    def larger(self, x):
        size = self.constant(numpy.array([1, 1, 2, 2], numpy.float32))
        return self.node("Resize", [x[0], "", size], mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor"), x[1], x[2] * 2, x[3] * 2


def yolo26n(path, size=640):
    """The shapes of YOLO26n without the choice of the best 300 boxes."""
    net = Yolo(3, size)
    x = net.c3k2(net.silu(net.silu(net.input, 16, 3, 2), 32, 3, 2), 64, False, 0.25)
    p3 = net.c3k2(net.silu(x, 64, 3, 2), 128, False, 0.25)
    p4 = net.c3k2(net.silu(p3, 128, 3, 2), 128, True)
    x = net.pooled(net.c3k2(net.silu(p4, 256, 3, 2), 256, True))
    first, second = net.halves(net.silu(x, 256))
    p5 = net.silu(net.concat([first, net.attention(second)]), 256)
    middle = net.c3k2(net.concat([net.larger(p5), p4]), 128, True)
    low = net.c3k2(net.concat([net.larger(middle), p3]), 64, True)
    middle = net.c3k2(net.concat([net.silu(low, 64, 3, 2), middle]), 128, True)
    high = net.c3k2(net.concat([net.silu(middle, 128, 3, 2), p5]), 256, True, 0.5, True)
    boxes, scores = [], []
    for x in (low, middle, high):
        box = net.conv(net.silu(net.silu(x, 16, 3), 16, 3), 4)
        y = x
        for channels in (80, 80):
            y = net.silu(net.conv(y, y[1], 3, 1, "silu", depthwise=True), channels)
        boxes.append(net.reshape(box[0], [1, 4, -1]))
        scores.append(net.reshape(net.conv(y, 80)[0], [1, 80, -1]))
    net.write(path, [net.node("Concat", boxes, axis=2), net.node("Sigmoid", [net.node("Concat", scores, axis=2)])])


class Quantized(Net):
    """Values are floats that QuantizeLinear and DequantizeLinear made whole numbers of 8 bits."""

    def whole(self, name, scale=0.05):
        parts = [self.constant(numpy.float32(scale)), self.constant(numpy.int8(0))]
        return self.node("DequantizeLinear", [self.node("QuantizeLinear", [name] + parts)] + parts)

    def conv8(self, x, channels, kernel=1, stride=1, curve="relu"):
        name, c, h, w = x
        scales = self.constant(numpy.full(channels, 0.01, numpy.float32))
        values = self.constant(self.random.integers(-127, 128, (channels, c, kernel, kernel)).astype(numpy.int8))
        weights = self.node("DequantizeLinear", [values, scales, self.constant(numpy.zeros(channels, numpy.int8))], axis=0)
        bias = self.node("DequantizeLinear", [self.constant(numpy.zeros(channels, numpy.int32)), self.constant(numpy.full(channels, 0.0005, numpy.float32)),
                                              self.constant(numpy.zeros(channels, numpy.int32))], axis=0)
        out = self.node("Conv", [name, weights, bias], kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[kernel // 2] * 4)
        return self.whole(self.curve(out, curve)), channels, (h + stride - 1) // stride, (w + stride - 1) // stride


def resnet50_int8(path):
    """The first version, whose strides are in the first layers of blocks."""
    net = Quantized(3, 224)
    x = net.conv8((net.whole("input"),) + net.input[1:], 64, 7, 2)
    x = (net.whole(net.node("MaxPool", [x[0]], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)), 64, 56, 56)
    for width, n, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for i in range(n):
            step = stride if i == 0 else 1
            y = net.conv8(net.conv8(net.conv8(x, width, 1, step), width, 3), width * 4, curve=None)
            if i == 0:
                x = net.conv8(x, width * 4, 1, step, None)
            x = (net.whole(net.curve(net.node("Add", [x[0], y[0]]), "relu")),) + y[1:]
    flat = net.whole(net.node("Flatten", [net.node("GlobalAveragePool", [x[0]])]))
    weights = net.node("DequantizeLinear", [net.constant(net.random.integers(-127, 128, (1000, 2048)).astype(numpy.int8)), net.constant(numpy.float32(0.01)), net.constant(numpy.int8(0))])
    net.write(path, [net.whole(net.node("Gemm", [flat, weights], transB=1))])


def yolo26n_320(path):
    """A quarter of the pixels: QEMU takes ten minutes for all of them in binary16."""
    yolo26n(path, 320)


NETWORKS = {"mobilenet_v2": mobilenet_v2, "yolo26n": yolo26n, "yolo26n_320": yolo26n_320, "resnet50_int8": resnet50_int8}
