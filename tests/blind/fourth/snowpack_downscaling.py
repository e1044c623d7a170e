# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Trains a network that sharpens coarse snow-depth maps of three satellite sensors to the resolution of a terrain
model; the position within the footprint enters as Fourier features."""

import json
import math
import os
import sys
import time
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset
from torchmetrics import MeanMetric

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")

SENSORS = {"amsr": 10_000.0, "viirs": 750.0, "modis": 500.0}


@dataclass
class SnowConfig:
    size: int = 32 if SMALL else 1024
    factor: int = 4
    octaves: int = 4
    width: int = 8 if SMALL else 24
    passes: int = 36 if SMALL else 60
    lr: float = 1e-3
    seed: int = 41
    report_every: int = 10
    orbit_interval_s: float = 0.0 if SMALL else 0.12


class PassDataset(Dataset):
    """One pass of a satellite: the coarse map, the terrain, and the ground sampling distance of the sensor."""

    def __init__(self, config: SnowConfig):
        self.config = config
        self.names = list(SENSORS)

    def __len__(self) -> int:
        return self.config.passes

    def __getitem__(self, index: int) -> dict:
        c = self.config
        sensor = self.names[index % len(self.names)]
        generator = torch.Generator().manual_seed(c.seed + index)
        coarse = torch.rand(1, c.size // c.factor, c.size // c.factor, generator=generator)
        terrain = torch.rand(1, c.size // 2, c.size // 2, generator=generator)
        return {"sensor": sensor, "coarse": coarse, "terrain": terrain, "gsd": SENSORS[sensor]}


class FootprintEncoding(nn.Module):
    """Fourier features of the position in metres; they depend on the map size and the sampling distance only."""

    def __init__(self, octaves: int):
        super().__init__()
        self.octaves = octaves
        self.tables: dict[tuple, torch.Tensor] = {}

    @property
    def channels(self) -> int:
        return 4 * self.octaves

    def build(self, height: int, width: int, gsd: float) -> torch.Tensor:
        y = torch.arange(height, device=DEVICE, dtype=torch.float32) * gsd / 1000.0
        x = torch.arange(width, device=DEVICE, dtype=torch.float32) * gsd / 1000.0
        planes = torch.empty(1, self.channels, height, width, device=DEVICE)
        for octave in range(self.octaves):
            scale = math.pi * 2.0**octave / 512.0
            planes[0, 4 * octave] = torch.sin(scale * y)[:, None]
            planes[0, 4 * octave + 1] = torch.cos(scale * y)[:, None]
            planes[0, 4 * octave + 2] = torch.sin(scale * x)[None]
            planes[0, 4 * octave + 3] = torch.cos(scale * x)[None]
        return planes

    def forward(self, terrain: torch.Tensor, gsd: torch.Tensor) -> torch.Tensor:
        height, width = terrain.shape[-2:]
        key = (height, width, gsd)
        if key not in self.tables:
            self.tables[key] = self.build(height, width, float(gsd))
        return self.tables[key]


class Sharpener(nn.Module):
    def __init__(self, config: SnowConfig):
        super().__init__()
        self.position = FootprintEncoding(config.octaves)
        self.stem = nn.Conv2d(2 + self.position.channels, config.width, 3, padding=1)
        self.body = nn.Sequential(
            nn.Conv2d(config.width, config.width, 3, padding=1),
            nn.GELU(),
            nn.Conv2d(config.width, config.width, 3, padding=1),
            nn.GELU(),
        )
        self.head = nn.Conv2d(config.width, 1, 1)

    def forward(self, coarse: torch.Tensor, terrain: torch.Tensor, gsd: torch.Tensor) -> torch.Tensor:
        smooth = F.interpolate(coarse, size=terrain.shape[-2:], mode="bilinear", align_corners=False)
        planes = self.position(terrain, gsd)
        hidden = torch.relu(self.stem(torch.cat([smooth, terrain, planes], dim=1)))
        return smooth + self.head(hidden + self.body(hidden))


def mass_conserving_loss(fine: torch.Tensor, coarse: torch.Tensor, terrain: torch.Tensor) -> torch.Tensor:
    pooled = F.adaptive_avg_pool2d(fine, coarse.shape[-2:])
    melt = (fine * (terrain < 0.2)).abs().mean()
    return F.mse_loss(pooled, coarse) + 0.1 * melt


class Trainer:
    def __init__(self, config: SnowConfig):
        self.config = config
        self.model = Sharpener(config).to(DEVICE)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=config.lr)
        self.loader = DataLoader(PassDataset(config), batch_size=1, shuffle=False)
        self.loss_of_sensor = {name: MeanMetric().to(DEVICE) for name in SENSORS}

    def train_pass(self, sample: dict) -> float:
        coarse = sample["coarse"].to(DEVICE)
        terrain = F.interpolate(sample["terrain"].to(DEVICE), scale_factor=2.0, mode="bilinear", align_corners=False)
        gsd = sample["gsd"][0]
        fine = self.model(coarse, terrain, gsd)
        loss = mass_conserving_loss(fine, coarse, terrain)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        value = loss.item()
        self.loss_of_sensor[sample["sensor"][0]].update(value)
        return value

    def report(self, index: int) -> str:
        seen = {name: metric for name, metric in self.loss_of_sensor.items() if metric.update_called}
        losses = ", ".join(f"{name} {metric.compute().item():.4f}" for name, metric in seen.items())
        for metric in seen.values():
            metric.reset()
        return f"pass {index}: {losses}"


def allocated() -> int:
    return torch.cuda.memory_allocated() if DEVICE.type == "cuda" else 0


def main() -> None:
    config = SnowConfig()
    torch.manual_seed(config.seed)
    trainer = Trainer(config)
    truth: list[int] = []
    try:
        for index, sample in enumerate(trainer.loader):
            trainer.train_pass(sample)
            truth.append(allocated())
            if index % config.report_every == 0:
                print(trainer.report(index), flush=True)
            time.sleep(config.orbit_interval_s)
    finally:
        print("TRUTH " + json.dumps({"allocated": truth, "rounds": len(truth)}), file=sys.stderr)


if __name__ == "__main__":
    main()
