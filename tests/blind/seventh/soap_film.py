# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Minimal surfaces over wire frames (form finding for membrane roofs) with a neural height field.

The area of the membrane is minimised by the deep Ritz method: L-BFGS with a strong-Wolfe line search on a fixed
quadrature, after a short Adam phase. Double precision, full batch.
"""
import json
import math
import os
import sys
import time
from dataclasses import dataclass

import torch
from torch import nn

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.set_default_dtype(torch.float64)


@dataclass
class Membrane:
    nodes: int = 12 if SMALL else 128
    edge: int = 50 if SMALL else 1000
    width: int = 12 if SMALL else 256
    layers: int = 4
    warmup: int = 5 if SMALL else 60
    rounds: int = 10 if SMALL else 90
    inner: int = 4
    memory: int = 16 if SMALL else 120
    prestress: float = 0.05
    stiffness: float = 400.0
    report: int = 2 if SMALL else 10


class Sine(nn.Module):
    def forward(self, x):
        return torch.sin(x)


class HeightField(nn.Module):
    def __init__(self, cfg: Membrane):
        super().__init__()
        blocks, last = [], 2
        for _ in range(cfg.layers):
            blocks += [nn.Linear(last, cfg.width), Sine()]
            last = cfg.width
        self.net = nn.Sequential(*blocks, nn.Linear(last, 1))
        with torch.no_grad():
            self.net[0].weight.mul_(4.0)

    def forward(self, xy):
        return self.net(xy)[:, 0]


class Frame:
    """The wire: a closed saddle-like curve over the unit disc."""

    def __init__(self, waves=3, rise=0.35):
        self.waves, self.rise = waves, rise

    def height(self, angle):
        return self.rise * torch.cos(self.waves * angle) + 0.05 * torch.sin(angle)

    def points(self, count):
        angle = torch.linspace(0, 2 * math.pi, count + 1, device=DEVICE)[:-1]
        return torch.stack([angle.cos(), angle.sin()], dim=1), self.height(angle)


class Quadrature:
    """Polar tensor grid over the disc with its weights."""

    def __init__(self, nodes):
        radius = (torch.arange(nodes, device=DEVICE) + 0.5) / nodes
        angle = 2 * math.pi * (torch.arange(nodes, device=DEVICE) + 0.5) / nodes
        r, a = torch.meshgrid(radius, angle, indexing="ij")
        self.xy = torch.stack([r * a.cos(), r * a.sin()], dim=-1).view(-1, 2)
        self.weight = (r * (1.0 / nodes) * (2 * math.pi / nodes)).reshape(-1)


class FormFinding:
    def __init__(self, cfg: Membrane):
        self.cfg = cfg
        self.surface = HeightField(cfg).to(DEVICE)
        self.rule = Quadrature(cfg.nodes)
        self.wire, self.wire_height = Frame().points(cfg.edge)
        self.evaluations = 0
        self.allocated = []

    def energy(self):
        xy = self.rule.xy.detach().requires_grad_(True)
        height = self.surface(xy)
        slope, = torch.autograd.grad(height.sum(), xy, create_graph=True)
        area = ((1.0 + slope.square().sum(1)).sqrt() * self.rule.weight).sum()
        sag = (height.square() * self.rule.weight).sum()
        gap = (self.surface(self.wire) - self.wire_height).square().mean()
        return area + self.cfg.prestress * sag + self.cfg.stiffness * gap, area, gap

    def warm_up(self):
        optimizer = torch.optim.Adam(self.surface.parameters(), lr=1e-3)
        for _ in range(self.cfg.warmup):
            optimizer.zero_grad(set_to_none=True)
            loss, _, _ = self.energy()
            loss.backward()
            optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    def polish(self):
        cfg = self.cfg
        optimizer = torch.optim.LBFGS(self.surface.parameters(), lr=1.0, max_iter=cfg.inner, history_size=cfg.memory,
                                      tolerance_grad=1e-13, tolerance_change=1e-15, line_search_fn="strong_wolfe")
        report = {}

        def closure():
            optimizer.zero_grad(set_to_none=True)
            loss, area, gap = self.energy()
            loss.backward()
            self.evaluations += 1
            report.update(loss=loss.item(), area=area.item(), gap=gap.item())
            return loss

        begin = time.time()
        for number in range(1, cfg.rounds + 1):
            optimizer.step(closure)
            self.sample()
            if number % cfg.report == 0:
                pairs = len(optimizer.state[optimizer._params[0]]["old_dirs"])
                print(f"round {number:3d}: area {report['area']:.5f} gap {report['gap']:.2e} "
                      f"pairs {pairs} evaluations {self.evaluations} ({time.time() - begin:.1f} s)", flush=True)
        return report

    def sample(self):
        if DEVICE.type == "cuda":
            self.allocated.append(torch.cuda.memory_allocated())

    @torch.no_grad()
    def mean_height(self):
        return (self.surface(self.rule.xy) * self.rule.weight).sum().item() / math.pi


def main():
    torch.manual_seed(12)
    cfg = Membrane()
    finding = FormFinding(cfg)
    finding.warm_up()
    report = finding.polish()
    print(f"area {report['area']:.6f} (disc {math.pi:.6f}), mean height {finding.mean_height():+.5f}")
    print("TRUTH " + json.dumps({"allocated": finding.allocated, "rounds": cfg.rounds}), file=sys.stderr)


if __name__ == "__main__":
    main()
