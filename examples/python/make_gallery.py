#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes a gallery of embeddings: sightline predict --json --model MODEL FOLDER... | make_gallery.py >faces.json. A picture's folder is its name."""
import json
import pathlib
import sys

gallery = {}
for line in sys.stdin:
    frame = json.loads(line)
    gallery.setdefault(pathlib.Path(frame["source"]).parent.name, []).append(frame["vector"]["values"])
json.dump(gallery, sys.stdout)
