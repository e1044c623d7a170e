# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Relaxes a batch of disordered alloy cells with a neural pair potential and a batched L-BFGS minimiser."""

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
class RelaxConfig:
    cells: int = 4 if SMALL else 512
    atoms: int = 12 if SMALL else 128
    neighbours: int = 4 if SMALL else 24
    radial: int = 8 if SMALL else 24
    hidden: int = 8 if SMALL else 64
    memory: int = 6
    steps: int = 14 if SMALL else 240
    fit_steps: int = 8 if SMALL else 1200
    max_step: float = 0.05
    box: float = 9.0
    force_tol: float = 1e-6
    seed: int = 4


class PairPotential(nn.Module):
    """Species aware pair energies on a fixed neighbour list, expanded in Gaussians."""

    def __init__(self, cfg: RelaxConfig, species: int = 3):
        super().__init__()
        self.box = cfg.box
        self.register_buffer("centres", torch.linspace(0.8, 4.5, cfg.radial))
        self.kind = nn.Embedding(species, cfg.radial)
        self.mlp = nn.Sequential(nn.Linear(cfg.radial, cfg.hidden), nn.SiLU(), nn.Linear(cfg.hidden, 1))

    def energy(self, positions, kinds, neighbours):
        cells, atoms, k = neighbours.shape
        index = neighbours.reshape(cells, atoms * k, 1).expand(-1, -1, 3)
        other = positions.gather(1, index).view(cells, atoms, k, 3)
        delta = positions.unsqueeze(2) - other
        delta = delta - self.box * torch.round(delta.detach() / self.box)
        dist = (delta.square().sum(-1) + 1e-6).sqrt()
        radial = torch.exp(-4.0 * (dist.unsqueeze(-1) - self.centres).square())
        mixed = radial * torch.sigmoid(self.kind(kinds)).unsqueeze(2)
        core = torch.exp(-3.0 * (dist - 1.0))
        return (self.mlp(mixed).squeeze(-1) + core).sum(dim=(1, 2))

    def forward(self, positions, kinds, neighbours):
        if not positions.requires_grad:
            positions.requires_grad_(True)
        energy = self.energy(positions, kinds, neighbours)
        (gradient,) = torch.autograd.grad(energy.sum(), positions)
        return energy.detach(), -gradient


@dataclass
class RelaxState:
    positions: torch.Tensor
    forces: torch.Tensor
    energy: torch.Tensor
    s_history: torch.Tensor
    y_history: torch.Tensor
    iteration: int = 0


def dot(a, b):
    return (a * b).sum(dim=(-1, -2), keepdim=True)


class LBFGSMinimiser:
    def __init__(self, potential: PairPotential, cfg: RelaxConfig):
        self.potential = potential
        self.cfg = cfg

    def init(self, positions, kinds, neighbours) -> RelaxState:
        energy, forces = self.potential(positions, kinds, neighbours)
        empty = positions.new_zeros(positions.shape[0], 0, *positions.shape[1:])
        return RelaxState(positions, forces, energy, empty, empty.clone())

    def direction(self, state: RelaxState):
        q = -state.forces
        count = state.s_history.shape[1]
        coefficients = []
        for i in reversed(range(count)):
            s, y = state.s_history[:, i], state.y_history[:, i]
            rho = 1.0 / dot(s, y).clamp_min(1e-8)
            alpha = rho * dot(s, q)
            q = q - alpha * y
            coefficients.append((s, y, rho, alpha))
        if count:
            s, y = state.s_history[:, -1], state.y_history[:, -1]
            q = q * (dot(s, y) / dot(y, y).clamp_min(1e-8)).clamp(1e-3, 1.0)
        else:
            q = 0.02 * q
        for s, y, rho, alpha in reversed(coefficients):
            beta = rho * dot(y, q)
            q = q + s * (alpha - beta)
        return -q

    def step(self, state: RelaxState, kinds, neighbours) -> RelaxState:
        move = self.direction(state)
        length = move.norm(dim=-1, keepdim=True).amax(dim=1, keepdim=True)
        move = move * (self.cfg.max_step / length.clamp_min(self.cfg.max_step))
        positions = state.positions + move
        energy, forces = self.potential(positions, kinds, neighbours)
        s_new = positions - state.positions
        y_new = state.forces - forces
        keep = self.cfg.memory
        state.s_history = torch.cat([state.s_history, s_new.unsqueeze(1)], dim=1)[:, -keep:]
        state.y_history = torch.cat([state.y_history, y_new.unsqueeze(1)], dim=1)[:, -keep:]
        state.positions, state.forces, state.energy = positions, forces, energy
        state.iteration += 1
        return state


def build_cells(cfg: RelaxConfig):
    gen = torch.Generator().manual_seed(cfg.seed)
    side = math.ceil(cfg.atoms ** (1 / 3))
    axis = torch.arange(side, dtype=torch.float32) * (cfg.box / side)
    lattice = torch.cartesian_prod(axis, axis, axis)[: cfg.atoms]
    positions = lattice + 0.15 * torch.randn(cfg.cells, cfg.atoms, 3, generator=gen)
    kinds = torch.randint(0, 3, (cfg.cells, cfg.atoms), generator=gen)
    gap = lattice.unsqueeze(0) - lattice.unsqueeze(1)
    gap = gap - cfg.box * torch.round(gap / cfg.box)
    nearest = gap.norm(dim=-1).fill_diagonal_(1e6).topk(cfg.neighbours, largest=False).indices
    neighbours = nearest.unsqueeze(0).expand(cfg.cells, -1, -1).contiguous()
    return positions.to(DEVICE), kinds.to(DEVICE), neighbours.to(DEVICE)


def pretrain(potential: PairPotential, batch, cfg: RelaxConfig):
    """Fits a reference curve first, so that the pair energies are not random."""
    positions, kinds, neighbours = batch
    opt = torch.optim.Adam(potential.parameters(), lr=2e-3)
    for _ in range(cfg.fit_steps):
        shaken = positions + 0.1 * torch.randn_like(positions)
        target = -0.4 * shaken.square().mean(dim=(1, 2))
        loss = (potential.energy(shaken, kinds, neighbours) / cfg.atoms - target).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    opt.zero_grad()
    potential.requires_grad_(False)


def main():
    cfg = RelaxConfig()
    torch.manual_seed(cfg.seed)
    batch = build_cells(cfg)
    potential = PairPotential(cfg).to(DEVICE)
    pretrain(potential, batch, cfg)
    positions, kinds, neighbours = batch
    minimiser = LBFGSMinimiser(potential, cfg)
    allocated = []
    try:
        state = minimiser.init(positions.clone(), kinds, neighbours)
        while state.iteration < cfg.steps:
            state = minimiser.step(state, kinds, neighbours)
            force = state.forces.norm(dim=-1).amax().item()
            allocated.append(torch.cuda.memory_allocated() if DEVICE.type == "cuda" else 0)
            if state.iteration % 40 == 0:
                print(f"step {state.iteration}: energy {state.energy.mean().item():.4f}, largest force {force:.4f}")
            if force < cfg.force_tol:
                break
    finally:
        print("TRUTH " + json.dumps({"allocated": allocated, "rounds": len(allocated)}), file=sys.stderr)


if __name__ == "__main__":
    main()
