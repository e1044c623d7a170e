# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Trains the two-tower retrieval model of a shop continuously on the click stream.

Every few hundred milliseconds a micro-batch of click events arrives: who clicked, what they had looked at before, and
what they clicked on. The user tower learns from them with in-batch softmax. The item vectors come from the nightly
snapshot, which also feeds the nearest-neighbour index; until the next snapshot they have to stay as they are. After
each micro-batch the trainer reports loss and recall inside the batch.
"""
import json
import os
import sys
import time
from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from torch import nn

SMALL = os.environ.get("SMALL") == "1"


@dataclass
class RetrievalConfig:
    users: int = 2_000 if SMALL else 500_000
    items: int = 4_000 if SMALL else 3_000_000
    dim: int = 16 if SMALL else 128
    hidden: int = 32 if SMALL else 1024
    history: int = 10
    batch: int = 32 if SMALL else 1536
    rounds: int = 8 if SMALL else 45
    arrival_s: float = 0.01 if SMALL else 0.3
    temperature: float = 0.07
    dense_lr: float = 1e-3
    table_lr: float = 2e-3
    snapshot_tables: tuple = ("item_table",)
    device: str = "cuda" if torch.cuda.is_available() else "cpu"


@dataclass
class ClickBatch:
    user: torch.Tensor
    history: torch.Tensor
    clicked: torch.Tensor

    def to(self, device):
        return ClickBatch(*(getattr(self, name).to(device) for name in ("user", "history", "clicked")))


class ClickStream:
    """Hands out click events in the order of their arrival; popular items come more often."""

    def __init__(self, cfg: RetrievalConfig, seed: int = 11):
        self.cfg = cfg
        self.generator = torch.Generator().manual_seed(seed)
        self.next_arrival = time.monotonic()

    def _popular(self, *shape):
        rank = torch.rand(*shape, generator=self.generator) ** 3
        return (rank * (self.cfg.items - 1)).long()

    def __iter__(self):
        while True:
            self.next_arrival = max(self.next_arrival + self.cfg.arrival_s, time.monotonic())
            time.sleep(max(0.0, self.next_arrival - time.monotonic()))
            user = torch.randint(self.cfg.users, (self.cfg.batch,), generator=self.generator)
            yield ClickBatch(user, self._popular(self.cfg.batch, self.cfg.history), self._popular(self.cfg.batch))


class UserTower(nn.Module):
    def __init__(self, cfg: RetrievalConfig):
        super().__init__()
        self.attend = nn.Linear(cfg.dim, 1)
        self.mlp = nn.Sequential(
            nn.Linear(2 * cfg.dim, cfg.hidden), nn.GELU(), nn.LayerNorm(cfg.hidden), nn.Linear(cfg.hidden, cfg.dim)
        )

    def forward(self, profile, clicks):
        weight = self.attend(clicks).softmax(dim=1)
        return F.normalize(self.mlp(torch.cat([profile, (weight * clicks).sum(dim=1)], dim=-1)), dim=-1)


class TwoTower(nn.Module):
    def __init__(self, cfg: RetrievalConfig):
        super().__init__()
        self.temperature = cfg.temperature
        self.user_table = nn.Embedding(cfg.users, cfg.dim, sparse=True)
        self.item_table = nn.Embedding(cfg.items, cfg.dim, sparse=True)
        self.user_tower = UserTower(cfg)
        self.item_head = nn.Linear(cfg.dim, cfg.dim)

    def load_snapshot(self, seed: int):
        with torch.no_grad():
            generator = torch.Generator(self.item_table.weight.device).manual_seed(seed)
            self.item_table.weight.normal_(std=0.1, generator=generator)

    def forward(self, batch: ClickBatch):
        query = self.user_tower(self.user_table(batch.user), self.item_table(batch.history))
        candidate = F.normalize(self.item_head(self.item_table(batch.clicked)), dim=-1)
        return query @ candidate.T / self.temperature


class OptimizerPair:
    """Adam for the dense layers, SparseAdam for the lookup tables that are learnt here."""

    def __init__(self, model: TwoTower, cfg: RetrievalConfig):
        tables = {name for name, module in model.named_modules() if isinstance(module, nn.Embedding)}
        learnt = sorted(tables - set(cfg.snapshot_tables))
        self.tables = torch.optim.SparseAdam([model.get_submodule(name).weight for name in learnt], lr=cfg.table_lr)
        dense = [p for name, p in model.named_parameters() if name.rsplit(".", 1)[0] not in tables]
        self.dense = torch.optim.AdamW(dense, lr=cfg.dense_lr, weight_decay=1e-4)
        self.dense_parameters = dense

    def zero_grad(self):
        self.tables.zero_grad(set_to_none=True)
        self.dense.zero_grad(set_to_none=True)

    def step(self):
        nn.utils.clip_grad_norm_(self.dense_parameters, 1.0)
        self.tables.step()
        self.dense.step()


@dataclass
class Report:
    losses: list = field(default_factory=list)
    recall: list = field(default_factory=list)

    def add(self, loss, logits):
        target = torch.arange(logits.shape[0], device=logits.device)
        best = logits.detach().topk(min(10, logits.shape[1]), dim=1).indices
        self.losses.append(loss.item())
        self.recall.append((best == target[:, None]).any(dim=1).float().mean().item())


class StreamTrainer:
    def __init__(self, cfg: RetrievalConfig):
        self.cfg = cfg
        with torch.device(cfg.device):
            self.model = TwoTower(cfg)
        self.model.load_snapshot(seed=3)
        self.optimizers = OptimizerPair(self.model, cfg)
        self.report = Report()

    def train_on(self, batch: ClickBatch):
        batch = batch.to(self.cfg.device)
        self.optimizers.zero_grad()
        logits = self.model(batch)
        loss = F.cross_entropy(logits, torch.arange(logits.shape[0], device=logits.device))
        loss.backward()
        self.optimizers.step()
        self.report.add(loss, logits)


def allocated():
    return torch.cuda.memory_allocated() if torch.cuda.is_available() else 0


def main():
    torch.manual_seed(0)
    cfg = RetrievalConfig()
    sizes = []
    try:
        trainer = StreamTrainer(cfg)
        for number, batch in zip(range(cfg.rounds), ClickStream(cfg)):
            trainer.train_on(batch)
            sizes.append(allocated())
            if number % 5 == 0:
                loss, recall = trainer.report.losses[-1], trainer.report.recall[-1]
                print(f"micro-batch {number}: loss {loss:.3f} recall@10 {recall:.3f}", flush=True)
    finally:
        print("TRUTH", json.dumps({"allocated": sizes, "rounds": len(sizes)}), file=sys.stderr)


if __name__ == "__main__":
    main()
