# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Where should the drone sniff next? Adaptive survey of a drifting methane plume with a Gaussian process.

The process sees the latest readings only (the plume drifts), is refitted for a few steps after every flight and proposes
the next way-points by Thompson sampling on a grid of the site.
"""
import json
import math
import os
import sys
import time
from dataclasses import dataclass

import gpytorch
import torch

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class Config:
    grid: int = 12 if SMALL else 28
    window: int = 40 if SMALL else 384
    waypoints: int = 4 if SMALL else 16
    flights: int = 8 if SMALL else 90
    fit_steps: int = 3 if SMALL else 15
    warm_fit_steps: int = 5 if SMALL else 60
    noise: float = 0.05
    lr: float = 0.05


@dataclass
class Flight:
    """What the report needs to know of one flight."""
    number: int
    waypoints: list
    strongest: float
    length_scale: float
    forecast: gpytorch.distributions.MultivariateNormal


class Plume:
    """Two Gaussian puffs that drift over the unit square."""

    def __init__(self, noise: float):
        self.noise = noise
        self.t = 0

    def advance(self):
        self.t += 1

    def measure(self, where: torch.Tensor) -> torch.Tensor:
        a = self.t / 25.0
        centres = torch.tensor([[0.5 + 0.3 * math.cos(a), 0.5 + 0.3 * math.sin(a)], [0.3 + 0.004 * self.t % 0.5, 0.7]],
                               device=where.device)
        field = torch.exp(-30 * torch.cdist(where, centres).square()).sum(1)
        return field + self.noise * torch.randn_like(field)


class ConcentrationGP(gpytorch.models.ExactGP):
    def __init__(self, x, y, likelihood):
        super().__init__(x, y, likelihood)
        self.mean_module = gpytorch.means.ConstantMean()
        self.covar_module = gpytorch.kernels.ScaleKernel(gpytorch.kernels.MaternKernel(nu=2.5, ard_num_dims=2))

    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))


class Surveyor:
    def __init__(self, cfg: Config, x, y):
        self.cfg = cfg
        axis = torch.linspace(0, 1, cfg.grid, device=DEVICE)
        self.site = torch.cartesian_prod(axis, axis)
        self.x, self.y = x, y
        self.likelihood = gpytorch.likelihoods.GaussianLikelihood().to(DEVICE)
        self.model = ConcentrationGP(x, y, self.likelihood).to(DEVICE)
        self.mll = gpytorch.mlls.ExactMarginalLogLikelihood(self.likelihood, self.model)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=cfg.lr)

    def fit(self, steps: int) -> float:
        self.model.train()
        self.likelihood.train()
        for _ in range(steps):
            self.optimizer.zero_grad()
            loss = -self.mll(self.model(self.x), self.y)
            loss.backward()
            self.optimizer.step()
        return loss.item()

    @torch.no_grad()
    def propose(self):
        """Draw plausible concentration maps; each sends the drone to its maximum."""
        self.model.eval()
        self.likelihood.eval()
        forecast = self.model(self.site)
        maps = forecast.sample(torch.Size([self.cfg.waypoints]))
        return self.site[maps.argmax(dim=1)], forecast

    def include(self, where, readings):
        self.x = torch.cat([self.x, where])[-self.cfg.window:]
        self.y = torch.cat([self.y, readings])[-self.cfg.window:]
        self.model.set_train_data(self.x, self.y, strict=False)


class Campaign:
    def __init__(self, cfg: Config):
        self.cfg = cfg
        self.plume = Plume(cfg.noise)
        x = torch.rand(cfg.window, 2, device=DEVICE)
        self.surveyor = Surveyor(cfg, x, self.plume.measure(x))
        self.flights: list[Flight] = []
        self.allocated = []
        self.started = time.time()

    def fly(self):
        self.plume.advance()
        loss = self.surveyor.fit(self.cfg.fit_steps)
        where, forecast = self.surveyor.propose()
        readings = self.plume.measure(where)
        self.surveyor.include(where, readings)
        scale = self.surveyor.model.covar_module.base_kernel.lengthscale.mean().item()
        self.flights.append(Flight(number=len(self.flights) + 1, waypoints=where.tolist(), strongest=readings.max().item(),
                                   length_scale=scale, forecast=forecast))
        self.mark()
        return loss

    def mark(self):
        if DEVICE.type == "cuda":
            self.allocated.append(torch.cuda.memory_allocated())

    def run(self):
        self.surveyor.fit(self.cfg.warm_fit_steps)
        for number in range(1, self.cfg.flights + 1):
            loss = self.fly()
            if number % max(1, self.cfg.flights // 9) == 0:
                last = self.flights[-1]
                print(f"flight {number:3d}  nll {loss:.3f}  strongest {last.strongest:.2f}  scale {last.length_scale:.3f}  "
                      f"{time.time() - self.started:.1f} s")

    def report(self):
        ranked = sorted(self.flights, key=lambda f: f.strongest, reverse=True)
        for flight in ranked[:3]:
            surprise = flight.strongest - flight.forecast.mean.max().item()
            print(f"flight {flight.number}: reading {flight.strongest:.2f}, {surprise:+.2f} against the forecast's maximum")
        print("TRUTH " + json.dumps({"allocated": self.allocated, "rounds": len(self.flights)}), file=sys.stderr)


def main():
    torch.manual_seed(4)
    torch.set_default_dtype(torch.float64)
    campaign = Campaign(Config())
    campaign.run()
    campaign.report()


if __name__ == "__main__":
    main()
