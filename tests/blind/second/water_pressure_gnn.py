# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Nodal pressure estimation in a water distribution network with changing valve states (PyTorch Geometric)."""
import argparse
import functools
import json
import os
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch_geometric.data import Data, Dataset
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GCNConv
from torch_geometric.nn.conv.gcn_conv import gcn_norm

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def parse_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3 if SMALL else 10)
    parser.add_argument("--scenarios", type=int, default=8 if SMALL else 1280)
    parser.add_argument("--val-scenarios", type=int, default=4 if SMALL else 192)
    parser.add_argument("--batch-size", type=int, default=4 if SMALL else 64)
    parser.add_argument("--junctions", type=int, default=128 if SMALL else 2048)
    parser.add_argument("--pipes", type=int, default=180 if SMALL else 3000)
    parser.add_argument("--closed", type=int, default=10 if SMALL else 100)
    parser.add_argument("--hidden", type=int, default=16 if SMALL else 128)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--solver-wait", type=float, default=0.001 if SMALL else 0.05)
    return parser.parse_args([])


class ValveScenarios(Dataset):
    """One network; each scenario closes some valves and draws new demands. Pressures follow a linearised model."""

    def __init__(self, args, count, seed):
        super().__init__()
        self.args = args
        self.count = count
        gen = torch.Generator().manual_seed(97)
        tree = torch.stack([torch.arange(1, args.junctions), torch.arange(args.junctions - 1) // 2])
        ring = torch.randint(0, args.junctions - 1, (1, args.pipes - tree.shape[1]), generator=gen)
        self.pipes = torch.cat([tree, torch.cat([ring, ring + 1])], dim=1)
        self.elevation = torch.rand(args.junctions, generator=gen)
        self.draws = torch.Generator().manual_seed(seed)

    def len(self):
        return self.count

    def get(self, idx):
        args = self.args
        keep = torch.randperm(args.pipes, generator=self.draws)[args.closed:]
        pipes = self.pipes[:, keep]
        demand = torch.rand(args.junctions, generator=self.draws)
        gauge = (torch.rand(args.junctions, generator=self.draws) < 0.1).float()
        pressure = 1.2 - self.elevation - 0.3 * demand
        x = torch.stack([self.elevation, demand, gauge, gauge * pressure], dim=1)
        return Data(x=x, y=pressure, edge_index=torch.cat([pipes, pipes.flip(0)], dim=1), observed=gauge.bool())


@functools.lru_cache(maxsize=None)
def propagation(edge_index, num_nodes):
    """Symmetric normalisation with self loops, shared by the layers and by repeated scenarios."""
    return gcn_norm(edge_index, num_nodes=num_nodes, dtype=torch.float32)


class PressureBlock(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv = GCNConv(width, width, normalize=False)
        self.norm = nn.LayerNorm(width)

    def forward(self, h, edge_index):
        operator, weight = propagation(edge_index, h.shape[0])
        return h + F.gelu(self.conv(self.norm(h), operator, weight))


class PressureNet(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.embed = nn.Linear(4, args.hidden)
        self.blocks = nn.ModuleList(PressureBlock(args.hidden) for _ in range(args.layers))
        self.head = nn.Sequential(nn.Linear(args.hidden, args.hidden), nn.GELU(), nn.Linear(args.hidden, 1))

    def forward(self, data):
        h = self.embed(data.x)
        for block in self.blocks:
            h = block(h, data.edge_index)
        return self.head(h).squeeze(-1)


def train_epoch(model, optimizer, loader, args):
    model.train()
    total = 0.0
    for data in loader:
        time.sleep(args.solver_wait)
        data = data.to(DEVICE)
        hidden = ~data.observed
        loss = F.smooth_l1_loss(model(data)[hidden], data.y[hidden])
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        total += loss.item()
    return total / len(loader)


@torch.inference_mode()
def evaluate(model, batches):
    model.eval()
    error, count = 0.0, 0
    for data in batches:
        hidden = ~data.observed
        error += (model(data)[hidden] - data.y[hidden]).abs().sum().item()
        count += int(hidden.sum())
    return error / count


def main():
    args = parse_args()
    torch.manual_seed(5)
    train_loader = DataLoader(ValveScenarios(args, args.scenarios, seed=1), batch_size=args.batch_size, shuffle=True)
    val_loader = DataLoader(ValveScenarios(args, args.val_scenarios, seed=2), batch_size=args.batch_size)
    val_batches = [data.to(DEVICE) for data in val_loader]

    model = PressureNet(args).to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=1e-4)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
    allocated, best = [], float("inf")

    for epoch in range(args.epochs):
        loss = train_epoch(model, optimizer, train_loader, args)
        mae = evaluate(model, val_batches)
        scheduler.step()
        best = min(best, mae)
        info = propagation.cache_info()
        print(json.dumps({"epoch": epoch, "train": round(loss, 5), "val_mae": round(mae, 5), "best": round(best, 5),
                          "normalisations": info.misses, "reused": info.hits}))
        allocated.append(torch.cuda.memory_allocated())

    print("TRUTH " + json.dumps({"allocated": allocated, "rounds": args.epochs * len(train_loader)}), file=sys.stderr)


if __name__ == "__main__":
    main()
