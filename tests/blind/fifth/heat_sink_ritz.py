# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Deep Ritz solver for the steady temperature field of a finned heat sink, with randomly drawn quadrature points."""

import json
import math
import os
import sys
from dataclasses import dataclass

import torch
from torch import nn

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class SolverConfig:
    interior_points: int = 4096 if SMALL else 1 << 20
    base_points: int = 512 if SMALL else 1 << 15
    hidden: int = 16 if SMALL else 96
    depth: int = 3
    frequencies: int = 4 if SMALL else 12
    steps: int = 12 if SMALL else 240
    learning_rate: float = 2e-3
    conductivity_base: float = 1.0
    conductivity_fin: float = 4.0
    base_temperature: float = 1.0
    boundary_weight: float = 50.0
    film_coefficient: float = 0.3
    report_every: int = 40
    seed: int = 11


class FourierFeatures(nn.Module):
    """Maps coordinates to sines and cosines of fixed random frequencies."""

    def __init__(self, dims: int, count: int, scale: float = 1.5):
        super().__init__()
        self.register_buffer("matrix", torch.randn(dims, count) * scale)

    @property
    def width(self) -> int:
        return 2 * self.matrix.shape[1]

    def forward(self, x):
        phase = x @ self.matrix
        return torch.cat([phase.sin(), phase.cos()], dim=-1)


class TemperatureNet(nn.Module):
    def __init__(self, cfg: SolverConfig):
        super().__init__()
        self.features = FourierFeatures(3, cfg.frequencies)
        layers: list[nn.Module] = [nn.Linear(self.features.width, cfg.hidden), nn.Tanh()]
        for _ in range(cfg.depth - 1):
            layers += [nn.Linear(cfg.hidden, cfg.hidden), nn.Tanh()]
        layers.append(nn.Linear(cfg.hidden, 1))
        self.body = nn.Sequential(*layers)

    def forward(self, x):
        return self.body(self.features(x)).squeeze(-1)


class HeatSinkDomain:
    """Unit box: a solid base below z = 0.25 and five parallel fins above it."""

    def __init__(self, cfg: SolverConfig, device: torch.device):
        self.cfg = cfg
        self.device = device
        self.generator = torch.Generator(device=device).manual_seed(cfg.seed)

    def interior(self) -> torch.Tensor:
        return torch.rand(self.cfg.interior_points, 3, device=self.device, generator=self.generator)

    def base(self) -> torch.Tensor:
        points = torch.rand(self.cfg.base_points, 3, device=self.device, generator=self.generator)
        points[:, 2] = 0.0
        return points

    def conductivity(self, x: torch.Tensor) -> torch.Tensor:
        in_fin = (torch.sin(10.0 * math.pi * x[:, 0]) > 0) & (x[:, 2] > 0.25)
        return torch.where(in_fin, self.cfg.conductivity_fin, self.cfg.conductivity_base)

    def film(self, x: torch.Tensor) -> torch.Tensor:
        return self.cfg.film_coefficient * x[:, 2].square()


class RitzSolver:
    """Minimizes the variational energy of the heat equation over fresh samples of the domain."""

    def __init__(self, cfg: SolverConfig, device: torch.device):
        self.cfg = cfg
        self.domain = HeatSinkDomain(cfg, device)
        self.net = TemperatureNet(cfg).to(device)
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=cfg.learning_rate)
        self.scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(self.optimizer, T_max=cfg.steps)

    def temperature_and_gradient(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        x.requires_grad_(True)
        temperature = self.net(x)
        temperature.sum().backward(create_graph=True)
        gradient = x.grad
        # Only the coordinate derivative is wanted from this pass.
        self.optimizer.zero_grad(set_to_none=True)
        return temperature, gradient

    def energy(self, x: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            conductivity = self.domain.conductivity(x)
            film = self.domain.film(x)
        temperature, gradient = self.temperature_and_gradient(x)
        conduction = 0.5 * conductivity * gradient.square().sum(dim=-1)
        convection = 0.5 * film * temperature.square()
        return (conduction + convection).mean()

    def base_penalty(self) -> torch.Tensor:
        return (self.net(self.domain.base()) - self.cfg.base_temperature).square().mean()

    def step(self) -> dict[str, float]:
        energy = self.energy(self.domain.interior())
        penalty = self.base_penalty()
        loss = energy + self.cfg.boundary_weight * penalty
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self.scheduler.step()
        return {"energy": energy.item(), "penalty": penalty.item()}

    @torch.no_grad()
    def fin_tip_temperature(self, resolution: int = 32) -> float:
        axis = torch.linspace(0.0, 1.0, resolution, device=self.domain.device)
        xs, ys = torch.meshgrid(axis, axis, indexing="ij")
        tip = torch.stack([xs.flatten(), ys.flatten(), torch.ones_like(xs).flatten()], dim=-1)
        return self.net(tip).mean().item()


def main() -> None:
    cfg = SolverConfig()
    torch.manual_seed(cfg.seed)
    allocated: list[int] = []
    try:
        solver = RitzSolver(cfg, DEVICE)
        for step in range(cfg.steps):
            metrics = solver.step()
            allocated.append(torch.cuda.memory_allocated())
            if (step + 1) % cfg.report_every == 0:
                tip = solver.fin_tip_temperature()
                print(
                    f"step {step + 1:4d}  energy {metrics['energy']:.4f}  "
                    f"base penalty {metrics['penalty']:.5f}  fin tip {tip:.3f}"
                )
        print(f"final fin tip temperature {solver.fin_tip_temperature():.3f}")
    finally:
        print("TRUTH " + json.dumps({"allocated": allocated, "rounds": len(allocated)}), file=sys.stderr)


if __name__ == "__main__":
    main()
