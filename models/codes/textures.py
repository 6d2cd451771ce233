# SPDX-License-Identifier: LGPL-2.1-or-later
# Procedural pictures without codes: backgrounds (rooms, wood, cloth, foliage, walls, bokeh ...) and banks of text lines
# and noise that the renderer draws from. Everything comes from the generator given.
import glob

import cv2
import numpy as np
from PIL import Image, ImageDraw, ImageFont

WORDS = ('total price best before net weight serial number made in ingredients water sugar salt store cool dry lot exp ref model batch '
         'keep away from children scan me open here welcome menu ticket gate seat row date time name address city order invoice '
         'amount due tax subtotal thank you please recycle fragile this side up warning contents may be hot voltage input output '
         'the quick brown fox jumps over lazy dog when of and to in is it you that he was for on are with as his they at be').split()


def fonts():
    found = [p for folder in ('truetype', 'opentype') for p in sorted(glob.glob(f'/usr/share/fonts/{folder}/**/*.[ot]tf', recursive=True)) if 'math' not in p.lower()]
    if not found:
        raise SystemExit('no fonts under /usr/share/fonts/truetype; install fonts-dejavu-core and fonts-liberation')
    return found


def text_lines(rng, n=500, height=26, digits=0):
    """Masks (0..255) of lines of text, `height` pixels tall; of so many digits, if given."""
    lines, faces = [], [ImageFont.truetype(path, 20) for path in fonts()]
    for i in range(n):
        kind = rng.integers(0, 8)
        if digits:
            text = ''.join(str(d) for d in rng.integers(0, 10, digits))
        elif kind < 4:
            text = ' '.join(rng.choice(WORDS, rng.integers(1, 9)))
        elif kind == 4:
            text = ' '.join(str(rng.integers(0, 10 ** rng.integers(1, 9))) for _ in range(rng.integers(1, 6)))
        elif kind == 5:
            text = f'{rng.choice(WORDS)} ........ {rng.integers(0, 100)}.{rng.integers(10, 99)}'
        elif kind == 6:
            text = ''.join(chr(c) for c in rng.integers(0x410, 0x44f, rng.integers(4, 30)))
        else:
            text = ''.join(rng.choice(list('ABCDEFGHKLMNPRSTUVXYZ0123456789-/.'), rng.integers(4, 24)))
        text = [str.lower, str.title, str.upper][rng.integers(0, 3)](text)
        face = faces[rng.integers(0, len(faces))]
        width = max(8, int(face.getlength(text)) + 2)
        picture = Image.new('L', (width, height), 0)
        ImageDraw.Draw(picture).text((1, 1), text, 255, font=face)
        lines.append(np.asarray(picture))
    return lines


def colour(rng, low=0, high=255):
    """A colour; grayish ones more often than chance has them."""
    c = rng.uniform(low, high, 3)
    return (c + (c.mean() - c) * rng.uniform(0, 1) ** 0.5).astype(np.float32)


def octaves(rng, size, base, count=4, falloff=0.55):
    """Smooth noise in 0..1."""
    total, weight, height = np.zeros((size, size), np.float32), 1.0, float(base)
    for _ in range(count):
        n = int(max(2, min(height, size)))
        total += weight * cv2.resize(rng.random((n, n), np.float32), (size, size), interpolation=cv2.INTER_CUBIC)
        weight *= falloff
        height *= 2
    return cv2.normalize(total, None, 0, 1, cv2.NORM_MINMAX)


def blend(a, b, mask):
    return a + (b - a) * mask[..., None]


def smooth(rng, s):
    return blend(colour(rng), colour(rng), octaves(rng, s, rng.integers(2, 6), rng.integers(1, 5)))


def grain(rng, s):
    base = blend(colour(rng), colour(rng), octaves(rng, s, 3, 2))
    return base + (octaves(rng, s, s // 4, 2)[..., None] - 0.5) * rng.uniform(10, 120)


def wood(rng, s):
    y = np.linspace(0, 1, s, dtype=np.float32)[:, None]
    warp = octaves(rng, s, 3, 3)
    rings = np.sin((y * rng.uniform(10, 60) + warp * rng.uniform(1, 6)) * 6.28)
    base = np.array([rng.uniform(30, 110), rng.uniform(60, 150), rng.uniform(100, 210)], np.float32)
    streaks = cv2.resize(rng.random((s, 6), np.float32), (s, s), interpolation=cv2.INTER_LINEAR)
    picture = base * (0.8 + 0.12 * rings[..., None] + 0.3 * (streaks[..., None] - 0.5))
    for x in rng.integers(0, s, rng.integers(0, 5)):
        cv2.line(picture, (0, int(x)), (s, int(x)), (base * 0.4).tolist(), int(rng.integers(1, 4)))
    return picture


def cloth(rng, s):
    y, x = np.mgrid[0:s, 0:s].astype(np.float32)
    angle, period = rng.uniform(0, 3.14), rng.uniform(3, 40)
    u, v = x * np.cos(angle) + y * np.sin(angle), y * np.cos(angle) - x * np.sin(angle)
    warp = octaves(rng, s, 3, 2) * rng.uniform(0, 30)
    a = np.sin((u + warp) * 6.28 / period)
    b = np.sin((v + warp) * 6.28 / (period * rng.choice([1, 1, 2, 0.5])))
    kind = rng.integers(0, 4)
    mask = [a, a * b, np.sign(a), np.maximum(a, b)][kind] * 0.5 + 0.5
    return blend(colour(rng), colour(rng), mask.astype(np.float32)) * (0.7 + 0.5 * octaves(rng, s, 3, 2)[..., None])


def checks(rng, s):
    n = int(rng.integers(2, 40))
    grid = (np.add.outer(np.arange(n), np.arange(n)) % 2).astype(np.float32)
    if rng.random() < 0.4:
        grid = rng.random((n, n), np.float32)
    mask = cv2.resize(grid, (s, s), interpolation=cv2.INTER_NEAREST)
    return blend(colour(rng), colour(rng), mask) + (octaves(rng, s, 4, 4)[..., None] - 0.5) * 60


def stripes(rng, s):
    """Zebra, fences, blinds, railings: regular, or of changing widths that go on from edge to edge."""
    regular = rng.random() < 0.6
    n = int(rng.integers(4, 60))
    edges = np.linspace(0, s, n) if regular else np.sort(rng.uniform(0, s, n))
    row = (np.searchsorted(edges, np.arange(s)) % 2).astype(np.float32)
    mask = np.broadcast_to(row, (s, s)).copy()
    if rng.random() < 0.5:
        mask = mask.T.copy()
    back = smooth(rng, s) if rng.random() < 0.5 else colour(rng)
    return blend(back, colour(rng) * (0.6 + 0.6 * octaves(rng, s, 3, 2)[..., None]), cv2.GaussianBlur(mask, (0, 0), 0.8))


def bricks(rng, s):
    h, w, gap = int(rng.integers(8, 60)), int(rng.integers(16, 140)), int(rng.integers(1, 5))
    base, mortar = colour(rng, 40, 220), colour(rng, 60, 230)
    picture = np.full((s, s, 3), mortar, np.float32)
    for i, y in enumerate(range(0, s, h)):
        for x in range(-(w // 2) * (i % 2), s, w):
            cv2.rectangle(picture, (x + gap, y + gap), (x + w - gap, y + h - gap), (base * rng.uniform(0.8, 1.2)).tolist(), -1)
    return picture + (octaves(rng, s, s // 3, 2)[..., None] - 0.5) * 50


def grid(rng, s):
    picture = np.full((s, s, 3), colour(rng), np.float32)
    line, step, thick = colour(rng).tolist(), int(rng.integers(6, 70)), int(rng.integers(1, 5))
    for p in range(0, s, step):
        cv2.line(picture, (p, 0), (p, s), line, thick)
        cv2.line(picture, (0, p), (s, p), line, thick)
    return picture * (0.8 + 0.3 * octaves(rng, s, 3, 2)[..., None])


def leaves(rng, s):
    picture = np.full((s, s, 3), colour(rng, 0, 90), np.float32)
    base, spread = colour(rng, 20, 200), rng.uniform(10, 60)
    size = rng.uniform(4, 30)
    for _ in range(int(rng.integers(150, 900))):
        at, axes = rng.integers(0, s, 2), np.maximum(1, rng.normal(size, size / 3, 2) * [1, 0.5]).astype(int)
        c = np.clip(base + rng.normal(0, spread, 3) * [0.5, 1, 0.5] + rng.normal(0, 25), 0, 255)
        cv2.ellipse(picture, at.tolist(), axes.tolist(), float(rng.uniform(0, 180)), 0, 360, c.tolist(), -1)
    return picture


def shapes(rng, s, n=None):
    """Rooms, desks and shelves as planes, boxes and edges with shading."""
    picture = smooth(rng, s) * 0.5 + colour(rng) * 0.5
    for _ in range(n or int(rng.integers(5, 45))):
        centre, size = rng.uniform(0, s, 2), rng.uniform(8, s * 0.5)
        c = colour(rng).tolist()
        kind = rng.integers(0, 4)
        if kind < 2:
            angle = rng.choice([0, 0, rng.uniform(0, 3.14)])
            w, h = size, size * rng.uniform(0.05, 1.2)
            corners = np.array([[-w, -h], [w, -h], [w, h], [-w, h]]) / 2 + rng.normal(0, size * 0.04, (4, 2))
            turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
            cv2.fillConvexPoly(picture, (corners @ turn.T + centre).astype(np.int32), c, cv2.LINE_AA)
        elif kind == 2:
            cv2.ellipse(picture, centre.astype(int).tolist(), [int(size / 2), int(size * rng.uniform(0.2, 0.6))], float(rng.uniform(0, 180)), 0, 360, c, -1, cv2.LINE_AA)
        else:
            end = centre + rng.normal(0, s * 0.4, 2)
            cv2.line(picture, centre.astype(int).tolist(), end.astype(int).tolist(), c, int(rng.integers(1, 12)), cv2.LINE_AA)
    return picture * (0.75 + 0.5 * octaves(rng, s, 3, 3)[..., None])


def bokeh(rng, s):
    return cv2.GaussianBlur(shapes(rng, s, int(rng.integers(20, 70))), (0, 0), float(rng.uniform(2, 14)))


def shelf(rng, s):
    """Rows of packages beside one another."""
    picture = np.full((s, s, 3), colour(rng, 0, 120), np.float32)
    y = 0
    while y < s:
        h = int(rng.uniform(40, 160))
        x = 0
        while x < s:
            w = int(rng.uniform(14, 90))
            c, count = colour(rng), int(rng.integers(1, 6))
            for _ in range(count):
                cv2.rectangle(picture, (x, y + 8), (x + w - 2, y + h), c.tolist(), -1)
                for _ in range(3):
                    a = rng.uniform(0, 1, 4)
                    p, q = (int(x + a[0] * w * 0.7), int(y + 8 + a[1] * h * 0.8)), (int(x + (0.3 + 0.7 * a[2]) * w) - 3, int(y + 8 + a[3] * h * 0.9))
                    cv2.rectangle(picture, p, q, colour(rng).tolist(), -1)
                x += w
        cv2.rectangle(picture, (0, y + h), (s, y + h + 8), colour(rng, 80, 255).tolist(), -1)
        y += h + 8
    return picture * (0.7 + 0.5 * octaves(rng, s, 3, 2)[..., None])


def sky(rng, s):
    ramp = np.linspace(0, 1, s, dtype=np.float32)[:, None].repeat(s, 1)
    return blend(colour(rng), colour(rng), np.clip(ramp + (octaves(rng, s, 3, 4) - 0.5) * rng.uniform(0, 0.8), 0, 1))


KINDS = [(smooth, 2), (grain, 3), (wood, 4), (cloth, 3), (checks, 1), (stripes, 2), (bricks, 1), (grid, 1), (leaves, 2), (shapes, 6), (bokeh, 4), (shelf, 3), (sky, 1)]


def backgrounds(rng, n, size):
    """`n` pictures of size x size, BGR bytes; a third are two kinds with an edge between."""
    makers = [m for m, share in KINDS for _ in range(share)]
    found = []
    for _ in range(n):
        picture = makers[rng.integers(0, len(makers))](rng, size)
        if rng.random() < 0.35:
            other = makers[rng.integers(0, len(makers))](rng, size)
            a, b = rng.uniform(0, 6.28), rng.uniform(-0.25, 0.25) * size
            y, x = np.mgrid[0:size, 0:size].astype(np.float32) - size / 2
            picture = blend(picture, other, np.clip((x * np.cos(a) + y * np.sin(a) - b) * 0.7, 0, 1).astype(np.float32))
        found.append(np.clip(picture, 0, 255).astype(np.uint8))
    return found
