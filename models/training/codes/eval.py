# SPDX-License-Identifier: LGPL-2.1-or-later
# The figures of models/codes/README.md: precision and recall of the float weights and of the .tflite in Sightline's runtime on a set of
# scenes, how far their rows are apart, and false alarms on pictures without codes.
#   eval.py SET MODEL.tflite LIBSIGHTLINE.so [--weights WEIGHTS.pt] [--limit N] [--pictures FILE...] [--shift LOGITS]
import argparse

import cv2
import numpy as np
import torch

import data
import evaluate
import export
import net
import scenes
from runtime import Runtime


def letterbox(path):
    picture = cv2.imread(path, cv2.IMREAD_COLOR)
    if picture is None:
        raise SystemExit(f'{path}: not a picture')
    h, w = picture.shape[:2]
    f = net.SIZE / max(h, w)
    small = cv2.resize(picture, (max(1, round(w * f)), max(1, round(h * f))), interpolation=cv2.INTER_AREA)
    view = np.full((net.SIZE, net.SIZE, 3), data.BORDER, np.uint8)
    y, x = (net.SIZE - small.shape[0]) // 2, (net.SIZE - small.shape[1]) // 2
    view[y:y + small.shape[0], x:x + small.shape[1]] = small
    return np.ascontiguousarray(view[:, :, ::-1])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('set')
    parser.add_argument('model')
    parser.add_argument('library')
    parser.add_argument('--weights')
    parser.add_argument('--shift', type=float, default=0)
    parser.add_argument('--limit', type=int)
    parser.add_argument('--pictures', nargs='*', default=[])
    options = parser.parse_args()
    torch.set_num_threads(1)
    runtime, grid = Runtime(options.model, options.library), net.cells(net.SIZE)
    pictures, codes = scenes.load(options.set)
    if options.weights:
        model = net.Codes().eval()
        model.load_state_dict(torch.load(options.weights))
        graph = export.Graph(model, options.shift)
        with torch.no_grad():
            rows, totals, alarms = evaluate.run(lambda x: graph.run(data.to_input(x)), pictures, codes, limit=options.limit)
            print('float: ' + evaluate.line(evaluate.summary(rows, totals), alarms))
            apart = []
            for i in range(min(200, len(pictures))):
                view = torch.from_numpy(np.ascontiguousarray(data.centre(np.asarray(pictures[i]), codes[i], net.SIZE)[0]))[None]
                apart.append((graph.run(data.to_input(view)).clamp(-4, 127 / 32) - runtime(view)).abs().flatten(0, 1).numpy())
            apart = np.concatenate(apart)
            print('float and int8 are apart, box x y w h and scores, mean:', apart.mean(0).round(3).tolist())
    seen = evaluate.look(runtime, pictures, codes, limit=options.limit)
    rows, totals, alarms = evaluate.score(seen)
    result = evaluate.summary(rows, totals)
    print('int8:  ' + evaluate.line(result, alarms))
    for name, v in result.items():
        print(f"  {name:8} {v['codes']:5} codes  precision {v['precision']:.3f}  recall {v['recall']:.3f}  AP50 {v['ap']:.3f}")
    rows, totals, alarms = evaluate.score(seen, smallest=0.05 * net.SIZE ** 2)
    print('int8, codes of 5 % of the picture and more:  ' + evaluate.line(evaluate.summary(rows, totals), alarms))
    for path in options.pictures:
        _, scores, labels = evaluate.decode(runtime(torch.from_numpy(letterbox(path))[None])[0], grid)
        found = ', '.join(f'{net.CLASSES[l]} {s:.2f}' for s, l in zip(scores, labels) if s >= 0.3)
        print(f'{path}: {found or "none"}')


if __name__ == '__main__':
    main()
