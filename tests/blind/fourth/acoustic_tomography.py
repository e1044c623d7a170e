# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Ocean acoustic tomography: recovers a map of sound speed from travel times by Gauss-Newton, from a coarse grid
to a fine one."""

import json
import os
import sys
from dataclasses import dataclass

import torch
from torch.func import jacrev

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class Level:
    grid: int
    rays: int
    samples: int
    iterations: int


@dataclass
class SurveyConfig:
    noise: float = 2e-4
    damping: float = 1e-2
    smooth: float = 5e-2
    budget_gib: float = 12.0
    seed: int = 17


def plan():
    if SMALL:
        return [Level(4, 10, 8, 4), Level(6, 16, 8, 4), Level(8, 24, 12, 3)]
    return [Level(16, 200, 48, 120), Level(32, 500, 64, 500), Level(48, 1200, 96, 40)]


def true_speed(points):
    """Sound speed anomaly of a warm eddy beside a front, in units of 0.2 km/s."""
    x, y = points[..., 0], points[..., 1]
    eddy = torch.exp(-((x - 0.4).square() + (y - 0.6).square()) / 0.02)
    front = torch.tanh(8.0 * (y - 0.3 - 0.2 * x))
    return 0.6 * eddy + 0.3 * front


class RayBundle:
    """Straight rays between moorings on the rim of the basin, sampled at equal distances."""

    def __init__(self, level: Level, generator):
        start, end = self.moorings(level.rays, generator), self.moorings(level.rays, generator)
        along = ((torch.arange(level.samples) + 0.5) / level.samples).view(1, -1, 1)
        points = start.unsqueeze(1) * (1 - along) + end.unsqueeze(1) * along
        self.points = points.to(DEVICE)
        self.spacing = ((end - start).norm(dim=-1) / level.samples).to(DEVICE)
        self.shape = (level.rays, level.samples)

    @staticmethod
    def moorings(count, generator):
        angle = torch.rand(count, generator=generator) * 2 * torch.pi
        return 0.5 + 0.5 * torch.stack([angle.cos(), angle.sin()], dim=-1)

    def times(self, anomaly):
        return (self.spacing.unsqueeze(-1) / (1.5 + 0.2 * torch.tanh(anomaly))).sum(-1)


class GridModel:
    """Anomaly as a sum of Gaussian bumps on a square grid; the bumps are separable in the two axes."""

    def __init__(self, size: int):
        self.size = size
        self.centres = torch.linspace(0.0, 1.0, size, device=DEVICE)
        self.width = 1.2 / size

    def bumps(self, coordinate):
        scaled = (coordinate.unsqueeze(-1) - self.centres) / self.width
        basis = torch.exp(-0.5 * scaled.square())
        return basis / basis.sum(-1, keepdim=True)

    def basis(self, rays: RayBundle):
        flat = rays.points.flatten(0, 1)
        return self.bumps(flat[:, 0]), self.bumps(flat[:, 1])

    def refine(self, coarse_values, coarse):
        bump = coarse.bumps(self.centres)
        return (bump @ coarse_values.view(coarse.size, coarse.size) @ bump.t()).flatten()


def roughness(size):
    difference = torch.zeros(size - 1, size, device=DEVICE)
    index = torch.arange(size - 1, device=DEVICE)
    difference[index, index], difference[index, index + 1] = -1.0, 1.0
    gram = difference.t() @ difference
    eye = torch.eye(size, device=DEVICE)
    return torch.kron(gram, eye) + torch.kron(eye, gram)


class GaussNewton:
    def __init__(self, grid: GridModel, rays: RayBundle, observed, cfg: SurveyConfig):
        self.grid, self.rays, self.observed, self.cfg = grid, rays, observed, cfg
        self.basis_x, self.basis_y = grid.basis(rays)
        self.prior = cfg.smooth * roughness(grid.size)
        self.prior.diagonal().add_(cfg.damping)

    def residual(self, values):
        field = values.view(self.grid.size, self.grid.size)
        anomaly = ((self.basis_x @ field) * self.basis_y).sum(-1)
        return (self.rays.times(anomaly.view(self.rays.shape)) - self.observed) / self.cfg.noise

    def step(self, values):
        r = self.residual(values)
        jac = jacrev(self.residual)(values)
        normal = jac.t() @ jac / r.numel() + self.prior
        rhs = jac.t() @ r / r.numel() + self.prior @ values
        update = torch.linalg.solve(normal, rhs)
        return values - 0.5 * update, r.square().mean().item()


def observe(rays: RayBundle, cfg: SurveyConfig):
    clean = rays.times(true_speed(rays.points))
    return clean + cfg.noise * torch.randn_like(clean)


def invert(level: Level, start, cfg: SurveyConfig, generator, allocated):
    rays = RayBundle(level, generator)
    grid = GridModel(level.grid)
    values = torch.zeros(level.grid**2, device=DEVICE) if start is None else grid.refine(start[0], start[1])
    solver = GaussNewton(grid, rays, observe(rays, cfg), cfg)
    misfit = float("inf")
    for _ in range(level.iterations):
        values, misfit = solver.step(values)
        allocated.append(torch.cuda.memory_allocated() if DEVICE.type == "cuda" else 0)
    print(f"grid {level.grid}: misfit {misfit:.3f} from {level.rays} rays")
    return values, grid


def main():
    cfg = SurveyConfig()
    torch.manual_seed(cfg.seed)
    generator = torch.Generator().manual_seed(cfg.seed)
    if DEVICE.type == "cuda":
        total = torch.cuda.get_device_properties(0).total_memory
        torch.cuda.set_per_process_memory_fraction(min(1.0, cfg.budget_gib * 2**30 / total))
    best = None
    allocated = []
    try:
        for level in plan():
            best = invert(level, best, cfg, generator, allocated)
    except torch.OutOfMemoryError as error:
        print(f"stopped at grid {best[1].size if best else 0}: {str(error).splitlines()[0]}")
    finally:
        print("TRUTH " + json.dumps({"allocated": allocated, "rounds": len(allocated)}), file=sys.stderr)
    print(f"largest anomaly on the last map: {best[0].abs().max().item():.3f}")


if __name__ == "__main__":
    main()
