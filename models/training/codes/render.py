# SPDX-License-Identifier: LGPL-2.1-or-later
# Scenes: carriers (carriers.py) bent, turned and put into perspective on a background (textures.py), lit, partly covered,
# and seen through a camera: blur, noise, glare, low light, JPEG. `Renderer.scene(seed)` gives the picture and, for each
# code, its class, its outline and whether it counts (False: too small, too hidden, too far outside or too faint to be asked for).
import cv2
import numpy as np

import symbols as symbol_store
from carriers import Stock, any_class, carrier, code
from textures import CALM, backgrounds, colour, octaves, text_lines

SIDE = 384
OUTLINE = 16
SMALLEST = 24   # pixels of a code's longer side that counts, and NARROWEST of its shorter one
NARROWEST = 7
CONTRAST = 10   # standard deviation of its gray levels


def outline(corners):
    """OUTLINE points along the edges of a quadrangle."""
    corners = np.asarray(corners, np.float32)
    steps = np.linspace(0, 1, OUTLINE // 4, endpoint=False, dtype=np.float32)[:, None]
    return np.concatenate([corners[i] + (corners[(i + 1) % 4] - corners[i]) * steps for i in range(4)])


def legible(gray, points):
    """Whether gray levels within an outline differ by CONTRAST or more in standard deviation."""
    mask = np.zeros(gray.shape, np.uint8)
    cv2.fillPoly(mask, [points.astype(np.int32)], 255)
    return bool(cv2.meanStdDev(gray, mask=mask)[1][0, 0] >= CONTRAST)


def bend(rng, picture, points):
    """A cylinder seen from the side, or waves; the picture's sides stay where they are."""
    h, w = picture.shape[:2]
    across = rng.random() < 0.7
    n, other = (w, h) if across else (h, w)
    t = np.arange(n, dtype=np.float32)
    if rng.random() < 0.6:
        half = rng.uniform(0.6, 1.45)
        offset = rng.uniform(-0.3, 0.3) * (1.5 - half)
        low, high = np.sin(-half + offset), np.sin(half + offset)
        angle = np.arcsin(np.clip(low + (high - low) * t / n, -1, 1))
        source = (angle - offset + half) / (2 * half) * n
        shade = np.cos(angle - rng.uniform(-0.6, 0.6)) * 0.55 + 0.5
        lift = np.cos(angle) * rng.uniform(-0.12, 0.12) * other
    else:
        k, phase, deep = rng.uniform(1, 4) * 6.28 / n, rng.uniform(0, 6.28), rng.uniform(0.005, 0.03)
        source = t
        lift = np.sin(t * k + phase) * deep * n
        shade = 1 + np.cos(t * k + phase) * deep * 9
    lift = lift - lift.mean()
    yy, xx = np.mgrid[0:h, 0:w].astype(np.float32)
    if across:
        map_x, map_y = np.broadcast_to(source.astype(np.float32), (h, w)), yy - lift.astype(np.float32)
        shade = shade[None, :, None]
    else:
        map_x, map_y = xx - lift.astype(np.float32)[:, None], np.broadcast_to(source.astype(np.float32)[:, None], (h, w))
        shade = shade[:, None, None]
    bent = cv2.remap(picture, np.ascontiguousarray(map_x), np.ascontiguousarray(map_y), cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    moved = []
    for p in points:
        q = p.copy()
        a, b = (0, 1) if across else (1, 0)
        q[:, a] = np.interp(p[:, a], source, t)
        q[:, b] = p[:, b] + np.interp(q[:, a], t, lift)
        moved.append(q)
    return bent * shade.astype(np.float32), moved


def fold(rng, picture):
    """A crease: one side darker."""
    h, w = picture.shape[:2]
    y, x = np.mgrid[0:h, 0:w].astype(np.float32)
    a = rng.choice([0, 1.57, rng.uniform(0, 3.14)])
    d = (x - w * rng.uniform(0.2, 0.8)) * np.cos(a) + (y - h * rng.uniform(0.2, 0.8)) * np.sin(a)
    side = np.clip(d / 2 + 0.5, 0, 1)
    crease = np.exp(-(d / rng.uniform(1, 5)) ** 2)
    return picture * (1 - side * rng.uniform(0, 0.35) + crease * rng.uniform(-0.3, 0.3))[..., None]


def pose(rng, w, h, size, centre, anchor):
    """Homography of a carrier of w x h turned in space; `anchor` comes to lie on `centre`; `size` scales it."""
    turn = rng.choice([0, 0, 0, 1, 2, 3]) * np.pi / 2 + rng.normal(0, 0.12) if rng.random() < 0.6 else rng.uniform(0, 2 * np.pi)
    tilt = rng.choice([0.12, 0.35, 0.6])
    ax, ay = np.clip(rng.normal(0, tilt, 2), -0.95, 0.95)
    rx = np.array([[1, 0, 0], [0, np.cos(ax), -np.sin(ax)], [0, np.sin(ax), np.cos(ax)]])
    ry = np.array([[np.cos(ay), 0, np.sin(ay)], [0, 1, 0], [-np.sin(ay), 0, np.cos(ay)]])
    rz = np.array([[np.cos(turn), -np.sin(turn), 0], [np.sin(turn), np.cos(turn), 0], [0, 0, 1]])
    spin = rx @ ry @ rz
    far = max(w, h) * rng.uniform(1.3, 4)
    corners = np.array([[0, 0], [w, 0], [w, h], [0, h]], float) - anchor
    space = np.c_[corners, np.zeros(4)] @ spin.T
    depth = np.maximum(space[:, 2] + far, far * 0.15)
    flat = space[:, :2] / depth[:, None] * far * size + centre
    return cv2.getPerspectiveTransform((corners + anchor).astype(np.float32), flat.astype(np.float32)), flat


class Renderer:
    def __init__(self, store, seed, n_backgrounds=500):
        rng = np.random.default_rng(seed)
        self.pictures = backgrounds(rng, n_backgrounds, 480)
        # No stripes and random squares on carriers: a piece of them may look like a code in every way.
        patches = backgrounds(rng, n_backgrounds // 2, 320, CALM)
        self.stock = Stock(symbol_store.load(store), text_lines(rng), text_lines(rng, 60, digits=6), patches)
        self.noise = rng.normal(0, 1, (700, 700, 3)).astype(np.float32)

    def background(self, rng):
        source = self.pictures[rng.integers(0, len(self.pictures))]
        a = int(rng.uniform(0.3, 1) * source.shape[0])
        y, x = rng.integers(0, source.shape[0] - a + 1, 2)
        picture = cv2.resize(source[y:y + a, x:x + a], (SIDE, SIDE), interpolation=cv2.INTER_LINEAR)
        picture = np.rot90(picture, int(rng.integers(0, 4))).astype(np.float32)
        if rng.random() < 0.4:
            picture = cv2.GaussianBlur(np.ascontiguousarray(picture), (0, 0), float(rng.uniform(0.5, 6)))
        if rng.random() < 0.5:
            gray = picture.mean(2, keepdims=True)
            picture = gray + (picture - gray) * rng.uniform(0, 0.6)
        return np.ascontiguousarray(picture) * rng.uniform(0.5, 1.2)

    def place(self, rng, scene, codes, hidden):
        """One carrier onto the scene; what it covers of earlier codes is counted in `hidden`."""
        stock = self.stock
        if codes == 1 and rng.random() < 0.85 or codes == 0 and rng.random() < 0.4:
            long = float(np.exp(rng.uniform(np.log(32), np.log(400))))
            share = rng.uniform(0.15, 0.95) if long < 200 else rng.uniform(0.5, 0.98)
            ratio = np.exp(rng.normal(0, 0.35))
            w, h = long / share * min(1, ratio), long / share * min(1, 1 / ratio)
        else:
            long, share = 0, None
            w, h = np.exp(rng.uniform(np.log(60), np.log(520), 2))
            if codes:
                w, h = np.exp(rng.uniform(np.log(80 * codes ** 0.5), np.log(560), 2))
        limit = 620 / max(w, h)
        if limit < 1:
            w, h = w * limit, h * limit
        detail = rng.uniform(1.0, 1.35)
        tw, th = int(max(12, w * detail)), int(max(12, h * detail))
        texture, found = carrier(rng, stock, tw, th, codes, share)
        points = [outline(c) for _, c in found]
        if rng.random() < 0.22:
            texture, points = bend(rng, texture, points)
        if rng.random() < 0.12:
            texture = fold(rng, texture)
        anchor = points[0].mean(0) if points else np.array([tw, th]) / 2
        reach = min(0.42, max(0.1, 0.55 - long / SIDE / 2)) if long else 0.5
        centre = SIDE / 2 + rng.uniform(-reach, reach, 2) * SIDE
        matrix, flat = pose(rng, tw, th, 1 / detail, centre, anchor)
        x0, y0 = np.maximum(np.floor(flat.min(0)).astype(int) - 2, 0)
        x1, y1 = np.minimum(np.ceil(flat.max(0)).astype(int) + 2, SIDE)
        if x1 - x0 < 3 or y1 - y0 < 3:
            return []
        shift = np.array([[1, 0, -x0], [0, 1, -y0], [0, 0, 1]], float) @ matrix
        size = (int(x1 - x0), int(y1 - y0))
        warped = cv2.warpPerspective(texture, shift, size, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        mask = np.zeros((size[1], size[0]), np.uint8)
        cv2.fillConvexPoly(mask, ((flat - [x0, y0]) * 16).astype(np.int32), 255, cv2.LINE_AA, 4)
        if rng.random() < 0.6:
            self.shadow(rng, scene, flat)
        alpha = mask[..., None].astype(np.float32) / 255
        lit = warped * rng.uniform(0.7, 1.1)
        if rng.random() < 0.4:
            a, b = rng.uniform(0.6, 1.2, 2)
            ramp = np.linspace(a, b, size[0], dtype=np.float32)[None, :, None] if rng.random() < 0.5 else np.linspace(a, b, size[1], dtype=np.float32)[:, None, None]
            lit = lit * ramp
        part = scene[y0:y1, x0:x1]
        part += (lit - part) * alpha
        hidden[y0:y1, x0:x1] |= mask > 127
        return [(label, cv2.perspectiveTransform(p[None], matrix)[0]) for (label, _), p in zip(found, points)]

    def shadow(self, rng, scene, polygon):
        quarter = SIDE // 4
        mask = np.zeros((quarter, quarter), np.float32)
        moved = (polygon + rng.uniform(-14, 14, 2)) / 4
        cv2.fillConvexPoly(mask, np.clip(moved, -2000, 2000).astype(np.int32), float(rng.uniform(0.15, 0.6)))
        mask = cv2.resize(cv2.GaussianBlur(mask, (0, 0), float(rng.uniform(0.6, 4))), (SIDE, SIDE))
        scene *= 1 - mask[..., None]

    def finger(self, rng, scene, hidden):
        """A rounded stroke from outside: fingers, arms, cables, edges of other things."""
        skin = np.array([rng.uniform(40, 190), rng.uniform(70, 205), rng.uniform(110, 245)], np.float32) if rng.random() < 0.7 else colour(rng)
        a = rng.uniform(0, 6.28)
        start = SIDE / 2 + np.array([np.cos(a), np.sin(a)]) * SIDE * 0.75
        end = SIDE / 2 + rng.normal(0, SIDE * 0.28, 2)
        wide = int(np.exp(rng.uniform(np.log(4), np.log(80))))
        mask = np.zeros((SIDE, SIDE), np.uint8)
        for i in range(int(rng.integers(1, 4))):
            off = np.array([-np.sin(a), np.cos(a)]) * wide * 1.05 * i
            cv2.line(mask, (start + off).astype(int).tolist(), (end + off + rng.normal(0, wide * 0.4, 2)).astype(int).tolist(), 255, wide, cv2.LINE_AA)
        soft = cv2.GaussianBlur(mask, (0, 0), max(0.6, wide / 6)).astype(np.float32)[..., None] / 255
        alpha = mask[..., None].astype(np.float32) / 255
        scene += (skin * (0.35 + 0.75 * soft) - scene) * alpha
        hidden |= mask > 127

    def light(self, rng, scene):
        if rng.random() < 0.35:
            shade = octaves(rng, SIDE, 2, 2)
            if rng.random() < 0.4:
                shade = np.clip((shade - 0.5) * rng.uniform(3, 20) + 0.5, 0, 1)
                shade = cv2.GaussianBlur(shade, (0, 0), float(rng.uniform(0.7, 4)))
            scene *= (1 - rng.uniform(0.2, 0.65) * shade)[..., None]
        if rng.random() < 0.1:
            y, x = np.mgrid[0:SIDE, 0:SIDE].astype(np.float32)
            at, radius = rng.uniform(0, SIDE, 2), rng.uniform(8, 90, 2)
            glow = np.exp(-(((x - at[0]) / radius[0]) ** 2 + ((y - at[1]) / radius[1]) ** 2))
            scene += glow[..., None] * rng.uniform(60, 330)
        if rng.random() < 0.08:  # light along a can or a bottle
            y, x = np.mgrid[0:SIDE, 0:SIDE].astype(np.float32)
            a, at, wide = rng.choice([0, np.pi / 2, rng.uniform(0, np.pi)]), rng.uniform(0.1, 0.9) * SIDE, np.exp(rng.uniform(np.log(3), np.log(40)))
            across = (x - SIDE / 2) * np.cos(a) + (y - SIDE / 2) * np.sin(a) + SIDE / 2 - at
            scene += np.exp(-(across / wide) ** 2)[..., None] * rng.uniform(40, 220)
        return scene

    def camera(self, rng, scene, known):
        """What optics, sensor and compression do; blur goes with the size of the smallest code, so that most stay what they are."""
        narrow = min((min(cv2.minAreaRect(p)[1]) for _, p, counts in known if counts), default=SIDE / 3)
        soft = float(np.clip(narrow / 36, 0.5, 4))
        if rng.random() < 0.5:
            scene *= (1 + rng.normal(0, 0.09, 3)).astype(np.float32)
        dim = rng.uniform(0.7, 1.25) if rng.random() < 0.93 else rng.uniform(0.2, 0.5)
        scene *= dim
        pick = rng.random()
        if pick < 0.2:
            scene = cv2.GaussianBlur(scene, (0, 0), soft * float(np.exp(rng.uniform(np.log(0.3), 0))))
        elif pick < 0.34:
            n = int(rng.uniform(2, 1 + 4 * soft)) + 1
            kernel = np.zeros((n, n), np.float32)
            a = rng.uniform(0, np.pi)
            d = np.array([np.cos(a), np.sin(a)]) * n / 2
            cv2.line(kernel, (n / 2 - d).astype(int).tolist(), (n / 2 + d).astype(int).tolist(), 1)
            scene = cv2.filter2D(scene, -1, kernel / max(kernel.sum(), 1))
        elif pick < 0.44:
            f = rng.uniform(max(0.3, 0.9 - 0.25 * soft), 0.95)
            small = cv2.resize(scene, None, fx=f, fy=f, interpolation=rng.choice([cv2.INTER_NEAREST, cv2.INTER_LINEAR, cv2.INTER_AREA]))
            scene = cv2.resize(small, (SIDE, SIDE), interpolation=cv2.INTER_LINEAR)
        elif pick < 0.58:
            scene = scene * 1.6 - cv2.GaussianBlur(scene, (0, 0), 1.2) * 0.6
        if rng.random() < 0.5:
            y, x = rng.integers(0, 700 - SIDE, 2)
            noise = self.noise[y:y + SIDE, x:x + SIDE]
            if rng.random() < 0.5:
                noise = cv2.GaussianBlur(noise, (0, 0), 0.8) * 1.7
            scene = scene + noise * rng.uniform(1, 14) * min(dim, 1) * (1 if rng.random() < 0.85 else 2)
        if rng.random() < 0.25:
            scene = 255 * (np.clip(scene, 0, 255) / 255) ** rng.uniform(0.6, 1.6)
        if rng.random() < 0.06:
            scene = np.repeat(scene.mean(2, keepdims=True), 3, 2)
        picture = np.clip(scene, 0, 255).astype(np.uint8)
        if rng.random() < 0.5:
            quality = int(rng.integers(25, 96))
            picture = cv2.imdecode(cv2.imencode('.jpg', picture, [cv2.IMWRITE_JPEG_QUALITY, quality])[1], cv2.IMREAD_COLOR)
        return picture

    def scene(self, seed):
        """BGR bytes of SIDE x SIDE and [(class, outline, counts)]."""
        rng = np.random.default_rng(seed)
        scene = self.background(rng)
        mood = rng.random()
        if mood > 0.86:
            return self.close(rng, scene)
        carriers = [0] * int(rng.choice([0, 0, 1, 2, 3, 4]))
        if mood > 0.2:
            carriers = [0] * int(rng.integers(0, 3)) + [1] * int(rng.choice([1, 1, 1, 2, 2, 3, 4, 5]))
        if mood > 0.74:
            carriers = [0] * int(rng.integers(0, 2)) + [int(rng.integers(2, 8))]
        rng.shuffle(carriers)
        placed, covers = [], []
        for codes in carriers:
            hidden = np.zeros((SIDE, SIDE), bool)
            fresh = self.place(rng, scene, int(codes), hidden)
            covers.append((len(placed), hidden))
            placed += fresh
        if rng.random() < 0.16:
            hidden = np.zeros((SIDE, SIDE), bool)
            self.finger(rng, scene, hidden)
            covers.append((len(placed), hidden))
        known = [(label, p, self.counts(i, p, covers)) for i, (label, p) in enumerate(placed) if self.visible(p)]
        return self.seen(self.camera(rng, self.light(rng, scene), known), known)

    def close(self, rng, scene):
        """One code that fills the picture, or nearly: on paper held before the camera, or a picture made by a program."""
        label = any_class(rng, self.stock)
        surface = colour(rng, 190, 255), colour(rng, 0, 60)
        if rng.random() < 0.7:
            scene[:] = surface[0]
        w, h = np.array([SIDE, SIDE]) * np.exp(rng.uniform(np.log(0.35), np.log(1.05), 2))
        if label in ('qr', 'matrix'):
            w = h = max(w, h)
        elif label == 'linear' and rng.random() < 0.3:  # from edge to edge
            w = SIDE * rng.uniform(1, 1.15)
        texture = np.empty((int(h), int(w), 3), np.float32)
        texture[:] = surface[0]
        corners = code(rng, self.stock, texture, (0, 0, w, h), label, surface)
        if corners is None:
            return self.camera(rng, scene, []), []
        points = [outline(corners)]
        if rng.random() < 0.4:
            centre = np.array([SIDE, SIDE]) / 2 + rng.uniform(-0.5, 0.5, 2) * np.abs(SIDE - np.array([w, h])) * 0.8
            matrix = np.array([[1, 0, centre[0] - w / 2], [0, 1, centre[1] - h / 2], [0, 0, 1]])
        else:
            if rng.random() < 0.4:
                texture, points = bend(rng, texture, points)
            matrix, _ = pose(rng, w, h, 1, np.array([SIDE, SIDE]) / 2 + rng.normal(0, SIDE * 0.06, 2), np.array([w, h]) / 2)
        cv2.warpPerspective(texture, matrix, (SIDE, SIDE), dst=scene, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_TRANSPARENT)
        p = cv2.perspectiveTransform(points[0][None], matrix)[0]
        known = [(label, p, self.counts(0, p, []))] if self.visible(p) else []
        if rng.random() < 0.35:
            return self.seen(np.clip(scene, 0, 255).astype(np.uint8), known)
        return self.seen(self.camera(rng, self.light(rng, scene), known), known)

    @staticmethod
    def seen(picture, known):
        """The scene, with codes whose dark and light differ too little in it not counting."""
        gray = cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)
        return picture, [(label, p, counts and legible(gray, p)) for label, p, counts in known]

    @staticmethod
    def visible(p):
        low, high = p.min(0), p.max(0)
        return (high > 2).all() and (low < SIDE - 2).all()

    @staticmethod
    def counts(index, points, covers):
        """Whether at least six tenths of the code are there to see, and enough of it."""
        low, high = points.min(0), points.max(0)
        area = cv2.contourArea(points)
        if area < 40 or (high - low).max() < SMALLEST or min(cv2.minAreaRect(points)[1]) < NARROWEST:
            return False
        mask = np.zeros((SIDE, SIDE), np.uint8)
        cv2.fillPoly(mask, [points.astype(np.int32)], 1)
        for first, hidden in covers:
            if first > index:
                mask[hidden] = 0
        return bool(mask.sum() > 0.6 * area)
