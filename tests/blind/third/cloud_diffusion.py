# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Diffusion model of cloud-top temperature fields, grown from coarse to fine with an averaged copy for sampling."""
import json
import math
import os
import sys
import time
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class GrowConfig:
    stages: tuple = (((8, 2, 4), (16, 2, 4), (32, 2, 6)) if SMALL else
                     ((32, 24, 30), (64, 16, 30), (128, 8, 30), (256, 4, 50)))
    width: int = 8 if SMALL else 320
    ema_from_stage: int = 1
    ema_decay: float = 0.995
    diffusion_steps: int = 100
    sample_steps: int = 3 if SMALL else 6
    probes: int = 2 if SMALL else 8
    lr: float = 2e-4
    reader_seconds: float = 0.0 if SMALL else 0.08
    seed: int = 1811


class ResBlock(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm1, self.norm2 = nn.GroupNorm(4, width), nn.GroupNorm(4, width)
        self.conv1 = nn.Conv2d(width, width, 3, padding=1)
        self.conv2 = nn.Conv2d(width, width, 3, padding=1)
        self.time = nn.Linear(64, width)

    def forward(self, x, emb):
        h = self.conv1(F.silu(self.norm1(x))) + self.time(emb)[:, :, None, None]
        return x + self.conv2(F.silu(self.norm2(h)))


class Level(nn.Module):
    """One rung of the ladder: entry and exit at this resolution around everything coarser."""

    def __init__(self, width):
        super().__init__()
        self.entry = nn.Conv2d(1, width, 3, padding=1)
        self.down, self.up = ResBlock(width), ResBlock(width)
        self.exit = nn.Conv2d(width, 1, 3, padding=1)


class GrowingDenoiser(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width
        self.levels = nn.ModuleList()
        self.embed = nn.Sequential(nn.Linear(2, 64), nn.SiLU(), nn.Linear(64, 64))

    def grow(self):
        level = Level(self.width).to(DEVICE)
        nn.init.zeros_(level.exit.weight)
        self.levels.append(level)
        return level

    def forward(self, x, t):
        emb = self.embed(torch.stack([torch.sin(t * math.pi), torch.cos(t * math.pi)], dim=1))
        h = self.levels[-1].entry(x)
        skips = []
        for level in reversed(self.levels):
            h = level.down(h, emb)
            skips.append(h)
            if level is not self.levels[0]:
                h = F.avg_pool2d(h, 2)
        for level, skip in zip(self.levels, reversed(skips)):
            if h.shape[-1] != skip.shape[-1]:
                h = F.interpolate(h, size=skip.shape[-2:])
            h = level.up(h + skip, emb)
        return self.levels[-1].exit(h)


class SatelliteFields:
    """Multi-scale random fields that resemble cloud-top temperatures."""

    def __init__(self, cfg):
        self.cfg = cfg
        self.gen = torch.Generator(device=DEVICE).manual_seed(cfg.seed)

    def batch(self, size, count):
        time.sleep(self.cfg.reader_seconds)
        out = torch.zeros(count, 1, size, size, device=DEVICE)
        scale = 4
        while scale <= size:
            noise = torch.randn(count, 1, scale, scale, generator=self.gen, device=DEVICE)
            out += F.interpolate(noise, size=(size, size), mode="bilinear") / math.log2(scale)
            scale *= 2
        return torch.tanh(out)


def diffuse(x, t):
    noise = torch.randn_like(x)
    level = torch.cos(0.5 * math.pi * t).view(-1, 1, 1, 1)
    return level * x + (1 - level ** 2).sqrt() * noise, noise


@torch.no_grad()
def sample(model, start, steps):
    x = start.clone()
    for k in reversed(range(1, steps + 1)):
        t = torch.full((len(x),), k / (steps + 1), device=DEVICE)
        level = torch.cos(0.5 * math.pi * t).view(-1, 1, 1, 1)
        x = x - (1 - level) * model(x, t)
    return x


def train(cfg):
    torch.manual_seed(cfg.seed)
    model, fields = GrowingDenoiser(cfg.width).to(DEVICE), SatelliteFields(cfg)
    optimizer = torch.optim.AdamW(model.embed.parameters(), lr=cfg.lr)
    average, probes, allocated = None, {}, []
    for stage, (size, batch, steps) in enumerate(cfg.stages):
        level = model.grow()
        optimizer.add_param_group({"params": level.parameters()})
        if stage >= cfg.ema_from_stage:
            average = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(cfg.ema_decay))
        probes[size] = torch.randn(cfg.probes, 1, size, size, device=DEVICE)
        for step in range(steps):
            clean = fields.batch(size, batch)
            t = torch.rand(batch, device=DEVICE).clamp(1 / cfg.diffusion_steps, 1 - 1 / cfg.diffusion_steps)
            noisy, noise = diffuse(clean, t)
            loss = F.mse_loss(model(noisy, t), noise)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if average is not None:
                average.update_parameters(model)
            allocated.append(torch.cuda.memory_allocated())
        picture = sample(average or model, probes[size], cfg.sample_steps)
        print(f"stage {stage}: {size:3d} px, loss {loss.item():.4f}, sample spread {picture.std().item():.3f}")
        del picture
    print("TRUTH " + json.dumps({"allocated": allocated, "rounds": len(allocated)}), file=sys.stderr)


if __name__ == "__main__":
    train(GrowConfig())
