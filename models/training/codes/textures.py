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


def clumps(rng, s):
    """Fractal noise with hard or soft steps: rock, lichen, rust, crowns of trees, crowds."""
    noise = octaves(rng, s, rng.integers(4, 60), 5, rng.uniform(0.5, 0.9))
    mask = np.clip((noise - rng.uniform(0.35, 0.65)) * np.exp(rng.uniform(0, 3)) + 0.5, 0, 1)
    return blend(colour(rng), colour(rng), mask) * (0.6 + 0.8 * octaves(rng, s, 3, 3)[..., None])


def strands(rng, s):
    """Noise drawn out along one direction: bark, fur, hair, grass, straw."""
    noise = octaves(rng, s, s // int(rng.integers(2, 10)), 2)
    n, bow = int(rng.integers(9, 60)), rng.uniform(-0.4, 0.4)
    kernel = np.zeros((n, n), np.float32)
    a = rng.uniform(0, np.pi)
    t = np.linspace(-0.5, 0.5, 4 * n)
    u, v = t, bow * (t * t * 4 - 0.5)
    x, y = (u * np.cos(a) - v * np.sin(a) + 0.5) * (n - 1), (u * np.sin(a) + v * np.cos(a) + 0.5) * (n - 1)
    kernel[np.clip(np.rint(y), 0, n - 1).astype(int), np.clip(np.rint(x), 0, n - 1).astype(int)] = 1
    mask = cv2.normalize(cv2.filter2D(noise, -1, kernel / kernel.sum(), borderType=cv2.BORDER_REFLECT), None, 0, 1, cv2.NORM_MINMAX)
    mask = np.clip((mask - 0.5) * rng.uniform(1, 4) + 0.5, 0, 1)
    return blend(colour(rng), colour(rng), mask) * (0.6 + 0.8 * octaves(rng, s, 4, 3)[..., None])


def collage(rng, s):
    """Bodies of all sizes before one another, whose edges are spread as those of photographs are (dead leaves: Lee, Mumford, Huang, 2001)."""
    side, n = 2 * s, int(rng.integers(500, 2500))
    palette = np.array([colour(rng) for _ in range(int(rng.integers(2, 8)))])
    picture = np.full((side, side, 3), palette[0], np.float32)
    sizes = np.minimum(rng.uniform(3, 14) / np.sqrt(rng.uniform(0, 1, n)), side * 0.3)
    where, shade, tint = rng.uniform(0, side, (n, 2)), rng.uniform(0.4, 1.5, n), rng.normal(0, 10, (n, 3))
    kinds = rng.choice(3, n, p=rng.dirichlet(np.ones(3)))
    flat, lean, spread = np.exp(rng.normal(0, 0.5, n)), rng.uniform(0, 180), rng.choice([10, 60, 180])
    paint = np.clip(palette[rng.integers(0, len(palette), n)] * shade[:, None] + tint, 0, 255)
    for size, at, kind, a, b, c in zip(sizes, where, kinds, flat, lean + rng.normal(0, spread, n), paint):
        if kind == 0:
            cv2.ellipse(picture, at.astype(int).tolist(), [max(1, int(size * a)), max(1, int(size / a))], float(b), 0, 360, c.tolist(), -1)
        elif kind == 1:
            corners = at + rng.normal(0, size, (int(rng.integers(3, 7)), 2)) * [a, 1 / a]
            cv2.fillPoly(picture, [corners.astype(np.int32)], c.tolist())
        else:
            reach = np.array([np.cos(np.radians(b)), np.sin(np.radians(b))]) * size * 2.5
            cv2.line(picture, (at - reach).astype(int).tolist(), (at + reach).astype(int).tolist(), c.tolist(), max(1, int(size * 0.25)))
    return cv2.resize(picture, (s, s), interpolation=cv2.INTER_AREA) * (0.6 + 0.8 * octaves(rng, s, 3, 5)[..., None])


def things(rng, s):
    """Bodies with a surface before something calmer: trees, animals, heads, stones, coins, cushions."""
    picture = np.ascontiguousarray([smooth, sky, bokeh, grain, shapes][rng.integers(0, 5)](rng, s), np.float32)
    surface = [clumps, strands, leaves, grain, collage, collage][rng.integers(0, 6)](rng, s)
    alike, n = rng.random() < 0.3, int(rng.choice([1, 1, 2, 3, 6, 20]))
    size = s * np.exp(rng.uniform(np.log(0.06), np.log(0.35)))
    y, x = np.mgrid[0:s, 0:s].astype(np.float32)
    ragged = octaves(rng, s, rng.integers(3, 12), 4)
    for i in range(n):
        at, axes = rng.uniform(0.1, 0.9, 2) * s, size * (1 if alike else np.exp(rng.normal(0, 0.4))) * np.exp(rng.normal(0, 0.02 if alike else 0.25, 2))
        if n == 20:
            at = (np.array([i % 5, i // 5]) + 0.5) / [5, 4] * s + rng.normal(0, 0.01 * s, 2)
            axes = np.minimum(axes, s / 11)
        d = 1 - np.hypot((x - at[0]) / axes[0], (y - at[1]) / axes[1])
        mask = np.clip((d + (0 if alike else (ragged - 0.5) * 0.7)) * size / rng.uniform(1, 8), 0, 1)
        lit = surface * (0.75 + 0.5 * np.clip(((x - at[0]) * np.cos(i) + (y - at[1]) * np.sin(i)) / size, -1, 1))[..., None]
        picture = blend(picture, lit, mask)
        surface = np.roll(surface, int(s * 0.37), i % 2)
    return picture


def facade(rng, s):
    """Rows of windows, some lit, between ledges and pillars."""
    wall = colour(rng, 10, 230)
    picture = np.full((s, s, 3), wall, np.float32) + (octaves(rng, s, 8, 4)[..., None] - 0.5) * 40
    w, h = rng.uniform(10, 70, 2)
    gap = rng.uniform(0.15, 1.2, 2)
    dark, lit, share, arch = colour(rng, 0, 110), colour(rng, 60, 255), rng.choice([0, 0.1, 0.5]), rng.random() < 0.3
    for y in np.arange(rng.uniform(-h, h), s, h * (1 + gap[1])):
        for x in np.arange(rng.uniform(-w, 0), s, w * (1 + gap[0])):
            c = (lit if rng.random() < share else dark) * rng.uniform(0.7, 1.3)
            a, b = (int(x), int(y)), (int(x + w), int(y + h))
            cv2.rectangle(picture, a, b, c.tolist(), -1)
            if arch:
                cv2.ellipse(picture, (int(x + w / 2), int(y)), (int(w / 2), int(w / 2)), 0, 180, 360, c.tolist(), -1)
            if w > 16 and share < 0.5:
                cv2.line(picture, (int(x + w / 2), a[1]), (int(x + w / 2), b[1]), (wall * 1.2).tolist(), 1 + int(w > 30))
        if gap[1] > 0.5:
            cv2.line(picture, (0, int(y + h * 1.2)), (s, int(y + h * 1.2)), (wall * 0.6).tolist(), 2)
    corners = np.float32([[0, 0], [s, 0], [s, s], [0, s]])
    turn = cv2.getPerspectiveTransform(corners, (corners + rng.normal(0, s * 0.12, (4, 2))).astype(np.float32))
    return cv2.warpPerspective(picture, turn, (s, s), borderMode=cv2.BORDER_REFLECT)


def circuit(rng, s):
    """Tracks, pads and parts."""
    base = colour(rng, 20, 140)
    picture = np.full((s, s, 3), base, np.float32)
    track = (base * rng.uniform(1.2, 1.9)).tolist()
    for _ in range(int(rng.integers(20, 120))):
        at, turn = rng.uniform(0, s, 2), rng.integers(0, 8) * np.pi / 4
        end = at + np.array([np.cos(turn), np.sin(turn)]) * rng.uniform(10, 200)
        cv2.line(picture, at.astype(int).tolist(), end.astype(int).tolist(), track, int(rng.integers(1, 4)))
        cv2.circle(picture, end.astype(int).tolist(), int(rng.integers(2, 6)), colour(rng, 120, 255).tolist(), -1)
    for _ in range(int(rng.integers(10, 80))):
        at, size = rng.uniform(0, s, 2), np.exp(rng.uniform(np.log(5), np.log(70), 2))
        a, b = at.astype(int), (at + size).astype(int)
        body = colour(rng, 0, 90) if rng.random() < 0.6 else colour(rng, 60, 255)
        pins = max(3, int(size[0] / 8))
        if min(size) > 12:
            for x in range(int(a[0]) + 1, int(b[0]), pins):
                cv2.line(picture, (x, int(a[1]) - 4), (x, int(b[1]) + 4), (205, 210, 215), max(1, pins // 3))
        cv2.rectangle(picture, a.tolist(), b.tolist(), body.tolist(), -1)
    return picture * (0.75 + 0.4 * octaves(rng, s, 3, 2)[..., None])


def knit(rng, s):
    """Stitches in rows: jumpers, rugs, treads, mesh."""
    a, b = colour(rng, 20, 235), colour(rng, 20, 235)
    b = a + (b - a) * rng.uniform(0.2, 1)
    y, x = np.mgrid[0:s, 0:s].astype(np.float32)
    step, slant = rng.uniform(6, 36), rng.uniform(0.3, 1.6)
    zigzag = np.abs((x / step) % 2 - 1) * step * slant
    level = 0.5 + 0.5 * np.sin((y + zigzag) * 6.28 / (step * rng.uniform(0.6, 1.6)))
    level = level * (0.6 + 0.4 * np.abs(np.sin(x * 3.14 / step))) * (0.7 + 0.6 * octaves(rng, s, 8, 4))
    if rng.random() < 0.4:
        level = (level > rng.uniform(0.3, 0.6)).astype(np.float32)
    return blend(np.broadcast_to(a, (s, s, 3)), np.broadcast_to(b, (s, s, 3)), np.clip(level, 0, 1))


def rails(rng, s):
    """Posts before something else: fences, railings, radiators, blinds, reeds, rows of trunks."""
    picture = np.array(one_of(rng, [(smooth, 2), (grain, 1), (leaves, 2), (sky, 2), (things, 2)])(rng, s), np.float32)
    step, regular = rng.uniform(8, 60), rng.uniform(0, 0.5)
    body, lit = colour(rng, 0, 255), rng.uniform(0.6, 1.4)
    at = 0.0
    while at < s:
        wide = step * rng.uniform(0.2, 0.7) if regular > 0.25 else step * 0.4
        lean = rng.normal(0, 4) if regular > 0.25 else 0
        points = np.array([[at, 0], [at + wide, 0], [at + wide + lean, s], [at + lean, s]], np.int32)
        cv2.fillConvexPoly(picture, points, (body * rng.uniform(0.85, 1.15)).tolist(), cv2.LINE_AA)
        cv2.line(picture, points[0].tolist(), points[3].tolist(), (body * lit).tolist(), max(1, int(wide / 6)))
        at += step * (1 + rng.uniform(-regular, regular))
    for _ in range(int(rng.integers(0, 3))):
        y = int(rng.uniform(0, s))
        cv2.rectangle(picture, (0, y), (s, y + int(step * 0.5)), body.tolist(), -1)
    return np.rot90(picture, int(rng.integers(0, 2)))


def spines(rng, s):
    """Books side by side, records, folders."""
    picture = np.zeros((s, s, 3), np.float32)
    lines = text_lines(rng, 12)
    at = 0
    while at < s:
        wide = int(np.exp(rng.uniform(np.log(6), np.log(60))))
        body = colour(rng)
        picture[:, at:at + wide] = body
        letters = colour(rng, 190, 255) if body.mean() < 120 else colour(rng, 0, 60)
        for _ in range(int(rng.integers(0, 3))):
            mask = lines[rng.integers(0, len(lines))]
            size = max(4, int(wide * rng.uniform(0.3, 0.8)))
            mask = np.rot90(cv2.resize(mask, (max(4, mask.shape[1] * size // mask.shape[0]), size), interpolation=cv2.INTER_AREA), 3).astype(np.float32)[:s, :, None] / 255
            y, x = int(rng.integers(0, max(1, s - mask.shape[0]))), at + max(0, (wide - size) // 2)
            part = picture[y:y + mask.shape[0], x:x + mask.shape[1]]
            part += (letters - part) * mask[:part.shape[0], :part.shape[1]]
        for _ in range(int(rng.integers(0, 5))):
            y = int(rng.integers(0, s))
            cv2.rectangle(picture, (at, y), (at + wide - 1, y + int(rng.integers(1, 12))), letters.tolist(), -1)
        cv2.line(picture, (at, 0), (at, s), (body * 0.4).tolist(), 1)
        at += wide
    return picture * (0.7 + 0.5 * octaves(rng, s, 3, 2)[..., None])


CALM = [(smooth, 2), (grain, 3), (wood, 4), (cloth, 3), (bricks, 1), (leaves, 2), (shapes, 6), (bokeh, 4), (shelf, 3), (sky, 1),
        (clumps, 2), (strands, 3), (collage, 6), (things, 10), (facade, 3), (circuit, 1), (spines, 2)]
KINDS = CALM + [(checks, 1), (stripes, 2), (grid, 1), (knit, 3), (rails, 3)]


def one_of(rng, makers):
    """One of [(function, share)]."""
    return rng.choice([m for m, share in makers for _ in range(share)])


def backgrounds(rng, n, size, kinds=KINDS):
    """`n` pictures of size x size, BGR bytes; a third are two kinds with an edge between."""
    found = []
    for _ in range(n):
        picture = one_of(rng, kinds)(rng, size)
        if rng.random() < 0.35:
            other = one_of(rng, kinds)(rng, size)
            a, b = rng.uniform(0, 6.28), rng.uniform(-0.25, 0.25) * size
            y, x = np.mgrid[0:size, 0:size].astype(np.float32) - size / 2
            picture = blend(picture, other, np.clip((x * np.cos(a) + y * np.sin(a) - b) * 0.7, 0, 1).astype(np.float32))
        found.append(np.clip(picture, 0, 255).astype(np.uint8))
    return found
