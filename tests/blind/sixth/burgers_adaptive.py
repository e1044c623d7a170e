# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Solve the viscous Burgers equation with a physics-informed network and residual-based adaptive sampling.

A pool of candidate collocation points is kept on the device together with one score per point. Each round scores one
window of the pool by its PDE residual, draws training points in proportion to the scores and takes a few Adam steps on
the residual, the initial condition and the boundary. The relative error of the initial condition is printed as it runs.
"""

import json
import math
import os
import sys
import time
from dataclasses import dataclass

import torch
from torch import nn

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class BurgersConfig:
    viscosity: float = 0.01 / math.pi
    hidden: int = 128
    depth: int = 5
    pool_points: int = 65536
    window_points: int = 8192
    batch_points: int = 4096
    edge_points: int = 1024
    rounds: int = 40
    steps_per_round: int = 6
    score_blend: float = 0.7
    sharpness: float = 1.0
    lr: float = 1e-3
    solver_latency: float = 0.2

    @classmethod
    def from_env(cls):
        if os.environ.get("SMALL") == "1":
            return cls(hidden=32, depth=3, pool_points=2048, window_points=512, batch_points=128, edge_points=64,
                       rounds=8, steps_per_round=2, solver_latency=0.0)
        return cls()


class TanhNetwork(nn.Module):
    def __init__(self, hidden, depth):
        super().__init__()
        widths = [2] + [hidden] * depth
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in zip(widths, widths[1:]))
        self.head = nn.Linear(hidden, 1)
        for layer in [*self.layers, self.head]:
            nn.init.xavier_normal_(layer.weight)
            nn.init.zeros_(layer.bias)

    def forward(self, points):
        z = points
        for layer in self.layers:
            z = torch.tanh(layer(z))
        return self.head(z)


class BurgersEquation:
    def __init__(self, viscosity):
        self.viscosity = viscosity

    def residual(self, network, points):
        points = points.detach().requires_grad_(True)
        u = network(points)
        du = torch.autograd.grad(u.sum(), points, create_graph=True)[0]
        u_x, u_t = du[:, 0:1], du[:, 1:2]
        u_xx = torch.autograd.grad(u_x.sum(), points, create_graph=True)[0][:, 0:1]
        return u_t + u * u_x - self.viscosity * u_xx

    def initial_condition(self, x):
        return -torch.sin(math.pi * x)


class CandidatePool(nn.Module):
    def __init__(self, cfg: BurgersConfig):
        super().__init__()
        self.window_points = cfg.window_points
        self.blend = cfg.score_blend
        self.sharpness = cfg.sharpness
        engine = torch.quasirandom.SobolEngine(2, scramble=True, seed=11)
        unit = engine.draw(cfg.pool_points)
        self.register_buffer("points", torch.stack([unit[:, 0] * 2 - 1, unit[:, 1]], dim=1))
        self.register_buffer("scores", torch.ones(cfg.pool_points))
        self.cursor = 0

    def next_window(self):
        start = self.cursor
        self.cursor = (start + self.window_points) % self.points.shape[0]
        return start, self.points.narrow(0, start, self.window_points)

    def record(self, start, residual):
        magnitude = residual.squeeze(-1).abs()
        self.scores.narrow(0, start, self.window_points).lerp_(magnitude, self.blend)
        return magnitude.mean().item()

    @torch.no_grad()
    def draw(self, count):
        weight = self.scores.pow(self.sharpness)
        density = weight / weight.mean() + 1.0
        return self.points[torch.multinomial(density, count)]


class AdaptiveSolver:
    def __init__(self, cfg: BurgersConfig):
        self.cfg = cfg
        self.equation = BurgersEquation(cfg.viscosity)
        self.network = TanhNetwork(cfg.hidden, cfg.depth).to(DEVICE)
        self.pool = CandidatePool(cfg).to(DEVICE)
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=cfg.lr)
        self.scheduler = torch.optim.lr_scheduler.ExponentialLR(self.optimizer, gamma=0.98)

    def refresh_scores(self):
        start, candidates = self.pool.next_window()
        defect = self.equation.residual(self.network, candidates)
        return self.pool.record(start, defect)

    def edge_loss(self):
        n = self.cfg.edge_points
        x = torch.rand(n, 1, device=DEVICE) * 2 - 1
        t = torch.rand(n, 1, device=DEVICE)
        start = self.network(torch.cat([x, torch.zeros_like(x)], dim=1))
        side = torch.where(torch.rand_like(t) < 0.5, -torch.ones_like(t), torch.ones_like(t))
        wall = self.network(torch.cat([side, t], dim=1))
        return (start - self.equation.initial_condition(x)).square().mean() + wall.square().mean()

    def train_step(self):
        batch = self.pool.draw(self.cfg.batch_points)
        interior = self.equation.residual(self.network, batch).square().mean()
        loss = interior + 10.0 * self.edge_loss()
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        return loss.item()

    @torch.no_grad()
    def initial_error(self):
        x = torch.linspace(-1, 1, 257, device=DEVICE).unsqueeze(1)
        target = self.equation.initial_condition(x)
        guess = self.network(torch.cat([x, torch.zeros_like(x)], dim=1))
        return ((guess - target).norm() / target.norm()).item()

    def round(self):
        score = self.refresh_scores()
        losses = [self.train_step() for _ in range(self.cfg.steps_per_round)]
        self.scheduler.step()
        return score, sum(losses) / len(losses)


def main():
    torch.manual_seed(7)
    cfg = BurgersConfig.from_env()
    solver = AdaptiveSolver(cfg)
    allocated = []
    try:
        for index in range(cfg.rounds):
            score, loss = solver.round()
            time.sleep(cfg.solver_latency)
            if index % 5 == 0:
                print(f"round {index:3d}  residual {score:.4f}  loss {loss:.4f}  u0 error {solver.initial_error():.3f}")
            allocated.append(torch.cuda.memory_allocated() if DEVICE.type == "cuda" else 0)
    finally:
        print("TRUTH " + json.dumps({"allocated": allocated, "rounds": len(allocated)}), file=sys.stderr)


if __name__ == "__main__":
    main()
