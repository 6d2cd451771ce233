# SPDX-License-Identifier: LGPL-2.1-or-later
# Detections against truth: suppression as the decoder does it, matching at an IoU, precision and recall.
import numpy as np
import torch

import data
import net


def area(boxes):
    return np.clip(boxes[:, 2:] - boxes[:, :2], 0, None).prod(1)


def iou(a, b):
    low, high = np.maximum(a[:, None, :2], b[None, :, :2]), np.minimum(a[:, None, 2:], b[None, :, 2:])
    both = np.clip(high - low, 0, None).prod(2)
    return both / np.maximum(area(a)[:, None] + area(b)[None] - both, 1e-9)


def decode(rows, grid, low=0.05, overlap=0.45, most=100):
    """Boxes, scores, labels of one picture's rows (tensor); suppression across classes, for a code has one."""
    best, label = rows[:, 4:].max(1)
    keep = torch.nonzero(best.sigmoid() > low)[:, 0]
    keep = keep[best[keep].argsort(descending=True)][:300]
    size = grid[:, 0].max().item() * 8 + 8
    boxes = net.boxes_of(rows[keep], grid[keep]).clamp(0, size).numpy()
    scores, labels = best[keep].sigmoid().numpy(), label[keep].numpy()
    kept, over = [], iou(boxes, boxes)
    for i in range(len(boxes)):
        if all(over[i, j] <= overlap for j in kept):
            kept.append(i)
    kept = kept[:most]
    return boxes[kept], scores[kept], labels[kept]


def match(found, truth, at=0.5, smallest=0):
    """
    [(score, label, hit)] and the number of codes of each class; what falls on codes that do not count is left out. Codes of less than
    `smallest` square pixels do not count, nor do boxes so small that find none (as COCO's evaluation by area has it).
    """
    boxes, scores, labels = found
    wanted, counts, corners = truth
    counts = counts & (area(corners) >= smallest)
    rows, taken = [], np.zeros(len(wanted), bool)
    over = iou(boxes, corners) if len(wanted) and len(boxes) else np.zeros((len(boxes), len(wanted)))
    for i in range(len(boxes)):
        same = over[i] * (wanted == labels[i]) * ~taken if len(wanted) else np.zeros(0)
        j = int(same.argmax()) if len(same) else -1
        if j >= 0 and same[j] >= at:
            taken[j] = True
            if counts[j]:
                rows.append((scores[i], labels[i], True))
            continue
        # On a code that does not count, of any class: neither right nor wrong.
        low, high = np.maximum(boxes[i, :2], corners[:, :2]), np.minimum(boxes[i, 2:], corners[:, 2:])
        own = area(boxes[i:i + 1])[0]
        cover = np.clip(high - low, 0, None).prod(1) / max(own, 1e-9)
        if not (cover[~counts] > 0.5).any() and own >= smallest:
            rows.append((scores[i], labels[i], False))
    return rows, np.bincount(wanted[counts], minlength=len(net.CLASSES))


def summary(rows, totals, threshold=0.5):
    """Precision, recall, by class, and average precision."""
    scores = np.array([r[0] for r in rows], float)
    labels = np.array([r[1] for r in rows], int)
    hits = np.array([r[2] for r in rows], bool)

    def one(mask, total):
        over = mask & (scores >= threshold)
        order = np.argsort(-scores[mask])
        tp = np.cumsum(hits[mask][order])
        precision = tp / np.arange(1, len(tp) + 1)
        ap = np.maximum.accumulate(precision[::-1])[::-1][hits[mask][order]].sum() / max(total, 1)
        return {'precision': hits[over].sum() / max(over.sum(), 1), 'recall': hits[over].sum() / max(total, 1), 'ap': ap, 'codes': int(total)}

    result = {'all': one(np.ones(len(scores), bool), totals.sum())}
    for i, name in enumerate(net.CLASSES):
        result[name] = one(labels == i, totals[i])
    return result


def best_threshold(rows, totals):
    """The score at which precision and recall balance (their harmonic mean is highest)."""
    order = sorted(rows, key=lambda r: -r[0])
    hits = np.cumsum([r[2] for r in order])
    f = 2 * hits / (np.arange(1, len(order) + 1) + totals.sum())
    return order[int(f.argmax())][0]


def look(forward, pictures, codes, limit=None, batch=16):
    """What is found and the truth of each scene; `forward` takes bytes (n,h,w,3) and gives rows; every scene's middle is looked at."""
    grid, seen = net.cells(net.SIZE), []
    n = min(limit or len(pictures), len(pictures))
    for first in range(0, n, batch):
        views = [data.centre(np.asarray(pictures[i]), codes[i], net.SIZE) for i in range(first, min(first + batch, n))]
        output = forward(torch.from_numpy(np.stack([v[0] for v in views])))
        seen += [(decode(rows, grid), truth) for rows, (_, *truth) in zip(output, views)]
    return seen


def score(seen, smallest=0):
    """Rows and totals of all scenes, and false alarms among those without codes. `smallest`: see match()."""
    rows, totals, false_alarms, empty = [], np.zeros(len(net.CLASSES), int), 0, 0
    for found, truth in seen:
        more, count = match(found, truth, smallest=smallest)
        rows += more
        totals += count
        if len(truth[0]) == 0:
            empty += 1
            false_alarms += bool((found[1] >= 0.5).any())
    return rows, totals, (false_alarms, empty)


def run(forward, pictures, codes, limit=None):
    return score(look(forward, pictures, codes, limit=limit))


def line(result, alarms):
    a = result['all']
    parts = [f"precision {a['precision']:.3f} recall {a['recall']:.3f} AP50 {a['ap']:.3f}"]
    parts += [f"{k} {v['precision']:.2f}/{v['recall']:.2f}" for k, v in result.items() if k != 'all']
    return ', '.join(parts) + f'; false alarms on {alarms[0]} of {alarms[1]} scenes without codes'
