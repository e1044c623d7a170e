# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Land-cover change between two acquisitions: siamese training and an exact precision-recall evaluation."""
import functools
import json
import os
import sys
import time
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F
from torchmetrics import MetricCollection
from torchmetrics.classification import BinaryAUROC, BinaryAveragePrecision
from torchvision.ops import SqueezeExcitation

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class ChangeConfig:
    bands: int = 6
    width: int = 8 if SMALL else 48
    sizes: tuple = (16, 24, 32) if SMALL else (192, 224, 256, 320)
    batch: int = 2 if SMALL else 8
    epochs: int = 4 if SMALL else 5
    train_steps: int = 4 if SMALL else 12
    scene: int = 48 if SMALL else 4096
    window: int = 32 if SMALL else 1024
    overlap: int = 8 if SMALL else 128
    scenes: int = 2 if SMALL else 3
    positive_weight: float = 4.0
    lr: float = 1e-3
    archive_seconds: float = 0.0 if SMALL else 0.15
    seed: int = 77


@functools.lru_cache(maxsize=8)
def coordinate_channels(size):
    """Relative position of each pixel, which tells the network how close the tile's border is."""
    axis = torch.linspace(-1, 1, size, device=DEVICE)
    y, x = torch.meshgrid(axis, axis, indexing="ij")
    return torch.stack([x, y, (1 - x.abs()) * (1 - y.abs())]).unsqueeze(0)


@functools.lru_cache(maxsize=2)
def blend_window(size):
    ramp = torch.hann_window(size + 2, periodic=False, device=DEVICE)[1:-1]
    return ramp.view(-1, 1) * ramp.view(1, -1)


class ChangeNet(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        w = cfg.width
        self.encoder = nn.Sequential(nn.Conv2d(cfg.bands + 3, w, 3, padding=1), nn.BatchNorm2d(w), nn.ReLU(),
                                     nn.Conv2d(w, w, 3, padding=1), nn.BatchNorm2d(w), nn.ReLU())
        self.attention = SqueezeExcitation(w, max(4, w // 8))
        self.head = nn.Sequential(nn.Conv2d(w, w, 3, padding=1), nn.ReLU(), nn.Conv2d(w, 1, 1))

    def encode(self, image):
        grid = coordinate_channels(image.shape[-1]).expand(len(image), -1, -1, -1)
        return self.attention(self.encoder(torch.cat([image, grid], dim=1)))

    def forward(self, before, after):
        return self.head((self.encode(before) - self.encode(after)).abs()).squeeze(1)


class Acquisitions:
    """Pairs of reflectance images; some fields are cleared in between."""

    def __init__(self, cfg, seed):
        self.cfg = cfg
        self.gen = torch.Generator(device=DEVICE).manual_seed(seed)

    def pair(self, count, size):
        cfg = self.cfg
        time.sleep(cfg.archive_seconds)
        coarse = torch.randn(count, cfg.bands, size // 8, size // 8, generator=self.gen, device=DEVICE)
        before = F.interpolate(coarse, size=(size, size), mode="bilinear")
        cleared = torch.randn(count, 1, size // 8, size // 8, generator=self.gen, device=DEVICE)
        cleared = F.interpolate(cleared, size=(size, size), mode="bilinear") > 0.8
        after = torch.where(cleared, before - 0.6, before)
        noise = 0.2 * torch.randn(after.shape, generator=self.gen, device=DEVICE)
        return before, after + noise, cleared.squeeze(1).long()


@torch.no_grad()
def predict_scene(model, before, after, cfg):
    """Overlapping windows, blended with a Hann weight."""
    size, stride = cfg.window, cfg.window - cfg.overlap
    total = torch.zeros(cfg.scene, cfg.scene, device=DEVICE)
    weight = torch.full_like(total, 1e-6)
    stops = sorted({min(k * stride, cfg.scene - size) for k in range((cfg.scene - 1) // stride + 1)})
    for top in stops:
        for left in stops:
            area = (..., slice(top, top + size), slice(left, left + size))
            score = model(before[area], after[area])[0].sigmoid()
            total[area[1:]] += score * blend_window(size)
            weight[area[1:]] += blend_window(size)
    return total / weight


def evaluate(model, metrics, scenes, cfg, allocated):
    model.eval()
    for _ in range(cfg.scenes):
        before, after, change = scenes.pair(1, cfg.scene)
        metrics.update(predict_scene(model, before, after, cfg).flatten(), change.flatten())
        allocated.append(torch.cuda.memory_allocated())
    result = {name: round(value.item(), 4) for name, value in metrics.compute().items()}
    metrics.reset()
    return result


def main():
    cfg = ChangeConfig()
    torch.manual_seed(cfg.seed)
    model = ChangeNet(cfg).to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr)
    metrics = MetricCollection([BinaryAveragePrecision(), BinaryAUROC()], prefix="scene_").to(DEVICE)
    tiles, allocated = Acquisitions(cfg, cfg.seed), []
    positive = torch.tensor(cfg.positive_weight, device=DEVICE)
    for epoch in range(cfg.epochs):
        model.train()
        for step in range(cfg.train_steps):
            before, after, change = tiles.pair(cfg.batch, cfg.sizes[(epoch + step) % len(cfg.sizes)])
            loss = F.binary_cross_entropy_with_logits(model(before, after), change.float(), pos_weight=positive)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            allocated.append(torch.cuda.memory_allocated())
        row = evaluate(model, metrics, Acquisitions(cfg, 5), cfg, allocated)
        print(json.dumps({"epoch": epoch, "loss": round(loss.item(), 4), **row}))
    print("TRUTH " + json.dumps({"allocated": allocated, "rounds": len(allocated)}), file=sys.stderr)


if __name__ == "__main__":
    main()
