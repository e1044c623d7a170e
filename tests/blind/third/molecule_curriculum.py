# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Dipole moments from molecular graphs: a curriculum from fragments to large molecules, data resident on the GPU."""
import copy
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
class Stage:
    atoms: int
    molecules: int
    epochs: int


@dataclass
class CurriculumConfig:
    width: int = 16 if SMALL else 192
    layers: int = 2 if SMALL else 4
    edge_features: int = 24
    degree: int = 4 if SMALL else 8
    batch: int = 8 if SMALL else 128
    lr: float = 7e-4
    ema: float = 0.995
    loader_pause: float = 0.0 if SMALL else 0.08
    seed: int = 90

    def stages(self):
        if SMALL:
            return [Stage(6, 32, 2), Stage(9, 32, 2), Stage(12, 32, 5)]
        return [Stage(24, 1280, 2), Stage(48, 1280, 2), Stage(96, 1280, 2), Stage(160, 1280, 2), Stage(240, 1280, 8)]


class MoleculeGenerator:
    def __init__(self, cfg):
        self.cfg = cfg
        self.gen = torch.Generator().manual_seed(cfg.seed)

    def molecule(self, atoms):
        cfg, gen = self.cfg, self.gen
        pos = atoms ** (1 / 3) * torch.rand(atoms, 3, generator=gen)
        charge = torch.randn(atoms, generator=gen)
        charge -= charge.mean()
        distance = torch.cdist(pos, pos)
        near = distance.topk(min(cfg.degree, atoms - 1) + 1, largest=False).indices[:, 1:]
        dst = torch.arange(atoms).repeat_interleave(near.shape[1])
        src = near.reshape(-1)
        centres = torch.linspace(0, 3, cfg.edge_features)
        edge_attr = torch.exp(-3 * (distance[src, dst].unsqueeze(1) - centres).square())
        dipole = (charge.unsqueeze(1) * pos).sum(dim=0).norm() / atoms ** 0.5
        return Data(x=torch.stack([charge, charge.abs(), torch.ones(atoms)], dim=1), edge_attr=edge_attr,
                    edge_index=torch.stack([src, dst]), y=dipole.view(1))

    def batches(self, stage):
        pool = [self.molecule(stage.atoms) for _ in range(min(stage.molecules, 2 * self.cfg.batch))]
        chooser = random.Random(stage.atoms)
        for _ in range(stage.molecules // self.cfg.batch):
            yield Batch.from_data_list(chooser.sample(pool, self.cfg.batch))


class DipoleNet(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        w = cfg.width
        self.embed = nn.Linear(3, w)
        self.convs = nn.ModuleList()
        self.norms = nn.ModuleList()
        for _ in range(cfg.layers):
            self.convs.append(GINEConv(nn.Sequential(nn.Linear(w, 2 * w), nn.SiLU(), nn.Linear(2 * w, w)),
                                       edge_dim=cfg.edge_features))
            self.norms.append(nn.LayerNorm(w))
        self.head = nn.Sequential(nn.Linear(w, w), nn.SiLU(), nn.Linear(w, 1))

    def forward(self, data):
        h = self.embed(data.x)
        for conv, norm in zip(self.convs, self.norms):
            h = h + F.silu(norm(conv(h, data.edge_index, data.edge_attr)))
        return self.head(global_mean_pool(h, data.batch, data.num_graphs)).squeeze(-1)


class CurriculumTrainer:
    def __init__(self, cfg):
        self.cfg = cfg
        self.source = MoleculeGenerator(cfg)
        self.model = DipoleNet(cfg).to(DEVICE)
        self.average = copy.deepcopy(self.model).requires_grad_(False)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=cfg.lr)
        self.shuffle = random.Random(cfg.seed)
        self.train_set, self.val_set = [], []

    def admit(self, stage):
        """Adds the molecules of the next difficulty; earlier ones stay in the mix."""
        fresh = [batch.to(DEVICE) for batch in self.source.batches(stage)]
        self.val_set.append(fresh.pop())
        self.train_set.extend(fresh)
        for group in self.optimizer.param_groups:
            group["lr"] = self.cfg.lr / len(self.val_set) ** 0.5

    def update_average(self):
        with torch.no_grad():
            torch._foreach_lerp_(list(self.average.parameters()), list(self.model.parameters()), 1 - self.cfg.ema)

    def train_epoch(self):
        self.model.train()
        hardest = len(self.train_set) // len(self.val_set)
        chosen = self.train_set[-hardest:] + self.shuffle.sample(self.train_set, 2)
        self.shuffle.shuffle(chosen)
        total = 0.0
        for batch in chosen:
            time.sleep(self.cfg.loader_pause)
            loss = F.smooth_l1_loss(self.model(batch), batch.y)
            self.optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimizer.step()
            self.update_average()
            total += loss.item()
        return total / len(chosen)

    @torch.no_grad()
    def validate(self):
        self.average.eval()
        return [F.l1_loss(self.average(batch), batch.y).item() for batch in self.val_set]


def main():
    cfg = CurriculumConfig()
    torch.manual_seed(cfg.seed)
    trainer, allocated = CurriculumTrainer(cfg), []
    for number, stage in enumerate(cfg.stages()):
        trainer.admit(stage)
        for epoch in range(stage.epochs):
            loss = trainer.train_epoch()
            errors = " ".join(f"{error:.4f}" for error in trainer.validate())
            print(f"stage {number} ({stage.atoms} atoms) epoch {epoch}  loss {loss:.4f}  mae {errors}")
            allocated.append(torch.cuda.memory_allocated())
    print("TRUTH " + json.dumps({"allocated": allocated, "rounds": len(allocated)}), file=sys.stderr)


if __name__ == "__main__":
    main()
