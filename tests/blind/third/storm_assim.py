# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Variational data assimilation of a storm track ensemble: one analysis per six-hour window."""
import json
import math
import os
import sys
import time
from dataclasses import dataclass

import torch
import torch.nn.functional as F

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class AssimConfig:
    members: int = 2 if SMALL else 16
    levels: int = 4 if SMALL else 8
    nlat: int = 16 if SMALL else 192
    nlon: int = 32 if SMALL else 384
    windows: int = 8 if SMALL else 40
    model_steps: int = 3
    newton_steps: int = 2
    dt: float = 0.2
    nu: float = 0.05
    obs_fraction: float = 0.15
    obs_error: float = 0.2
    background_error: float = 0.6
    archive_latency: float = 0.0 if SMALL else 0.3
    seed: int = 1979


class Dynamics:
    """Advection by a jet, diffusion, and a weak nonlinear source of vorticity."""

    def __init__(self, cfg):
        self.cfg = cfg
        lat = torch.linspace(-math.pi / 2, math.pi / 2, cfg.nlat, device=DEVICE)
        self.jet = (torch.sin(2 * lat) ** 2).view(1, 1, -1, 1)

    def tendency(self, q):
        east = (torch.roll(q, -1, dims=3) - torch.roll(q, 1, dims=3)) * 0.5
        lap = (torch.roll(q, 1, dims=3) + torch.roll(q, -1, dims=3) + torch.roll(q, 1, dims=2)
               + torch.roll(q, -1, dims=2) - 4 * q)
        return self.cfg.nu * lap - self.jet * east + 0.1 * torch.tanh(q)

    def run(self, q, steps):
        for _ in range(steps):
            q = q + self.cfg.dt * self.tendency(q)
        return q


class ObservationArchive:
    """Satellite soundings of a hidden truth run, with a fresh swath mask for every window."""

    def __init__(self, cfg, dynamics):
        self.cfg = cfg
        self.dynamics = dynamics
        self.gen = torch.Generator().manual_seed(cfg.seed)
        noise = torch.randn(1, cfg.levels, cfg.nlat // 8, cfg.nlon // 8, generator=self.gen)
        self.truth = F.interpolate(noise, size=(cfg.nlat, cfg.nlon), mode="bicubic").to(DEVICE)

    def next_window(self):
        cfg = self.cfg
        time.sleep(cfg.archive_latency)
        self.truth = self.dynamics.run(self.truth, cfg.model_steps)
        swath = (torch.rand(1, 1, cfg.nlat, cfg.nlon, generator=self.gen) < cfg.obs_fraction).float().to(DEVICE)
        error = torch.randn(1, cfg.levels, cfg.nlat, cfg.nlon, generator=self.gen).to(DEVICE)
        return self.truth + cfg.obs_error * error, swath


class Analysis:
    """Incremental 4D-Var with an exact line search along the preconditioned gradient."""

    def __init__(self, cfg, dynamics):
        self.cfg = cfg
        self.dynamics = dynamics

    def cost(self, increment, background, obs, swath):
        cfg = self.cfg
        forecast = self.dynamics.run(background + increment, cfg.model_steps)
        departure = (forecast - obs) * swath / cfg.obs_error
        penalty = increment / cfg.background_error
        return 0.5 * (departure ** 2).sum() + 0.5 * (penalty ** 2).sum()

    def solve(self, background, obs, swath):
        cfg = self.cfg
        increment = torch.zeros_like(background, requires_grad=True)
        history = []
        for _ in range(cfg.newton_steps):
            increment.grad = None
            cost = self.cost(increment, background, obs, swath)
            cost.backward(create_graph=True)
            slope = increment.grad
            direction = -slope.detach() * cfg.background_error ** 2
            curvature, = torch.autograd.grad((slope * direction).sum(), increment)
            num = (slope.detach() * direction).sum()
            den = (direction * curvature).sum().clamp(min=1e-6)
            with torch.no_grad():
                increment -= (num / den) * direction
            history.append(cost.item())
        return (background + increment).detach(), history


def cycle(cfg):
    torch.manual_seed(cfg.seed)
    dynamics = Dynamics(cfg)
    archive = ObservationArchive(cfg, dynamics)
    solver = Analysis(cfg, dynamics)
    ensemble = archive.truth + cfg.background_error * torch.randn(
        cfg.members, cfg.levels, cfg.nlat, cfg.nlon, device=DEVICE)
    allocated = []
    for window in range(cfg.windows):
        obs, swath = archive.next_window()
        with torch.no_grad():
            background = dynamics.run(ensemble, cfg.model_steps)
        ensemble, history = solver.solve(background, obs, swath)
        rmse = (ensemble.mean(0) - archive.truth[0]).pow(2).mean().sqrt().item()
        spread = ensemble.std(0).mean().item()
        print(f"window {window:3d}  J {history[0]:.4e} -> {history[-1]:.4e}  rmse {rmse:.4f}  spread {spread:.4f}")
        allocated.append(torch.cuda.memory_allocated())

    print("TRUTH " + json.dumps({"allocated": allocated, "rounds": cfg.windows}), file=sys.stderr)
    return rmse


if __name__ == "__main__":
    print(f"final analysis rmse {cycle(AssimConfig()):.4f}")
