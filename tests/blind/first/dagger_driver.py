# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""DAgger for a driving policy: roll out, let the expert label, aggregate, fit again.

Frames stay on the device because the policy is refitted on the whole collection after every round.
"""
import json
import os
import random
import sys
import time
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class Config:
    rounds: int = 32 if SMALL else 48
    frames: int = 8 if SMALL else 400
    height: int = 24 if SMALL else 96
    width: int = 24 if SMALL else 96
    batch: int = 8 if SMALL else 128
    fits: int = 2 if SMALL else 6
    beta_decay: float = 0.93
    lr: float = 5e-4
    seconds_per_drive: float = 0.0 if SMALL else 0.12
    seed: int = 4


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.eyes = nn.Sequential(
            nn.Conv2d(3, 24, 5, stride=2), nn.ELU(),
            nn.Conv2d(24, 36, 5, stride=2), nn.ELU(),
            nn.Conv2d(36, 48, 3), nn.ELU(), nn.AdaptiveAvgPool2d(3))
        self.hands = nn.Sequential(nn.Linear(48 * 9, 100), nn.ELU(), nn.Linear(100, 2))

    def forward(self, frames):
        return self.hands(self.eyes(frames.float().div(127.5).sub(1.0)).flatten(1))


class Track:
    """A procedural road: the curvature decides what the expert would do."""

    def __init__(self, cfg, seed):
        self.cfg = cfg
        self.generator = torch.Generator(device=DEVICE).manual_seed(seed)
        self.column = torch.arange(cfg.width, device=DEVICE).view(1, 1, 1, -1)

    def drive(self, policy, beta):
        c = self.cfg
        curve = torch.rand(c.frames, 1, 1, 1, generator=self.generator, device=DEVICE) * 2 - 1
        centre = (curve * 0.4 + 0.5) * c.width
        road = (self.column - centre).abs().lt(c.width * 0.12).expand(c.frames, 3, c.height, c.width)
        noise = torch.randint(0, 90, (c.frames, 3, c.height, c.width), generator=self.generator, device=DEVICE,
                              dtype=torch.uint8)
        frames = torch.where(road, noise + 140, noise)
        expert = torch.cat([curve.flatten(1), 1.0 - curve.flatten(1).abs()], dim=1)
        with torch.no_grad():
            own = policy(frames[:64])
        off = (own[:, 0] - expert[:64, 0]).abs().mean().item() * (1.0 - beta)
        return frames, expert, off


class Collection:
    def __init__(self):
        self.frames = None
        self.labels = None

    def __len__(self):
        return 0 if self.frames is None else len(self.frames)

    def extend(self, frames, labels):
        if self.frames is None:
            self.frames, self.labels = frames.clone(), labels.clone()
            return
        self.frames = torch.cat([self.frames, frames])
        self.labels = torch.cat([self.labels, labels])

    def minibatch(self, size, rng):
        at = torch.tensor([rng.randrange(len(self)) for _ in range(size)], device=DEVICE)
        return self.frames[at], self.labels[at]


def fit(policy, optimizer, collection, cfg, rng):
    total = 0.0
    for _ in range(cfg.fits):
        frames, labels = collection.minibatch(cfg.batch, rng)
        loss = F.mse_loss(policy(frames), labels)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total / cfg.fits


def main():
    cfg = Config()
    torch.manual_seed(cfg.seed)
    rng = random.Random(cfg.seed)
    policy = Policy().to(DEVICE)
    optimizer = torch.optim.Adam(policy.parameters(), lr=cfg.lr)
    track, collection = Track(cfg, cfg.seed), Collection()
    beta, allocated, reserved, curve = 1.0, [], [], []
    for round_ in range(cfg.rounds):
        frames, labels, off = track.drive(policy, beta)
        collection.extend(frames, labels)
        del frames, labels
        loss = fit(policy, optimizer, collection, cfg, rng)
        curve.append((loss, off))
        beta *= cfg.beta_decay
        if (round_ + 1) % max(cfg.rounds // 12, 1) == 0:
            allocated.append(torch.cuda.memory_allocated())
            reserved.append(torch.cuda.memory_reserved())
            print(f"round {round_ + 1:3d} frames {len(collection):6d} loss {loss:.4f} off-centre {off:.3f}", flush=True)
        time.sleep(cfg.seconds_per_drive)
    print(f"loss went from {curve[0][0]:.4f} to {curve[-1][0]:.4f}")
    print("TRUTH " + json.dumps({"allocated": allocated, "reserved": reserved, "rounds": cfg.rounds}),
          file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
