# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Hyper-parameter sweep with early pruning for a crystal-property graph network (PyTorch Geometric)."""
import itertools
import json
import os
import random
import sys
import time
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch_geometric.data import Batch, Data
from torch_geometric.nn import GINEConv, global_mean_pool

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class SweepConfig:
    structures: int = 24 if SMALL else 512
    atoms: int = 8 if SMALL else 48
    degree: int = 4 if SMALL else 12
    batch: int = 8 if SMALL else 128
    hidden: int = 16 if SMALL else 1024
    layers: int = 2 if SMALL else 5
    rungs: tuple = (12, 16)
    steps: int = 18
    improvement: float = 0.9
    queue_latency: float = 0.012
    seed: int = 3


SPACE = {"lr": (3e-3, 2e-3, 1e-5, 1e-6) if SMALL else (3e-4, 2e-4, 1e-7, 1e-8),
         "weight_decay": (0.0, 1e-2), "optimizer": ("adamw", "adam"), "warm": (0, 1)}


class TrialPruned(Exception):
    def __init__(self, step, loss, reference):
        super().__init__(f"step {step}: loss {loss:.4f} against {reference:.4f} at the start")
        self.step, self.loss = step, loss


class CrystalNet(nn.Module):
    def __init__(self, cfg, species=8, edge_features=16):
        super().__init__()
        h = cfg.hidden
        self.embed = nn.Embedding(species, h)
        self.edges = nn.Linear(edge_features, h)
        self.convs = nn.ModuleList(
            GINEConv(nn.Sequential(nn.Linear(h, 2 * h), nn.SiLU(), nn.Linear(2 * h, h))) for _ in range(cfg.layers))
        self.norms = nn.ModuleList(nn.LayerNorm(h) for _ in range(cfg.layers))
        self.head = nn.Sequential(nn.Linear(h, h), nn.SiLU(), nn.Linear(h, 1))

    def forward(self, data):
        x, e = self.embed(data.x), self.edges(data.edge_attr)
        for conv, norm in zip(self.convs, self.norms):
            x = x + norm(conv(x, data.edge_index, e))
        return self.head(global_mean_pool(x, data.batch)).squeeze(-1)


def make_structures(cfg):
    gen = torch.Generator().manual_seed(cfg.seed)
    weight = torch.randn(8, generator=gen)
    structures = []
    for _ in range(cfg.structures):
        kinds = torch.randint(0, 8, (cfg.atoms,), generator=gen)
        centre = torch.arange(cfg.atoms).repeat_interleave(cfg.degree)
        other = torch.randint(0, cfg.atoms, (cfg.atoms * cfg.degree,), generator=gen)
        length = torch.rand(len(centre), 1, generator=gen)
        rbf = torch.exp(-30 * (length - torch.linspace(0, 1, 16)) ** 2)
        target = 3.0 + weight[kinds].mean() + 0.2 * length.mean()
        structures.append(Data(x=kinds, edge_index=torch.stack([other, centre]), edge_attr=rbf, y=target.reshape(1)))
    return structures


def loader(structures, cfg, seed):
    order = random.Random(seed)
    while True:
        chosen = order.sample(structures, cfg.batch)
        time.sleep(cfg.queue_latency)
        yield Batch.from_data_list(chosen).to(DEVICE)


def run_trial(number, params, structures, cfg):
    torch.manual_seed(cfg.seed + number)
    model = CrystalNet(cfg).to(DEVICE)
    kind = torch.optim.AdamW if params["optimizer"] == "adamw" else torch.optim.Adam
    optimizer = kind(model.parameters(), lr=params["lr"], weight_decay=params["weight_decay"])
    reference, recent = None, []
    for step, batch in enumerate(itertools.islice(loader(structures, cfg, number), cfg.steps)):
        optimizer.param_groups[0]["lr"] = params["lr"] * min(1.0, (step + 1) / (params["warm"] + 1))
        loss = F.l1_loss(model(batch), batch.y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        recent = (recent + [loss.item()])[-3:]
        smooth = sum(recent) / len(recent)
        reference = smooth if reference is None else reference
        if step + 1 in cfg.rungs and smooth > cfg.improvement * reference:
            raise TrialPruned(step + 1, smooth, reference)
    return smooth


class Study:
    """Trials of the sweep with their outcome."""

    def __init__(self):
        self.trials = []

    def record(self, number, params, state, value=None, reason=None):
        self.trials.append({"number": number, "params": params, "state": state, "value": value, "reason": reason})

    def best(self):
        finished = [t for t in self.trials if t["state"] == "complete"]
        return min(finished, key=lambda t: t["value"])

    def report(self):
        for trial in self.trials:
            shown = f"{trial['value']:.4f}" if trial["state"] == "complete" else str(trial["reason"])
            print(f"trial {trial['number']:2d} {trial['state']:8s} {shown}  {trial['params']}")


def main():
    cfg = SweepConfig()
    structures = make_structures(cfg)
    grid = [dict(zip(SPACE, values)) for values in itertools.product(*SPACE.values())]
    random.Random(cfg.seed).shuffle(grid)
    study, allocated = Study(), []
    for number, params in enumerate(grid):
        try:
            value = run_trial(number, params, structures, cfg)
            study.record(number, params, "complete", value=value)
        except TrialPruned as stop:
            study.record(number, params, "pruned", reason=stop)
        allocated.append(torch.cuda.memory_allocated())

    study.report()
    best = study.best()
    print(f"best trial {best['number']}: {best['value']:.4f} with {best['params']}")
    pruned = sum(t["state"] == "pruned" for t in study.trials)
    print("TRUTH " + json.dumps({"allocated": allocated, "rounds": pruned, "trials": len(grid),
                                 "peak": torch.cuda.max_memory_allocated()}), file=sys.stderr)


if __name__ == "__main__":
    main()
