#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A decoder in Python: maps [1,H,W,C] of scores of centre points. custom_decoder.py MODEL PICTURE prints what is found in a binary PPM picture."""
import sys
import gi
gi.require_version("Sightline", "1.0")
from gi.repository import Sightline
import numpy


class Cells(Sightline.CustomDecoder):
    def do_decode(self, tensors, findings):
        output = tensors.outputs[0]
        scores = (numpy.asarray(output)[0].astype(float) - output.zero_point) * (output.scale or 1)
        height, width = scores.shape[:2]
        for y, x, label in numpy.argwhere(scores >= 0.5):
            findings.add_object(x / width, y / height, (x + 1) / width, (y + 1) / height, scores[y, x, label], label)


predictor = Sightline.Predictor(model=sys.argv[1], custom_decoder=Cells())
_, size, _, pixels = open(sys.argv[2], "rb").read().split(b"\n", 3)
for thing in predictor.predict_bytes("RGB", *map(int, size.split()), pixels):
    print("%.3f %s" % (thing.confidence, thing.label), *thing.box)
