# SPDX-License-Identifier: LGPL-2.1-or-later
# The network: dense convolutions throughout, which use a CPU's int8 dot products (and a trainer's bfloat16 ones) better than
# depthwise ones do: down to strides 8, 16 and 32 with residual blocks, a feature pyramid by nearest resize and addition, and
# a head for each stride. Only operators that int8 kernels have. Used by train.py, eval.py and export.py.
#
# A row of the output is x, y (offset of the box's centre from the cell, in cells), w, h (logarithms of its size in cells)
# and one logit for each class: what the decoder "yolo" calls boxes=grid.
import torch
import torch.nn as nn
import torch.nn.functional as F

CLASSES = ['qr', 'matrix', 'linear', 'stacked']
STRIDES = [8, 16, 32]
SIZE = 320


class Conv(nn.Sequential):
    """Convolution, batch normalisation, ReLU unless linear."""

    def __init__(self, inputs, outputs, size=1, stride=1, act=True):
        layers = [nn.Conv2d(inputs, outputs, size, stride, size // 2, bias=False), nn.BatchNorm2d(outputs, momentum=0.03)]
        super().__init__(*(layers + ([nn.ReLU(inplace=True)] if act else [])))
        self.act = act


class Block(nn.Module):
    """1x1 to half the channels, 3x3 back, added to the input."""

    def __init__(self, channels):
        super().__init__()
        self.reduce, self.expand = Conv(channels, channels // 2), Conv(channels // 2, channels, 3)

    def forward(self, x):
        return x + self.expand(self.reduce(x))


class Head(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        self.tower, self.row = Conv(width, width, 3), nn.Conv2d(width, 4 + classes, 1)
        with torch.no_grad():
            self.row.weight[:4].mul_(0.1)
            self.row.bias.copy_(torch.tensor([0.5, 0.5, 1.4, 1.4] + [-4.6] * classes))

    def forward(self, x):
        return self.row(self.tower(x))


def stage(inputs, outputs, blocks):
    return nn.Sequential(Conv(inputs, outputs, 3, 2), *[Block(outputs) for _ in range(blocks)])


class Codes(nn.Module):
    def __init__(self, widths=(16, 32, 64, 80, 112), blocks=(0, 2, 3, 4, 1), pyramid=64, classes=len(CLASSES)):
        super().__init__()
        self.stages = nn.ModuleList(stage(i, o, n) for i, o, n in zip((3, *widths), widths, blocks))
        self.lateral = nn.ModuleList(Conv(n, pyramid, act=False) for n in widths[2:])
        self.heads = nn.ModuleList(Head(pyramid, classes) for _ in STRIDES)

    def forward(self, x):
        """(n,3,h,w) in -1..1 to rows (n, cells of all strides, 4 + classes)."""
        levels = []
        for part in self.stages:
            x = part(x)
            levels.append(x)
        p32 = self.lateral[2](levels[4])
        p16 = self.lateral[1](levels[3]) + F.interpolate(p32, scale_factor=2.0, mode='nearest')
        p8 = self.lateral[0](levels[2]) + F.interpolate(p16, scale_factor=2.0, mode='nearest')
        rows = [head(p).flatten(2) for head, p in zip(self.heads, (p8, p16, p32))]
        return torch.cat(rows, 2).transpose(1, 2).float()


@torch.no_grad()
def grow(model, weights):
    """Takes over `weights` of a network with other widths or numbers of blocks: channels that are new have no influence yet, and
    added blocks little."""
    state = model.state_dict()
    for name, value in state.items():
        old = weights.get(name)
        if old is None:
            if name.endswith('expand.1.weight'):
                value.mul_(0.1)
        elif value.ndim == 0:
            value.copy_(old)
        else:
            part = tuple(slice(min(a, b)) for a, b in zip(value.shape, old.shape))
            if value.ndim == 4:
                value[:part[0].stop, part[1].stop:] = 0
            value[part] = old[part]


def cells(size):
    """Column, row and stride of each row of the output for a square input of `size` pixels."""
    parts = []
    for stride in STRIDES:
        n = size // stride
        y, x = torch.meshgrid(torch.arange(n), torch.arange(n), indexing='ij')
        parts.append(torch.stack([x.flatten(), y.flatten(), torch.full((n * n,), stride)], 1))
    return torch.cat(parts).float()


def boxes_of(rows, grid):
    """Corners in pixels of (n, cells, >=4) rows."""
    stride = grid[:, 2:3]
    centre = (rows[..., 0:2] + grid[:, 0:2]) * stride
    half = torch.exp(rows[..., 2:4].clamp(-4, 4)) * stride / 2
    return torch.cat([centre - half, centre + half], -1)
