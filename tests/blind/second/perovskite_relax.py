# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Fit a small conservative interatomic potential, then relax a rattled perovskite supercell with damped dynamics."""
import json
import math
import os
import sys
import time
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class RelaxConfig:
    cells: int = 2 if SMALL else 7
    neighbours: int = 6 if SMALL else 16
    hidden: int = 8 if SMALL else 32
    basis: int = 12
    blocks: int = 2
    cutoff: float = 6.0
    lattice: float = 3.95
    fit_steps: int = 3 if SMALL else 25
    relax_steps: int = 6 if SMALL else 90
    neighbour_refresh: int = 5
    timestep: float = 0.05
    damping: float = 0.92
    max_step: float = 0.04
    writer_latency: float = 0.12
    seed: int = 5


def supercell(cfg, gen):
    """ABX3: corner, body centre and three face centres, repeated, with thermal displacements."""
    motif = torch.tensor([[0, 0, 0], [.5, .5, .5], [.5, .5, 0], [.5, 0, .5], [0, .5, .5]])
    kinds = torch.tensor([0, 1, 2, 2, 2])
    shifts = torch.cartesian_prod(*[torch.arange(cfg.cells, dtype=torch.float32)] * 3)
    positions = ((shifts[:, None] + motif[None]).reshape(-1, 3)) * cfg.lattice
    positions = positions + 0.12 * torch.randn(positions.shape, generator=gen)
    return positions.to(DEVICE), kinds.repeat(len(shifts)).to(DEVICE)


@torch.no_grad()
def neighbour_table(positions, cfg):
    distances = torch.cdist(positions, positions)
    distances.fill_diagonal_(float("inf"))
    near = distances.topk(cfg.neighbours, largest=False).indices
    centre = torch.arange(len(positions), device=positions.device).repeat_interleave(cfg.neighbours)
    return centre, near.reshape(-1)


class Interaction(nn.Module):
    def __init__(self, hidden, basis):
        super().__init__()
        self.filter = nn.Sequential(nn.Linear(basis, hidden), nn.SiLU(), nn.Linear(hidden, hidden))
        self.update = nn.Sequential(nn.Linear(hidden, hidden), nn.SiLU(), nn.Linear(hidden, hidden))

    def forward(self, h, rbf, envelope, centre, other):
        message = h[other] * self.filter(rbf) * envelope
        pooled = torch.zeros_like(h).index_add(0, centre, message)
        return h + self.update(pooled)


class ConservativePotential(nn.Module):
    """Energy network; forces are the negative gradient of the energy."""

    def __init__(self, cfg, species=3):
        super().__init__()
        self.cutoff = cfg.cutoff
        self.embed = nn.Embedding(species, cfg.hidden)
        self.register_buffer("centres", torch.linspace(0.5, cfg.cutoff, cfg.basis))
        self.blocks = nn.ModuleList(Interaction(cfg.hidden, cfg.basis) for _ in range(cfg.blocks))
        self.readout = nn.Sequential(nn.Linear(cfg.hidden, cfg.hidden), nn.SiLU(), nn.Linear(cfg.hidden, 1))

    def forward(self, positions, kinds, table):
        positions.requires_grad_(True)
        centre, other = table
        distance = (positions[centre] - positions[other]).pow(2).sum(-1).add(1e-6).sqrt().unsqueeze(-1)
        rbf = torch.exp(-4.0 * (distance - self.centres) ** 2)
        envelope = 0.5 * (torch.cos(math.pi * distance / self.cutoff) + 1) * (distance < self.cutoff)
        h = self.embed(kinds)
        for block in self.blocks:
            h = block(h, rbf, envelope, centre, other)
        energy = self.readout(h).sum()
        forces = -torch.autograd.grad(energy, positions, create_graph=self.training)[0]
        return energy, forces


def reference_forces(positions, table, cfg):
    """Pairwise springs about the ideal bond, standing in for the DFT labels."""
    centre, other = table
    delta = positions[centre] - positions[other]
    length = delta.norm(dim=-1, keepdim=True).clamp(min=0.5)
    pair = -(length - cfg.lattice / 2) * delta / length
    return torch.zeros_like(positions).index_add_(0, centre, pair) / cfg.neighbours


def fit(model, kinds, base, cfg, gen):
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    model.train()
    for step in range(cfg.fit_steps):
        rattled = base + 0.08 * torch.randn(base.shape, generator=gen).to(DEVICE)
        table = neighbour_table(rattled, cfg)
        energy, forces = model(rattled, kinds, table)
        loss = F.mse_loss(forces, reference_forces(rattled.detach(), table, cfg)) + 1e-6 * energy.pow(2)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 8 == 0:
            print(f"fit {step:3d} loss {loss.item():.5f}")


class DampedDynamics:
    def __init__(self, model, positions, kinds, cfg):
        self.model, self.kinds, self.cfg = model, kinds, cfg
        self.positions = positions
        self.velocity = torch.zeros_like(positions)
        self.masses = torch.tensor([137.3, 47.9, 16.0], device=positions.device)[kinds].unsqueeze(-1) / 16.0
        self.table = neighbour_table(positions, cfg)
        self.iteration = 0

    def step(self):
        cfg = self.cfg
        if self.iteration and self.iteration % cfg.neighbour_refresh == 0:
            self.table = neighbour_table(self.positions, cfg)
        energy, forces = self.model(self.positions, self.kinds, self.table)
        self.velocity = cfg.damping * self.velocity + cfg.timestep * forces / self.masses
        shift = (cfg.timestep * self.velocity).clamp(-cfg.max_step, cfg.max_step)
        self.positions = (self.positions + shift).detach()
        self.iteration += 1
        return energy.item(), forces.abs().max().item()


def main():
    cfg = RelaxConfig()
    torch.manual_seed(cfg.seed)
    gen = torch.Generator().manual_seed(cfg.seed)
    positions, kinds = supercell(cfg, gen)
    model = ConservativePotential(cfg).to(DEVICE)
    fit(model, kinds, positions, cfg, gen)

    dynamics = DampedDynamics(model, positions.clone(), kinds, cfg)
    trajectory, log, allocated = [], [], []
    for step in range(cfg.relax_steps):
        energy, fmax = dynamics.step()
        log.append((energy, fmax))
        if step % 10 == 0:
            trajectory.append(dynamics.positions.cpu())
            print(f"relax {step:3d} energy {energy:10.4f} fmax {fmax:.4f}")
        time.sleep(cfg.writer_latency)
        allocated.append(torch.cuda.memory_allocated())

    drift = (trajectory[-1] - trajectory[0]).norm(dim=-1).mean().item()
    print(f"final energy {log[-1][0]:.4f}, {len(trajectory)} frames, mean displacement {drift:.4f}")
    print("TRUTH " + json.dumps({"allocated": allocated, "rounds": cfg.relax_steps,
                                 "peak": torch.cuda.max_memory_allocated()}), file=sys.stderr)


if __name__ == "__main__":
    main()
