# SPDX-License-Identifier: LGPL-2.1-or-later
# How convolutions are trained: a weight matrix steps along its averaged gradient with all singular values made alike (Muon: Jordan
# et al., 2024, five steps of a Newton-Schulz iteration), as far as AdamW would (Liu et al., 2025), so that both take one rate.
import torch


def alike(g, dtype):
    """Matrices (n,rows,columns) with their singular values brought near 1."""
    tall = g.shape[1] > g.shape[2]
    x = g.transpose(1, 2) if tall else g
    x = (x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)).to(dtype)
    for _ in range(5):
        a = x @ x.transpose(1, 2)
        x = 3.4445 * x + (-4.775 * a + 2.0315 * a @ a) @ x
    return (x.transpose(1, 2) if tall else x).float()


class Muon(torch.optim.Optimizer):
    """For weights of convolutions; those of one shape are computed together, in `dtype`."""

    def __init__(self, params, lr, momentum=0.95, weight_decay=0.1, dtype=torch.float32):
        super().__init__(params, {'lr': lr, 'momentum': momentum, 'weight_decay': weight_decay})
        self.dtype = dtype

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            shapes = {}
            for p in group['params']:
                if p.grad is not None:
                    shapes.setdefault(tuple(p.shape), []).append(p)
            for shape, members in shapes.items():
                steps = []
                for p in members:
                    state = self.state[p]
                    if not state:
                        state['mean'] = torch.zeros_like(p)
                    state['mean'].lerp_(p.grad, 1 - group['momentum'])
                    steps.append(torch.lerp(p.grad, state['mean'], group['momentum']).reshape(shape[0], -1))
                steps = alike(torch.stack(steps), self.dtype)
                scale = 0.2 * max(steps.shape[1:]) ** 0.5 * group['lr']
                for p, s in zip(members, steps):
                    p.mul_(1 - group['lr'] * group['weight_decay']).add_(s.reshape(shape), alpha=-scale)
