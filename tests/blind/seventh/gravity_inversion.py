# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Inversion of airborne gravity for the density of a sedimentary basin (3-d grid, line by line, coarse to fine data).

Every sweep takes a batch of flight lines, predicts their vertical pull with a depth-weighted spectral operator, adds a
smoothness prior from a small convolutional network and moves the density cube. Gradients far from the flown lines are
damped with a coverage map, because nothing is known there.
"""
import json
import math
import os
import sys
import time
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class Config:
    layers: int = 6 if SMALL else 24
    side: int = 32 if SMALL else 256
    lines: int = 6 if SMALL else 40
    lines_per_sweep: int = 2 if SMALL else 8
    sweeps: int = 12 if SMALL else 140
    inner_steps: int = 2 if SMALL else 20
    prior_width: int = 8 if SMALL else 96
    spacing: float = 0.25
    prior_weight: float = 0.02
    lr: float = 0.01


class Monitor:
    def __init__(self, sweeps: int):
        self.sweeps = sweeps
        self.done = 0
        self.readings = []
        self.started = time.time()

    def mark(self):
        self.done += 1
        if DEVICE.type == "cuda":
            self.readings.append(torch.cuda.memory_allocated())

    def say(self, misfit: float, rough: float):
        if self.done % max(1, self.sweeps // 10) == 0:
            print(f"sweep {self.done:3d}/{self.sweeps}  misfit {misfit:.5f}  prior {rough:.5f}  {time.time() - self.started:.1f} s")

    def finish(self):
        print("TRUTH " + json.dumps({"allocated": self.readings, "rounds": self.done}), file=sys.stderr)


class GravityOperator(nn.Module):
    """Vertical attraction at the flight height: each layer is continued upwards in the wave-number domain."""

    def __init__(self, cfg: Config):
        super().__init__()
        k = torch.fft.fftfreq(cfg.side, d=cfg.spacing) * 2 * math.pi
        radial = (k.unsqueeze(1).square() + k[: cfg.side // 2 + 1].square().unsqueeze(0)).sqrt()
        depth = 0.3 + 0.2 * torch.arange(cfg.layers)
        self.register_buffer("transfer", torch.exp(-radial.unsqueeze(0) * depth.view(-1, 1, 1)))
        self.side = cfg.side

    def forward(self, density):
        spectrum = torch.fft.rfft2(density) * self.transfer
        return torch.fft.irfft2(spectrum.sum(0), s=(self.side, self.side))


class GeologyPrior(nn.Module):
    """Denoiser that pulls the cube towards layered structures; its weights come from another basin (here: random)."""

    def __init__(self, cfg: Config):
        super().__init__()
        w = cfg.prior_width
        self.net = nn.Sequential(nn.Conv2d(cfg.layers, w, 3, padding=1), nn.SiLU(), nn.Conv2d(w, w, 3, padding=1), nn.SiLU(),
                                 nn.Conv2d(w, cfg.layers, 3, padding=1))
        self.requires_grad_(False)

    def forward(self, density):
        return (self.net(density.unsqueeze(0)).squeeze(0) - density).square().mean()


class Survey:
    """True basin, its gravity and the flight lines."""

    def __init__(self, cfg: Config, operator: GravityOperator):
        self.cfg = cfg
        coarse = torch.randn(1, cfg.layers, 5, 5, device=DEVICE)
        truth = F.interpolate(coarse, size=(cfg.side, cfg.side), mode="bicubic")[0]
        with torch.no_grad():
            field = operator(truth)
        self.observed = field + 0.01 * field.std() * torch.randn_like(field)
        self.offset = torch.rand(cfg.lines, device=DEVICE) * cfg.side
        self.slope = 0.4 * torch.randn(cfg.lines, device=DEVICE)
        axis = torch.arange(cfg.side, device=DEVICE, dtype=torch.float32)
        self.rows, self.columns = torch.meshgrid(axis, axis, indexing="ij")

    def batch(self):
        """Boolean map of the measured cells and the distance to the nearest of the lines."""
        chosen = torch.randperm(self.cfg.lines, device=DEVICE)[: self.cfg.lines_per_sweep]
        distance = torch.full_like(self.rows, float("inf"))
        for offset, slope in zip(self.offset[chosen], self.slope[chosen]):
            distance = torch.minimum(distance, (self.rows - offset - slope * self.columns).abs())
        return distance < 0.75, distance


class Inversion:
    def __init__(self, cfg: Config):
        self.cfg = cfg
        self.operator = GravityOperator(cfg).to(DEVICE)
        self.prior = GeologyPrior(cfg).to(DEVICE)
        self.survey = Survey(cfg, self.operator)
        self.density = nn.Parameter(torch.zeros(cfg.layers, cfg.side, cfg.side, device=DEVICE))
        self.optimizer = torch.optim.Adam([self.density], lr=cfg.lr)

    def focus(self, distance):
        """Damp the update of cells that the present lines do not constrain."""
        reach = 6.0 + 0.05 * self.cfg.side
        coverage = torch.exp(-(distance / reach).square()).clamp(min=0.8)
        self.density.register_hook(lambda grad: grad * coverage)

    def sweep(self):
        measured, distance = self.survey.batch()
        self.focus(distance)
        for _ in range(self.cfg.inner_steps):
            residual = (self.operator(self.density) - self.survey.observed)[measured]
            misfit = residual.square().mean()
            rough = self.prior(self.density)
            self.optimizer.zero_grad(set_to_none=True)
            (misfit + self.cfg.prior_weight * rough).backward()
            self.optimizer.step()
        return misfit.item(), rough.item()


def main():
    torch.manual_seed(9)
    cfg = Config()
    inversion = Inversion(cfg)
    monitor = Monitor(cfg.sweeps)
    print(f"{cfg.layers} layers of {cfg.side} x {cfg.side} cells, {cfg.lines} flight lines")
    for _ in range(cfg.sweeps):
        misfit, rough = inversion.sweep()
        monitor.mark()
        monitor.say(misfit, rough)
    with torch.no_grad():
        contrast = inversion.density.std(dim=(1, 2))
    print("contrast by depth:", " ".join(f"{c:.2f}" for c in contrast[:: max(1, cfg.layers // 6)].tolist()))
    monitor.finish()


if __name__ == "__main__":
    main()
