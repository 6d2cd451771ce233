# SPDX-License-Identifier: LGPL-2.1-or-later
# The network: three dense convolutions down to stride 8, inverted residuals to strides 16 and 32, a feature pyramid by
# nearest resize and addition, and a head for each stride with two towers. Only operators that int8 kernels have: convolution,
# depthwise convolution, ReLU6, addition, nearest resize. Used by train.py, eval.py and export.py, which walks `plan()`.
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
    """Convolution, batch normalisation and, unless linear, ReLU6."""

    def __init__(self, inputs, outputs, size=1, stride=1, groups=1, act=True):
        layers = [nn.Conv2d(inputs, outputs, size, stride, size // 2, groups=groups, bias=False), nn.BatchNorm2d(outputs, momentum=0.03)]
        super().__init__(*(layers + ([nn.ReLU6(inplace=True)] if act else [])))
        self.act = act


class Inverted(nn.Module):
    """Expand, depthwise, project; with a shortcut where shapes allow."""

    def __init__(self, inputs, outputs, stride, expand):
        super().__init__()
        middle = inputs * expand
        self.expand = Conv(inputs, middle)
        self.depthwise = Conv(middle, middle, 3, stride, middle)
        self.project = Conv(middle, outputs, act=False)
        self.shortcut = stride == 1 and inputs == outputs

    def forward(self, x):
        y = self.project(self.depthwise(self.expand(x)))
        return x + y if self.shortcut else y


class Separable(nn.Module):
    """Depthwise 3x3, then 1x1 with ReLU6."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.depthwise = Conv(inputs, inputs, 3, 1, inputs, act=False)
        self.pointwise = Conv(inputs, outputs)

    def forward(self, x):
        return self.pointwise(self.depthwise(x))


class Head(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        self.boxes, self.scores = nn.Sequential(Separable(width, width)), nn.Sequential(Separable(width, width))
        self.box, self.score = nn.Conv2d(width, 4, 1), nn.Conv2d(width, classes, 1)
        nn.init.constant_(self.score.bias, -4.6)
        with torch.no_grad():
            self.box.weight.mul_(0.1)
            self.box.bias.copy_(torch.tensor([0.5, 0.5, 1.4, 1.4]))

    def forward(self, x):
        return torch.cat([self.box(self.boxes(x)), self.score(self.scores(x))], 1)


class Codes(nn.Module):
    def __init__(self, widths=(16, 24, 48, 80, 128), expand=(2, 3, 3), depth=(2, 3, 2), pyramid=64, classes=len(CLASSES)):
        super().__init__()
        a, b, c, d, e = widths
        self.stem = nn.Sequential(Conv(3, a, 3, 2), Conv(a, b, 3, 2), Conv(b, c, 3, 2))
        self.stage8 = nn.Sequential(*[Inverted(c, c, 1, expand[0]) for _ in range(depth[0])])
        self.stage16 = nn.Sequential(Inverted(c, d, 2, 2), *[Inverted(d, d, 1, expand[1]) for _ in range(depth[1])])
        self.stage32 = nn.Sequential(Inverted(d, e, 2, 2), *[Inverted(e, e, 1, expand[2]) for _ in range(depth[2])])
        self.lateral = nn.ModuleList(Conv(n, pyramid, act=False) for n in (c, d, e))
        self.smooth = nn.ModuleList(Separable(pyramid, pyramid) for _ in range(2))
        self.heads = nn.ModuleList(Head(pyramid, classes) for _ in STRIDES)

    def forward(self, x):
        """(n,3,h,w) in -1..1 to rows (n, cells of all strides, 4 + classes)."""
        c8 = self.stage8(self.stem(x))
        c16 = self.stage16(c8)
        c32 = self.stage32(c16)
        p32 = self.lateral[2](c32)
        p16 = self.smooth[1](self.lateral[1](c16) + F.interpolate(p32, scale_factor=2.0, mode='nearest'))
        p8 = self.smooth[0](self.lateral[0](c8) + F.interpolate(p16, scale_factor=2.0, mode='nearest'))
        rows = [head(p).flatten(2) for head, p in zip(self.heads, (p8, p16, p32))]
        return torch.cat(rows, 2).transpose(1, 2).float()


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
