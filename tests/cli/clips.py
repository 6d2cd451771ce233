# SPDX-License-Identifier: LGPL-2.1-or-later
"""Clips of pictures that are moved over a plain ground, of which the test knows where they are in each frame."""
import os
import subprocess

from harness import ROOT, Skip, work, write

WIDTH, HEIGHT, RATE = 320, 240, 10
GROUND = bytes((122, 118, 126))


def gst(*words):
    made = subprocess.run(["gst-launch-1.0", "-q", *words], stdin=subprocess.DEVNULL, capture_output=True, timeout=300)
    if made.returncode != 0:
        raise Skip("gst-launch-1.0 or an element is missing: " + made.stderr.decode())


class Sprite:
    """The part `crop` (x, y, width, height) of a JPEG picture of `size`, as `width` x `height` pixels. `box` is what is to be found in
    the picture (x, y, width, height), in `.box` as it is in the sprite."""

    def __init__(self, path, size, crop, width, height, box):
        raw, (x, y, w, h) = work("sprite.raw"), crop
        gst("filesrc", "location=" + path, "!", "jpegdec", "!", "videocrop", "left=%d" % x, "top=%d" % y, "right=%d" % (size[0] - x - w),
            "bottom=%d" % (size[1] - y - h), "!", "videoconvert", "!", "videoscale", "add-borders=false", "!",
            "video/x-raw,format=RGB,width=%d,height=%d,pixel-aspect-ratio=1/1" % (width, height), "!", "filesink", "location=" + raw)
        with open(raw, "rb") as file:
            data = file.read()
        stride = (3 * width + 3) // 4 * 4
        assert len(data) == stride * height, (len(data), stride, height)
        self.rows = [data[stride * i : stride * i + 3 * width] for i in range(height)]
        self.size = (width, height)
        self.box = ((box[0] - x) * width / w, (box[1] - y) * height / h, box[2] * width / w, box[3] * height / h)

    def centre(self, at):
        """Where the box's centre is, in pixels, when the sprite's corner is `at`."""
        return at[0] + self.box[0] + self.box[2] / 2, at[1] + self.box[1] + self.box[3] / 2

    def bottom(self, at):
        """The middle of its lower edge."""
        return at[0] + self.box[0] + self.box[2] / 2, at[1] + self.box[1] + self.box[3]


SAMPLES = os.path.join(ROOT, "models", "codes", "samples")


def qr():
    return Sprite(os.path.join(SAMPLES, "sample-1.jpg"), (384, 384), (48, 34, 104, 104), 112, 112, (61.3, 46, 83.7, 83.9))


def linear():
    return Sprite(os.path.join(SAMPLES, "sample-2.jpg"), (384, 384), (254, 86, 96, 56), 192, 112, (266.7, 100, 69.3, 25.9))


def no_code():
    return Sprite(os.path.join(SAMPLES, "sample-2.jpg"), (384, 384), (0, 200, 112, 112), 112, 112, (0, 200, 112, 112))


def clip(name, frames):
    """A video of frames, each a list of (sprite, (x, y)); its path."""
    ground, pixels = GROUND * WIDTH, bytearray()
    for sprites in frames:
        rows = [bytearray(ground) for _ in range(HEIGHT)]
        for sprite, (x, y) in sprites:
            width, height = sprite.size
            left, right = max(x, 0), min(x + width, WIDTH)
            for i in range(max(-y, 0), min(height, HEIGHT - y)):
                if right > left:
                    rows[y + i][3 * left : 3 * right] = sprite.rows[i][3 * (left - x) : 3 * (right - x)]
        for row in rows:
            pixels += row
    raw, path = write(name + ".raw", pixels), work(name)
    gst("filesrc", "location=" + raw, "blocksize=%d" % (3 * WIDTH * HEIGHT), "!", "rawvideoparse", "format=rgb", "width=%d" % WIDTH,
        "height=%d" % HEIGHT, "framerate=%d/1" % RATE, "!", "videoconvert", "!", "jpegenc", "quality=95", "!", "avimux", "!", "filesink",
        "location=" + path)
    return path


def way(*points):
    """Places of every frame on a way through points (frame number, x, y), straight between them, in whole pixels."""
    places = []
    for (n, x, y), (m, u, v) in zip(points, points[1:]):
        places += [(round(x + (u - x) * i / (m - n)), round(y + (v - y) * i / (m - n))) for i in range(m - n)]
    return places + [(points[-1][1], points[-1][2])]
