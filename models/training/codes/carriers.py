# SPDX-License-Identifier: LGPL-2.1-or-later
# Flat things that carry codes: labels, documents, packages, screens, cartons, shelf edges, and the same without a code.
# A carrier is a picture and, for each code on it, its class and corners in that picture.
import cv2
import numpy as np

from textures import colour, one_of


def draw_symbol(rng, symbol, width, height, dots):
    """Coverage with ink (0..1) of a symbol at width x height pixels; as a print of round dots if `dots`."""
    ink = symbol.astype(np.float32)
    rows, columns = symbol.shape
    if dots:
        y, x = np.mgrid[0:5, 0:5] - 2.0
        ink = np.kron(ink, (x * x + y * y <= rng.uniform(3.2, 6.0)).astype(np.float32))
    sx, sy = max(1, int(np.ceil(width / ink.shape[1]))), max(1, int(np.ceil(height / ink.shape[0])))
    if sx > 1 or sy > 1:
        ink = ink.repeat(sx, 1).repeat(sy, 0)
    if max(sx, sy) >= 3 and rng.random() < 0.15:
        kernel = np.ones((2, 2), np.uint8)
        ink = cv2.dilate(ink, kernel) if rng.random() < 0.5 else cv2.erode(ink, kernel)
    return cv2.resize(ink, (width, height), interpolation=cv2.INTER_AREA if rng.random() < 0.85 else cv2.INTER_LINEAR)


def paint(picture, x, y, mask, ink):
    """Blends the colour `ink` where mask (0..1) says, at x, y, cut at the picture's edges."""
    h, w = picture.shape[:2]
    x0, y0, x1, y1 = max(x, 0), max(y, 0), min(x + mask.shape[1], w), min(y + mask.shape[0], h)
    if x0 >= x1 or y0 >= y1:
        return
    m = mask[y0 - y:y1 - y, x0 - x:x1 - x, None]
    part = picture[y0:y1, x0:x1]
    part += (ink - part) * m


class Stock:
    """What all carriers draw from."""

    def __init__(self, symbols, lines, digits, pictures):
        self.symbols, self.lines, self.digits, self.pictures = symbols, lines, digits, pictures

    def line(self, rng, height, width=None, digits=False):
        lines = self.digits if digits else self.lines
        mask = lines[rng.integers(0, len(lines))]
        w = max(2, int(mask.shape[1] * height / mask.shape[0]))
        mask = cv2.resize(mask, (w, max(2, int(height))), interpolation=cv2.INTER_AREA if height < mask.shape[0] else cv2.INTER_LINEAR)
        return mask[:, :width].astype(np.float32) / 255

    def text(self, rng, picture, box, ink, height=None):
        x, y, w, h = box
        size = height or max(3, rng.choice([h, h / 2, h / 4, h / 8, 6, 9]) * rng.uniform(0.6, 1))
        size = min(size, h)
        top = y
        indent = rng.choice([0, 0, 0, 0.5])
        while top + size <= y + h + 1:
            mask = self.line(rng, size, int(w))
            paint(picture, int(x + (w - mask.shape[1]) * indent), int(top), mask, ink)
            top += size * rng.choice([1.0, 1.05, 1.3])

    def photo(self, rng, w, h):
        source = self.pictures[rng.integers(0, len(self.pictures))]
        s = source.shape[0]
        a = int(rng.uniform(0.3, 1) * s)
        y, x = rng.integers(0, s - a + 1, 2)
        return cv2.resize(source[y:y + a, x:x + a], (max(1, int(w)), max(1, int(h))), interpolation=cv2.INTER_AREA).astype(np.float32)


def table(rng, stock, picture, box, ink):
    x, y, w, h = [int(v) for v in box]
    columns, rows = int(rng.integers(1, 9)), int(rng.integers(2, 14))
    for i in range(columns + 1):
        cv2.line(picture, (x + i * w // columns, y), (x + i * w // columns, y + h), ink.tolist(), 1)
    for i in range(rows + 1):
        cv2.line(picture, (x, y + i * h // rows), (x + w, y + i * h // rows), ink.tolist(), 1)
    for i in range(min(rows * columns, 40)):
        if rng.random() < 0.7 and h // rows > 4 and w // columns > 6:
            cell = (x + (i % columns) * w // columns + 1, y + (i // columns) * h // rows + 1, w // columns - 2, h // rows - 2)
            stock.text(rng, picture, cell, ink, cell[3] * 0.8)


def crossword(rng, stock, picture, box, ink):
    """A coarse grid with some cells filled: puzzles, calendars, keyboards, boards."""
    x, y, w, h = [int(v) for v in box]
    n = int(rng.integers(4, 16))
    step = max(10, min(w, h) // n)
    gap = int(rng.integers(0, max(1, step // 4) + 1))
    share = rng.uniform(0, 0.45)
    for r in range(h // step):
        for c in range(w // step):
            p, q = (x + c * step + gap, y + r * step + gap), (x + (c + 1) * step - 1, y + (r + 1) * step - 1)
            filled = rng.random() < share
            cv2.rectangle(picture, p, q, (ink if filled else ink * 0.7).tolist(), -1 if filled else 1)
            if not filled and step > 8 and rng.random() < 0.6:
                mask = stock.line(rng, step * 0.6, int(step * 0.7))
                paint(picture, p[0] + 2, p[1] + step // 6, mask, ink)


def keyboard(rng, stock, picture, box, ink):
    x, y, w, h = [int(v) for v in box]
    rows = int(rng.integers(3, 7))
    step = max(5, h // rows)
    key = colour(rng, 0, 90) if rng.random() < 0.6 else colour(rng, 170, 255)
    mark = 255 - key
    for r in range(rows):
        at = x + int(rng.integers(0, step))
        while at < x + w:
            wide = int(step * rng.choice([1, 1, 1, 1, 1.5, 2.2]))
            cv2.rectangle(picture, (at + 1, y + r * step + 1), (min(at + wide - 2, x + w), y + (r + 1) * step - 2), (key * rng.uniform(0.9, 1.1)).tolist(), -1)
            if step > 9:
                paint(picture, at + 3, y + r * step + 3, stock.line(rng, step * 0.45, max(2, int(step * 0.5))), mark)
            at += wide


def bars(rng, stock, picture, box, ink):
    """Rulers, grilles, equalizers, colour bars, few wide stripes: not barcodes, since regular, few or of many colours."""
    x, y, w, h = [int(v) for v in box]
    kind = rng.integers(0, 4)
    if kind == 0:
        step = int(rng.integers(3, 12))
        for i, at in enumerate(range(x, x + w, step)):
            cv2.line(picture, (at, y), (at, y + int(h * (0.9 if i % 10 == 0 else 0.6 if i % 5 == 0 else 0.35))), ink.tolist(), 1)
    elif kind == 1:
        n = int(rng.integers(3, 7))
        for i in range(n):
            cv2.rectangle(picture, (x + i * w // n, y), (x + (i + 1) * w // n, y + h), colour(rng).tolist(), -1)
    elif kind == 2:
        step = int(rng.integers(4, 20))
        for at in range(x, x + w, step):
            cv2.rectangle(picture, (at, y), (at + step // 2 - 1, y + h), ink.tolist(), -1)
    else:
        n = int(rng.integers(5, 20))
        for i in range(n):
            top = y + h - int(rng.uniform(0.05, 1) * h)
            cv2.rectangle(picture, (x + i * w // n, top), (x + (i + 1) * w // n - 2, y + h), ink.tolist(), -1)


def chessboard(rng, stock, picture, box, ink):
    """Regular squares of two colours: boards, tiles, what cameras are calibrated with."""
    x, y, w, h = box
    columns = int(rng.integers(3, 13))
    rows = max(2, int(np.clip(columns * h / w if rng.random() < 0.5 else rng.integers(3, 13), 2, 16)))
    other = 255 - ink if rng.random() < 0.7 else colour(rng)
    at_x, at_y = np.linspace(x, x + w, columns + 1).astype(int), np.linspace(y, y + h, rows + 1).astype(int)
    for r in range(rows):
        for c in range(columns):
            cv2.rectangle(picture, (int(at_x[c]), int(at_y[r])), (int(at_x[c + 1]) - 1, int(at_y[r + 1]) - 1), (ink if (r + c) % 2 else other).tolist(), -1)


def marker(rng, stock, picture, box, ink):
    """A square marker of augmented reality: few large cells in a closed dark frame."""
    x, y, w, h = box
    n = int(rng.integers(4, 9))
    cells = np.ones((n + 2, n + 2), np.float32)
    cells[1:-1, 1:-1] = rng.integers(0, 2, (n, n)) if rng.random() < 0.8 else 0
    side = max(4, int(min(w, h)))
    paint(picture, int(x), int(y), cv2.resize(cells, (side, side), interpolation=cv2.INTER_NEAREST), np.minimum(ink, 60))


def markers(rng, stock, picture, box, ink):
    """Boards of markers that cameras are calibrated with: in rows, or in the light squares of a chessboard."""
    x, y, w, h = box
    columns = int(rng.integers(2, 8))
    step = w / columns
    rows = int(np.clip(h / step, 1, 10))
    squares = rng.random() < 0.5
    for r in range(rows):
        for c in range(columns):
            at = (x + c * step, y + r * step, step, step)
            if squares and (r + c) % 2:
                cv2.rectangle(picture, (int(at[0]), int(at[1])), (int(at[0] + step), int(at[1] + step)), ink.tolist(), -1)
                continue
            gap = step * rng.uniform(0.12, 0.24)
            marker(rng, stock, picture, (at[0] + gap, at[1] + gap, step - 2 * gap, step - 2 * gap), ink)


def circles(rng, stock, picture, box, ink):
    """Rows of dots, straight or one row between the other's dots: calibration boards, holes, dominoes."""
    x, y, w, h = [int(v) for v in box]
    step = max(5, int(min(w, h) / rng.integers(3, 12)))
    radius = max(1, int(step * rng.uniform(0.15, 0.42)))
    between, outlined = rng.random() < 0.4, rng.random() < 0.15
    for r in range(max(1, h // step)):
        for c in range(max(1, w // step)):
            at = x + c * step + step // 2 + (step // 2 if between and r % 2 else 0)
            cv2.circle(picture, (at, y + r * step + step // 2), radius, ink.tolist(), 1 if outlined else -1, cv2.LINE_AA)


def sign(rng, stock, picture, box, ink):
    """One to four lines of large letters, often in a frame."""
    x, y, w, h = [int(v) for v in box]
    ground = colour(rng)
    letters = colour(rng, 200, 255) if ground.mean() < 130 else colour(rng, 0, 70)
    cv2.rectangle(picture, (x, y), (x + w, y + h), ground.tolist(), -1)
    if rng.random() < 0.6:
        cv2.rectangle(picture, (x + 2, y + 2), (x + w - 2, y + h - 2), letters.tolist(), max(1, min(w, h) // 30))
    lines = int(rng.integers(1, 5))
    for i in range(lines):
        mask = stock.line(rng, max(3, h * 0.85 / lines))
        if mask.shape[1] > w * 0.9:
            mask = cv2.resize(mask, (max(2, int(w * 0.9)), mask.shape[0]), interpolation=cv2.INTER_AREA)
        thick = cv2.dilate(mask, np.ones((2, 2), np.uint8)) if rng.random() < 0.5 else mask
        paint(picture, x + (w - mask.shape[1]) // 2, int(y + h * (0.07 + 0.86 * i / lines)), thick, letters)


def paragraph(rng, stock, picture, box, ink):
    stock.text(rng, picture, box, ink, max(3, box[3] / int(rng.integers(4, 24))))


def patch(rng, stock, picture, box, ink):
    part = stock.photo(rng, box[2], box[3])
    paint(picture, int(box[0]), int(box[1]), np.ones(part.shape[:2], np.float32), part)


def logo(rng, stock, picture, box, ink):
    x, y, w, h = box
    c = colour(rng)
    for _ in range(int(rng.integers(1, 5))):
        at, size = (int(x + rng.uniform(0.2, 0.8) * w), int(y + rng.uniform(0.2, 0.8) * h)), int(min(w, h) * rng.uniform(0.1, 0.45)) + 1
        if rng.random() < 0.5:
            cv2.circle(picture, at, size, c.tolist(), -1 if rng.random() < 0.6 else int(rng.integers(1, 6)), cv2.LINE_AA)
        else:
            cv2.rectangle(picture, (at[0] - size, at[1] - size), (at[0] + size, at[1] + size), c.tolist(), -1 if rng.random() < 0.6 else int(rng.integers(1, 6)))
        c = colour(rng)


def retail_digits(rng, stock, picture, place, symbol, paper, ink):
    """What stands under EAN and UPC codes: guard bars that go on, digits between them and beside."""
    left, top, width, height = place
    size = max(3, height * rng.uniform(0.1, 0.22))
    row = symbol[-1].astype(np.float32)
    n = len(row)
    keep = np.zeros(n, np.float32)
    for a, b in ((0, 3), (n // 2 - 2, n // 2 + 3), (n - 3, n)):
        keep[a:b] = 1
    below = int(height + size * rng.uniform(0.4, 0.9)) - height
    if below > 0:
        guards = cv2.resize((row * keep)[None], (width, below), interpolation=cv2.INTER_AREA)
        cv2.rectangle(picture, (left, top + height), (left + width - 1, top + height + int(size)), paper.tolist(), -1)
        paint(picture, left, top + height, guards, ink)
    for start in (0.06, 0.55):
        digits = stock.line(rng, size, int(width * 0.4), True)
        paint(picture, int(left + start * width), top + height + 1, digits, ink)
    if rng.random() < 0.8:
        for x in (left - size * 0.9, left + width + size * 0.3):
            paint(picture, int(x), int(top + height - size * 0.2), stock.line(rng, size, max(2, int(size * 0.6)), True), ink)


def peen(rng, picture, place, symbol):
    """A symbol of dents in metal: round, a light and a dark side each, or darker or lighter than what is around them."""
    left, top, width, height = place
    rows, columns = symbol.shape
    side = 7
    y, x = np.mgrid[0:side, 0:side] - 3.0
    dots = np.kron(symbol.astype(np.float32), (x * x + y * y <= rng.uniform(1.5, 3.4) ** 2).astype(np.float32))
    dots = cv2.resize(dots, (width, height), interpolation=cv2.INTER_AREA)
    part = picture[top:top + height, left:left + width]
    if rng.random() < 0.7:
        part += (rng.uniform(60, 200) + rng.normal(0, 10, (height, width, 1)) - part) * rng.uniform(0.4, 1)
    deep = rng.uniform(35, 120)
    module = width / columns
    if rng.random() < 0.5 and module > 3:
        a = rng.uniform(0, 6.28)
        d = np.float32([[1, 0, np.cos(a) * module * 0.22], [0, 1, np.sin(a) * module * 0.22]])
        away = np.float32([[1, 0, -d[0, 2]], [0, 1, -d[1, 2]]])
        relief = cv2.warpAffine(dots, d, (width, height)) - cv2.warpAffine(dots, away, (width, height))
        part += (relief * deep - dots * rng.uniform(0, 60))[..., None]
    else:
        part += (dots * deep * rng.choice([-1, 1]))[..., None]


def code(rng, stock, picture, box, label, surface):
    """A code of class `label` in the box with its quiet zone; its corners, or None when the box is too small."""
    x, y, w, h = box
    symbology, symbol = stock.symbols[label][rng.integers(0, len(stock.symbols[label]))]
    rows, columns = symbol.shape
    ratio = columns / rows
    if label == 'linear':
        ratio = rng.uniform(1.1, 4.5) if symbology in (13, 34, 37) else rng.uniform(4, 12) if columns > 250 else rng.uniform(1.3, 9)
    elif label == 'stacked':
        ratio *= rng.uniform(0.75, 1.3)
    if rng.random() < 0.12 and label in ('linear', 'stacked'):
        symbol, ratio = np.rot90(symbol), 1 / ratio
        rows, columns = symbol.shape
    width = min(w, h * ratio)
    height = width / ratio
    if min(width, height) < 5:
        return None
    module = width / columns
    quiet = rng.choice([0.5, 1, 2, 4, 10]) * max(module, 0.5) + 1
    width, height = int(max(5, width - 2 * quiet)), int(max(5, height - 2 * min(quiet, height / 6)))
    left, top = int(x + (w - width) * rng.uniform(0.3, 0.7)), int(y + (h - height) * rng.uniform(0.3, 0.7))
    corners = [(left, top), (left + width, top), (left + width, top + height), (left, top + height)]
    inside = min(left, top) >= 0 and left + width <= picture.shape[1] and top + height <= picture.shape[0]
    if symbology == 71 and max(rows, columns) <= 36 and inside and rng.random() < 0.2:
        peen(rng, picture, (left, top, width, height), symbol)
        return corners
    paper, ink = surface
    darkness = rng.random()
    if darkness < 0.5 or paper.mean() < 110:
        patch = colour(rng, 215, 255) if rng.random() < 0.85 else colour(rng, 120, 255)
        q = int(quiet) + int(rng.integers(0, 4))
        if np.abs(patch - paper).max() > 6:
            cv2.rectangle(picture, (left - q, top - q), (left + width + q - 1, top + height + q - 1 + int(rng.choice([0, 0, 0.15 * height]))), patch.tolist(), -1)
        paper = patch
    ink = colour(rng, 0, 45) if rng.random() < 0.8 else colour(rng, 0, 110)
    ink = np.minimum(ink, paper * 0.62)
    if rng.random() < (0.06 if label != 'matrix' and columns < 250 else 0.14):
        ink = paper + (ink - paper) * rng.uniform(0.3, 0.6)
    if rng.random() < (0.05 if label != 'matrix' else 0.13) and label in ('qr', 'matrix', 'linear'):
        q = int(quiet) + 2
        cv2.rectangle(picture, (left - q, top - q), (left + width + q - 1, top + height + q - 1), ink.tolist(), -1)
        ink = paper
    if label != 'linear' and rng.random() < 0.5:
        symbol = np.rot90(symbol, int(rng.choice([0, 2])))
    mask = draw_symbol(rng, symbol, width, height, label in ('qr', 'matrix') and symbology != 57 and rng.random() < 0.07)
    if rng.random() < 0.04:
        mask = mask * (cv2.resize(rng.random((12, 12), np.float32), (width, height)) > 0.15)
    paint(picture, left, top, mask, ink)
    if symbology in (3, 89) and rng.random() < 0.4:
        bearer = max(1, int(min(width, height) * rng.uniform(0.03, 0.1)))
        for y in (top, top + height - bearer):
            cv2.rectangle(picture, (left, y), (left + width - 1, y + bearer - 1), ink.tolist(), -1)
    if label == 'qr' and symbology == 58 and rng.random() < 0.15:
        s = int(width * rng.uniform(0.15, 0.3))
        spot = (int(left + width / 2 - s / 2), int(top + height / 2 - s / 2))
        cv2.rectangle(picture, spot, (spot[0] + s, spot[1] + s), paper.tolist(), -1)
        logo(rng, stock, picture, (*spot, s, s), ink)
    if label == 'linear' and ratio > 1 and symbology == 13 and rng.random() < 0.6 or symbology == 34 and ratio > 1:
        retail_digits(rng, stock, picture, (left, top, width, height), symbol, paper, ink)
    elif label == 'linear' and ratio > 1 and rng.random() < 0.75:
        size = max(3, height * rng.uniform(0.12, 0.24))
        text = stock.line(rng, size, width)
        paint(picture, left + max(0, (width - text.shape[1]) // 2), top + height + 1, text, ink)
    return corners


FILLERS = [(table, 2), (crossword, 1), (keyboard, 1), (bars, 2), (logo, 3), (chessboard, 1), (marker, 1), (markers, 1), (circles, 1), (sign, 2)]
DECOYS = [(table, 1), (crossword, 1), (keyboard, 1), (bars, 2), (logo, 1), (chessboard, 3), (marker, 2), (markers, 3), (circles, 2),
          (sign, 3), (paragraph, 2), (patch, 3)]
SHARES = {'qr': 0.23, 'matrix': 0.31, 'linear': 0.28, 'stacked': 0.18}


def any_class(rng, stock):
    """One of the classes; those that are harder to find come more often."""
    names = list(stock.symbols)
    shares = np.array([SHARES[n] for n in names])
    return names[rng.choice(len(names), p=shares / shares.sum())]


def divide(rng, box, depth):
    """Cuts a rectangle into a few by straight cuts."""
    x, y, w, h = box
    if depth == 0 or rng.random() < 0.15 or min(w, h) < 24:
        return [box]
    part = rng.uniform(0.25, 0.75)
    if (w > h) != (rng.random() < 0.2):
        return divide(rng, (x, y, w * part, h), depth - 1) + divide(rng, (x + w * part, y, w * (1 - part), h), depth - 1)
    return divide(rng, (x, y, w, h * part), depth - 1) + divide(rng, (x, y + h * part, w, h * (1 - part)), depth - 1)


def surface_of(rng, stock, w, h):
    """Base picture with its paper and ink."""
    kind = rng.choice(['paper', 'pack', 'screen', 'carton', 'metal', 'photo'], p=[0.42, 0.25, 0.1, 0.08, 0.06, 0.09])
    paper = {'paper': lambda: colour(rng, 200, 255), 'pack': lambda: rng.uniform(0, 255, 3).astype(np.float32),
             'screen': lambda: colour(rng, 0, 60) if rng.random() < 0.5 else colour(rng, 225, 255),
             'carton': lambda: np.array([rng.uniform(70, 130), rng.uniform(110, 170), rng.uniform(150, 215)], np.float32),
             'metal': lambda: colour(rng, 90, 200) * 0.3 + rng.uniform(60, 160), 'photo': lambda: colour(rng, 60, 255)}[kind]()
    paper = np.asarray(paper, np.float32)
    ink = colour(rng, 0, 70) if paper.mean() > 120 else colour(rng, 190, 255)
    if kind == 'photo':
        picture = stock.photo(rng, w, h)
    else:
        picture = np.empty((h, w, 3), np.float32)
        picture[:] = paper
    if kind in ('carton', 'metal'):
        streak = rng.random((h, 1) if rng.random() < 0.5 else (1, w), np.float32)[..., None] - 0.5
        picture += streak * rng.uniform(5, 40)
    if kind == 'pack' and rng.random() < 0.5:
        ramp = np.linspace(0, 1, w, dtype=np.float32)[None, :, None] if rng.random() < 0.5 else np.linspace(0, 1, h, dtype=np.float32)[:, None, None]
        picture += (rng.uniform(0, 255, 3).astype(np.float32) - picture) * ramp
    if kind == 'screen' and rng.random() < 0.6:
        edge = max(2, int(min(w, h) * rng.uniform(0.01, 0.06)))
        cv2.rectangle(picture, (0, 0), (w - 1, h - 1), colour(rng, 0, 60).tolist(), edge)
    return picture, paper, ink


def fill(rng, stock, picture, cell, surface):
    paper, ink = surface
    x, y, w, h = cell
    margin = min(w, h) * 0.06
    inner = (x + margin, y + margin, w - 2 * margin, h - 2 * margin)
    if min(inner[2:]) < 4:
        return
    if rng.random() < 0.2:
        block = colour(rng)
        cv2.rectangle(picture, (int(x), int(y)), (int(x + w), int(y + h)), block.tolist(), -1)
        ink = colour(rng, 0, 60) if block.mean() > 120 else colour(rng, 190, 255)
    pick = rng.random()
    if pick < 0.58:
        stock.text(rng, picture, inner, ink)
    elif pick < 0.68:
        patch(rng, stock, picture, inner, ink)
    elif pick < 0.93:
        one_of(rng, FILLERS)(rng, stock, picture, inner, ink)


def carrier(rng, stock, w, h, codes, main=None):
    """
    A carrier of w x h pixels with `codes` codes; with `main`, the first one, or what may be taken for one, has that share (0..1) of it.
    Returns the picture (float, BGR) and [(class, corners)].
    """
    picture, paper, ink = surface_of(rng, stock, w, h)
    found = []
    spots = []
    if main:
        cw, ch = w * main, h * main
        x, y = rng.uniform(0, w - cw), rng.uniform(0, h - ch)
        spots.append((x, y, cw, ch))
        around = [(0, 0, w, y), (0, y + ch, w, h - y - ch), (0, y, x, ch), (x + cw, y, w - x - cw, ch)]
        cells = [c for a in around if min(a[2:]) > 12 for c in divide(rng, a, int(rng.integers(0, 3)))]
    else:
        cells = divide(rng, (0, 0, w, h), int(rng.integers(1, 5)))
    rng.shuffle(cells)
    cells = [tuple(c) for c in cells]
    while len(spots) < codes and cells:
        spots.append(cells.pop())
    for cell in cells:
        if rng.random() < 0.85:
            fill(rng, stock, picture, cell, (paper, ink))
    same = any_class(rng, stock) if rng.random() < 0.4 else None
    if main and not codes:
        one_of(rng, DECOYS)(rng, stock, picture, spots.pop(), ink)
    for spot in spots:
        label = same or any_class(rng, stock)
        corners = code(rng, stock, picture, spot, label, (paper, ink))
        if corners:
            found.append((label, corners))
    if rng.random() < 0.3:
        cv2.rectangle(picture, (0, 0), (w - 1, h - 1), ink.tolist(), int(rng.integers(1, 4)))
    return picture, found
