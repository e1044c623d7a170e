# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Trains a small convolutional GAN on portraits and keeps an eye on it with preview sheets.

Training is counted in ticks of a few batches. The generator's weights are averaged; every tenth tick the averaged
generator draws a sheet of samples from fixed latents, the sheet is written to the run's folder, and the mean change
since the sheet before is reported. A run that is interrupted still writes the sheet it was working on.
"""
import atexit
import copy
import json
import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class GanConfig:
    ticks: int = 120
    batches_per_tick: int = 2
    batch: int = 64
    side: int = 128
    width: int = 64
    latent: int = 128
    preview_every: int = 10
    preview_samples: int = 64
    averaging: float = 0.995
    r1_every: int = 16
    r1_weight: float = 5.0
    device: str = "cuda" if torch.cuda.is_available() else "cpu"

    @classmethod
    def from_environment(cls):
        if os.environ.get("SMALL") == "1":
            return cls(ticks=40, batches_per_tick=1, batch=4, side=32, width=8, latent=16, preview_samples=8)
        return cls()


class Generator(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.base = config.side // 16
        self.width = 8 * config.width
        self.project = nn.Linear(config.latent, self.width * self.base ** 2)
        blocks, channels = [], self.width
        for _ in range(4):
            blocks += [nn.Upsample(scale_factor=2), nn.Conv2d(channels, channels // 2, 3, padding=1),
                       nn.GroupNorm(4, channels // 2), nn.LeakyReLU(0.2)]
            channels //= 2
        self.blocks = nn.Sequential(*blocks, nn.Conv2d(channels, 3, 3, padding=1), nn.Tanh())

    def forward(self, latents):
        return self.blocks(self.project(latents).view(-1, self.width, self.base, self.base))


class Discriminator(nn.Module):
    def __init__(self, config):
        super().__init__()
        blocks, channels = [nn.Conv2d(3, config.width, 4, stride=2, padding=1), nn.LeakyReLU(0.2)], config.width
        for _ in range(3):
            blocks += [nn.Conv2d(channels, 2 * channels, 4, stride=2, padding=1), nn.LeakyReLU(0.2)]
            channels *= 2
        self.blocks = nn.Sequential(*blocks)
        self.score = nn.Linear(channels, 1)

    def forward(self, images):
        return self.score(self.blocks(images).mean(dim=(2, 3))).squeeze(1)


class Portraits:
    """Stand-in for the photo collection: smooth colour fields with a bright oval."""

    def __init__(self, config):
        self.config = config
        axis = torch.linspace(-1, 1, config.side, device=config.device)
        self.oval = torch.exp(-(2 * axis[:, None] ** 2 + 3 * axis[None, :] ** 2))

    def batch(self):
        coarse = torch.randn(self.config.batch, 3, 8, 8, device=self.config.device)
        fields = F.interpolate(coarse, size=self.config.side, mode="bilinear", align_corners=False)
        return (0.5 * fields + self.oval).clamp(-1, 1)


class PreviewSheet:
    """One sheet of samples; `close` writes it, also when the run ends before."""

    def __init__(self, folder, tick):
        self.path = Path(folder) / f"sheet-{tick:05d}.pt"
        self.samples = None
        self.closed = False
        atexit.register(self.close)

    @torch.no_grad()
    def render(self, generator, latents):
        self.samples = torch.cat([generator(part) for part in latents.split(16)])

    def change_since(self, other):
        return (self.samples - other.samples).abs().mean().item()

    def close(self):
        if self.closed or self.samples is None:
            return
        torch.save(self.samples.add(1).mul(127.5).byte().cpu(), self.path)
        self.closed = True


class GanTrainer:
    def __init__(self, config, folder):
        self.config = config
        self.folder = folder
        self.generator = Generator(config).to(config.device)
        self.averaged = copy.deepcopy(self.generator).requires_grad_(False)
        self.discriminator = Discriminator(config).to(config.device)
        self.generator_optimizer = torch.optim.Adam(self.generator.parameters(), lr=2e-4, betas=(0.0, 0.99))
        self.discriminator_optimizer = torch.optim.Adam(self.discriminator.parameters(), lr=2e-4, betas=(0.0, 0.99))
        self.portraits = Portraits(config)
        self.preview_latents = torch.randn(config.preview_samples, config.latent, device=config.device)
        self.previous_sheet = None
        self.batches = 0

    def latents(self):
        return torch.randn(self.config.batch, self.config.latent, device=self.config.device)

    def discriminator_step(self):
        real = self.portraits.batch()
        regularize = self.batches % self.config.r1_every == 0
        real.requires_grad_(regularize)
        with torch.no_grad():
            fake = self.generator(self.latents())
        real_score = self.discriminator(real)
        loss = F.softplus(-real_score).mean() + F.softplus(self.discriminator(fake)).mean()
        if regularize:
            slope, = torch.autograd.grad(real_score.sum(), real, create_graph=True)
            loss = loss + self.config.r1_weight * slope.square().sum(dim=(1, 2, 3)).mean()
        self.discriminator_optimizer.zero_grad()
        loss.backward()
        self.discriminator_optimizer.step()
        return loss.detach()

    def generator_step(self):
        loss = F.softplus(-self.discriminator(self.generator(self.latents()))).mean()
        self.generator_optimizer.zero_grad()
        loss.backward()
        self.generator_optimizer.step()
        return loss.detach()

    @torch.no_grad()
    def average_weights(self):
        for averaged, weight in zip(self.averaged.parameters(), self.generator.parameters()):
            averaged.lerp_(weight, 1 - self.config.averaging)

    def preview(self, tick):
        sheet = PreviewSheet(self.folder, tick)
        sheet.render(self.averaged, self.preview_latents)
        sheet.close()
        change = sheet.change_since(self.previous_sheet) if self.previous_sheet else float("nan")
        self.previous_sheet = sheet
        return change

    def tick(self, number):
        for _ in range(self.config.batches_per_tick):
            discriminator_loss, generator_loss = self.discriminator_step(), self.generator_step()
            self.average_weights()
            self.batches += 1
        if number % self.config.preview_every == 0:
            print(f"tick {number}: D {discriminator_loss:.3f} G {generator_loss:.3f} "
                  f"preview change {self.preview(number):.4f}")


def main():
    torch.manual_seed(3)
    config = GanConfig.from_environment()
    allocated = []
    try:
        with tempfile.TemporaryDirectory(prefix="portraits-") as folder:
            trainer = GanTrainer(config, folder)
            for number in range(1, config.ticks + 1):
                trainer.tick(number)
                allocated.append(torch.cuda.memory_allocated() if torch.cuda.is_available() else 0)
            print(f"{len(list(Path(folder).glob('sheet-*.pt')))} sheets written")
    finally:
        print("TRUTH " + json.dumps({"allocated": allocated, "rounds": len(allocated)}), file=sys.stderr)


if __name__ == "__main__":
    main()
