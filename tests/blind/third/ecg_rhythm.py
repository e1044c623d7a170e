# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Rhythm classification from 12-lead ECGs, with early stopping on a smoothed validation loss."""
import math
import os
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
RHYTHMS = ("sinus", "afib", "flutter", "paced", "block")


class Config:
    leads = 12
    samples = 80 if SMALL else 5000
    widths = (4, 8, 16) if SMALL else (64, 128, 256)
    batch = 4 if SMALL else 64
    epochs = 6 if SMALL else 14
    train_batches = 3 if SMALL else 9
    val_batches = 2
    lr = 1e-3
    patience = 15
    smoothing = 0.8
    disk_seconds = 0.0 if SMALL else 0.03
    seed = 77


class EcgReader:
    """Synthetic recordings: beats whose rate and shape depend on the rhythm, plus baseline wander."""

    def __init__(self, cfg, seed):
        self.cfg, self.seed = cfg, seed
        self.time = torch.linspace(0, 10, cfg.samples)

    def batches(self, epoch, count):
        cfg = self.cfg
        for number in range(count):
            time.sleep(cfg.disk_seconds)
            gen = torch.Generator().manual_seed(self.seed + 997 * epoch + number)
            rhythm = torch.randint(0, len(RHYTHMS), (cfg.batch,), generator=gen)
            rate = 1.0 + 0.35 * rhythm + 0.05 * torch.randn(cfg.batch, generator=gen)
            phase = torch.rand(cfg.batch, cfg.leads, 1, generator=gen)
            beats = torch.sin(2 * math.pi * (rate[:, None, None] * self.time + phase)).clamp(min=0.6)
            wander = 0.2 * torch.sin(0.3 * math.pi * self.time) * torch.randn(cfg.batch, cfg.leads, 1, generator=gen)
            yield (beats + wander).to(DEVICE), rhythm.to(DEVICE)


class RhythmNet(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        sizes = (cfg.leads,) + cfg.widths
        self.stages = nn.ModuleList([nn.Conv1d(a, b, 8, stride=2, padding=3) for a, b in zip(sizes, sizes[1:])])
        self.head = nn.Linear(cfg.widths[-1], len(RHYTHMS))

    def forward(self, x):
        for stage in self.stages:
            x = F.relu(stage(x))
        return self.head(x.mean(dim=-1))


class PlateauMonitor:
    """Exponentially smoothed loss; training stops when it has not improved for a while."""

    def __init__(self, smoothing, patience):
        self.smoothing, self.patience = smoothing, patience
        self.value = None
        self.best, self.bad = math.inf, 0

    def update(self, loss):
        if self.value is None:
            self.value = loss
        else:
            self.value = self.smoothing * self.value + (1 - self.smoothing) * loss

    def exhausted(self):
        now = float(self.value)
        if now < self.best - 1e-3:
            self.best, self.bad = now, 0
        else:
            self.bad += 1
        return self.bad > self.patience


class Experiment:
    def __init__(self, cfg):
        torch.manual_seed(cfg.seed)
        self.cfg = cfg
        self.net = RhythmNet(cfg).to(DEVICE)
        self.optimizer = torch.optim.AdamW(self.net.parameters(), lr=cfg.lr)
        self.train_set, self.val_set = EcgReader(cfg, 1_000), EcgReader(cfg, 900_000)
        self.monitor = PlateauMonitor(cfg.smoothing, cfg.patience)

    def train_epoch(self, epoch):
        self.net.train()
        total = 0.0
        for ecg, rhythm in self.train_set.batches(epoch, self.cfg.train_batches):
            loss = F.cross_entropy(self.net(ecg), rhythm)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            total += loss.item()
        return total / self.cfg.train_batches

    def validate(self):
        self.net.eval()
        right = 0
        for ecg, rhythm in self.val_set.batches(0, self.cfg.val_batches):
            logits = self.net(ecg)
            self.monitor.update(F.cross_entropy(logits, rhythm))
            right += (logits.argmax(-1) == rhythm).sum().item()
        return right / (self.cfg.val_batches * self.cfg.batch)


def main():
    cfg = Config()
    experiment, allocated = Experiment(cfg), []
    try:
        for epoch in range(cfg.epochs):
            loss = experiment.train_epoch(epoch)
            accuracy = experiment.validate()
            allocated.append(torch.cuda.memory_allocated())
            stop = experiment.monitor.exhausted()
            print(f"epoch {epoch:2d}  train {loss:.4f}  val {float(experiment.monitor.value):.4f}  acc {accuracy:.3f}")
            if stop:
                print("validation loss has levelled off")
                break
    finally:
        print(f'TRUTH {{"allocated": {allocated}, "rounds": {len(allocated)}}}', file=sys.stderr)


if __name__ == "__main__":
    main()
