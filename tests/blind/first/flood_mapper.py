# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Flood extent segmentation on SAR tiles, scored with torchmetrics."""
import json
import os
import sys
import time
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F
from torchmetrics import MetricCollection
from torchmetrics.classification import BinaryAveragePrecision, BinaryF1Score, BinaryJaccardIndex

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class FloodConfig:
    tile: int = 32 if SMALL else 256
    bands: int = 4
    width: int = 8 if SMALL else 96
    batch: int = 2 if SMALL else 6
    epochs: int = 6 if SMALL else 12
    steps_per_epoch: int = 5 if SMALL else 17
    val_batches: int = 2 if SMALL else 3
    lr: float = 1e-3
    label_smoothing: float = 0.02
    catalogue_latency: float = 0.03
    seed: int = 29


def block(c_in, c_out):
    return nn.Sequential(nn.Conv2d(c_in, c_out, 3, padding=1, bias=False), nn.BatchNorm2d(c_out), nn.ReLU(),
                         nn.Conv2d(c_out, c_out, 3, padding=1, bias=False), nn.BatchNorm2d(c_out), nn.ReLU())


class FloodNet(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        w = cfg.width
        self.enc1, self.enc2, self.enc3 = block(cfg.bands, w), block(w, 2 * w), block(2 * w, 4 * w)
        self.dec2, self.dec1 = block(6 * w, 2 * w), block(3 * w, w)
        self.head = nn.Conv2d(w, 1, 1)

    def forward(self, x):
        a = self.enc1(x)
        b = self.enc2(F.max_pool2d(a, 2))
        c = self.enc3(F.max_pool2d(b, 2))
        b = self.dec2(torch.cat([F.interpolate(c, scale_factor=2), b], dim=1))
        a = self.dec1(torch.cat([F.interpolate(b, scale_factor=2), a], dim=1))
        return self.head(a).squeeze(1)


class SarTiles:
    """Backscatter tiles with a smooth water mask."""

    def __init__(self, cfg, seed):
        self.cfg = cfg
        self.seed = seed

    def batches(self, epoch, count):
        cfg = self.cfg
        gen = torch.Generator().manual_seed(self.seed + 1000 * epoch)
        for _ in range(count):
            time.sleep(cfg.catalogue_latency)
            relief = torch.randn(cfg.batch, 1, cfg.tile // 16, cfg.tile // 16, generator=gen)
            relief = F.interpolate(relief, size=(cfg.tile, cfg.tile), mode="bilinear")
            water = (relief < -0.3).long().squeeze(1)
            speckle = torch.rand(cfg.batch, cfg.bands, cfg.tile, cfg.tile, generator=gen)
            yield (speckle - 0.5 * water.unsqueeze(1)).to(DEVICE), water.to(DEVICE)


def flood_loss(logits, water, smoothing):
    target = water.float() * (1 - 2 * smoothing) + smoothing
    bce = F.binary_cross_entropy_with_logits(logits, target)
    prob = logits.sigmoid()
    dice = 1 - (2 * (prob * target).sum() + 1) / (prob.sum() + target.sum() + 1)
    return bce + 0.5 * dice


class Scoreboard:
    def __init__(self):
        base = MetricCollection({"ap": BinaryAveragePrecision(), "f1": BinaryF1Score(), "iou": BinaryJaccardIndex()})
        self.train = base.clone(prefix="train_").to(DEVICE)
        self.val = base.clone(prefix="val_").to(DEVICE)
        self.best = 0.0
        self.rows = []

    def observe(self, split, logits, water):
        metrics = self.train if split == "train" else self.val
        metrics.update(logits.detach().sigmoid(), water)

    def close_epoch(self, epoch):
        row = {"epoch": epoch}
        row.update({k: round(v.item(), 4) for k, v in self.train.compute().items()})
        row.update({k: round(v.item(), 4) for k, v in self.val.compute().items()})
        self.best = max(self.best, row["val_ap"])
        self.val.reset()
        self.rows.append(row)
        return row


def train(cfg):
    torch.manual_seed(cfg.seed)
    model = FloodNet(cfg).to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, cfg.lr, total_steps=cfg.epochs * cfg.steps_per_epoch)
    tiles, val_tiles = SarTiles(cfg, cfg.seed), SarTiles(cfg, 777)
    scores, allocated = Scoreboard(), []

    for epoch in range(cfg.epochs):
        model.train()
        for image, water in tiles.batches(epoch, cfg.steps_per_epoch):
            logits = model(image)
            loss = flood_loss(logits, water, cfg.label_smoothing)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            scheduler.step()
            scores.observe("train", logits, water)

        model.eval()
        with torch.no_grad():
            for image, water in val_tiles.batches(0, cfg.val_batches):
                scores.observe("val", model(image), water)
        print(json.dumps(scores.close_epoch(epoch)))
        allocated.append(torch.cuda.memory_allocated())

    print("TRUTH " + json.dumps({"allocated": allocated, "rounds": cfg.epochs * cfg.steps_per_epoch,
                                 "peak": torch.cuda.max_memory_allocated()}), file=sys.stderr)
    return scores.best


if __name__ == "__main__":
    print(f"best validation AP {train(FloodConfig()):.4f}")
