# SPDX-License-Identifier: LGPL-2.1-or-later
# Trains net.py on sets of scenes.
#   train.py SETS(pattern) VALIDATION OUT.pt [--minutes N | --steps N] [--start WEIGHTS.pt]
# First at 224x224, then at 320x320, in bfloat16 where the CPU has it; on a GPU when there is one, else each core has a part of
# every batch, for which it draws the views, too, and gradients are averaged. The cells around the middle of a code are asked for
# it, at the strides that suit its size; the loss is binary cross entropy, cross entropy between classes where there is a
# code, and complete IoU. No mosaics towards the end (Ge et al., YOLOX, 2021). Averaged weights are what is kept. Every few minutes
# all that training goes on with is in OUT.pt.resume, and at the end; the same command goes on from there, or is done.
import argparse
import copy
import math
import os
import time

import torch
import torch.multiprocessing as multiprocessing
import torch.nn.functional as F

import data
import evaluate
import muon
import net
import scenes

RANGES = {8: (0, 64), 16: (48, 144), 32: (104, 1e9)}    # longer sides in pixels that a stride is asked for


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
def assign(grid, labels, counts, truth):
    """For each cell the number of its code or -1, and whether it is asked at all: (n, cells) both."""
    stride = grid[:, 2]
    centres = (grid[:, :2] + 0.5) * grid[:, 2:]
    known = labels >= 0
    middle, half = (truth[..., :2] + truth[..., 2:]) / 2, (truth[..., 2:] - truth[..., :2]) / 2
    long = 2 * half.amax(2)[:, :, None]
    low, high = (torch.tensor([RANGES[int(s)][i] for s in stride], device=stride.device) for i in (0, 1))
    apart = (centres - middle[:, :, None]).abs()
    near = (apart < torch.minimum(half[:, :, None] * 0.9, 1.5 * stride[:, None]).maximum(0.75 * stride[:, None])).all(-1)
    own = near & (long > low) & (long <= high) & (known & counts)[..., None]
    owner = torch.where(own, (half[..., 0] * half[..., 1])[..., None], 1e9).argmin(1)
    owner = owner.masked_fill(~own.any(1), -1)
    # Codes that do not count are neither wanted nor wrong. Everything else is: a cell that were left out would show its code
    # with a box that nobody taught it.
    aside = inside(centres, truth) & (known & ~counts)[..., None]
    return owner, (owner >= 0) | ~aside.any(1)


def loss_of(rows, grid, labels, counts, truth):
    owner, asked = assign(grid, labels, counts, truth)
    positive = owner >= 0
    logits, total = rows[..., 4:], positive.sum().clamp(min=8)
    own_label = labels.gather(1, owner.clamp(min=0))
    target = F.one_hot(own_label.clamp(min=0), logits.shape[2]) * positive[..., None]
    scores = (F.binary_cross_entropy_with_logits(logits, target.float(), reduction='none') * asked[..., None]).sum() / total
    if not positive.any():
        return scores, rows.sum() * 0, rows.sum() * 0
    wanted = truth.gather(1, owner.clamp(min=0)[..., None].expand(-1, -1, 4))[positive]
    fit = (1 - pair_iou(net.boxes_of(rows, grid)[positive], wanted, True)).sum() / total
    kind = F.cross_entropy(logits[positive], own_label[positive], reduction='none').sum() / total
    return scores, fit, kind


def has_bfloat16():
    """Whether the CPU multiplies bfloat16 itself; otherwise it only costs time."""
    with open('/proc/cpuinfo') as file:
        return 'avx512_bf16' in file.read()


class Team:
    """The processes that train one model: the mean of their gradients, the same for all."""

    def __init__(self, members, size):
        self.members = members
        self.barrier = multiprocessing.get_context('spawn').Barrier(members)
        self.parts = torch.zeros(members, size).share_memory_()
        self.progress = torch.zeros(1, dtype=torch.float64).share_memory_()

    def average(self, rank, parameters, done):
        """Gradients of @parameters become the team's means; returns the first member's @done."""
        if self.members == 1:
            return done
        flat = torch.cat([p.grad.reshape(-1) for p in parameters])
        self.parts[rank].copy_(flat)
        if rank == 0:
            self.progress[0] = done
        self.barrier.wait()
        mean, told = self.parts.mean(0), self.progress.item()
        self.barrier.wait()
        for p, part in zip(parameters, mean.split([p.numel() for p in parameters])):
            p.grad.copy_(part.view_as(p))
        return told


class Optimizer:
    """Muon for convolutions; AdamW for biases, for normalisation and for the rows of the output."""

    def __init__(self, model, rate, dtype):
        dense = [p for n, p in model.named_parameters() if p.ndim > 1 and 'row' not in n]
        rest = [p for n, p in model.named_parameters() if p.ndim <= 1 or 'row' in n]
        self.parts = [muon.Muon(dense, rate, dtype=dtype), torch.optim.AdamW(rest, lr=rate, betas=(0.9, 0.99), weight_decay=0)]

    def step(self, rate):
        for part in self.parts:
            for group in part.param_groups:
                group['lr'] = rate
            part.step()


class Checkpoint:
    """What an interrupted training goes on with: weights, averaged weights, the optimizer's means, the clock."""

    def __init__(self, options):
        self.path, self.options = options.out + '.resume', vars(options)

    def check(self):
        """Ends the program when the file is none, or of a training with other options."""
        if not os.path.exists(self.path):
            return
        try:
            kept = torch.load(self.path, map_location='cpu')['options']
        except Exception as error:
            raise SystemExit(f'{self.path}: not a checkpoint ({error}); remove it to begin anew')
        names = [n for n in {**kept, **self.options} if kept.get(n) != self.options.get(n)]
        if names:
            said = ', '.join(f'{n} {kept.get(n)} instead of {self.options.get(n)}' for n in names)
            raise SystemExit(f'{self.path}: of a training with other options: {said}; remove it to begin anew')

    def load(self, model, average, optimizer, device):
        """(seconds, steps) that are done; 0, 0 without a file."""
        if not os.path.exists(self.path):
            return 0, 0
        kept = torch.load(self.path, map_location=device)
        model.load_state_dict(kept['model'])
        average.load_state_dict(kept['average'])
        for part, state in zip(optimizer.parts, kept['optimizer']):
            part.load_state_dict(state)
        return kept['seconds'], kept['step']

    def save(self, model, average, optimizer, seconds, step):
        torch.save({'options': self.options, 'model': model.state_dict(), 'average': average.state_dict(),
                    'optimizer': [part.state_dict() for part in optimizer.parts], 'seconds': seconds, 'step': step}, self.path + '.new')
        os.replace(self.path + '.new', self.path)


def draw(options, rank, members, size, mosaics, device, step):
    """Endless batches of this member's share, others after `step` than at the beginning; for a GPU the cores draw them."""
    views = data.Batches(options.sets, options.batch // members, size, mosaics, options.seed + 1000 * rank + 100003 * step)
    if device == 'cpu':
        return iter(views)
    return iter(torch.utils.data.DataLoader(views, batch_size=None, num_workers=os.cpu_count(), prefetch_factor=4))


def train(rank, team, options):
    device = 'cuda' if torch.cuda.is_available() else 'cpu'
    dtype = torch.bfloat16 if device == 'cuda' or has_bfloat16() else torch.float32
    torch.set_num_threads(1)
    torch.manual_seed(options.seed)
    model = net.Codes().to(device, memory_format=torch.channels_last)
    if options.start:
        net.grow(model, torch.load(options.start, map_location=device))
    average, parameters = copy.deepcopy(model), list(model.parameters())
    optimizer = Optimizer(model, options.rate, dtype)
    size = multiprocessing.Value('i', 224 if options.small > 0 else 320)
    mosaics = multiprocessing.Value('d', options.mosaics)
    grids = {s: net.cells(s).to(device) for s in (224, 320)}
    checkpoint = Checkpoint(options)
    seconds, step = checkpoint.load(model, average, optimizer, device)
    batches = draw(options, rank, team.members, size, mosaics, device, step)
    if step and rank == 0:
        print(f'{checkpoint.path}: goes on after {seconds / 60:.1f} min, step {step}', flush=True)
    start, sums, checked, kept = time.time() - seconds, torch.zeros(4), time.time(), time.time()
    done = step / options.steps if options.steps else seconds / 60 / options.minutes
    while done < 1:
        size.value = 224 if done < options.small else 320
        mosaics.value = options.mosaics if done < 0.8 else 0
        rate = options.rate * min(1, (step + 1) / options.warm) * (0.02 + 0.98 * 0.5 * (1 + math.cos(done * math.pi)))
        images, labels, counts, truth = (x.to(device) for x in next(batches))
        with torch.autocast(device, dtype=torch.bfloat16, enabled=dtype == torch.bfloat16):
            rows = model(data.to_input(images))
        scores, fit, kind = loss_of(rows, grids[images.shape[1]], labels, counts, truth)
        model.zero_grad(set_to_none=True)
        (scores + 2 * fit + options.kinds * kind).backward()
        step += 1
        done = team.average(rank, parameters, step / options.steps if options.steps else (time.time() - start) / 60 / options.minutes)
        torch.nn.utils.clip_grad_norm_(parameters, 10)
        optimizer.step(rate)
        if rank > 0:
            continue
        follow(average, model, min(0.998, (1 + step) / (20 + step)))
        sums += torch.tensor([scores.item(), fit.item(), kind.item(), 1])
        if step % 100 == 0:
            mean = sums / sums[3]
            print(f'{(time.time() - start) / 60:.1f} min, step {step}, {images.shape[1]}: scores {mean[0]:.3f} boxes {mean[1]:.3f} kinds {mean[2]:.3f} rate {rate:.5f}', flush=True)
            sums.zero_()
        if time.time() - kept > options.keep * 60:
            kept = time.time()
            checkpoint.save(model, average, optimizer, time.time() - start, step)
        if time.time() - checked > 600:
            checked = time.time()
            torch.save(average.state_dict(), options.out)
            report(average, options.validation, 400)
    if rank == 0:
        checkpoint.save(model, average, optimizer, time.time() - start, step)
        torch.save(average.cpu().state_dict(), options.out)
        print(f'{step} steps of {options.batch}, {(time.time() - start) / 60:.0f} minutes')
        report(average, options.validation, None)


@torch.no_grad()
def follow(average, model, keep):
    for a, b in zip(average.state_dict().values(), model.state_dict().values()):
        if a.dtype.is_floating_point:
            a.lerp_(b, 1 - keep)
        else:
            a.copy_(b)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('sets')
    parser.add_argument('validation')
    parser.add_argument('out')
    parser.add_argument('--minutes', type=float, default=0)
    parser.add_argument('--steps', type=int, default=0)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--batch', type=int, default=32)
    parser.add_argument('--rate', type=float, default=2e-3)
    parser.add_argument('--warm', type=int, default=200, help='steps until the rate is reached')
    parser.add_argument('--small', type=float, default=0.4, help='share of the time at 224x224')
    parser.add_argument('--mosaics', type=float, default=0.3, help='share of views made of four scenes, until the last fifth of the time')
    parser.add_argument('--kinds', type=float, default=1, help='weight of telling one class from another')
    parser.add_argument('--start')
    parser.add_argument('--keep', type=float, default=3, help='minutes from one checkpoint to the next')
    options = parser.parse_args()
    if not options.minutes and not options.steps:
        parser.error('how long? --minutes or --steps')
    Checkpoint(options).check()
    # Each normalises over its own part of a batch, which must not be too small for that.
    members = 1 if torch.cuda.is_available() else min(os.cpu_count(), max(1, options.batch // 8))
    team = Team(members, sum(p.numel() for p in net.Codes().parameters()))
    multiprocessing.spawn(train, (team, options), members)


def report(model, validation, limit):
    device = next(model.parameters()).device
    pictures, codes = scenes.load(validation)
    model.eval()
    with torch.no_grad():
        rows, totals, alarms = evaluate.run(lambda x: model(data.to_input(x.to(device))).cpu(), pictures, codes, limit=limit)
    print('  ' + evaluate.line(evaluate.summary(rows, totals), alarms), flush=True)


if __name__ == '__main__':
    main()
