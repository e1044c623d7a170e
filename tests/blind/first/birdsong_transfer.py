# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Transfer of a spectrogram transformer to a new set of bird species.

Discriminative fine-tuning as for language models: the head first, deeper blocks later and with smaller rates.
"""
import json
import os
import sys
import time
from collections import deque
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class Config:
    species: int = 200
    frames: int = 8 if SMALL else 192
    bins: int = 16 if SMALL else 128
    width: int = 32 if SMALL else 1280
    heads: int = 4 if SMALL else 16
    blocks: int = 12
    released_per_stage: int = 2
    stages: int = 5
    steps_per_stage: int = 8
    last_steps: int = 32
    batch: int = 2 if SMALL else 24
    lr: float = 2e-4
    decay_per_block: float = 0.8
    average_from: int = 4
    disk_wait: float = 0.0 if SMALL else 0.03
    seed: int = 9


class SpectrogramTransformer(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.patch = nn.Linear(cfg.bins, cfg.width)
        self.position = nn.Parameter(torch.randn(1, cfg.frames, cfg.width) * 0.02)
        self.blocks = nn.ModuleList([
            nn.TransformerEncoderLayer(cfg.width, cfg.heads, 4 * cfg.width, dropout=0.0, activation="gelu",
                                       batch_first=True, norm_first=True) for _ in range(cfg.blocks)])
        self.norm = nn.LayerNorm(cfg.width)
        self.head = nn.Linear(cfg.width, cfg.species)

    def forward(self, spectrogram):
        h = self.patch(spectrogram) + self.position
        for block in self.blocks:
            h = block(h)
        return self.head(self.norm(h).mean(1))


class Release:
    """Keeps the schedule of which block is trained from when on."""

    def __init__(self, model, cfg):
        self.model, self.cfg = model, cfg
        self.stage = 0
        model.requires_grad_(False)
        model.head.requires_grad_(True)
        self.optimizer = torch.optim.AdamW(model.head.parameters(), lr=cfg.lr)

    def advance(self, step):
        if self.stage >= self.cfg.stages or step < (self.stage + 1) * self.cfg.steps_per_stage:
            return
        top = self.cfg.blocks - self.stage * self.cfg.released_per_stage
        for index in range(top - 1, top - 1 - self.cfg.released_per_stage, -1):
            block = self.model.blocks[index].requires_grad_(True)
            depth = self.cfg.blocks - index
            self.optimizer.add_param_group({"params": list(block.parameters()),
                                            "lr": self.cfg.lr * self.cfg.decay_per_block ** depth})
        self.stage += 1


class Recordings:
    def __init__(self, cfg):
        self.cfg = cfg
        self.generator = torch.Generator().manual_seed(cfg.seed)
        self.recent = deque(maxlen=16)

    def batch(self):
        c = self.cfg
        label = torch.randint(c.species, (c.batch,), generator=self.generator)
        tone = torch.linspace(0, 12, c.bins).view(1, 1, -1) + label.view(-1, 1, 1) * 0.05
        sound = torch.sin(tone) + 0.3 * torch.randn(c.batch, c.frames, c.bins, generator=self.generator)
        self.recent.append(label)
        return sound.to(DEVICE, non_blocking=True), label.to(DEVICE, non_blocking=True)


def train_step(model, optimizer, sound, label):
    loss = F.cross_entropy(model(sound), label, label_smoothing=0.1)
    loss.backward()
    nn.utils.clip_grad_norm_([p for p in model.parameters() if p.grad is not None], 1.0)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return loss.item()


def main():
    cfg = Config()
    torch.manual_seed(cfg.seed)
    with torch.device(DEVICE):
        model = SpectrogramTransformer(cfg)
    release, recordings = Release(model, cfg), Recordings(cfg)
    steps = cfg.stages * cfg.steps_per_stage + cfg.last_steps
    losses, seen = [], []
    for step in range(steps):
        release.advance(step)
        sound, label = recordings.batch()
        losses.append(train_step(model, release.optimizer, sound, label))
        if (step + 1) % 6 == 0:
            seen.append(torch.cuda.memory_allocated())
            rate = release.optimizer.param_groups[-1]["lr"]
            print(f"step {step + 1:3d} stage {release.stage} loss {losses[-1]:.4f} deepest lr {rate:.2e}", flush=True)
        time.sleep(cfg.disk_wait)
    print(f"loss {sum(losses[:8]) / 8:.4f} -> {sum(losses[-8:]) / 8:.4f}")
    print("TRUTH " + json.dumps({"allocated": seen, "rounds": steps}), file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
