# SPDX-License-Identifier: LGPL-2.1-or-later
# Float weights from a model that export.py wrote, for those who have nothing else to go on from:
#   restore.py MODEL.tflite SCENES OUT.pt [--shift LOGITS]
# Weights are what the int8 ones mean. Batch normalisation was folded into them; it is unfolded with the means and variances that
# views of the scenes have, so that training finds activations as it left them. `--shift` is what export.py had added to logits.
import argparse
import struct

import numpy as np
import torch

import data
import evaluate
import net
import scenes
from export import Graph, turned


class Reader:
    """Tables and vectors of a flatbuffer."""

    def __init__(self, buffer):
        self.buffer = buffer

    def number(self, form, at):
        return struct.unpack_from('<' + form, self.buffer, at)[0]

    def follow(self, at):
        return at + self.number('I', at)

    def field(self, table, index):
        """Where a field of a table lies, None when it has its default."""
        places = table - self.number('i', table)
        entry = 4 + 2 * index
        offset = self.number('H', places + entry) if entry < self.number('H', places) else 0
        return table + offset if offset else None

    def vector(self, table, index):
        """(where its items lie, how many)."""
        at = self.follow(self.field(table, index))
        return at + 4, self.number('I', at)

    def tables(self, table, index):
        at, count = self.vector(table, index)
        return [self.follow(at + 4 * i) for i in range(count)]

    def array(self, table, index, dtype):
        at, count = self.vector(table, index)
        return np.frombuffer(self.buffer, dtype, count, at)


def parameters(path):
    """{name: (int8 weights in TFLite's order as floats, bias)} of each convolution."""
    with open(path, 'rb') as file:
        reader = Reader(file.read())
    root = reader.follow(0)
    graph, buffers, values, scales = reader.tables(root, 2)[0], reader.tables(root, 4), {}, {}
    for tensor in reader.tables(graph, 0):
        name_at = reader.follow(reader.field(tensor, 3))
        name = reader.buffer[name_at + 4:name_at + 4 + reader.number('I', name_at)].decode()
        quantisation = reader.field(tensor, 4)
        scales[name] = reader.array(reader.follow(quantisation), 2, np.float32).astype(np.float64) if quantisation else None
        at = reader.field(tensor, 2)
        if at and name.rpartition('/')[2] in ('weights', 'bias'):
            kind = np.int8 if name.endswith('weights') else np.int32
            values[name] = reader.array(buffers[reader.number('I', at)], 0, np.uint8).view(kind), reader.array(tensor, 0, np.int32)
    return values, scales


def dequantised(node, values, scales):
    """Weights (out, in, rows, columns), turned back by 180 degrees, and bias."""
    codes, shape = values[node['name'] + '/weights']
    each = scales[node['name'] + '/weights']
    bias = values[node['name'] + '/bias'][0] * each * scales[node['inputs'][0]][0]
    return torch.tensor(codes.reshape(shape).transpose(0, 3, 1, 2) * each[:, None, None, None]).flip(2, 3), torch.tensor(bias)


def unfold(model, views):
    """Gives every normalisation the statistics of what its convolution puts out, and takes them back in gain and bias."""
    sums, hooks = {}, []

    def see(norm):
        def hook(_, inputs):
            x = inputs[0].double()
            total = sums.setdefault(norm, [0, 0, 0])
            total[0] += x.numel() // x.shape[1]
            total[1] += x.sum((0, 2, 3))
            total[2] += (x * x).sum((0, 2, 3))
        return norm.register_forward_pre_hook(hook)

    for part in model.modules():
        if isinstance(part, torch.nn.BatchNorm2d):
            hooks.append(see(part))
    for x in views:
        model(x)
    for hook in hooks:
        hook.remove()
    for part in model.modules():
        if not isinstance(part, net.Conv):
            continue
        weight, norm = part[0].weight, part[1]
        count, total, squares = sums[norm]
        mean = total / count
        spread = (squares / count - mean * mean).clamp(min=1e-6)
        # A kernel's length has no meaning before a normalisation; 1 is what training steps suit.
        length = weight.flatten(1).norm(dim=1).double().clamp(min=1e-6)
        norm.bias.add_(mean.float())
        norm.weight.copy_((spread + norm.eps * length ** 2).sqrt().float())
        norm.running_mean.copy_(mean / length)
        norm.running_var.copy_(spread / length ** 2)
        weight.div_(length.float()[:, None, None, None])


@torch.no_grad()
def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('model')
    parser.add_argument('scenes', help='of whose views statistics are taken')
    parser.add_argument('out')
    parser.add_argument('--shift', type=float, default=-0.25)
    parser.add_argument('--count', type=int, default=300)
    options = parser.parse_args()
    model = net.Codes().eval()
    try:
        values, scales = parameters(options.model)
    except OSError as error:
        raise SystemExit(f'{options.model}: {error.strerror}')
    except (IndexError, TypeError, ValueError, struct.error):
        raise SystemExit(f'{options.model}: not a .tflite that export.py wrote')
    nodes = {n['name']: n for n in Graph(model).nodes if n['kind'] == 'conv'}
    for name, node in nodes.items():
        out, into, *kernel = node['weight'].shape
        found = values.get(name + '/weights')
        if found is None or tuple(found[1]) != (out, *kernel, into):
            said = 'none' if found is None else 'x'.join(str(n) for n in found[1])
            raise SystemExit(f'{options.model}: not what export.py wrote of this net.py: {name} has weights {said}, expected {out}x{kernel[0]}x{kernel[1]}x{into}')

    def restore(name, conv):
        weight, bias = dequantised(nodes[name], values, scales)
        if isinstance(conv, torch.nn.Conv2d):
            turn, offset = turned(len(bias), options.shift)
            conv.weight.copy_(weight * turn[:, None, None, None])
            conv.bias.copy_((bias - offset) * turn)
            return
        norm = conv[1]
        conv[0].weight.copy_(weight)
        norm.weight.fill_(1)
        norm.bias.copy_(bias)
        norm.running_mean.zero_()
        norm.running_var.fill_(1 - norm.eps)

    for i, (first, *blocks) in enumerate(model.stages):
        restore(f'stage{i}', first)
        for k, block in enumerate(blocks):
            restore(f'stage{i}.{k}.reduce', block.reduce)
            restore(f'stage{i}.{k}.expand', block.expand)
    for stride, lateral, head in zip(net.STRIDES, model.lateral, model.heads):
        restore(f'lateral{stride}', lateral)
        restore(f'tower{stride}', head.tower)
        restore(f'row{stride}', head.row)
    pictures, codes = scenes.load(options.scenes)
    augment = data.Augment(11)
    batches = [data.to_input(torch.from_numpy(np.stack([augment(np.asarray(pictures[i]), codes[i], net.SIZE)[0] for i in range(first, first + 10)])))
               for first in range(0, min(options.count, len(pictures)), 10)]
    before = model(batches[0])
    unfold(model, batches)
    print(f'{options.out}: rows differ by {float((model(batches[0]) - before).abs().max()):.1e} after normalisation was unfolded')
    torch.save(model.state_dict(), options.out)
    rows, totals, alarms = evaluate.run(lambda x: model(data.to_input(x)), pictures, codes, limit=options.count)
    print(evaluate.line(evaluate.summary(rows, totals), alarms))


if __name__ == '__main__':
    main()
