# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Sea-ice charts from dual-polarised SAR swaths.

A ConvNeXt encoder with a light decoder segments ice classes; in front of it a learnable calibration surface
corrects the scalloping of the antenna pattern per range/azimuth cell. Cells without a return in the batch
(land, swath border) must not move the surface.
"""
import json
import os
import sys
import time
from dataclasses import dataclass

import timm
import torch
import torch.nn.functional as F
from torch import nn

SMALL = bool(int(os.environ.get("SMALL", "0")))
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


@dataclass
class Settings:
    backbone: str = "convnext_atto" if SMALL else "convnext_nano"
    tile: int = 64 if SMALL else 256
    batch: int = 2 if SMALL else 16
    classes: int = 7
    steps: int = 10 if SMALL else 140
    report: int = 5 if SMALL else 20
    lr: float = 3e-4
    calibration_lr: float = 1e-2
    noise_floor: float = -22.0


class AntennaCalibration(nn.Module):
    """Gain and offset (in dB) for every cell of the tile, shared by both polarisations."""

    def __init__(self, tile):
        super().__init__()
        self.gain = nn.Parameter(torch.zeros(1, tile, tile))
        self.offset = nn.Parameter(torch.zeros(2, 1, 1))

    def forward(self, sigma0):
        return sigma0 * (1.0 + 0.1 * torch.tanh(self.gain)) + self.offset


class IceNet(nn.Module):
    def __init__(self, cfg: Settings):
        super().__init__()
        self.calibration = AntennaCalibration(cfg.tile)
        self.encoder = timm.create_model(cfg.backbone, pretrained=False, in_chans=2, features_only=True)
        widths = self.encoder.feature_info.channels()
        self.lateral = nn.ModuleList(nn.Conv2d(w, 96, 1) for w in widths)
        self.smooth = nn.Sequential(nn.Conv2d(96, 96, 3, padding=1), nn.GroupNorm(8, 96), nn.GELU())
        self.head = nn.Conv2d(96, cfg.classes, 1)

    def forward(self, sigma0):
        x = (self.calibration(sigma0) + 15.0) / 8.0
        pyramid = self.encoder(x)
        top = self.lateral[-1](pyramid[-1])
        for level in range(len(pyramid) - 2, -1, -1):
            skip = self.lateral[level](pyramid[level])
            top = skip + F.interpolate(top, size=skip.shape[-2:], mode="bilinear", align_corners=False)
        logits = self.head(self.smooth(top))
        return F.interpolate(logits, size=sigma0.shape[-2:], mode="bilinear", align_corners=False)


class SwathSampler:
    """Backscatter of ice floes: smooth class fields plus speckle, with a nadir gap and coast cells."""

    def __init__(self, cfg: Settings, seed=0):
        self.cfg = cfg
        self.gen = torch.Generator(device=DEVICE).manual_seed(seed)
        self.levels = torch.linspace(-24.0, -8.0, cfg.classes, device=DEVICE)

    def draw(self):
        cfg = self.cfg
        coarse = torch.randn(cfg.batch, cfg.classes, 8, 8, device=DEVICE, generator=self.gen)
        field = F.interpolate(coarse, size=(cfg.tile, cfg.tile), mode="bicubic", align_corners=False)
        label = field.argmax(1)
        hh = self.levels[label]
        speckle = torch.randn(cfg.batch, 2, cfg.tile, cfg.tile, device=DEVICE, generator=self.gen)
        sigma0 = torch.stack([hh, hh - 6.0], dim=1) + 1.5 * speckle
        gap = int(torch.randint(0, cfg.tile - 8, (1,), device=DEVICE, generator=self.gen))
        sigma0[..., gap:gap + 8] = -60.0
        return sigma0, label


class ChartTrainer:
    def __init__(self, cfg: Settings):
        self.cfg = cfg
        self.net = IceNet(cfg).to(DEVICE)
        calibration = list(self.net.calibration.parameters())
        ids = {id(p) for p in calibration}
        rest = [p for p in self.net.parameters() if id(p) not in ids]
        self.optimizer = torch.optim.AdamW([
            {"params": rest, "lr": cfg.lr, "weight_decay": 0.05},
            {"params": calibration, "lr": cfg.calibration_lr, "weight_decay": 0.0}])
        self.scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(self.optimizer, cfg.steps)
        self.confusion = torch.zeros(cfg.classes, cfg.classes, device=DEVICE, dtype=torch.long)

    def mask_calibration(self, sigma0):
        seen = (sigma0[:, 0] > self.cfg.noise_floor).float().mean(0, keepdim=True)

        def keep_observed(grad):
            return grad * seen

        self.net.calibration.gain.register_hook(keep_observed)

    def train_step(self, sigma0, label):
        self.mask_calibration(sigma0)
        logits = self.net(sigma0)
        loss = F.cross_entropy(logits, label) + 1e-3 * self.net.calibration.gain.square().mean()
        self.optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), 5.0)
        self.optimizer.step()
        self.scheduler.step()
        self.tally(logits.detach(), label)
        return loss.item()

    @torch.no_grad()
    def tally(self, logits, label):
        pairs = label.flatten() * self.cfg.classes + logits.argmax(1).flatten()
        counts = torch.bincount(pairs, minlength=self.cfg.classes ** 2)
        self.confusion += counts.view(self.cfg.classes, -1)

    def mean_iou(self):
        hit = self.confusion.diagonal().float()
        union = self.confusion.sum(0) + self.confusion.sum(1) - hit
        score = (hit / union.clamp(min=1)).mean().item()
        self.confusion.zero_()
        return score


class MemoryLog:
    def __init__(self):
        self.values = []

    def sample(self):
        if torch.cuda.is_available():
            self.values.append(torch.cuda.memory_allocated())

    def dump(self, rounds):
        print("TRUTH " + json.dumps({"allocated": self.values, "rounds": rounds}), file=sys.stderr)


def main():
    torch.manual_seed(3)
    cfg = Settings()
    sampler, trainer, memory = SwathSampler(cfg), ChartTrainer(cfg), MemoryLog()
    begin = time.perf_counter()
    for step in range(1, cfg.steps + 1):
        sigma0, label = sampler.draw()
        loss = trainer.train_step(sigma0, label)
        memory.sample()
        if step % cfg.report == 0:
            rate = step * cfg.batch / (time.perf_counter() - begin)
            print(f"[{step:4d}/{cfg.steps}] loss {loss:.3f}  mIoU {trainer.mean_iou():.3f}  {rate:.1f} tiles/s", flush=True)
    surface = trainer.net.calibration.gain.detach()
    print(f"calibration surface: {surface.min():.3f} .. {surface.max():.3f}")
    memory.dump(cfg.steps)


if __name__ == "__main__":
    main()
