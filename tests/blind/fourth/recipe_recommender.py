# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Trains a recipe recommender: large embedding tables that are looked up ahead of the dense part of the network,
and a ranking loss over the dishes a user saved."""

import gc
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class RecipeConfig:
    ingredients: int = 500 if SMALL else 120_000
    users: int = 300 if SMALL else 60_000
    dim: int = 16 if SMALL else 256
    batch: int = 32 if SMALL else 2048
    slots: int = 8 if SMALL else 24
    hidden: int = 32 if SMALL else 1024
    steps: int = 36 if SMALL else 90
    lr: float = 0.02
    steady_steps: bool = True
    report_every: int = 10
    feed_interval_s: float = 0.0 if SMALL else 0.08


@dataclass
class RecipeBatch:
    ingredients: torch.Tensor
    counts: torch.Tensor
    users: torch.Tensor
    saved: torch.Tensor


class RecipeStream:
    def __init__(self, config: RecipeConfig):
        self.config = config
        self.generator = torch.Generator().manual_seed(29)

    def __iter__(self) -> Iterator[RecipeBatch]:
        c = self.config
        while True:
            ingredients = torch.randint(c.ingredients, (c.batch, c.slots), generator=self.generator)
            counts = torch.randint(1, c.slots + 1, (c.batch,), generator=self.generator)
            users = torch.randint(c.users, (c.batch,), generator=self.generator)
            saved = (ingredients[:, 0] % 7 < users % 5).float()
            yield RecipeBatch(*(t.to(DEVICE) for t in (ingredients, counts, users, saved)))


class PendingLookup:
    """A lookup that was ordered early and is carried out when somebody waits for it."""

    def __init__(self, table: nn.Embedding, ids: torch.Tensor):
        self.table = table
        self.ids = ids
        self.then: list[Callable[[torch.Tensor], torch.Tensor]] = []
        self.rows: torch.Tensor | None = None

    def wait(self) -> torch.Tensor:
        if self.rows is None:
            rows = self.table(self.ids)
            for callback in self.then:
                rows = callback(rows)
            self.rows = rows
        return self.rows


class BagLookup(PendingLookup):
    """Rows of a variable number of ids: the rows beyond the count are blanked."""

    def __init__(self, table: nn.Embedding, ids: torch.Tensor, counts: torch.Tensor):
        super().__init__(table, ids)
        self.counts = counts
        self.then.append(self.blank_padding)

    def blank_padding(self, rows: torch.Tensor) -> torch.Tensor:
        position = torch.arange(rows.shape[1], device=rows.device)
        keep = (position[None] < self.counts[:, None]).unsqueeze(-1)
        return rows * keep


class RecipeRanker(nn.Module):
    def __init__(self, config: RecipeConfig):
        super().__init__()
        self.ingredients = nn.Embedding(config.ingredients, config.dim)
        self.users = nn.Embedding(config.users, config.dim)
        self.query = nn.Linear(config.dim, config.dim)
        self.tower = nn.Sequential(
            nn.Linear(2 * config.dim, config.hidden),
            nn.ReLU(),
            nn.Linear(config.hidden, config.hidden),
            nn.ReLU(),
            nn.Linear(config.hidden, 1),
        )

    def order(self, batch: RecipeBatch) -> tuple[PendingLookup, PendingLookup]:
        return (
            BagLookup(self.ingredients, batch.ingredients, batch.counts),
            PendingLookup(self.users, batch.users),
        )

    def forward(self, dishes: PendingLookup, people: PendingLookup) -> torch.Tensor:
        user = people.wait()
        rows = dishes.wait()
        weight = torch.einsum("bsd,bd->bs", rows, self.query(user)).softmax(dim=-1)
        dish = torch.einsum("bs,bsd->bd", weight, rows)
        return self.tower(torch.cat([dish, user], dim=-1)).squeeze(-1)


class Trainer:
    def __init__(self, config: RecipeConfig):
        self.config = config
        self.model = RecipeRanker(config).to(DEVICE)
        self.optimizer = torch.optim.Adagrad(self.model.parameters(), lr=config.lr)
        self.running = 0.0

    def step(self, batch: RecipeBatch) -> float:
        dishes, people = self.model.order(batch)
        logits = self.model(dishes, people)
        loss = F.binary_cross_entropy_with_logits(logits, batch.saved)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        self.running = 0.9 * self.running + 0.1 * loss.item()
        return self.running


def allocated() -> int:
    return torch.cuda.memory_allocated() if DEVICE.type == "cuda" else 0


def settle_interpreter(config: RecipeConfig) -> None:
    """Evens out the step times."""
    if config.steady_steps:
        gc.collect()
        gc.freeze()
        gc.disable()


def main() -> None:
    config = RecipeConfig()
    torch.manual_seed(11)
    trainer = Trainer(config)
    stream = iter(RecipeStream(config))
    truth: list[int] = []
    settle_interpreter(config)
    try:
        for step in range(config.steps):
            started = time.perf_counter()
            running = trainer.step(next(stream))
            truth.append(allocated())
            if step % config.report_every == 0:
                print(f"step {step}: loss {running:.4f}, {time.perf_counter() - started:.3f} s", flush=True)
            time.sleep(config.feed_interval_s)
    finally:
        print("TRUTH " + json.dumps({"allocated": truth, "rounds": len(truth)}), file=sys.stderr)


if __name__ == "__main__":
    main()
