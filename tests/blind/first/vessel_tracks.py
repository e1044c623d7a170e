# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Next-position model for vessel tracks. One time window of a harbour is one batch: all vessels seen in it."""
import json
import logging
import os
import sys
import time
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
logger = logging.getLogger("tracks")

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
SMALL = os.environ.get("SMALL") == "1"


@dataclass
class Settings:
    points: int = 512
    fields: int = 12
    dim: int = 1024
    depth: int = 12
    windows: int = 110
    fewest: int = 16
    most: int = 34
    regatta: tuple = (64, 101)
    regatta_vessels: int = 64
    lr: float = 1e-4
    pace: float = 0.08
    gpu_bytes: int = int(5.5 * 2**30)


class TrackBlock(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.widen = nn.Linear(dim, dim)
        self.act = nn.GELU()
        self.narrow = nn.Linear(dim, dim)

    def forward(self, tokens):
        hidden = self.act(self.widen(self.norm(tokens)))
        return tokens + self.narrow(hidden)


class TrackModel(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.enter = nn.Linear(cfg.fields, cfg.dim)
        self.blocks = nn.ModuleList(TrackBlock(cfg.dim) for _ in range(cfg.depth))
        self.leave = nn.Linear(cfg.dim, 2)

    def forward(self, window):
        tokens = self.enter(window)
        for block in self.blocks:
            tokens = block(tokens)
        return self.leave(tokens)


class Harbour:
    def __init__(self, cfg):
        self.cfg = cfg
        self.generator = torch.Generator().manual_seed(77)

    def window(self, index):
        cfg = self.cfg
        vessels = int(torch.randint(cfg.fewest, cfg.most + 1, (1,), generator=self.generator))
        if index in cfg.regatta:
            vessels = cfg.regatta_vessels
        return torch.randn(vessels, cfg.points + 1, cfg.fields, generator=self.generator)


class Learner:
    def __init__(self, cfg):
        torch.manual_seed(0)
        self.model = TrackModel(cfg).to(DEVICE)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=cfg.lr)
        self.halved = 0

    def accumulate(self, tracks, share=1.0):
        predicted = self.model(tracks[:, :-1])
        loss = F.mse_loss(predicted, tracks[:, 1:, :2]) * share
        loss.backward()
        return loss.item()

    def learn(self, tracks):
        self.optimizer.zero_grad(set_to_none=True)
        try:
            loss = self.accumulate(tracks)
        except torch.cuda.OutOfMemoryError:
            self.halved += 1
            logger.info("%d vessels do not fit, going on in two halves", tracks.shape[0])
            self.optimizer.zero_grad(set_to_none=True)
            torch.cuda.empty_cache()
            loss = sum(self.accumulate(half, share=0.5) for half in tracks.chunk(2))
        self.optimizer.step()
        return loss


class Usage:
    def __init__(self):
        self.allocated = []

    def note(self):
        self.allocated.append(torch.cuda.memory_allocated() if DEVICE.type == "cuda" else 0)

    def emit(self):
        every = max(1, len(self.allocated) // 10)
        peak = torch.cuda.max_memory_allocated() if DEVICE.type == "cuda" else 0
        print("TRUTH " + json.dumps({"allocated": self.allocated[every - 1::every], "peak": peak,
                                     "rounds": len(self.allocated)}), file=sys.stderr, flush=True)


def main():
    cfg = Settings()
    if SMALL:
        cfg = Settings(points=16, dim=32, depth=2, pace=0.0)
    if DEVICE.type == "cuda":
        card = torch.cuda.get_device_properties(0).total_memory
        torch.cuda.set_per_process_memory_fraction(cfg.gpu_bytes / card)
    harbour, learner, usage = Harbour(cfg), Learner(cfg), Usage()
    try:
        for index in range(1, cfg.windows + 1):
            tracks = harbour.window(index).to(DEVICE)
            loss = learner.learn(tracks)
            usage.note()
            if index % 20 == 0:
                logger.info("window %d vessels %d loss %.4f halved %d", index, len(tracks), loss, learner.halved)
            time.sleep(cfg.pace)
    finally:
        usage.emit()


if __name__ == "__main__":
    main()
