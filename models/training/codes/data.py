# SPDX-License-Identifier: LGPL-2.1-or-later
# Scenes to training batches: any turn by quarters, small turns, flips, zoom and crop, letterbox borders, light and noise.
import glob

import cv2
import numpy as np
import torch

import scenes

MOST = 24      # codes of a picture
SMALLEST = 18  # pixels of a code's longer side that is asked for while training
BORDER = 114   # what the elements fill letterbox borders with


def corners_of(points, size):
    """Bounding boxes of outlines, cut at the picture's edges."""
    low, high = points.min(1), points.max(1)
    return np.concatenate([np.clip(low, 0, size), np.clip(high, 0, size)], 1)


def clip(points, axis, limit, sign):
    """The part of a convex polygon with sign * (coordinate - limit) >= 0."""
    inside = sign * (points[:, axis] - limit)
    kept = []
    for i, d in enumerate(inside):
        e, p, q = inside[i - 1], points[i - 1], points[i]
        if (d >= 0) != (e >= 0):
            kept.append(p + (q - p) * (e / (e - d)))
        if d >= 0:
            kept.append(q)
    return np.array(kept, np.float32).reshape(-1, 2)


def area_of(points):
    x, y = points[:, 0], points[:, 1]
    return abs(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1))) / 2


def seen(points, box):
    """Share of each outline's area within the box x0, y0, x1, y1."""
    shares = []
    for p in points:
        part = p
        for axis, limit, sign in ((0, box[0], 1), (1, box[1], 1), (0, box[2], -1), (1, box[3], -1)):
            if len(part) and (sign * (part[:, axis] - limit) < 0).any():
                part = clip(part, axis, limit, sign)
        shares.append(area_of(part) / max(area_of(p), 1e-6) if len(part) else 0)
    return np.array(shares)


def centre(picture, codes, size):
    """The middle of a scene as it is, for tests: RGB picture, labels, counts, corners."""
    labels, counts, points = codes
    off = (picture.shape[0] - size) // 2
    points = points - np.float32(off)
    share = seen(points, (0, 0, size, size)) if len(points) else np.zeros(0)
    keep = share > 0.02
    corners = corners_of(points[keep], size)
    counts = counts[keep] & (share[keep] > 0.6)
    return picture[off:off + size, off:off + size, ::-1], labels[keep], counts, corners


class Augment:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.noise = self.rng.normal(0, 1, (600, 600, 3)).astype(np.float32)

    def whole(self, side, size, wide):
        """A view of most of a scene: scene pixels a pixel, where its middle is."""
        rng = self.rng
        zoom = np.exp(rng.uniform(np.log(0.75), np.log(1.6)))
        step = 320 / size / zoom * (0.82 if size < 300 else 1)
        w, h = size * min(1, wide), size * min(1, 1 / wide)
        reach = np.maximum(side - np.array([w, h]) * step, 0) / 2
        return step, side / 2 + rng.uniform(-1, 1, 2) * reach

    def near(self, side, size, points):
        """A view around one code, which becomes small or as large as fits."""
        rng = self.rng
        low, high = points.min(0), points.max(0)
        long = (high - low).max()
        wanted = size * rng.uniform(0.6, 1.2) if rng.random() < 0.3 else np.exp(rng.uniform(np.log(24), np.log(size)))
        step = np.clip(long / wanted, 0.3, side * 1.1 / size)
        free = max(size * step - long, 0) / 2 + 0.08 * long
        return step, (low + high) / 2 + rng.uniform(-0.95, 0.95, 2) * free

    def __call__(self, picture, codes, size, tile=False):
        """RGB bytes of size x size, labels, counts, corners; a `tile` has no borders and rarely lacks a code."""
        rng, side = self.rng, picture.shape[0]
        labels, counts, points = codes
        wide = 1 if tile else rng.choice([1, 1, 4 / 3, 16 / 9, 3 / 4, 9 / 16])
        w, h = size * min(1, wide), size * min(1, 1 / wide)
        step, middle = self.whole(side, size, wide)
        if len(points) and (tile or rng.random() < 0.5):
            step, middle = self.near(side, min(w, h), points[rng.integers(0, len(points))])
        angle = rng.integers(0, 4) * np.pi / 2 + (rng.normal(0, 0.1) if rng.random() < 0.35 else 0)
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]) / step
        if rng.random() < 0.5:
            turn[0] *= -1
        matrix = np.c_[turn, np.array([size, size]) / 2 - turn @ middle].astype(np.float32)
        view = cv2.warpAffine(picture, matrix, (size, size), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT, borderValue=(BORDER,) * 3)
        view = self.light(view)
        x0, y0 = round((size - w) / 2), round((size - h) / 2)
        if wide != 1:
            view[:y0], view[size - y0:], view[:, :x0], view[:, size - x0:] = BORDER, BORDER, BORDER, BORDER
        if len(points) == 0:
            return view, labels, counts, np.zeros((0, 4), np.float32)
        points = points @ matrix[:, :2].T + matrix[:, 2]
        share = seen(points, (x0, y0, size - x0, size - y0))
        keep = share > 0.02
        labels, points, share = labels[keep], points[keep], share[keep]
        low = np.clip(points.min(1), [x0, y0], [size - x0, size - y0]) if len(points) else np.zeros((0, 2))
        high = np.clip(points.max(1), [x0, y0], [size - x0, size - y0]) if len(points) else np.zeros((0, 2))
        boxes = np.concatenate([low, high], 1).astype(np.float32)
        counts = counts[keep] & (share > 0.6) & ((boxes[:, 2:] - boxes[:, :2]).max(1) > SMALLEST)
        return view, labels, counts, boxes

    def light(self, view):
        rng = self.rng
        view = cv2.cvtColor(view, cv2.COLOR_BGR2RGB)
        curve = np.arange(256, dtype=np.float32)
        if rng.random() < 0.4:
            curve = 255 * (curve / 255) ** rng.uniform(0.6, 1.6)
        gain = rng.uniform(0.75, 1.5) * (1 + rng.normal(0, 0.06, 3))
        offset = rng.normal(0, 12)
        table = np.clip(curve[:, None] * gain + offset, 0, 255).astype(np.uint8)
        view = cv2.LUT(view, table[None])
        pick = rng.random()
        if pick < 0.1:
            view = cv2.GaussianBlur(view, (0, 0), float(rng.uniform(0.4, 1.4)))
        elif pick < 0.2:
            y, x = rng.integers(0, 600 - view.shape[0], 2)
            view = np.clip(view + self.noise[y:y + view.shape[0], x:x + view.shape[1]] * rng.uniform(2, 16), 0, 255).astype(np.uint8)
        elif pick < 0.24:
            view = np.repeat(view[:, :, 1:2], 3, 2)
        return view


    def mosaic(self, draw, size, n):
        """n x n tiles of different scenes in one picture."""
        edge = size // n
        view = np.full((size, size, 3), BORDER, np.uint8)
        parts = []
        for k in range(n * n):
            picture, codes = draw()
            x, y = k % n * edge, k // n * edge
            view[y:y + edge, x:x + edge], labels, counts, boxes = self(picture, codes, edge, True)
            parts.append((labels, counts, boxes + np.float32([x, y, x, y])))
        labels, counts, boxes = (np.concatenate(p) for p in zip(*parts))
        return view, labels, counts, boxes


class Batches(torch.utils.data.IterableDataset):
    """Endless batches of every set that matches `pattern`; sets that appear later join in. `size` and `mosaics`, the share
    of views made of four scenes, are shared with the trainer."""

    def __init__(self, pattern, batch, size, mosaics, seed):
        self.pattern, self.batch, self.size, self.mosaics, self.seed = pattern, batch, size, mosaics, seed

    def __iter__(self):
        cv2.setNumThreads(1)
        torch.set_num_threads(1)
        worker = torch.utils.data.get_worker_info()
        augment, n, names, at = Augment(self.seed + (worker.id if worker else 0)), 0, [], 0
        while True:
            if n % 300 == 0:
                fresh = sorted(p[:-len('.codes.npz')] for p in glob.glob(self.pattern + '.codes.npz'))
                if not fresh:
                    raise SystemExit(f'{self.pattern}.codes.npz: no such set; make one with scenes.py')
                if fresh != names:
                    names, sets = fresh, [scenes.load(p) for p in fresh]
                    order = [(s, i) for s, (pictures, _) in enumerate(sets) for i in range(len(pictures))]
                    at = len(order)
            size, n = self.size.value, n + 1
            pictures = np.empty((self.batch, size, size, 3), np.uint8)
            labels, boxes = np.full((self.batch, MOST), -1, np.int64), np.zeros((self.batch, MOST, 4), np.float32)
            counts = np.zeros((self.batch, MOST), bool)

            def draw():  # the next scene
                nonlocal at
                if at == len(order):
                    augment.rng.shuffle(order)
                    at = 0
                s, i = order[at]
                at += 1
                return sets[s][0][i], sets[s][1][i]

            for b in range(self.batch):
                pick = augment.rng.random()
                if pick < self.mosaics.value:
                    pictures[b], l, c, corners = augment.mosaic(draw, size, 2)
                else:
                    pictures[b], l, c, corners = augment(*draw(), size)
                k = min(len(l), MOST)
                labels[b, :k], counts[b, :k], boxes[b, :k] = l[:k], c[:k], corners[:k]
            most = max(1, (labels >= 0).sum(1).max())
            yield tuple(torch.from_numpy(x) for x in (pictures, labels[:, :most], counts[:, :most], boxes[:, :most]))


def to_input(pictures):
    """Bytes (n,h,w,3) to what the network takes."""
    return pictures.permute(0, 3, 1, 2).float().sub_(127.5).div_(127.5).contiguous(memory_format=torch.channels_last)
