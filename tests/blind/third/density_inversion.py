# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Gravity inversion: fit a density cube to surface data with L-BFGS, then bootstrap the anomaly volumes."""
import json
import math
import os
import sys
import time
from dataclasses import dataclass

import torch

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class SurveyConfig:
    side: int = 24 if SMALL else 256
    layers: int = 8 if SMALL else 128
    spacing: float = 50.0
    stages: int = 4 if SMALL else 7
    iterations_per_stage: int = 4 if SMALL else 8
    memory: int = 10 if SMALL else 45
    roughness: float = 2e-3
    damping: float = 1e-4
    noise: float = 0.02
    replicas: int = 6 if SMALL else 54
    replica_steps: int = 3
    evaluation_time: float = 0.0 if SMALL else 0.1
    replica_time: float = 0.0 if SMALL else 0.11
    cutoff: float = 0.25
    seed: int = 2


class GravityOperator:
    """Vertical gravity of a layered cube, evaluated layer by layer in the wave number domain."""

    def __init__(self, cfg):
        self.cfg = cfg
        kx = torch.fft.rfftfreq(cfg.side, d=cfg.spacing, device=DEVICE)
        ky = torch.fft.fftfreq(cfg.side, d=cfg.spacing, device=DEVICE)
        wave_number = 2 * math.pi * (ky[:, None] ** 2 + kx[None, :] ** 2).sqrt()
        depth = (torch.arange(cfg.layers, device=DEVICE) + 1.0) * cfg.spacing / 4
        self.weights = torch.exp(-wave_number * depth.view(-1, 1, 1)) / cfg.layers ** 0.5

    def forward(self, density):
        spectrum = (torch.fft.rfft2(density) * self.weights).sum(dim=0)
        return torch.fft.irfft2(spectrum, s=(self.cfg.side, self.cfg.side))

    def adjoint(self, field):
        return torch.fft.irfft2(torch.fft.rfft2(field) * self.weights, s=(self.cfg.side, self.cfg.side))


def synthetic_survey(operator, cfg):
    gen = torch.Generator().manual_seed(cfg.seed)
    z, y, x = torch.meshgrid(*[torch.linspace(0, 1, n, device=DEVICE) for n in (cfg.layers, cfg.side, cfg.side)],
                             indexing="ij")
    truth = torch.zeros_like(z)
    for _ in range(5):
        cz, cy, cx, radius = torch.rand(4, generator=gen).tolist()
        distance = (z - 0.6 * cz) ** 2 + (y - cy) ** 2 + (x - cx) ** 2
        truth += torch.exp(-distance / (0.01 + 0.02 * radius))
    data = operator.forward(truth)
    noise = torch.randn(data.shape, generator=gen).to(DEVICE) * data.std() * cfg.noise
    return data + noise, noise.std().item()


class Inversion:
    def __init__(self, operator, data, cfg):
        self.cfg = cfg
        self.operator = operator
        self.data = data
        self.density = torch.zeros(cfg.layers, cfg.side, cfg.side, device=DEVICE, requires_grad=True)
        self.optimizer = torch.optim.LBFGS([self.density], max_iter=cfg.iterations_per_stage,
                                           history_size=cfg.memory, tolerance_grad=0.0, tolerance_change=0.0,
                                           line_search_fn="strong_wolfe")
        self.evaluations = 0

    def objective(self):
        misfit = (self.operator.forward(self.density) - self.data).square().sum()
        rough = sum(self.density.diff(dim=axis).square().sum() for axis in range(3))
        return misfit + self.cfg.roughness * rough + self.cfg.damping * self.density.square().sum()

    def closure(self):
        time.sleep(self.cfg.evaluation_time)
        self.evaluations += 1
        self.optimizer.zero_grad()
        value = self.objective()
        value.backward()
        return value

    def fit_stage(self):
        return float(self.optimizer.step(self.closure))


class Bootstrap:
    """Refits noise replicas with a few Landweber steps around the solution and gathers volume statistics."""

    def __init__(self, inversion, sigma, cfg):
        self.inversion = inversion
        self.sigma = sigma
        self.cfg = cfg
        self.gen = torch.Generator(device=DEVICE).manual_seed(cfg.seed + 1)
        self.volumes = []

    @torch.no_grad()
    def replica(self):
        cfg, operator = self.cfg, self.inversion.operator
        time.sleep(cfg.replica_time)
        data = self.inversion.data + self.sigma * torch.randn(self.inversion.data.shape, generator=self.gen, device=DEVICE)
        density = self.inversion.density.clone()
        for _ in range(cfg.replica_steps):
            density += 0.3 * operator.adjoint(data - operator.forward(density))
        threshold = cfg.cutoff * density.max()
        self.volumes.append((density > threshold).sum().item() * (cfg.spacing / 100) ** 3)

    def interval(self):
        ordered = sorted(self.volumes)
        return ordered[len(ordered) // 20], ordered[-1 - len(ordered) // 20]


def main():
    cfg = SurveyConfig()
    operator = GravityOperator(cfg)
    data, sigma = synthetic_survey(operator, cfg)
    inversion = Inversion(operator, data, cfg)
    allocated = []

    for stage in range(cfg.stages):
        value = inversion.fit_stage()
        print(f"stage {stage}: objective {value:12.5f} after {inversion.evaluations} evaluations")
        allocated.append(torch.cuda.memory_allocated())

    bootstrap = Bootstrap(inversion, sigma, cfg)
    for number in range(cfg.replicas):
        bootstrap.replica()
        if number % 15 == 14:
            low, high = bootstrap.interval()
            print(f"replica {number + 1}: anomaly volume between {low:.3f} and {high:.3f}")
        allocated.append(torch.cuda.memory_allocated())
    print("TRUTH " + json.dumps({"allocated": allocated, "rounds": cfg.replicas}), file=sys.stderr)


if __name__ == "__main__":
    main()
