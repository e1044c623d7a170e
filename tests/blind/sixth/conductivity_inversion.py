# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Recovers a heat conductivity map from temperature measurements.

A plate is heated by a few sources; sensors on a regular raster record the temperature at the end. The forward model is
an explicit finite-difference scheme in PyTorch, the gradient of the misfit comes from autograd through all time steps,
and the logarithm of the conductivity is fitted with L-BFGS and strong Wolfe line search.
"""
import json
import os
import sys
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

SMALL = os.environ.get("SMALL") == "1"


@dataclass
class InversionConfig:
    cells: int = 48 if SMALL else 2048
    time_steps: int = 16 if SMALL else 64
    steps_per_segment: int = 4 if SMALL else 8
    dt: float = 0.1
    sources: int = 2
    sensor_raster: int = 4
    noise: float = 0.002
    smoothness: float = 2e-3
    rounds: int = 20 if SMALL else 64
    remembered_pairs: int = 6 if SMALL else 22
    device: str = "cuda" if torch.cuda.is_available() else "cpu"


class Plate:
    """Explicit scheme for the heat equation with a conductivity that differs from cell to cell."""

    def __init__(self, cfg: InversionConfig):
        self.cfg = cfg

    def _segment(self, temperature, conductivity, heating, steps):
        for _ in range(steps):
            flux_y = 0.5 * (conductivity[1:] + conductivity[:-1]) * temperature.diff(dim=0)
            flux_x = 0.5 * (conductivity[:, 1:] + conductivity[:, :-1]) * temperature.diff(dim=1)
            change = F.pad(flux_y, (0, 0, 0, 1)) - F.pad(flux_y, (0, 0, 1, 0))
            change = change + F.pad(flux_x, (0, 1)) - F.pad(flux_x, (1, 0))
            temperature = temperature + self.cfg.dt * (change + heating)
        return temperature

    def __call__(self, log_conductivity, heating):
        conductivity = log_conductivity.exp()
        temperature = torch.zeros_like(heating)
        for start in range(0, self.cfg.time_steps, self.cfg.steps_per_segment):
            steps = min(self.cfg.steps_per_segment, self.cfg.time_steps - start)
            temperature = checkpoint(self._segment, temperature, conductivity, heating, steps, use_reentrant=False)
        return temperature


class Experiment:
    """Heating patterns and what the sensors recorded."""

    def __init__(self, cfg: InversionConfig, plate: Plate):
        self.cfg = cfg
        generator = torch.Generator(cfg.device).manual_seed(17)
        self.heating = [self._pattern(generator) for _ in range(cfg.sources)]
        hidden = 0.6 * self._pattern(generator) - 0.3
        with torch.no_grad():
            self.records = [self.sense(plate(hidden, heating)) for heating in self.heating]
        for record in self.records:
            record.add_(torch.randn(record.shape, generator=generator, device=record.device), alpha=cfg.noise)

    def _pattern(self, generator):
        count = self.cfg.cells // 8
        blocks = torch.rand(1, 1, count, count, generator=generator, device=self.cfg.device)
        return F.interpolate(blocks, size=(self.cfg.cells, self.cfg.cells), mode="bicubic", align_corners=True)[0, 0]

    def sense(self, temperature):
        return temperature[:: self.cfg.sensor_raster, :: self.cfg.sensor_raster].clone()


class Inversion:
    def __init__(self, cfg: InversionConfig):
        self.cfg = cfg
        self.plate = Plate(cfg)
        self.experiment = Experiment(cfg, self.plate)
        self.model = torch.zeros(cfg.cells, cfg.cells, device=cfg.device, requires_grad=True)
        self.optimizer = torch.optim.LBFGS(
            [self.model], lr=1.0, max_iter=1, max_eval=8, history_size=cfg.remembered_pairs,
            tolerance_grad=0.0, tolerance_change=0.0, line_search_fn="strong_wolfe",
        )
        self.misfits = []

    def _roughness(self):
        return self.model.diff(dim=0).square().sum() + self.model.diff(dim=1).square().sum()

    def closure(self):
        self.optimizer.zero_grad()
        total = self.cfg.smoothness * self._roughness()
        total.backward()
        for heating, record in zip(self.experiment.heating, self.experiment.records):
            misfit = (self.experiment.sense(self.plate(self.model, heating)) - record).square().sum()
            misfit.backward()
            total = total.detach() + misfit.detach()
        return total

    def iterate(self):
        self.misfits.append(float(self.optimizer.step(self.closure)))
        return self.misfits[-1]


def allocated():
    return torch.cuda.memory_allocated() if torch.cuda.is_available() else 0


def main():
    torch.manual_seed(0)
    cfg = InversionConfig()
    sizes = []
    try:
        inversion = Inversion(cfg)
        for number in range(cfg.rounds):
            misfit = inversion.iterate()
            sizes.append(allocated())
            if number % 8 == 0:
                spread = inversion.model.detach().std().item()
                print(f"iteration {number}: misfit {misfit:.4g}, spread of the map {spread:.3f}", flush=True)
    finally:
        print("TRUTH", json.dumps({"allocated": sizes, "rounds": len(sizes)}), file=sys.stderr)


if __name__ == "__main__":
    main()
