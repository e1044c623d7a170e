# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Mesh study: how many independent catalyst patterns can be told apart from the product field of a plate reactor?"""
import json
import math
import os
import sys
import time
from dataclasses import dataclass

import torch
from torch.func import jacrev

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class StudyConfig:
    meshes: tuple = (8, 10, 12) if SMALL else (32, 48, 64, 80, 96, 128)
    designs: int = 2 if SMALL else 4
    time_steps: int = 6 if SMALL else 12
    diffusivity: float = 0.12
    feed: float = 0.8
    order: float = 1.5
    noise: float = 1e-3
    modes: int = 12
    card_gib: float = 6.0
    setup_time: float = 0.02 if SMALL else 0.5
    seed: int = 19


class PlateReactor:
    """Explicit diffusion-reaction on a square plate; the catalyst loading of every cell is the parameter."""

    def __init__(self, mesh, cfg):
        self.mesh = mesh
        self.cfg = cfg
        edge = torch.linspace(0, 1, mesh, device=DEVICE)
        self.inflow = (1 - edge).view(1, mesh).expand(mesh, mesh)

    def laplacian(self, c):
        return (c.roll(1, 0) + c.roll(-1, 0) + c.roll(1, 1) + c.roll(-1, 1)) - 4 * c

    def product(self, loading):
        cfg = self.cfg
        dt = 1.0 / cfg.time_steps
        loading = loading.view(self.mesh, self.mesh)
        reactant, product = self.inflow.clone(), torch.zeros_like(self.inflow)
        for _ in range(cfg.time_steps):
            rate = loading * torch.tanh(reactant) ** cfg.order / (1 + product)
            reactant = reactant + cfg.diffusivity * self.laplacian(reactant) + dt * (cfg.feed * self.inflow - rate)
            product = product + cfg.diffusivity * self.laplacian(product) + dt * rate
        return product.reshape(-1)


def random_loading(mesh, gen):
    """Smooth random pattern with mean one."""
    axis = torch.linspace(0, math.pi, mesh)
    waves = torch.stack([torch.cos(k * axis) for k in range(5)])
    coefficient = torch.randn(5, 5, generator=gen) / (1 + torch.arange(5).view(5, 1) + torch.arange(5))
    pattern = torch.exp(0.4 * waves.T @ coefficient @ waves)
    return (pattern / pattern.mean()).reshape(-1).to(DEVICE)


def leading_modes(jacobian, count, iterations=4):
    """Largest singular values by subspace iteration."""
    basis = torch.randn(jacobian.shape[1], count, device=jacobian.device)
    for _ in range(iterations):
        basis, _ = torch.linalg.qr(jacobian.T @ (jacobian @ basis))
    return torch.linalg.svdvals(jacobian @ basis)


def information(singular_values, noise):
    return 0.5 * torch.log1p((singular_values / noise).square()).sum().item()


class MeshStudy:
    def __init__(self, cfg):
        self.cfg = cfg
        self.rows = []
        self.allocated = []

    def run_mesh(self, mesh):
        cfg = self.cfg
        reactor = PlateReactor(mesh, cfg)
        gen = torch.Generator().manual_seed(cfg.seed)
        gains, conversions = [], []
        for _ in range(cfg.designs):
            time.sleep(cfg.setup_time)
            loading = random_loading(mesh, gen)
            sensitivity = jacrev(reactor.product)(loading)
            values = leading_modes(sensitivity, min(cfg.modes, mesh))
            del sensitivity
            gains.append(information(values, cfg.noise))
            conversions.append(reactor.product(loading).mean().item())
            self.allocated.append(torch.cuda.memory_allocated())
        row = {"mesh": mesh, "information": sum(gains) / len(gains), "conversion": sum(conversions) / len(conversions)}
        self.rows.append(row)
        print(json.dumps({key: round(value, 4) for key, value in row.items()}))

    def order_of_convergence(self):
        last = [row["conversion"] for row in self.rows[-3:]]
        if len(last) < 3 or last[2] == last[1]:
            return float("nan")
        return math.log(abs((last[1] - last[0]) / (last[2] - last[1])) + 1e-12, 2)

    def run(self):
        for mesh in self.cfg.meshes:
            self.run_mesh(mesh)
        print(f"observed order {self.order_of_convergence():.2f}")


def main():
    cfg = StudyConfig()
    torch.manual_seed(cfg.seed)
    if DEVICE.type == "cuda":
        torch.cuda.set_per_process_memory_fraction(cfg.card_gib * 2**30 / torch.cuda.mem_get_info()[1])
    study = MeshStudy(cfg)
    try:
        study.run()
    finally:
        print("TRUTH " + json.dumps({"allocated": study.allocated, "rounds": len(study.allocated)}), file=sys.stderr)


if __name__ == "__main__":
    main()
