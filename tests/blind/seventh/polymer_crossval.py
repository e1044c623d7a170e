# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Five-fold cross-validation of a graph network for the glass transition temperature of polymers.

Besides the error of the network itself, each epoch probes its representation: a ridge regression on the node-level
embeddings of all training batches of the epoch is compared with the network's own read-out.
"""
import json
import os
import sys
import time
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from sklearn.model_selection import KFold
from torch import nn
from torch_geometric.data import Batch, Data
from torch_geometric.nn import GINEConv, global_mean_pool

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class Config:
    polymers: int = 40 if SMALL else 2000
    atoms: tuple = (5, 9) if SMALL else (40, 70)
    atom_features: int = 12
    bond_features: int = 4
    width: int = 16 if SMALL else 512
    layers: int = 2 if SMALL else 3
    folds: int = 5
    epochs: int = 2 if SMALL else 5
    batch: int = 8 if SMALL else 64
    ridge: float = 1.0
    lr: float = 1e-3


class Readings:
    def __init__(self):
        self.rounds = 0
        self.allocated = []

    def mark(self):
        self.rounds += 1
        if DEVICE.type == "cuda":
            self.allocated.append(torch.cuda.memory_allocated())

    def close(self):
        stride = max(1, -(-len(self.allocated) // 200))
        print("TRUTH " + json.dumps({"allocated": self.allocated[::stride], "rounds": self.rounds}), file=sys.stderr)


def make_polymers(cfg: Config) -> list[Data]:
    """Repeat units as random trees with a few rings; stiff bonds and heavy atoms raise the transition temperature."""
    g = torch.Generator().manual_seed(51)
    graphs = []
    for _ in range(cfg.polymers):
        n = int(torch.randint(*cfg.atoms, (1,), generator=g))
        child = torch.arange(1, n)
        parent = (torch.rand(n - 1, generator=g) * child).long()
        ring = torch.randint(0, n, (2, n // 6), generator=g)
        edges = torch.cat([torch.stack([child, parent]), ring], dim=1)
        bonds = torch.rand(edges.shape[1], cfg.bond_features, generator=g)
        x = torch.randn(n, cfg.atom_features, generator=g)
        target = 1.5 * bonds[:, 0].mean() + x[:, :3].square().mean() + 0.1 * torch.randn((), generator=g)
        graphs.append(Data(x=x, edge_index=torch.cat([edges, edges.flip(0)], dim=1), edge_attr=torch.cat([bonds, bonds]),
                           y=target.view(1)))
    return graphs


class PolymerNet(nn.Module):
    def __init__(self, cfg: Config):
        super().__init__()
        w = cfg.width
        self.atom = nn.Linear(cfg.atom_features, w)
        self.convs = nn.ModuleList(
            GINEConv(nn.Sequential(nn.Linear(w, w), nn.ReLU(), nn.Linear(w, w)), edge_dim=cfg.bond_features)
            for _ in range(cfg.layers))
        self.norms = nn.ModuleList(nn.LayerNorm(w) for _ in range(cfg.layers))
        self.out = nn.Sequential(nn.Linear(w, w), nn.ReLU(), nn.Linear(w, 1))

    def forward(self, batch):
        h = self.atom(batch.x)
        for conv, norm in zip(self.convs, self.norms):
            h = h + F.relu(norm(conv(h, batch.edge_index, batch.edge_attr)))
        return self.out(global_mean_pool(h, batch.batch)).squeeze(1), h


class Probe:
    """Collects node embeddings over an epoch and fits a ridge regression to the polymers' targets."""

    def __init__(self, cfg: Config):
        self.cfg = cfg
        self.embeddings, self.targets = [], []

    def collect(self, nodes, batch):
        self.embeddings.append(nodes.detach())
        self.targets.append(batch.y[batch.batch])

    @torch.no_grad()
    def fit(self) -> float:
        x, y = torch.cat(self.embeddings), torch.cat(self.targets)
        self.embeddings.clear()
        self.targets.clear()
        x = torch.cat([x - x.mean(0), torch.ones(len(x), 1, device=x.device)], dim=1)
        gram = x.T @ x + self.cfg.ridge * torch.eye(x.shape[1], device=x.device)
        weights = torch.linalg.solve(gram, x.T @ y)
        return F.mse_loss(x @ weights, y).sqrt().item()


def batches(graphs: list[Data], rows, size: int):
    for i in range(0, len(rows), size):
        yield Batch.from_data_list([graphs[r] for r in rows[i:i + size]]).to(DEVICE)


@torch.no_grad()
def evaluate(model, graphs, rows, cfg: Config):
    """Predictions for the held-out polymers in the order of rows."""
    model.eval()
    return torch.cat([model(batch)[0] for batch in batches(graphs, rows, 4 * cfg.batch)])


def run_fold(cfg: Config, graphs, fit_rows, held_rows, readings: Readings):
    model = PolymerNet(cfg).to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr)
    probe = Probe(cfg)
    probe_error = float("nan")
    for _ in range(cfg.epochs):
        model.train()
        order = fit_rows[torch.randperm(len(fit_rows)).numpy()]
        for batch in batches(graphs, order, cfg.batch):
            predicted, nodes = model(batch)
            loss = F.smooth_l1_loss(predicted, batch.y)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            probe.collect(nodes, batch)
            readings.mark()
        probe_error = probe.fit()
    return evaluate(model, graphs, held_rows, cfg), probe_error


def main():
    torch.manual_seed(37)
    cfg = Config()
    graphs = make_polymers(cfg)
    readings = Readings()
    targets = torch.cat([g.y for g in graphs]).to(DEVICE)
    out_of_fold = torch.zeros(cfg.polymers, device=DEVICE)
    started = time.time()
    splitter = KFold(cfg.folds, shuffle=True, random_state=37)
    for fold, (fit_rows, held_rows) in enumerate(splitter.split(range(cfg.polymers))):
        predicted, probe_error = run_fold(cfg, graphs, fit_rows, held_rows, readings)
        held = torch.from_numpy(held_rows).to(DEVICE)
        out_of_fold[held] = predicted
        error = F.mse_loss(predicted, targets[held]).sqrt().item()
        print(f"fold {fold}: error {error:.4f}  probe {probe_error:.4f}  {time.time() - started:.1f} s")
    print(f"out-of-fold error {F.mse_loss(out_of_fold, targets).sqrt().item():.4f}")
    readings.close()


if __name__ == "__main__":
    main()
