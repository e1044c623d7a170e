# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Streaming click prediction with a growing item table.

New items appear all the time. The table starts small and doubles until it has
`max_rows` rows (documented bound: 2**21 rows, about 3 GiB with both moments);
from then on the rows are shared by hashing.
"""
import logging
import os
import tempfile
import time
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F

DEVICE = os.environ.get("DEVICE", "cuda")
SMOKE = DEVICE == "cpu"
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
log = logging.getLogger("stream")


@dataclass
class Config:
    dim: int = 8 if SMOKE else 128
    start_rows: int = 64 if SMOKE else 2**16
    max_rows: int = 1024 if SMOKE else 2**21
    new_per_step: int = 20 if SMOKE else 2000
    users: int = 100 if SMOKE else 200_000
    history: int = 5 if SMOKE else 50
    batch: int = 16 if SMOKE else 4096
    steps: int = 120 if SMOKE else 2200
    seconds: float = 17.0


class GrowingEmbedding(nn.Module):
    """Embedding whose row count doubles on demand, never above max_rows."""

    def __init__(self, rows, max_rows, dim):
        super().__init__()
        self.max_rows = max_rows
        self.weight = nn.Parameter(torch.randn(rows, dim) * 0.02)

    def forward(self, ids):
        return F.embedding(ids % len(self.weight), self.weight, sparse=True)

    @torch.no_grad()
    def grow(self, wanted, optimizer):
        old = self.weight
        rows = len(old)
        while rows < wanted:
            rows *= 2
        rows = min(rows, self.max_rows)
        if rows == len(old):
            return False
        extra = torch.randn(rows - len(old), old.shape[1], device=old.device) * 0.02
        self.weight = nn.Parameter(torch.cat([old, extra]))
        state = optimizer.state.pop(old, None)
        if state:
            pad = torch.zeros_like(extra)
            for key in ("exp_avg", "exp_avg_sq"):
                state[key] = torch.cat([state[key], pad])
            optimizer.state[self.weight] = state
        for group in optimizer.param_groups:
            group["params"] = [self.weight if p is old else p for p in group["params"]]
        return True


class ClickModel(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.items = GrowingEmbedding(cfg.start_rows, cfg.max_rows, cfg.dim)
        self.users = nn.Embedding(cfg.users, cfg.dim)
        self.tower = nn.Sequential(nn.Linear(3 * cfg.dim, 1024), nn.ReLU(), nn.Linear(1024, 512), nn.ReLU(),
                                   nn.Linear(512, 1))

    def forward(self, user, history, item):
        past = self.items(history).mean(1)
        return self.tower(torch.cat([self.users(user), past, self.items(item)], -1)).squeeze(-1)


class Stream:
    """Items are drawn mostly from the newest part of what exists so far."""

    def __init__(self, cfg):
        self.cfg = cfg
        self.known = cfg.start_rows

    def next(self):
        c = self.cfg
        self.known += c.new_per_step
        user = torch.randint(0, c.users, (c.batch,), device=DEVICE)
        draw = lambda *shape: ((1 - torch.rand(*shape, device=DEVICE) ** 3) * (self.known - 1)).long()
        history, item = draw(c.batch, c.history), draw(c.batch)
        click = ((user + item) % 7 < 2).float()
        return user, history, item, click


class Learner:
    def __init__(self, cfg):
        self.cfg = cfg
        self.model = ClickModel(cfg).to(DEVICE)
        self.sparse = torch.optim.SparseAdam([self.model.items.weight], lr=1e-3)
        dense = [*self.model.users.parameters(), *self.model.tower.parameters()]
        self.dense = torch.optim.Adam(dense, lr=1e-3)

    def step(self, user, history, item, click):
        loss = F.binary_cross_entropy_with_logits(self.model(user, history, item), click)
        self.sparse.zero_grad(set_to_none=True)
        self.dense.zero_grad(set_to_none=True)
        loss.backward()
        self.sparse.step()
        self.dense.step()
        return loss

    @torch.no_grad()
    def progressive_loss(self, batch):
        user, history, item, click = batch
        return F.binary_cross_entropy_with_logits(self.model(user, history, item), click).item()


def main():
    torch.manual_seed(0)
    cfg = Config()
    learner, stream = Learner(cfg), Stream(cfg)
    began = time.time()
    for step in range(cfg.steps):
        batch = stream.next()
        if stream.known > len(learner.model.items.weight):
            if learner.model.items.grow(stream.known, learner.sparse):
                log.info("step %d: item table has %d rows now", step, len(learner.model.items.weight))
        before = learner.progressive_loss(batch) if step % 100 == 0 else None
        loss = learner.step(*batch)
        if before is not None:
            log.info("step %d items %d loss before %.4f after %.4f", step, stream.known, before, loss.item())
        if step % 10 == 0 and step > 60:
            loss.item()
            if time.time() - began > cfg.seconds:
                break
    with tempfile.TemporaryDirectory() as folder:
        torch.save(learner.model.state_dict(), os.path.join(folder, "clicks.pt"))


if __name__ == "__main__":
    main()
