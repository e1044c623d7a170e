# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Random search over residual MLPs for tabular credit scoring, run with accelerate."""
import gc
import json
import os
import random
import sys
import time
from dataclasses import asdict, dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch.utils.data import DataLoader, Dataset

SMALL = os.environ.get("SMALL") == "1"
torch.set_float32_matmul_precision("high")

ROWS = 2048 if SMALL else 196608
FEATURES = 16 if SMALL else 96
BATCH = 512 if SMALL else 49152
TRIALS = 30 if SMALL else 36
WIDTHS = (16, 32) if SMALL else (512, 640, 768)
READ_LATENCY = 0.0 if SMALL else 0.01


@dataclass
class Trial:
    number: int
    width: int
    depth: int
    lr: float
    dropout: float
    weight_decay: float


def draw_trial(number, rng):
    return Trial(number, rng.choice(WIDTHS), rng.choice((3, 4)), 10 ** rng.uniform(-4, -2.5),
                 rng.choice((0.0, 0.1, 0.2)), 10 ** rng.uniform(-5, -2))


class LoanTable(Dataset):
    def __init__(self, rows, seed):
        gen = torch.Generator().manual_seed(seed)
        self.x = torch.randn(rows, FEATURES, generator=gen)
        weights = torch.randn(FEATURES, generator=gen)
        self.y = ((self.x @ weights + torch.randn(rows, generator=gen)) > 0).float()

    def __len__(self):
        return len(self.y)

    def __getitems__(self, index):
        time.sleep(READ_LATENCY)
        index = torch.as_tensor(index)
        return self.x[index], self.y[index]


class ResidualMLP(nn.Module):
    def __init__(self, trial):
        super().__init__()
        self.inp = nn.Linear(FEATURES, trial.width)
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.LayerNorm(trial.width), nn.Linear(trial.width, 2 * trial.width), nn.ReLU(),
                          nn.Dropout(trial.dropout), nn.Linear(2 * trial.width, trial.width))
            for _ in range(trial.depth))
        self.out = nn.Linear(trial.width, 1)

    def forward(self, x):
        x = self.inp(x)
        for block in self.blocks:
            x = x + block(x)
        return self.out(x).squeeze(-1)


@torch.no_grad()
def score(model, loader):
    model.eval()
    hits, total = 0, 0
    for x, y in loader:
        hits += int(((model(x) > 0) == (y > 0.5)).sum())
        total += len(y)
    return hits / total


def run_trial(accelerator, trial, train_set, val_set):
    set_seed(100 + trial.number)
    model = ResidualMLP(trial)
    optimizer = torch.optim.AdamW(model.parameters(), lr=trial.lr, weight_decay=trial.weight_decay)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, len(train_set) // BATCH)
    loaders = [DataLoader(s, batch_size=BATCH, shuffle=i == 0, collate_fn=lambda rows: rows)
               for i, s in enumerate((train_set, val_set))]
    model, optimizer, scheduler, train_loader, val_loader = accelerator.prepare(model, optimizer, scheduler, *loaders)

    model.train()
    for x, y in train_loader:
        loss = F.binary_cross_entropy_with_logits(model(x), y)
        accelerator.backward(loss)
        accelerator.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        optimizer.zero_grad()
    accuracy = score(model, val_loader)

    del model, optimizer, scheduler, train_loader, val_loader, loaders
    return accuracy


def search():
    accelerator = Accelerator()
    rng = random.Random(17)
    train_set, val_set = LoanTable(ROWS, 1), LoanTable(BATCH, 2)
    leaderboard, allocated = [], []
    for number in range(TRIALS):
        trial = draw_trial(number, rng)
        accuracy = run_trial(accelerator, trial, train_set, val_set)
        leaderboard.append({"accuracy": accuracy, **asdict(trial)})
        gc.collect()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        allocated.append(torch.cuda.memory_allocated())
        accelerator.print(f"trial {number:2d} width {trial.width} depth {trial.depth} acc {accuracy:.4f}")
    print("TRUTH " + json.dumps({"allocated": allocated[::max(1, TRIALS // 10)], "rounds": TRIALS,
                                 "peak": torch.cuda.max_memory_allocated()}), file=sys.stderr)
    return sorted(leaderboard, key=lambda r: -r["accuracy"])


if __name__ == "__main__":
    best = search()[0]
    print("best", json.dumps(best))
