# SPDX-License-Identifier: LGPL-2.1-or-later
# Trains net.py on sets of scenes.
#   train.py SETS(pattern) VALIDATION OUT.pt [--minutes N | --steps N] [--seed N] [--start WEIGHTS.pt]
# First at 224x224, then at 320x320. Assignment follows alignment of score and IoU (ten best cells of a code); the loss is
# binary cross entropy against those, cross entropy between classes where there is a code, and complete IoU. Averaged
# weights are what is kept.
import argparse
import copy
import multiprocessing
import time

import torch
import torch.nn.functional as F

import data
import evaluate
import net
import scenes

TOP = 10


def pair_iou(a, b, complete=False):
    """IoU (or complete IoU) of boxes that broadcast."""
    low, high = torch.maximum(a[..., :2], b[..., :2]), torch.minimum(a[..., 2:], b[..., 2:])
    both = (high - low).clamp(min=0).prod(-1)
    sa, sb = (a[..., 2:] - a[..., :2]), (b[..., 2:] - b[..., :2])
    value = both / (sa.prod(-1) + sb.prod(-1) - both + 1e-7)
    if not complete:
        return value
    span = torch.maximum(a[..., 2:], b[..., 2:]) - torch.minimum(a[..., :2], b[..., :2])
    apart = ((a[..., :2] + a[..., 2:] - b[..., :2] - b[..., 2:]) ** 2).sum(-1) / 4
    v = 4 / 9.8696 * (torch.atan(sb[..., 0] / (sb[..., 1] + 1e-7)) - torch.atan(sa[..., 0] / (sa[..., 1] + 1e-7))) ** 2
    with torch.no_grad():
        alpha = v / (v - value + 1 + 1e-7)
    return value - apart / ((span ** 2).sum(-1) + 1e-7) - alpha * v


def inside(centres, boxes):
    """(n, boxes, cells): whether a cell's centre is in a box."""
    c = centres[None, None]
    b = boxes[:, :, None]
    return ((c > b[..., :2]) & (c < b[..., 2:])).all(-1)


@torch.no_grad()
def assign(logits, boxes, grid, labels, counts, truth):
    """Target scores (n, cells, classes), target boxes, mask of positives, weight of each cell."""
    n, cells, classes = logits.shape
    centres = (grid[:, :2] + 0.5) * grid[:, 2:]
    real = (labels >= 0) & counts
    middle, half = (truth[..., :2] + truth[..., 2:]) / 2, ((truth[..., 2:] - truth[..., :2]) / 2).clamp(min=7)
    candidates = inside(centres, torch.cat([middle - half, middle + half], -1)) & real[..., None]
    over = pair_iou(truth[:, :, None], boxes[:, None]).clamp(0, 1)
    score = logits.sigmoid().gather(2, labels.clamp(min=0)[:, None].expand(n, cells, labels.shape[1])).transpose(1, 2)
    align = score.sqrt() * over ** 4 * candidates
    best = align.topk(TOP, dim=2)
    chosen = torch.zeros_like(align, dtype=torch.bool).scatter_(2, best.indices, best.values > 1e-9)
    owner = (over * chosen).argmax(1)
    chosen &= F.one_hot(owner, labels.shape[1]).transpose(1, 2).bool()
    align = align * chosen
    scale = (over * chosen).amax(2, keepdim=True) / align.amax(2, keepdim=True).clamp(min=1e-9)
    value = (align * scale).amax(1)
    positive = chosen.any(1)
    target = torch.zeros_like(logits)
    own_label = labels.clamp(min=0).gather(1, owner)
    target.scatter_(2, own_label[..., None], (value * positive)[..., None])
    target_boxes = truth.gather(1, owner[..., None].expand(-1, -1, 4))
    ignored = (inside(centres, truth) & ((labels >= 0) & ~counts)[..., None]).any(1) & ~positive
    return target, target_boxes, positive, (~ignored).float()


def loss_of(rows, grid, labels, counts, truth):
    logits, boxes = rows[..., 4:], net.boxes_of(rows, grid)
    target, target_boxes, positive, weight = assign(logits.detach(), boxes.detach(), grid, labels, counts, truth)
    total = target.sum().clamp(min=4)
    scores = (F.binary_cross_entropy_with_logits(logits, target, reduction='none') * weight[..., None]).sum() / total
    if positive.any():
        share = target.sum(2)[positive]
        fit = ((1 - pair_iou(boxes[positive], target_boxes[positive], True)) * share).sum() / total
        kind = (F.cross_entropy(logits[positive], target.argmax(2)[positive], reduction='none') * share).sum() / total
    else:
        fit = kind = rows.sum() * 0
    return scores, fit, kind


def groups(model, decay):
    dense = [p for p in model.parameters() if p.ndim > 1]
    rest = [p for p in model.parameters() if p.ndim <= 1]
    return [{'params': dense, 'weight_decay': decay}, {'params': rest, 'weight_decay': 0}]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('sets')
    parser.add_argument('validation')
    parser.add_argument('out')
    parser.add_argument('--minutes', type=float, default=0)
    parser.add_argument('--steps', type=int, default=0)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--batch', type=int, default=16)
    parser.add_argument('--rate', type=float, default=2e-3)
    parser.add_argument('--small', type=float, default=0.7, help='share of the time at 224x224')
    parser.add_argument('--kinds', type=float, default=3, help='weight of telling one class from another')
    parser.add_argument('--start')
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    model = net.Codes().to(memory_format=torch.channels_last)
    if options.start:
        model.load_state_dict(torch.load(options.start))
    average = copy.deepcopy(model)
    optimizer = torch.optim.AdamW(groups(model, 0.03), lr=options.rate, betas=(0.9, 0.99))
    size = multiprocessing.Value('i', 224 if options.small > 0 else 320)
    loader = iter(torch.utils.data.DataLoader(data.Batches(options.sets, options.batch, size, options.seed), batch_size=None, num_workers=1, prefetch_factor=4))
    grids = {s: net.cells(s) for s in (224, 320)}
    pictures, codes = scenes.load(options.validation)
    start, step, sums, checked = time.time(), 0, torch.zeros(4), time.time()
    while True:
        done = step / options.steps if options.steps else (time.time() - start) / 60 / options.minutes
        if done >= 1:
            break
        size.value = 224 if done < options.small else 320
        warm = min(1, (step + 1) / 200)
        rate = options.rate * warm * (0.02 + 0.98 * 0.5 * (1 + torch.cos(torch.tensor(done * 3.14159)).item()))
        for group in optimizer.param_groups:
            group['lr'] = rate
        images, labels, counts, truth = next(loader)
        rows = model(data.to_input(images))
        scores, fit, kind = loss_of(rows, grids[images.shape[1]], labels, counts, truth)
        optimizer.zero_grad(set_to_none=True)
        (scores + 3 * fit + options.kinds * kind).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 10)
        optimizer.step()
        step += 1
        keep = min(0.998, (1 + step) / (20 + step))
        with torch.no_grad():
            for a, b in zip(average.state_dict().values(), model.state_dict().values()):
                if a.dtype.is_floating_point:
                    a.lerp_(b, 1 - keep)
                else:
                    a.copy_(b)
        sums += torch.tensor([scores.item(), fit.item(), kind.item(), 1])
        if step % 100 == 0:
            mean = sums / sums[3]
            print(f'{(time.time() - start) / 60:.1f} min, step {step}, {images.shape[1]}: scores {mean[0]:.3f} boxes {mean[1]:.3f} kinds {mean[2]:.3f} rate {rate:.5f}', flush=True)
            sums.zero_()
        if time.time() - checked > 420:
            checked = time.time()
            torch.save(average.state_dict(), options.out)
            report(average, pictures, codes, 400)
    torch.save(average.state_dict(), options.out)
    print(f'{step} steps of {options.batch}, {(time.time() - start) / 60:.0f} minutes')
    report(average, pictures, codes, None)


def report(model, pictures, codes, limit):
    model.eval()
    with torch.no_grad():
        rows, totals, alarms = evaluate.run(lambda x: model(data.to_input(x)), pictures, codes, limit=limit)
    print('  ' + evaluate.line(evaluate.summary(rows, totals), alarms), flush=True)


if __name__ == '__main__':
    main()
