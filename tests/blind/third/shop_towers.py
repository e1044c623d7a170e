# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Two-tower retrieval for a marketplace, with exposure-corrected updates of the item table."""
import json
import os
import sys
import time
from typing import NamedTuple

import torch
import torch.nn as nn
import torch.nn.functional as F

SMALL = os.environ.get("SMALL") == "1"
DEV = torch.device("cuda" if torch.cuda.is_available() else "cpu")

ITEMS = 2_000 if SMALL else 3_000_000
USERS = 500 if SMALL else 400_000
DIM = 8 if SMALL else 32
BATCH = 32 if SMALL else 4096
STEPS = 12 if SMALL else 140
LOG_EVERY = 4 if SMALL else 20
HALF_LIFE = 40.0
QUEUE_SECONDS = 0.0 if SMALL else 0.07


class Clicks(NamedTuple):
    user: torch.Tensor
    item: torch.Tensor
    shown: torch.Tensor


class ClickStream:
    """Clicks arrive in the order of the day; a few items take most of the exposure."""

    def __init__(self, seed):
        self.gen = torch.Generator().manual_seed(seed)

    def zipf(self, *shape):
        u = torch.rand(*shape, generator=self.gen)
        return ((ITEMS ** u) - 1).long().clamp_(0, ITEMS - 1)

    def next_batch(self):
        time.sleep(QUEUE_SECONDS)
        user = torch.randint(0, USERS, (BATCH,), generator=self.gen)
        return Clicks(user.to(DEV), self.zipf(BATCH).to(DEV), self.zipf(BATCH * 4).to(DEV))


class ExposureMeter:
    """Exponentially decayed count of how often each item has been on screen."""

    def __init__(self):
        self.counts = torch.zeros(ITEMS, device=DEV)
        self.decay = 0.5 ** (1.0 / HALF_LIFE)

    def observe(self, shown):
        self.counts.mul_(self.decay)
        self.counts.index_add_(0, shown, torch.ones_like(shown, dtype=self.counts.dtype))

    def correction(self):
        rate = 1.0 + self.counts / (self.counts.mean() + 1e-6)
        return rate.rsqrt_().clamp_(0.2, 1.0)


class Tower(nn.Module):
    def __init__(self, rows):
        super().__init__()
        self.table = nn.Embedding(rows, DIM)
        self.head = nn.Sequential(nn.Linear(DIM, 4 * DIM), nn.GELU(), nn.Linear(4 * DIM, DIM))
        nn.init.normal_(self.table.weight, std=0.02)

    def forward(self, ids):
        e = self.table(ids)
        return F.normalize(e + self.head(e), dim=-1)


class Retrieval(nn.Module):
    def __init__(self):
        super().__init__()
        self.users, self.items = Tower(USERS), Tower(ITEMS)
        self.temperature = nn.Parameter(torch.tensor(0.07).log())

    def forward(self, clicks):
        sim = self.users(clicks.user) @ self.items(clicks.item).T
        return sim / self.temperature.exp()

    def rebalance(self, correction):
        """Popular items move less per click than those which are hardly ever shown."""
        def soften(grad):
            return grad * correction.unsqueeze(1)
        self.items.table.weight.register_hook(soften)


class History:
    def __init__(self):
        self.sums = {"loss": 0.0, "hit": 0.0}
        self.seen = 0

    def add(self, loss, logits):
        diagonal = torch.arange(len(logits), device=logits.device)
        self.sums["loss"] += loss.item()
        self.sums["hit"] += (logits.argmax(1) == diagonal).float().mean().item()
        self.seen += 1

    def flush(self, step):
        row = {k: round(v / self.seen, 5) for k, v in self.sums.items()}
        self.__init__()
        print(json.dumps({"step": step, **row}))


def make_optimizers(model):
    tables = [model.users.table.weight, model.items.table.weight]
    names = {id(t) for t in tables}
    dense = [p for p in model.parameters() if id(p) not in names]
    return [torch.optim.SGD(tables, lr=0.5), torch.optim.Adam(dense, lr=1e-3)]


def run():
    torch.manual_seed(8)
    with torch.device(DEV):
        model = Retrieval()
    optimizers = make_optimizers(model)
    stream, meter, history = ClickStream(seed=5), ExposureMeter(), History()
    allocated = []
    try:
        for step in range(1, STEPS + 1):
            clicks = stream.next_batch()
            meter.observe(clicks.shown)
            model.rebalance(meter.correction())
            logits = model(clicks)
            target = torch.arange(BATCH, device=DEV)
            loss = 0.5 * (F.cross_entropy(logits, target) + F.cross_entropy(logits.T, target))
            for optimizer in optimizers:
                optimizer.zero_grad(set_to_none=True)
            loss.backward()
            for optimizer in optimizers:
                optimizer.step()
            history.add(loss.detach(), logits.detach())
            if step % LOG_EVERY == 0:
                history.flush(step)
            allocated.append(torch.cuda.memory_allocated())
    finally:
        print("TRUTH " + json.dumps({"allocated": allocated, "rounds": len(allocated)}), file=sys.stderr)


if __name__ == "__main__":
    run()
