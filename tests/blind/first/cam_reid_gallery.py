# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Person re-identification across the cameras of a railway station.

Sixteen cameras deliver detections; each detection is matched against everybody seen lately and then joins the gallery.
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
class StationConfig:
    ticks: int = 120
    tick_seconds: float = 0.002 if SMALL else 0.055
    night_detections: int = 32 if SMALL else 512
    rush_detections: int = 128 if SMALL else 2048
    rush_ticks: int = 40
    keep_ticks: int = 40
    crop: tuple = (3, 64, 32)
    feature_dim: int = 128 if SMALL else 2048
    first_capacity: int = 512 if SMALL else 8192
    threshold: float = 0.35


class AppearanceNet(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.stem = nn.Conv2d(3, 32, 5, stride=4, padding=2)
        self.body = nn.Conv2d(32, 64, 3, stride=2, padding=1)
        self.head = nn.Linear(64 * 8 * 4, dim)

    def forward(self, crops):
        x = F.relu(self.stem(crops))
        x = F.relu(self.body(x))
        return F.normalize(self.head(x.flatten(1)), dim=1)


class Gallery:
    """Features of everybody on site, oldest first, in one matrix so that matching is one matmul."""

    def __init__(self, cfg):
        self.cfg = cfg
        self.matrix = torch.empty(cfg.first_capacity, cfg.feature_dim, device=DEVICE)
        self.live = 0
        self.ticks = deque()
        self.thumbnails = deque()
        self.next_identity = 0

    def _reserve(self, rows):
        capacity = self.matrix.shape[0]
        if rows <= capacity:
            return
        while capacity < rows:
            capacity *= 2
        larger = torch.empty(capacity, self.cfg.feature_dim, device=DEVICE)
        larger[: self.live] = self.matrix[: self.live]
        self.matrix = larger

    def forget_before(self, tick):
        gone = 0
        while self.ticks and self.ticks[0][0] < tick:
            gone += self.ticks.popleft()[1]
            self.thumbnails.popleft()
        if gone:
            rest = self.matrix[gone : self.live].clone()
            self.matrix[: rest.shape[0]] = rest
            self.live = rest.shape[0]

    def match(self, features):
        if self.live == 0:
            return torch.zeros(features.shape[0], dtype=torch.bool, device=DEVICE)
        similarity = features @ self.matrix[: self.live].T
        return similarity.max(dim=1).values > self.cfg.threshold

    def add(self, tick, features, crops):
        count = features.shape[0]
        self._reserve(self.live + count)
        self.matrix[self.live : self.live + count] = features
        self.live += count
        self.ticks.append((tick, count))
        self.thumbnails.append(crops)
        self.next_identity += count


class Station:
    def __init__(self, cfg):
        self.cfg = cfg
        self.rng = torch.Generator(device=DEVICE).manual_seed(11)
        self.net = AppearanceNet(cfg.feature_dim).to(DEVICE).eval()
        self.gallery = Gallery(cfg)
        self.seen_again = 0

    def detections(self, tick):
        cfg = self.cfg
        share = min(tick, cfg.rush_ticks) / cfg.rush_ticks
        count = int(cfg.night_detections + share * (cfg.rush_detections - cfg.night_detections))
        return torch.randint(0, 256, (count, *cfg.crop), dtype=torch.uint8, device=DEVICE, generator=self.rng)

    @torch.inference_mode()
    def tick(self, number):
        crops = self.detections(number)
        self.gallery.forget_before(number - self.cfg.keep_ticks + 1)
        features = self.net(crops.float().div_(255).sub_(0.5))
        self.seen_again += int(self.gallery.match(features).sum())
        self.gallery.add(number, features, crops)


def main():
    cfg = StationConfig()
    torch.manual_seed(11)
    station = Station(cfg)
    curve = []
    for number in range(cfg.ticks):
        station.tick(number)
        if number % 20 == 0:
            print(f"tick {number:3d} on site {station.gallery.live:6d} seen again {station.seen_again}")
        if (number + 1) % (cfg.ticks // 12) == 0:
            curve.append(torch.cuda.memory_allocated())
        time.sleep(cfg.tick_seconds)
    print(f"{station.gallery.next_identity} detections, {station.gallery.live} on site at closing time")
    print("TRUTH " + json.dumps({"allocated": curve, "rounds": cfg.ticks}), file=sys.stderr)


if __name__ == "__main__":
    main()
