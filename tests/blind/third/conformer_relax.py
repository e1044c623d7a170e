# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Relaxes batches of molecular conformers with a graph neural potential and a batched L-BFGS optimizer."""
import json
import os
import sys
import time
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch_geometric.data import Batch, Data
from torch_geometric.nn import MessagePassing, global_add_pool

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class RelaxConfig:
    conformers: int = 6 if SMALL else 4096
    atoms: int = 12 if SMALL else 64
    neighbours: int = 4 if SMALL else 8
    width: int = 8 if SMALL else 32
    layers: int = 2
    cutoff: float = 4.0
    history: int = 6
    steps: int = 14 if SMALL else 150
    max_move: float = 0.04
    report_every: int = 10
    io_latency: float = 0.08
    seed: int = 41


class RadialMessage(MessagePassing):
    def __init__(self, width, basis):
        super().__init__(aggr="add")
        self.filter = nn.Sequential(nn.Linear(basis, width), nn.SiLU(), nn.Linear(width, width))
        self.update_net = nn.Sequential(nn.Linear(width, width), nn.SiLU(), nn.Linear(width, width))

    def forward(self, h, edge_index, radial):
        return h + self.update_net(self.propagate(edge_index, h=h, weight=self.filter(radial)))

    def message(self, h_j, weight):
        return h_j * weight


class Potential(nn.Module):
    """Invariant message passing potential with a pair repulsion that keeps atoms apart."""

    def __init__(self, cfg, basis=12):
        super().__init__()
        self.cutoff = cfg.cutoff
        self.register_buffer("centres", torch.linspace(0.4, cfg.cutoff, basis))
        self.species = nn.Embedding(8, cfg.width)
        self.layers = nn.ModuleList([RadialMessage(cfg.width, basis) for _ in range(cfg.layers)])
        self.readout = nn.Sequential(nn.Linear(cfg.width, cfg.width), nn.SiLU(), nn.Linear(cfg.width, 1))

    def forward(self, z, pos, edge_index, batch, graphs):
        src, dst = edge_index
        distance = (pos[src] - pos[dst]).square().sum(dim=1).add(1e-6).sqrt()
        radial = torch.exp(-4.0 * (distance.unsqueeze(1) - self.centres).square())
        h = self.species(z)
        for layer in self.layers:
            h = layer(h, edge_index, radial)
        bond = 0.5 * (distance - 1.5).square() + 0.2 * torch.exp(-3.0 * (distance - 0.8))
        pair = torch.zeros(len(z), device=pos.device).index_add(0, dst, bond)
        return global_add_pool(0.02 * self.readout(h).squeeze(-1) + pair, batch, size=graphs)


def make_conformers(cfg):
    gen = torch.Generator().manual_seed(cfg.seed)
    template = []
    for _ in range(min(cfg.conformers, 32)):
        z = torch.randint(0, 8, (cfg.atoms,), generator=gen)
        pos = 1.3 * cfg.atoms ** (1 / 3) * torch.rand(cfg.atoms, 3, generator=gen)
        near = torch.cdist(pos, pos).topk(cfg.neighbours + 1, largest=False).indices[:, 1:]
        dst = torch.arange(cfg.atoms).repeat_interleave(cfg.neighbours)
        template.append(Data(z=z, pos=pos, edge_index=torch.stack([near.reshape(-1), dst])))
    graphs = [template[i % len(template)].clone() for i in range(cfg.conformers)]
    for graph in graphs:
        graph.pos = graph.pos + 0.05 * torch.randn(graph.pos.shape, generator=gen)
    return Batch.from_data_list(graphs).to(DEVICE)


class ForceField:
    def __init__(self, model, batch):
        self.model = model.requires_grad_(False).eval()
        self.batch = batch

    def __call__(self, pos):
        b = self.batch
        energy = self.model(b.z, pos, b.edge_index, b.batch, b.num_graphs)
        gradient, = torch.autograd.grad(energy.sum(), pos)
        return energy.detach(), -gradient


class BatchedLBFGS:
    """L-BFGS over many molecules at once: one curvature history, one dot product per molecule."""

    def __init__(self, force_field, pos, cfg):
        self.force_field = force_field
        self.cfg = cfg
        self.index = force_field.batch.batch
        self.graphs = force_field.batch.num_graphs
        self.pos = pos.clone().requires_grad_(True)
        self.energy, self.forces = force_field(self.pos)
        self.s_history = pos.new_empty(0, *pos.shape)
        self.y_history = pos.new_empty(0, *pos.shape)
        self.rho_history = pos.new_empty(0, len(pos), 1)

    def dot(self, a, b):
        per_atom = (a * b).sum(dim=1)
        return torch.zeros(self.graphs, device=a.device).index_add(0, self.index, per_atom)[self.index].unsqueeze(1)

    def direction(self):
        q, alphas = self.forces, []
        pairs = list(zip(self.s_history, self.y_history, self.rho_history))
        for s, y, rho in reversed(pairs):
            alpha = rho * self.dot(s, q)
            q = q - alpha * y
            alphas.append(alpha)
        q = 0.1 * q
        for (s, y, rho), alpha in zip(pairs, reversed(alphas)):
            q = q + s * (alpha - rho * self.dot(y, q))
        return q

    def step(self):
        move = self.direction()
        length = move.norm(dim=1, keepdim=True).clamp(min=1e-9)
        target = self.pos + move * (self.cfg.max_move / length).clamp(max=1.0)
        new_pos = target.detach().requires_grad_(True)
        energy, forces = self.force_field(new_pos)
        s_new, y_new = new_pos - self.pos, self.forces - forces
        rho_new = 1.0 / self.dot(s_new, y_new).clamp(min=1e-6)
        self.s_history = torch.cat([self.s_history, s_new.unsqueeze(0)])[-self.cfg.history:]
        self.y_history = torch.cat([self.y_history, y_new.unsqueeze(0)])[-self.cfg.history:]
        self.rho_history = torch.cat([self.rho_history, rho_new.unsqueeze(0)])[-self.cfg.history:]
        self.pos, self.energy, self.forces = new_pos, energy, forces
        return forces.norm(dim=1).max().item()


def main():
    cfg = RelaxConfig()
    torch.manual_seed(cfg.seed)
    batch = make_conformers(cfg)
    force_field = ForceField(Potential(cfg).to(DEVICE), batch)
    optimizer = BatchedLBFGS(force_field, batch.pos, cfg)
    start, allocated = optimizer.energy.mean().item(), []
    print(f"{batch.num_graphs} conformers, {batch.num_nodes} atoms, {batch.num_edges} edges, mean energy {start:.4f}")

    for step in range(cfg.steps):
        force = optimizer.step()
        time.sleep(cfg.io_latency)
        if (step + 1) % cfg.report_every == 0:
            print(f"step {step + 1:4d}  mean energy {optimizer.energy.mean().item():10.4f}  max force {force:.4f}")
        allocated.append(torch.cuda.memory_allocated())

    print(f"mean energy gain {start - optimizer.energy.mean().item():.4f}")
    print("TRUTH " + json.dumps({"allocated": allocated, "rounds": cfg.steps}), file=sys.stderr)


if __name__ == "__main__":
    main()
