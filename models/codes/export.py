# SPDX-License-Identifier: LGPL-2.1-or-later
# Trained weights to a quantised .tflite.
#   export.py WEIGHTS.pt SCENES OUT.tflite [--shift LOGITS] [--count N]
# Batch normalisation is folded, weights become int8 with a scale a channel, activations int8 with the ranges that the
# calibration scenes give. TFLite pads a stride of 2 behind the picture, PyTorch before it; the same network on a picture
# turned by 180 degrees has that padding, so every kernel is turned and so are the offsets of boxes.
import argparse

import numpy as np
import torch

import data
import evaluate
import net
import scenes
import tflite
from flatbuffer import I32, U8, ints

LOGIT_SCALE = 1 / 32      # of the output: -4 .. 3.97


def fold(conv):
    """Weight, bias and whether ReLU6 follows, of a net.Conv or a plain convolution; kernels turned by 180 degrees."""
    if isinstance(conv, torch.nn.Conv2d):
        return conv.weight.detach().double().flip(2, 3), conv.bias.detach().double(), False
    w, norm = conv[0].weight.detach().double(), conv[1]
    gain = norm.weight.detach().double() / torch.sqrt(norm.running_var.double() + norm.eps)
    return (w * gain[:, None, None, None]).flip(2, 3), norm.bias.detach().double() - norm.running_mean.double() * gain, conv.act


class Graph:
    """The operators of net.Codes in order: the network as a list that is run, calibrated and written."""

    def __init__(self, model, shift=0.0):
        self.nodes = []
        x = 'image'
        for i, conv in enumerate(model.stem):
            x = self.conv(f'stem{i}', x, conv)
        c8 = self.stage('stage8', x, model.stage8)
        c16 = self.stage('stage16', c8, model.stage16)
        c32 = self.stage('stage32', c16, model.stage32)
        p32 = self.conv('lateral32', c32, model.lateral[2])
        p16 = self.merge('16', c16, p32, model.lateral[1], model.smooth[1])
        p8 = self.merge('8', c8, p16, model.lateral[0], model.smooth[0])
        parts = []
        for stride, p, head in zip(net.STRIDES, (p8, p16, p32), model.heads):
            box = self.separable(f'boxes{stride}', p, head.boxes[0])
            score = self.separable(f'scores{stride}', p, head.scores[0])
            w, b, _ = fold(head.box)
            turn = torch.tensor([-1.0, -1, 1, 1]).double()
            box = self.add_conv(f'box{stride}', box, w * turn[:, None, None, None], b * turn + torch.tensor([1.0, 1, 0, 0]), False, 1)
            w, b, _ = fold(head.score)
            score = self.add_conv(f'score{stride}', score, w, b + shift, False, 1)
            joined = self.add('concat', f'joined{stride}', [box, score], axis=3)
            parts.append(self.add('reshape', f'rows{stride}', [joined]))
        self.output = self.add('concat', 'predictions', parts, axis=1)

    def add(self, kind, name, inputs, **more):
        self.nodes.append(dict(kind=kind, name=name, inputs=inputs, **more))
        return name

    def add_conv(self, name, x, weight, bias, act, stride):
        depthwise = weight.shape[1] == 1 and weight.shape[0] > 1
        return self.add('depthwise' if depthwise else 'conv', name, [x], weight=weight, bias=bias, act=act, stride=stride)

    def conv(self, name, x, conv):
        plain = conv if isinstance(conv, torch.nn.Conv2d) else conv[0]
        return self.add_conv(name, x, *fold(conv), plain.stride[0])

    def stage(self, name, x, blocks):
        for i, block in enumerate(blocks):
            y = self.conv(f'{name}.{i}.expand', x, block.expand)
            y = self.conv(f'{name}.{i}.depthwise', y, block.depthwise)
            y = self.conv(f'{name}.{i}.project', y, block.project)
            x = self.add('add', f'{name}.{i}', [x, y]) if block.shortcut else y
        return x

    def separable(self, name, x, block):
        return self.conv(f'{name}.pointwise', self.conv(f'{name}.depthwise', x, block.depthwise), block.pointwise)

    def merge(self, name, fine, coarse, lateral, smooth):
        a = self.conv(f'lateral{name}', fine, lateral)
        b = self.add('nearest', f'up{name}', [coarse])
        return self.separable(f'smooth{name}', self.add('add', f'sum{name}', [a, b]), smooth)

    def run(self, images, see=lambda name, x: x):
        """Rows for (n,3,h,w) in -1..1; `see` is shown every tensor and may change it."""
        F = torch.nn.functional
        values = {'image': see('image', images)}
        for node in self.nodes:
            x = [values[i] for i in node['inputs']]
            if node['kind'] in ('conv', 'depthwise'):
                w, k, s = node['weight'].float(), node['weight'].shape[2], node['stride']
                padded = F.pad(x[0], (0, 1, 0, 1)) if s == 2 else F.pad(x[0], (k // 2,) * 4)
                y = F.conv2d(padded, w, node['bias'].float(), s, groups=w.shape[0] if node['kind'] == 'depthwise' else 1)
                y = y.clamp(0, 6) if node['act'] else y
            elif node['kind'] == 'add':
                y = x[0] + x[1]
            elif node['kind'] == 'nearest':
                y = F.interpolate(x[0], scale_factor=2.0, mode='nearest')
            elif node['kind'] == 'reshape':
                y = x[0].flatten(2).transpose(1, 2)
            else:
                y = torch.cat(x, 1)
            values[node['name']] = see(node['name'], y)
        return values[self.output]


class Ranges:
    """What calibration saw of each tensor: the extremes of each picture, averaged towards the outer ones."""

    def __init__(self):
        self.low, self.high = {}, {}

    def __call__(self, name, x):
        flat = x.detach().reshape(x.shape[0], -1)
        k = max(1, flat.shape[1] // 20000)
        self.low.setdefault(name, []).append(-(-flat).kthvalue(flat.shape[1] - k + 1).values if k > 1 else flat.min(1).values)
        self.high.setdefault(name, []).append(flat.kthvalue(flat.shape[1] - k + 1).values if k > 1 else flat.max(1).values)
        return x

    def of(self, name):
        low, high = torch.cat(self.low[name]), torch.cat(self.high[name])
        return min(0.0, low.quantile(0.02).item()), max(0.0, high.quantile(0.98).item())


def quantise(graph, ranges):
    """{tensor: (scale, zero point)}; what only moves values keeps its input's."""
    found = {'image': (1 / 127.5, 0)}
    final = ('box', 'score', 'joined', 'rows', 'predictions')
    for node in graph.nodes:
        name = node['name']
        if name.rstrip('0123456789') in final:
            found[name] = (LOGIT_SCALE, 0)
        elif node['kind'] == 'nearest':
            found[name] = found[node['inputs'][0]]
        elif node.get('act'):
            high = min(6.0, max(ranges.of(name)[1], 0.1))
            found[name] = (high / 255, -128)
        else:
            low, high = ranges.of(name)
            scale = max(high - low, 1e-3) / 255
            found[name] = (scale, int(np.clip(round(-128 - low / scale), -128, 127)))
    return found


def quantised_weights(node, input_scale):
    """int8 weights in TFLite's order, their scales, int32 bias."""
    w, b = node['weight'].numpy(), node['bias'].numpy()
    scales = np.maximum(np.abs(w).reshape(len(w), -1).max(1) / 127, 1e-9)
    # A channel whose bias does not fit 32 bits at that scale would overflow.
    scales = np.maximum(scales, np.abs(b) / input_scale / 2 ** 30).astype(np.float32)
    codes = np.clip(np.rint(w / scales[:, None, None, None]), -127, 127).astype(np.int8)
    order = codes.transpose(1, 2, 3, 0) if node['kind'] == 'depthwise' else codes.transpose(0, 2, 3, 1)
    bias = np.rint(b / (np.float64(np.float32(input_scale)) * scales)).astype(np.int64).clip(-2 ** 31, 2 ** 31 - 1).astype(np.int32)
    return order, scales, bias


def write(graph, quant, size, labels, info):
    model, index = tflite.Model(), {}
    shapes = {'image': (size, size, 3)}
    index['image'] = model.tensor('image', [1, size, size, 3], np.int8, *quant['image'])
    for node in graph.nodes:
        name, kind = node['name'], node['kind']
        h, w, *c = shapes[node['inputs'][0]]
        inputs = [index[i] for i in node['inputs']]
        options = {}
        if kind in ('conv', 'depthwise'):
            weights, scales, bias = quantised_weights(node, quant[node['inputs'][0]][0])
            axis = 3 if kind == 'depthwise' else 0
            inputs += [model.tensor(name + '/weights', list(weights.shape), np.int8, scales, 0, axis, weights),
                       model.tensor(name + '/bias', [len(bias)], np.int32, data=bias)]
            s = node['stride']
            shape = (h // s, w // s, len(bias))
            step = {0: U8(0), 1: I32(s), 2: I32(s)}
            act = U8(tflite.RELU6 if node['act'] else 0)
            options = {**step, 3: I32(1), 4: act} if kind == 'depthwise' else {**step, 3: act}
        elif kind == 'add':
            shape = (h, w, c[0])
        elif kind == 'nearest':
            shape = (2 * h, 2 * w, c[0])
            inputs.append(model.tensor(name + '/size', [2], np.int32, data=np.array(shape[:2], np.int32)))
        elif kind == 'reshape':
            shape = (h * w, c[0])
            options = {0: ints([1, *shape])}
        else:
            axis = node['axis']
            parts = [shapes[i] for i in node['inputs']]
            shape = (h, w, sum(p[2] for p in parts)) if axis == 3 else (sum(p[0] for p in parts), w)
            options = {0: I32(axis)}
        shapes[name] = shape
        index[name] = model.tensor(name, [1, *shape], np.int8, *quant[name])
        model.operator(kind, inputs, index[name], options)
    text = '\n'.join(labels) + '\n'
    metadata = tflite.image_metadata('Sightline codes', 'Finds QR, matrix, linear and stacked codes', [127.5], [127.5], 'labels.txt')
    return model.finish([index['image']], [index[graph.output]], 'Sightline codes', metadata, {'labels.txt': text, 'sightline.modelinfo': info})


INFO = '''[modelinfo]
version=1.0
group-id=sightline-codes

[sightline]
fit=letterbox
pad-value=114
decoder=yolo
decoder-boxes=grid
decoder-box=xywh
decoder-objectness=no
decoder-transposed=no
decoder-activation=sigmoid
decoder-strides=8,16,32
decoder-iou-threshold=0.45
'''


def balance(model, pictures, codes):
    """What to add to class logits."""
    with torch.no_grad():
        rows, totals, _ = evaluate.run(lambda x: model(data.to_input(x)), pictures, codes)
    best = evaluate.best_threshold(rows, totals)
    return float(-np.log(best / (1 - best)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('weights')
    parser.add_argument('scenes', help='calibration scenes')
    parser.add_argument('out')
    parser.add_argument('--shift', type=float, help='added to class logits; without, what makes 0.5 the threshold where precision and recall balance')
    parser.add_argument('--count', type=int, default=300)
    options = parser.parse_args()
    model = net.Codes().eval()
    if options.weights != 'none':
        model.load_state_dict(torch.load(options.weights))
    pictures, codes = scenes.load(options.scenes)
    shift = options.shift if options.shift is not None else balance(model, pictures, codes)
    graph, ranges = Graph(model, shift), Ranges()
    augment = data.Augment(7)
    with torch.no_grad():
        for first in range(0, options.count, 10):
            views = np.stack([augment(np.asarray(pictures[i]), codes[i], net.SIZE)[0] for i in range(first, first + 10)])
            graph.run(data.to_input(torch.from_numpy(views)), ranges)
    quant = quantise(graph, ranges)
    written = write(graph, quant, net.SIZE, net.CLASSES, INFO)
    with open(options.out, 'wb') as file:
        file.write(written)
    print(f'{options.out}: {len(written)} bytes, --shift {shift:.3f}')


if __name__ == '__main__':
    main()
