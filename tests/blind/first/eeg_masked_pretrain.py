# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Masked-channel pretraining on EEG recordings held in GPU memory."""
import json
import os
import sys
import time
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class StudyConfig:
    electrodes: int = 8 if SMALL else 64
    subjects: int = 40 if SMALL else 180
    shortest: int = 1200 if SMALL else 27600       # samples at 256 Hz
    longest: int = 2000 if SMALL else 38800
    window: int = 256 if SMALL else 8192
    batch: int = 4 if SMALL else 64
    width: int = 16 if SMALL else 128
    steps: int = 30 if SMALL else 90
    mask_ratio: float = 0.3
    lr: float = 5e-4
    disk_latency: float = 0.02
    seed: int = 3


@dataclass
class Recording:
    subject: int
    samples: int


def study_catalog(cfg):
    rng = np.random.default_rng(cfg.seed)
    order = rng.permutation(cfg.subjects)
    lengths = np.linspace(cfg.shortest, cfg.longest, cfg.subjects).astype(int)
    return [Recording(int(s), int(n)) for s, n in zip(range(cfg.subjects), lengths[order])]


def read_edf(rec, cfg):
    time.sleep(cfg.disk_latency)
    rng = np.random.default_rng([cfg.seed, rec.subject])
    return rng.standard_normal((cfg.electrodes, rec.samples), dtype=np.float32)


def average_reference(raw):
    return raw - raw.mean(dim=0, keepdim=True)


def load_subject(rec, cfg):
    raw = torch.from_numpy(read_edf(rec, cfg)).to(DEVICE)
    return average_reference(raw)


class EEGStore:
    def __init__(self, cfg):
        self.cfg = cfg
        self.signals = []
        self.trace = {"allocated": [], "reserved": []}
        self.gen = torch.Generator().manual_seed(cfg.seed)

    def fill(self):
        every = self.cfg.subjects // 10
        for i, rec in enumerate(sorted(study_catalog(self.cfg), key=lambda r: r.samples), start=1):
            self.signals.append(load_subject(rec, self.cfg))
            if i % every == 0:
                self.trace["allocated"].append(torch.cuda.memory_allocated())
                self.trace["reserved"].append(torch.cuda.memory_reserved())
        torch.cuda.empty_cache()
        print(f"{len(self.signals)} recordings, {sum(s.numel() for s in self.signals) * 4 / 2**20:.0f} MiB")

    def sample(self):
        windows = []
        picks = torch.randint(0, len(self.signals), (self.cfg.batch,), generator=self.gen).tolist()
        for p in picks:
            signal = self.signals[p]
            start = int(torch.randint(0, signal.shape[1] - self.cfg.window, (1,), generator=self.gen))
            windows.append(signal[:, start:start + self.cfg.window])
        return torch.stack(windows)


class TemporalBlock(nn.Module):
    def __init__(self, width, dilation):
        super().__init__()
        self.conv = nn.Conv1d(width, width, 5, padding=2 * dilation, dilation=dilation)
        self.norm = nn.GroupNorm(8, width)

    def forward(self, x):
        return x + F.gelu(self.norm(self.conv(x)))


class MaskedEEG(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.inp = nn.Conv1d(cfg.electrodes, cfg.width, 9, padding=4)
        self.blocks = nn.Sequential(*[TemporalBlock(cfg.width, d) for d in (1, 2, 4)])
        self.out = nn.Conv1d(cfg.width, cfg.electrodes, 1)

    def forward(self, x):
        return self.out(self.blocks(self.inp(x)))


def mask_electrodes(x, ratio, gen):
    keep = (torch.rand(x.shape[0], x.shape[1], 1, generator=gen) > ratio).to(x.device)
    return x * keep, ~keep


def pretrain(store, cfg):
    torch.manual_seed(cfg.seed)
    model = MaskedEEG(cfg).to(DEVICE)
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    trace = {"allocated": [], "reserved": []}
    for step in range(1, cfg.steps + 1):
        time.sleep(cfg.disk_latency)
        clean = store.sample()
        visible, hidden = mask_electrodes(clean, cfg.mask_ratio, store.gen)
        loss = (F.mse_loss(model(visible), clean, reduction="none") * hidden).mean()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        if step % max(1, cfg.steps // 10) == 0:
            print(f"step {step:4d} loss {loss.item():.4f}")
            trace["allocated"].append(torch.cuda.memory_allocated())
            trace["reserved"].append(torch.cuda.memory_reserved())
    return trace


def main():
    cfg = StudyConfig()
    store = EEGStore(cfg)
    store.fill()
    after_fill = {"allocated": torch.cuda.memory_allocated(), "reserved": torch.cuda.memory_reserved()}
    training = pretrain(store, cfg)
    print("TRUTH " + json.dumps({**store.trace, "rounds": cfg.subjects, "after_fill": after_fill,
                                 "training": training, "training_rounds": cfg.steps}), file=sys.stderr)


if __name__ == "__main__":
    main()
