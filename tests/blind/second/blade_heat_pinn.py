# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Thermal diffusivity of a coated blade from thermocouples: a PINN, first with Adam, then with L-BFGS."""
import json
import math
import os
import sys
import time
from dataclasses import dataclass

import torch
import torch.nn as nn

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class BladeConfig:
    width: int = 16 if SMALL else 768
    depth: int = 3 if SMALL else 8
    collocation: int = 64 if SMALL else 4096
    sensors: int = 16 if SMALL else 1024
    boundary: int = 16 if SMALL else 512
    adam_steps: int = 5 if SMALL else 120
    resample_every: int = 2 if SMALL else 20
    lbfgs_rounds: int = 10 if SMALL else 55
    lbfgs_inner: int = 3 if SMALL else 5
    lbfgs_history: int = 12 if SMALL else 50
    diffusivity: float = 0.12
    adam_lr: float = 5e-4
    logger_latency: float = 0.03
    seed: int = 101


class SineLayer(nn.Module):
    def __init__(self, c_in, c_out, scale):
        super().__init__()
        self.linear, self.scale = nn.Linear(c_in, c_out), scale
        bound = 1 / c_in if scale > 1 else math.sqrt(6 / c_in)
        nn.init.uniform_(self.linear.weight, -bound, bound)

    def forward(self, x):
        return torch.sin(self.scale * self.linear(x))


class TemperatureField(nn.Module):
    """u(t, x, y), and the logarithm of the unknown diffusivity."""

    def __init__(self, cfg):
        super().__init__()
        layers = [SineLayer(3, cfg.width, 4.0)]
        layers += [SineLayer(cfg.width, cfg.width, 1.0) for _ in range(cfg.depth - 2)]
        self.net = nn.Sequential(*layers, nn.Linear(cfg.width, 1))
        self.log_kappa = nn.Parameter(torch.tensor(math.log(0.05)))

    def forward(self, points):
        return self.net(points)


def exact(points, kappa):
    t, x, y = points.unbind(dim=1)
    slow = torch.exp(-2 * math.pi ** 2 * kappa * t) * torch.sin(math.pi * x) * torch.sin(math.pi * y)
    fast = torch.exp(-5 * math.pi ** 2 * kappa * t) * torch.sin(2 * math.pi * x) * torch.sin(math.pi * y)
    return (slow + 0.5 * fast).unsqueeze(1)


class Experiment:
    """Thermocouple readings, the cooled rim, and the points where the heat equation has to hold."""

    def __init__(self, cfg):
        self.cfg = cfg
        self.gen = torch.Generator().manual_seed(cfg.seed)
        self.sensor_points = torch.rand(cfg.sensors, 3, generator=self.gen).to(DEVICE)
        noise = 0.01 * torch.randn(cfg.sensors, 1, generator=self.gen).to(DEVICE)
        self.readings = exact(self.sensor_points, cfg.diffusivity) + noise
        rim = torch.rand(cfg.boundary, 3, generator=self.gen)
        side = torch.randint(0, 2, (cfg.boundary,), generator=self.gen)
        rim[torch.arange(cfg.boundary), 1 + torch.randint(0, 2, (cfg.boundary,), generator=self.gen)] = side.float()
        self.rim_points = rim.to(DEVICE)
        self.resample()

    def resample(self):
        self.interior = torch.rand(self.cfg.collocation, 3, generator=self.gen).to(DEVICE)


def heat_residual(field, points):
    points = points.detach().requires_grad_(True)
    u = field(points)
    first, = torch.autograd.grad(u.sum(), points, create_graph=True)
    u_xx, = torch.autograd.grad(first[:, 1].sum(), points, create_graph=True)
    u_yy, = torch.autograd.grad(first[:, 2].sum(), points, create_graph=True)
    return first[:, 0] - field.log_kappa.exp() * (u_xx[:, 1] + u_yy[:, 2])


def objective(field, experiment):
    data = (field(experiment.sensor_points) - experiment.readings).pow(2).mean()
    rim = field(experiment.rim_points).pow(2).mean()
    physics = heat_residual(field, experiment.interior).pow(2).mean()
    return 10 * data + rim + 0.05 * physics, (data, rim, physics)


def note(log, phase, step, loss, parts, field):
    row = {"phase": phase, "step": step, "loss": float(loss), "kappa": field.log_kappa.exp().item()}
    row.update(zip(("data", "rim", "physics"), (p.item() for p in parts)))
    log.append(row)
    return row


def adam_phase(field, experiment, cfg, log, allocated):
    optimizer = torch.optim.Adam(field.parameters(), lr=cfg.adam_lr)
    for step in range(cfg.adam_steps):
        if step and step % cfg.resample_every == 0:
            experiment.resample()
        loss, parts = objective(field, experiment)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        row = note(log, "adam", step, loss.detach(), parts, field)
        if step % cfg.resample_every == 0:
            print(f"adam  {step:4d} loss {row['loss']:.5f} kappa {row['kappa']:.4f}")
        time.sleep(cfg.logger_latency)
        allocated.append(torch.cuda.memory_allocated())


def lbfgs_phase(field, experiment, cfg, log, allocated):
    optimizer = torch.optim.LBFGS(field.parameters(), lr=1.0, max_iter=cfg.lbfgs_inner, max_eval=4 * cfg.lbfgs_inner,
                                  history_size=cfg.lbfgs_history, tolerance_grad=0.0, tolerance_change=0.0,
                                  line_search_fn="strong_wolfe")
    latest = {}

    def closure():
        optimizer.zero_grad()
        loss, parts = objective(field, experiment)
        loss.backward()
        latest["parts"] = [p.detach() for p in parts]
        return loss

    for step in range(cfg.lbfgs_rounds):
        loss = optimizer.step(closure)
        row = note(log, "lbfgs", step, loss.detach(), latest["parts"], field)
        if step % 5 == 0:
            print(f"lbfgs {step:4d} loss {row['loss']:.6f} kappa {row['kappa']:.4f}")
        time.sleep(cfg.logger_latency)
        allocated.append(torch.cuda.memory_allocated())


def main():
    cfg = BladeConfig()
    torch.manual_seed(cfg.seed)
    experiment, field = Experiment(cfg), TemperatureField(cfg).to(DEVICE)
    print(f"{sum(p.numel() for p in field.parameters()):,} parameters")
    log, allocated = [], []
    adam_phase(field, experiment, cfg, log, allocated)
    experiment.resample()
    lbfgs_phase(field, experiment, cfg, log, allocated)
    error = abs(log[-1]["kappa"] - cfg.diffusivity) / cfg.diffusivity
    print(f"diffusivity {log[-1]['kappa']:.4f}, relative error {100 * error:.1f} %")
    print("TRUTH " + json.dumps({"allocated": allocated, "rounds": len(log),
                                 "peak": torch.cuda.max_memory_allocated()}), file=sys.stderr)


if __name__ == "__main__":
    main()
