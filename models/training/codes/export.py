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
    """Weight, bias and whether ReLU follows, of a net.Conv or a plain convolution; kernels turned by 180 degrees."""
    if isinstance(conv, torch.nn.Conv2d):
        return conv.weight.detach().double().flip(2, 3), conv.bias.detach().double(), False
    w, norm = conv[0].weight.detach().double(), conv[1]
    gain = norm.weight.detach().double() / torch.sqrt(norm.running_var.double() + norm.eps)
    return (w * gain[:, None, None, None]).flip(2, 3), norm.bias.detach().double() - norm.running_mean.double() * gain, conv.act


def turned(channels, shift):
    """Factor and summand of each channel of a row for a picture turned by 180 degrees; `shift` is added to logits."""
    return torch.tensor([-1.0, -1] + [1] * (channels - 2)).double(), torch.tensor([1.0, 1, 0, 0] + [shift] * (channels - 4)).double()


class Graph:
    """The operators of net.Codes in order: the network as a list that is run, calibrated and written."""

    def __init__(self, model, shift=0.0):
        self.nodes = []
        x, levels = 'image', []
        for i, (first, *blocks) in enumerate(model.stages):
            x = self.conv(f'stage{i}', x, first)
            for k, block in enumerate(blocks):
                y = self.conv(f'stage{i}.{k}.expand', self.conv(f'stage{i}.{k}.reduce', x, block.reduce), block.expand)
                x = self.add('add', f'stage{i}.{k}', [x, y])
            levels.append(x)
        p32 = self.conv('lateral32', levels[4], model.lateral[2])
        p16 = self.merge('16', levels[3], p32, model.lateral[1])
        p8 = self.merge('8', levels[2], p16, model.lateral[0])
        parts = []
        for stride, p, head in zip(net.STRIDES, (p8, p16, p32), model.heads):
            w, b, _ = fold(head.row)
            turn, offset = turned(len(b), shift)
            row = self.add_conv(f'row{stride}', self.conv(f'tower{stride}', p, head.tower), w * turn[:, None, None, None], b * turn + offset, False, 1)
            parts.append(self.add('reshape', f'rows{stride}', [row]))
        self.output = self.add('concat', 'predictions', parts, axis=1)

    def add(self, kind, name, inputs, **more):
        self.nodes.append(dict(kind=kind, name=name, inputs=inputs, **more))
        return name

    def add_conv(self, name, x, weight, bias, act, stride):
        return self.add('conv', name, [x], weight=weight, bias=bias, act=act, stride=stride)

    def conv(self, name, x, conv):
        return self.add_conv(name, x, *fold(conv), conv[0].stride[0])

    def merge(self, name, fine, coarse, lateral):
        return self.add('add', f'sum{name}', [self.conv(f'lateral{name}', fine, lateral), self.add('nearest', f'up{name}', [coarse])])

    def run(self, images, see=lambda name, x: x):
        """Rows for (n,3,h,w) in -1..1; `see` is shown every tensor and may change it."""
        F = torch.nn.functional
        values = {'image': see('image', images)}
        for node in self.nodes:
            x = [values[i] for i in node['inputs']]
            if node['kind'] == 'conv':
                w, k, s = node['weight'].float(), node['weight'].shape[2], node['stride']
                padded = F.pad(x[0], (0, 1, 0, 1)) if s == 2 else F.pad(x[0], (k // 2,) * 4)
                y = F.conv2d(padded, w, node['bias'].float(), s)
                y = y.relu() if node['act'] else y
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
    final = ('row', 'rows', 'predictions')
    for node in graph.nodes:
        name = node['name']
        if name.rstrip('0123456789') in final:
            found[name] = (LOGIT_SCALE, 0)
        elif node['kind'] == 'nearest':
            found[name] = found[node['inputs'][0]]
        elif node.get('act'):
            found[name] = (max(ranges.of(name)[1], 0.1) / 255, -128)
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
    bias = np.rint(b / (np.float64(np.float32(input_scale)) * scales)).astype(np.int64).clip(-2 ** 31, 2 ** 31 - 1).astype(np.int32)
    return codes.transpose(0, 2, 3, 1), scales, bias


def write(graph, quant, size, labels, info):
    model, index = tflite.Model(), {}
    shapes = {'image': (size, size, 3)}
    index['image'] = model.tensor('image', [1, size, size, 3], np.int8, *quant['image'])
    for node in graph.nodes:
        name, kind = node['name'], node['kind']
        h, w, *c = shapes[node['inputs'][0]]
        inputs = [index[i] for i in node['inputs']]
        options = {}
        if kind == 'conv':
            weights, scales, bias = quantised_weights(node, quant[node['inputs'][0]][0])
            inputs += [model.tensor(name + '/weights', list(weights.shape), np.int8, scales, 0, 0, weights),
                       model.tensor(name + '/bias', [len(bias)], np.int32, data=bias)]
            s = node['stride']
            shape = (h // s, w // s, len(bias))
            options = {0: U8(0), 1: I32(s), 2: I32(s), 3: U8(tflite.RELU if node['act'] else 0)}
        elif kind == 'add':
            shape = (h, w, c[0])
        elif kind == 'nearest':
            shape = (2 * h, 2 * w, c[0])
            inputs.append(model.tensor(name + '/size', [2], np.int32, data=np.array(shape[:2], np.int32)))
        elif kind == 'reshape':
            shape = (h * w, c[0])
            options = {0: ints([1, *shape])}
        else:
            shape = (sum(shapes[i][0] for i in node['inputs']), w)
            options = {0: I32(node['axis'])}
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
decoder-threshold=0.6
decoder-iou-threshold=0.45
decoder-agnostic=yes
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
