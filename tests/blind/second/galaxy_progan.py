# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Progressive GAN for galaxy postage stamps: growing resolution, lazy R1 penalty, averaged generator."""
import copy
import json
import math
import os
import sys
import time
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class GanConfig:
    latent: int = 32 if SMALL else 256
    width: int = 8 if SMALL else 192
    batch: int = 2 if SMALL else 32
    levels: tuple = (8, 16) if SMALL else (16, 32, 64, 128)
    steps_per_level: int = 3 if SMALL else 30
    final_steps: int = 6 if SMALL else 150
    r1_every: int = 4 if SMALL else 16
    r1_gamma: float = 2.0
    fade_steps: int = 2 if SMALL else 15
    ema: float = 0.99
    gallery_every: int = 3 if SMALL else 30
    lr: float = 2e-4
    archive_latency: float = 0.035
    seed: int = 83


def channels(cfg, resolution):
    return max(4, min(cfg.width, cfg.width * 32 // resolution))


class GeneratorBlock(nn.Module):
    def __init__(self, c_in, c_out):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv2d(c_in, c_out, 3, padding=1), nn.GroupNorm(4, c_out), nn.LeakyReLU(0.2),
                                  nn.Conv2d(c_out, c_out, 3, padding=1), nn.GroupNorm(4, c_out), nn.LeakyReLU(0.2))
        self.to_image = nn.Conv2d(c_out, 1, 1)

    def forward(self, x):
        return self.conv(F.interpolate(x, scale_factor=2))


class Generator(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg, self.base = cfg, cfg.levels[0] // 2
        self.start = nn.Linear(cfg.latent, channels(cfg, self.base) * self.base ** 2)
        self.blocks = nn.ModuleList()
        self.grow()

    def grow(self):
        resolution = self.base * 2 ** (len(self.blocks) + 1)
        block = GeneratorBlock(channels(self.cfg, resolution // 2), channels(self.cfg, resolution))
        self.blocks.append(block.to(self.start.weight.device))
        return list(block.parameters())

    def forward(self, z, fade):
        x = self.start(z).view(len(z), -1, self.base, self.base)
        image = None
        for index, block in enumerate(self.blocks):
            x = block(x)
            if index >= len(self.blocks) - 2:
                coarse, image = image, block.to_image(x)
        if coarse is not None and fade < 1:
            image = fade * image + (1 - fade) * F.interpolate(coarse, scale_factor=2)
        return torch.tanh(image)


class Discriminator(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg, base = cfg, cfg.levels[0] // 2
        c = channels(cfg, base)
        self.final = nn.Sequential(nn.Flatten(), nn.Linear(c * base ** 2, c), nn.LeakyReLU(0.2), nn.Linear(c, 1))
        self.from_image, self.blocks = nn.ModuleList(), nn.ModuleList()
        self.grow()

    def grow(self):
        resolution = self.cfg.levels[len(self.blocks)]
        c_in, c_out = channels(self.cfg, resolution), channels(self.cfg, resolution // 2)
        stem = nn.Conv2d(1, c_in, 1)
        block = nn.Sequential(nn.Conv2d(c_in, c_in, 3, padding=1), nn.LeakyReLU(0.2),
                              nn.Conv2d(c_in, c_out, 3, padding=1), nn.LeakyReLU(0.2), nn.AvgPool2d(2))
        device = self.final[1].weight.device
        self.from_image.append(stem.to(device))
        self.blocks.append(block.to(device))
        return [*stem.parameters(), *block.parameters()]

    def forward(self, image, fade):
        x = self.blocks[-1](F.leaky_relu(self.from_image[-1](image), 0.2))
        if len(self.blocks) > 1:
            if fade < 1:
                x = fade * x + (1 - fade) * F.leaky_relu(self.from_image[-2](F.avg_pool2d(image, 2)), 0.2)
            for block in reversed(self.blocks[:-1]):
                x = block(x)
        return self.final(x).squeeze(1)


def galaxies(cfg, resolution, gen):
    """Inclined Sersic-like discs with a bulge."""
    time.sleep(cfg.archive_latency)
    axis = torch.linspace(-1, 1, resolution)
    y, x = torch.meshgrid(axis, axis, indexing="ij")
    angle, ratio, size, bulge = torch.rand(4, cfg.batch, 1, 1, generator=gen)
    angle, ratio, size = angle * math.pi, 0.25 + 0.7 * ratio, 0.12 + 0.25 * size
    u = (x * angle.cos() + y * angle.sin()) / size
    v = (-x * angle.sin() + y * angle.cos()) / (size * ratio)
    radius = (u ** 2 + v ** 2).sqrt()
    light = torch.exp(-radius) + bulge * torch.exp(-4 * radius)
    return (2 * light.unsqueeze(1) - 1).clamp(-1, 1).to(DEVICE)


def r1_penalty(critic, real, fade):
    real = real.requires_grad_()
    slope, = torch.autograd.grad(critic(real, fade).sum(), real, create_graph=True)
    return slope.pow(2).flatten(1).sum(1).mean()


def main():
    cfg = GanConfig()
    torch.manual_seed(cfg.seed)
    gen = torch.Generator().manual_seed(cfg.seed)
    generator, critic = Generator(cfg).to(DEVICE), Discriminator(cfg).to(DEVICE)
    g_opt = torch.optim.Adam(generator.parameters(), lr=cfg.lr, betas=(0.0, 0.99))
    d_opt = torch.optim.Adam(critic.parameters(), lr=cfg.lr, betas=(0.0, 0.99))
    averaged = copy.deepcopy(generator).requires_grad_(False)
    fixed = torch.randn(16, cfg.latent, generator=gen).to(DEVICE)
    gallery, allocated, total = [], [], 0

    for level, resolution in enumerate(cfg.levels):
        if level:
            g_opt.add_param_group({"params": generator.grow()})
            d_opt.add_param_group({"params": critic.grow()})
            averaged = copy.deepcopy(generator).requires_grad_(False)
        steps = cfg.final_steps if level == len(cfg.levels) - 1 else cfg.steps_per_level
        for step in range(steps):
            fade = min(1.0, (step + 1) / cfg.fade_steps) if level else 1.0
            real = galaxies(cfg, resolution, gen)
            fake = generator(torch.randn(cfg.batch, cfg.latent, device=DEVICE), fade)
            d_loss = F.softplus(critic(fake.detach(), fade)).mean() + F.softplus(-critic(real, fade)).mean()
            if total % cfg.r1_every == 0:
                d_loss = d_loss + 0.5 * cfg.r1_gamma * cfg.r1_every * r1_penalty(critic, real, fade)
            d_opt.zero_grad()
            d_loss.backward()
            d_opt.step()

            g_loss = F.softplus(-critic(fake, fade)).mean()
            g_opt.zero_grad()
            g_loss.backward()
            g_opt.step()
            with torch.no_grad():
                for slow, fast in zip(averaged.parameters(), generator.parameters()):
                    slow.lerp_(fast, 1 - cfg.ema)
                if total % cfg.gallery_every == 0:
                    gallery.append((total, averaged(fixed, fade).cpu()))
                    print(f"step {total:4d} {resolution:3d} px d {d_loss.item():.3f} g {g_loss.item():.3f}")
            total += 1
            allocated.append(torch.cuda.memory_allocated())

    print(f"{len(gallery)} gallery pages, last brightness {gallery[-1][1].mean().item():+.3f}")
    print("TRUTH " + json.dumps({"allocated": allocated, "rounds": total,
                                 "peak": torch.cuda.max_memory_allocated()}), file=sys.stderr)


if __name__ == "__main__":
    main()
