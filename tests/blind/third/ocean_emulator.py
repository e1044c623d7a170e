# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Neural emulator of a shallow-water model, trained on an endless stream of simulated snapshots."""
import json
import math
import os
import queue
import sys
import threading
import time
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class EmulatorConfig:
    grid: int = 32 if SMALL else 384
    fields: int = 4
    width: int = 8 if SMALL else 48
    batch: int = 2 if SMALL else 8
    epochs: int = 5 if SMALL else 16
    steps_per_epoch: int = 4 if SMALL else 8
    val_steps: int = 2
    depth: int = 4
    lr: float = 6e-4
    snapshot_latency: float = 0.012
    seed: int = 3


class ShallowWaterStream:
    """Superposed gravity waves; yields the state at time t and at time t + dt."""

    def __init__(self, cfg, seed):
        self.cfg = cfg
        self.gen = torch.Generator().manual_seed(seed)
        axis = torch.linspace(0, 2 * math.pi, cfg.grid + 1)[:-1]
        self.y, self.x = torch.meshgrid(axis, axis, indexing="ij")

    def waves(self, t, k, phase, amplitude):
        angle = k[0] * self.x + k[1] * self.y - math.hypot(*k) * t + phase
        height, slope = amplitude * angle.sin(), amplitude * angle.cos()
        return torch.stack([height, slope * k[0], slope * k[1], height * slope])

    def __iter__(self):
        cfg = self.cfg
        while True:
            time.sleep(cfg.snapshot_latency)
            now = torch.empty(cfg.batch, cfg.fields, cfg.grid, cfg.grid)
            later = torch.empty_like(now)
            for member in range(cfg.batch):
                k = torch.randint(1, 6, (2,), generator=self.gen).tolist()
                phase, amplitude = torch.rand(2, generator=self.gen).tolist()
                now[member] = self.waves(0.0, k, 6 * phase, amplitude + 0.2)
                later[member] = self.waves(0.05, k, 6 * phase, amplitude + 0.2)
            yield now, later


class DevicePrefetcher:
    """Moves batches to the device in a background thread, a few steps ahead of the training loop."""

    def __init__(self, stream, depth):
        self.stream = stream
        self.buffer = queue.Queue(maxsize=depth)
        self.thread = threading.Thread(target=self.fill, daemon=True)
        self.thread.start()

    def fill(self):
        for now, later in self.stream:
            self.buffer.put((now.to(DEVICE, copy=True), later.to(DEVICE, copy=True)))

    def __iter__(self):
        return self

    def __next__(self):
        return self.buffer.get()


class PeriodicConv(nn.Conv2d):
    def forward(self, x):
        return super().forward(F.pad(x, (1, 1, 1, 1), mode="circular"))


class Emulator(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        w = cfg.width
        self.encode = PeriodicConv(cfg.fields, w, 3)
        self.body = nn.ModuleList([nn.Sequential(PeriodicConv(w, w, 3), nn.GELU(), nn.Conv2d(w, w, 1))
                                   for _ in range(3)])
        self.decode = nn.Conv2d(w, cfg.fields, 1)

    def forward(self, state):
        h = F.gelu(self.encode(state))
        for layer in self.body:
            h = h + layer(h)
        return state + self.decode(h)


def relative_error(prediction, target):
    return ((prediction - target).square().sum() / target.square().sum()).sqrt()


class Trainer:
    def __init__(self, cfg):
        self.cfg = cfg
        self.model = Emulator(cfg).to(DEVICE)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=cfg.lr)
        val_stream = iter(ShallowWaterStream(cfg, 999))
        self.val_set = [tuple(part.to(DEVICE) for part in next(val_stream)) for _ in range(cfg.val_steps)]

    def train_epoch(self, epoch):
        batches = DevicePrefetcher(ShallowWaterStream(self.cfg, self.cfg.seed + epoch), self.cfg.depth)
        self.model.train()
        total = 0.0
        for step, (now, later) in enumerate(batches, start=1):
            loss = F.smooth_l1_loss(self.model(now), later)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            total += loss.item()
            if step == self.cfg.steps_per_epoch:
                break
        return total / self.cfg.steps_per_epoch

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        errors = []
        for now, later in self.val_set:
            errors.append(relative_error(self.model(now), later).item())
            time.sleep(0.25)
        return sum(errors) / len(errors)


def main():
    cfg = EmulatorConfig()
    torch.manual_seed(cfg.seed)
    trainer = Trainer(cfg)
    allocated = []
    for epoch in range(cfg.epochs):
        train_loss = trainer.train_epoch(epoch)
        error = trainer.validate()
        print(f"epoch {epoch:2d}  loss {train_loss:.5f}  relative error {error:.4f}")
        allocated.append(torch.cuda.memory_allocated())
    print("TRUTH " + json.dumps({"allocated": allocated, "rounds": cfg.epochs}), file=sys.stderr)


if __name__ == "__main__":
    main()
