# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Fits ice flow in the catchments of a glacier, one small physics informed network per catchment, with a
curvature scaled optimiser."""

import json
import os
import sys
import warnings
from dataclasses import dataclass

import torch
from torch import nn

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class FlowConfig:
    catchments: int = 8 if SMALL else 40
    iterations: int = 3 if SMALL else 16
    points: int = 32 if SMALL else 4096
    boundary: int = 16 if SMALL else 512
    width: int = 8 if SMALL else 64
    depth: int = 4
    probes: int = 2
    lr: float = 2e-2
    viscosity: float = 0.7
    seed: int = 21


class FlowNet(nn.Module):
    def __init__(self, width: int, depth: int):
        super().__init__()
        layers = [nn.Linear(2, width), nn.Tanh()]
        for _ in range(depth - 1):
            layers += [nn.Linear(width, width), nn.Tanh()]
        self.body = nn.Sequential(*layers)
        self.head = nn.Linear(width, 1)

    def forward(self, xy):
        return self.head(self.body(xy)).squeeze(-1)


class CurvatureDescent(torch.optim.Optimizer):
    """Adam like steps whose second moment is a Hutchinson estimate of the Hessian diagonal."""

    def __init__(self, params, lr=1e-2, betas=(0.9, 0.99), eps=1e-4, probes=1):
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "probes": probes})

    def estimate(self, params, probes):
        diagonal = [torch.zeros_like(p) for p in params]
        grads = [p.grad for p in params]
        for _ in range(probes):
            signs = [torch.randint_like(p, 0, 2) * 2 - 1 for p in params]
            products = torch.autograd.grad(grads, params, grad_outputs=signs, retain_graph=True)
            for d, h, z in zip(diagonal, products, signs, strict=True):
                d.add_(h * z, alpha=1.0 / probes)
        return diagonal

    def step(self, closure=None):
        for group in self.param_groups:
            params = [p for p in group["params"] if p.grad is not None]
            diagonal = self.estimate(params, group["probes"])
            with torch.no_grad():
                for p, d in zip(params, diagonal, strict=True):
                    self.update(p, p.grad, d, group)

    def update(self, p, grad, curvature, group):
        state = self.state[p]
        if not state:
            state["count"] = 0
            state["mean"] = torch.zeros_like(p)
            state["scale"] = torch.zeros_like(p)
        b1, b2 = group["betas"]
        state["count"] += 1
        state["mean"].mul_(b1).add_(grad.detach(), alpha=1 - b1)
        state["scale"].mul_(b2).addcmul_(curvature, curvature, value=1 - b2)
        mean = state["mean"] / (1 - b1 ** state["count"])
        scale = (state["scale"] / (1 - b2 ** state["count"])).sqrt()
        p.sub_((group["lr"] * mean / (scale + group["eps"])).clamp(-0.02, 0.02))


@dataclass
class Catchment:
    interior: torch.Tensor
    rim: torch.Tensor
    slope: float
    drag: float

    @classmethod
    def sample(cls, cfg: FlowConfig, generator):
        interior = torch.rand(cfg.points, 2, generator=generator)
        angle = torch.rand(cfg.boundary, generator=generator) * 2 * torch.pi
        rim = 0.5 + 0.5 * torch.stack([angle.cos(), angle.sin()], dim=-1)
        slope, drag = torch.rand(2, generator=generator).tolist()
        return cls(interior.to(DEVICE), rim.to(DEVICE), 0.5 + slope, 0.1 + drag)


def residual(net: FlowNet, area: Catchment, cfg: FlowConfig):
    """Diffusion of speed down the slope, with linear basal drag."""
    xy = area.interior.clone().requires_grad_(True)
    speed = net(xy)
    (first,) = torch.autograd.grad(speed.sum(), xy, create_graph=True)
    laplacian = 0.0
    for axis in range(2):
        (second,) = torch.autograd.grad(first[:, axis].sum(), xy, create_graph=True)
        laplacian = laplacian + second[:, axis]
    return cfg.viscosity * laplacian - area.drag * speed + area.slope


def fit(area: Catchment, cfg: FlowConfig):
    net = FlowNet(cfg.width, cfg.depth).to(DEVICE)
    weights = list(net.parameters())
    optimiser = CurvatureDescent(weights, lr=cfg.lr, probes=cfg.probes)
    for _ in range(cfg.iterations):
        optimiser.zero_grad()
        physics = residual(net, area, cfg).square().mean()
        rim = net(area.rim).square().mean()
        loss = physics + 5.0 * rim
        loss.backward(create_graph=True, inputs=weights)
        optimiser.step()
    return net, loss.item()


@torch.no_grad()
def discharge(net: FlowNet, area: Catchment):
    """Mean speed through the outlet, the lowest strip of the catchment."""
    outlet = area.interior[area.interior[:, 1] < 0.1]
    return net(outlet).mean().item()


def main():
    warnings.filterwarnings("ignore", category=UserWarning)
    cfg = FlowConfig()
    torch.manual_seed(cfg.seed)
    generator = torch.Generator().manual_seed(cfg.seed)
    table = []
    allocated = []
    try:
        for number in range(cfg.catchments):
            area = Catchment.sample(cfg, generator)
            net, loss = fit(area, cfg)
            table.append((number, loss, discharge(net, area)))
            del net, area
            allocated.append(torch.cuda.memory_allocated() if DEVICE.type == "cuda" else 0)
            if number % 8 == 0:
                print(f"catchment {number}: loss {loss:.4f}, discharge {table[-1][2]:.4f}")
        worst = max(table, key=lambda row: row[1])
        print(f"{len(table)} catchments, worst fit in catchment {worst[0]} with loss {worst[1]:.4f}")
    finally:
        print("TRUTH " + json.dumps({"allocated": allocated, "rounds": len(allocated)}), file=sys.stderr)


if __name__ == "__main__":
    main()
