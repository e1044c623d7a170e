# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Active learning for land cover segmentation with a committee of small U-Nets.

Each round trains one committee member from scratch on the tiles labelled so far and lets it predict the whole pool.
When the committee is complete, its pixelwise median becomes the new pseudo labels, the tiles on which the members
disagree most (median absolute deviation) are sent to the annotator, and the next committee starts.
"""

import json
import os
import random
import sys
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class CommitteeConfig:
    rounds: int = 9 if SMALL else 24
    members: int = 3 if SMALL else 8
    pool: int = 12 if SMALL else 192
    tile: int = 32 if SMALL else 256
    covers: int = 4 if SMALL else 12
    width: int = 4 if SMALL else 24
    first_labelled: int = 4 if SMALL else 48
    acquired: int = 2 if SMALL else 24
    train_steps: int = 1 if SMALL else 35
    batch_size: int = 2 if SMALL else 16
    predict_batch: int = 4 if SMALL else 32
    consensus_batch: int = 4
    lr: float = 2e-3


def device_memory() -> int:
    return torch.cuda.memory_allocated() if torch.cuda.is_available() else 0


def double_conv(inner: int, outer: int) -> nn.Sequential:
    layers = []
    for first in (inner, outer):
        layers += [nn.Conv2d(first, outer, 3, padding=1, bias=False), nn.BatchNorm2d(outer), nn.ReLU(inplace=True)]
    return nn.Sequential(*layers)


class SmallUNet(nn.Module):
    def __init__(self, width: int, covers: int):
        super().__init__()
        self.down1, self.down2 = double_conv(3, width), double_conv(width, 2 * width)
        self.bottom = double_conv(2 * width, 4 * width)
        self.up2, self.up1 = double_conv(6 * width, 2 * width), double_conv(3 * width, width)
        self.head = nn.Conv2d(width, covers, 1)

    def forward(self, tiles):
        fine = self.down1(tiles)
        middle = self.down2(F.max_pool2d(fine, 2))
        coarse = self.bottom(F.max_pool2d(middle, 2))
        middle = self.up2(torch.cat([F.interpolate(coarse, scale_factor=2.0), middle], dim=1))
        return self.head(self.up1(torch.cat([F.interpolate(middle, scale_factor=2.0), fine], dim=1)))


class TilePool:
    """Aerial tiles with the annotator's masks; all tiles also carry the committee's current pseudo labels."""

    def __init__(self, config: CommitteeConfig):
        coarse = torch.rand(config.pool, config.covers, 8, 8, device=DEVICE)
        size = (config.tile, config.tile)
        self.masks = torch.empty(config.pool, *size, dtype=torch.uint8, device=DEVICE)
        self.images = torch.empty(config.pool, 3, *size, dtype=torch.uint8, device=DEVICE)
        colours = torch.rand(config.covers, 3, device=DEVICE)
        for index in range(config.pool):
            mask = F.interpolate(coarse[index:index + 1], size=size, mode="bilinear").argmax(dim=1)[0]
            noise = torch.randn(3, *size, device=DEVICE).mul_(0.15)
            self.masks[index] = mask.to(torch.uint8)
            self.images[index] = (colours[mask].permute(2, 0, 1) + noise).clamp_(0, 1).mul_(255).to(torch.uint8)
        self.pseudo = torch.zeros_like(self.masks)
        self.has_pseudo = False

    def tiles(self, indices):
        return self.images[indices].float().div_(255)

    def targets(self, indices, labelled):
        known = torch.tensor([index in labelled for index in indices], device=DEVICE)
        return torch.where(known[:, None, None], self.masks[indices], self.pseudo[indices]).long()


class Committee:
    def __init__(self, config: CommitteeConfig, pool: TilePool):
        self.config = config
        self.pool = pool
        self.labelled = set(range(config.first_labelled))
        self.opinions = []

    def train_member(self, number: int):
        config = self.config
        torch.manual_seed(number)
        chooser = random.Random(number)
        member = SmallUNet(config.width, config.covers).to(DEVICE)
        optimizer = torch.optim.Adam(member.parameters(), lr=config.lr)
        candidates = list(range(config.pool)) if self.pool.has_pseudo else sorted(self.labelled)
        for _ in range(config.train_steps):
            indices = chooser.sample(candidates, config.batch_size)
            loss = F.cross_entropy(member(self.pool.tiles(indices)), self.pool.targets(indices, self.labelled))
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
        return member, loss.item()

    @torch.no_grad()
    def add_opinion(self, member):
        config = self.config
        member.eval()
        shape = (config.pool, config.covers, config.tile, config.tile)
        opinion = torch.empty(shape, dtype=torch.float16, device=DEVICE)
        for start in range(0, config.pool, config.predict_batch):
            indices = list(range(start, min(start + config.predict_batch, config.pool)))
            opinion[start:start + len(indices)] = member(self.pool.tiles(indices)).softmax(dim=1)
        self.opinions.append(opinion)

    @torch.no_grad()
    def decide(self):
        """Turns the opinions into pseudo labels and moves the most disputed tiles to the labelled set."""
        middle, scores = len(self.opinions) // 2, []
        for start in range(0, self.config.pool, self.config.consensus_batch):
            chunk = torch.stack([opinion[start:start + self.config.consensus_batch] for opinion in self.opinions])
            center = chunk.sort(dim=0).values[middle]
            spread = (chunk - center).abs_().sort(dim=0).values[middle]
            self.pool.pseudo[start:start + len(center)] = center.argmax(dim=1).to(torch.uint8)
            scores += spread.float().mean(dim=(1, 2, 3)).tolist()
        disputed = sorted(set(range(self.config.pool)) - self.labelled, key=lambda index: -scores[index])
        self.labelled.update(disputed[:self.config.acquired])
        self.pool.has_pseudo = True
        self.opinions.clear()


def main():
    config = CommitteeConfig()
    torch.manual_seed(0)
    allocated = []
    try:
        committee = Committee(config, TilePool(config))
        for number in range(config.rounds):
            member, loss = committee.train_member(number)
            committee.add_opinion(member)
            del member
            if len(committee.opinions) == config.members:
                committee.decide()
            allocated.append(device_memory())
            print(f"round {number:2d} loss {loss:.4f} labelled {len(committee.labelled)}", flush=True)
    finally:
        print("TRUTH " + json.dumps({"allocated": allocated, "rounds": len(allocated)}), file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
