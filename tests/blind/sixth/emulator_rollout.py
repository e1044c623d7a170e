# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Fine-tune a small global weather emulator for long roll-outs from a pool of its own forecasts.

The emulator advances a gridded state by six hours. Training states are drawn from a replay pool: every step the chosen
states are advanced once, the loss is taken against the analysis of the new valid time, and the forecasts go back to the
pool with a longer lead. Fresh analyses enter regularly, so that short leads stay represented.
"""

import copy
import json
import os
import random
import sys
import time
from collections import deque
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class RolloutConfig:
    variables: int = 64
    lat: int = 192
    lon: int = 384
    width: int = 48
    blocks: int = 3
    batch: int = 8
    pool_capacity: int = 192
    fresh_every: int = 4
    steps: int = 64
    max_lead: int = 40
    lr: float = 2e-4
    ema_decay: float = 0.99
    archive_latency: float = 0.15

    @classmethod
    def from_env(cls):
        if os.environ.get("SMALL") == "1":
            return cls(variables=5, lat=9, lon=16, width=8, blocks=1, batch=2, pool_capacity=12, fresh_every=3,
                       steps=16, archive_latency=0.0)
        return cls()


@dataclass
class PoolEntry:
    state: torch.Tensor
    valid_time: int
    lead: int


class AnalysisArchive:
    """Smooth travelling waves that stand in for a reanalysis."""

    def __init__(self, cfg: RolloutConfig):
        generator = torch.Generator().manual_seed(3)
        self.wave = torch.randint(1, 6, (cfg.variables, 1, 1), generator=generator).to(DEVICE)
        self.phase = (torch.rand(cfg.variables, 1, 1, generator=generator) * 6.28).to(DEVICE)
        self.latitude = torch.linspace(-1.57, 1.57, cfg.lat, device=DEVICE).view(1, -1, 1)
        self.longitude = torch.linspace(0, 6.28, cfg.lon, device=DEVICE).view(1, 1, -1)

    def load(self, valid_time):
        return torch.cos(self.latitude) * torch.sin(self.wave * self.longitude + self.phase + 0.1 * valid_time)


class ReplayPool:
    def __init__(self, capacity):
        self.entries = deque(maxlen=capacity)

    def __len__(self):
        return len(self.entries)

    def sample(self, rng, count):
        return rng.sample(list(self.entries), count)

    def add(self, state, valid_time, lead):
        self.entries.append(PoolEntry(state, valid_time, lead))


class PeriodicBlock(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.mix = nn.Conv2d(width, width, 3)
        self.scale = nn.Parameter(torch.full((width, 1, 1), 0.1))

    def forward(self, x):
        y = F.pad(F.pad(x, (1, 1, 0, 0), mode="circular"), (0, 0, 1, 1), mode="replicate")
        return x + self.scale * F.gelu(self.mix(y))


class Emulator(nn.Module):
    def __init__(self, cfg: RolloutConfig):
        super().__init__()
        self.lift = nn.Conv2d(cfg.variables, cfg.width, 1)
        self.blocks = nn.Sequential(*(PeriodicBlock(cfg.width) for _ in range(cfg.blocks)))
        self.project = nn.Conv2d(cfg.width, cfg.variables, 1)

    def forward(self, state):
        return state + self.project(self.blocks(self.lift(state)))


class LeadScorecard:
    """Mean error by lead time and variable."""

    def __init__(self, cfg: RolloutConfig):
        self.total = torch.zeros(cfg.max_lead + 1, cfg.variables, device=DEVICE)
        self.count = torch.zeros(cfg.max_lead + 1, 1, device=DEVICE)

    @torch.no_grad()
    def update(self, leads, forecast, truth):
        rows = torch.tensor(leads, device=DEVICE)
        self.total.index_add_(0, rows, (forecast - truth).square().mean(dim=(2, 3)))
        self.count.index_add_(0, rows, torch.ones(len(leads), 1, device=DEVICE))

    def summary(self):
        mean = (self.total / self.count.clamp(min=1)).mean(dim=1).sqrt()
        return {lead: round(mean[lead].item(), 3) for lead in range(1, len(mean), 5) if self.count[lead, 0] > 0}


class RolloutTrainer:
    def __init__(self, cfg: RolloutConfig):
        self.cfg = cfg
        self.rng = random.Random(5)
        self.archive = AnalysisArchive(cfg)
        self.model = Emulator(cfg).to(DEVICE)
        self.averaged = copy.deepcopy(self.model).requires_grad_(False)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=cfg.lr)
        self.pool = ReplayPool(cfg.pool_capacity)
        self.scorecard = LeadScorecard(cfg)
        self.clock = 0

    def ingest(self):
        for _ in range(self.cfg.batch):
            self.pool.add(self.archive.load(self.clock), self.clock, 0)
            self.clock += 1

    def step(self, index):
        if index % self.cfg.fresh_every == 0:
            self.ingest()
        entries = self.pool.sample(self.rng, self.cfg.batch)
        state = torch.stack([entry.state for entry in entries])
        truth = torch.stack([self.archive.load(entry.valid_time + 1) for entry in entries])
        forecast = self.model(state)
        loss = F.l1_loss(forecast, truth)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.track_average()
        leads = [min(entry.lead + 1, self.cfg.max_lead) for entry in entries]
        self.scorecard.update(leads, forecast, truth)
        for entry, lead, advanced in zip(entries, leads, forecast.detach()):
            self.pool.add(advanced.clone(), entry.valid_time + 1, lead)
        return loss.item()

    @torch.no_grad()
    def track_average(self):
        for average, current in zip(self.averaged.parameters(), self.model.parameters()):
            average.lerp_(current, 1 - self.cfg.ema_decay)


def main():
    torch.manual_seed(0)
    cfg = RolloutConfig.from_env()
    trainer = RolloutTrainer(cfg)
    allocated = []
    try:
        for index in range(cfg.steps):
            loss = trainer.step(index)
            time.sleep(cfg.archive_latency)
            if index % 8 == 0:
                print(f"step {index:3d}  loss {loss:.4f}  pool {len(trainer.pool)}")
            allocated.append(torch.cuda.memory_allocated() if DEVICE.type == "cuda" else 0)
        print("rmse by lead:", trainer.scorecard.summary())
    finally:
        print("TRUTH " + json.dumps({"allocated": allocated, "rounds": len(allocated)}), file=sys.stderr)


if __name__ == "__main__":
    main()
