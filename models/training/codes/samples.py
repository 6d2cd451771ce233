# SPDX-License-Identifier: LGPL-2.1-or-later
# The sample pictures of the demo and of the tests: scenes of one seed in which the model is sure of every code, every class among
# them, the fullest ones first, and truth.json with what is on them. They show that all works, not how good the model is.
#   samples.py MODEL.tflite LIBSIGHTLINE.so SYMBOLS.npz OUT-FOLDER
import json
import os
import sys

import cv2
import numpy as np
import torch

import evaluate
import net
import render
from runtime import Runtime

SEED, LOOKED_AT, WANTED = 505, 1000, 6


def main():
    model, library, store, out = sys.argv[1:]
    renderer, runtime, grid = render.Renderer(store, SEED), Runtime(model, library), net.cells(net.SIZE)
    good = []
    for number in range(LOOKED_AT):
        picture, codes = renderer.scene((SEED, number))
        truth = [(label, points.min(0), points.max(0)) for label, points, _ in codes]
        inside = all(counts for _, _, counts in codes) and all((low >= 0).all() and (high <= render.SIDE).all() for _, low, high in truth)
        if not truth or not inside or picture.mean() < 70:
            continue
        # What a reader of the file sees, not what was drawn.
        packed = cv2.imencode('.jpg', picture, [cv2.IMWRITE_JPEG_QUALITY, 88])[1]
        small = cv2.resize(cv2.imdecode(packed, cv2.IMREAD_COLOR), (net.SIZE, net.SIZE), interpolation=cv2.INTER_LINEAR)[:, :, ::-1]
        rows = runtime(torch.from_numpy(np.ascontiguousarray(small))[None])[0]
        boxes = np.array([np.concatenate(t[1:]) for t in truth]) * net.SIZE / render.SIDE
        labels = np.array([net.CLASSES.index(t[0]) for t in truth])
        found, _ = evaluate.match(evaluate.decode(rows, grid), (labels, np.ones(len(labels), bool), boxes), 0.6)
        if sum(hit and score > 0.75 for score, _, hit in found) == len(truth) and not any(score > 0.3 and not hit for score, _, hit in found):
            good.append((len(truth) + len(set(labels)), number, packed, truth))
    good.sort(key=lambda g: (-g[0], g[1]))
    # Of every class the fullest first, then what is left.
    first = [next((g for g in good if any(t[0] == name for t in g[3])), None) for name in net.CLASSES]
    chosen = {g[1]: g for g in first + good if g}
    good = list(chosen.values())
    os.makedirs(out, exist_ok=True)
    lines = {}
    for i, (_, number, packed, truth) in enumerate(good[:WANTED]):
        name = f'sample-{i + 1}.jpg'
        packed.tofile(os.path.join(out, name))
        lines[name] = {'scene': [SEED, number],
                       'codes': [{'label': label, 'box': [round(float(v), 1) for v in (*low, *(high - low))]} for label, low, high in truth]}
    with open(os.path.join(out, 'truth.json'), 'w') as file:
        json.dump(lines, file, indent=1)
        file.write('\n')
    print(f'{out}: {len(lines)} of {len(good)} scenes, {sum(len(v["codes"]) for v in lines.values())} codes')


if __name__ == '__main__':
    main()
