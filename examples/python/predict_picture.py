#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""predict_picture.py MODEL PICTURE.ppm: what a model sees in a picture that the program holds in memory."""
import sys

import gi

gi.require_version("Sightline", "1.0")
from gi.repository import GLib, Sightline


def read_ppm(path):
    """Width, height and pixels of a binary PPM picture."""
    with open(path, "rb") as file:
        magic, width, height, depth, pixels = file.read().split(maxsplit=4)
    if magic != b"P6" or depth != b"255":
        raise ValueError("%s: expected a binary PPM picture that begins with P6" % path)
    return int(width), int(height), pixels


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: predict_picture.py MODEL PICTURE.ppm")
    try:
        predictor = Sightline.Predictor.new(sys.argv[1])
        width, height, pixels = read_ppm(sys.argv[2])
        found = predictor.predict_bytes("RGB", width, height, pixels)
    except (GLib.Error, OSError, ValueError) as error:
        sys.exit("predict_picture.py: %s" % getattr(error, "message", error))
    for label in found.labels:
        print("%.3f %s" % (label.confidence, label.label))
    for thing in found:
        print("%.3f %s at %.1f,%.1f, %.1f x %.1f" % (thing.confidence, thing.label, *thing.box))


if __name__ == "__main__":
    main()
