# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Image generation service: DDIM sampling with a transformer on latents.

Small jobs come from the web shop, once in a while the catalogue team submits a large job. Jobs that are too large for the
card are divided.
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
DTYPE = torch.bfloat16 if DEVICE.type == "cuda" else torch.float32


@dataclass
class ServiceConfig:
    latent: int = 8 if SMALL else 64
    patch: int = 2
    width: int = 64 if SMALL else 1024
    heads: int = 2 if SMALL else 16
    depth: int = 4 if SMALL else 12
    steps: int = 2
    web_jobs: int = 60
    web_sizes: tuple = (2, 4, 6, 8)
    catalogue_job: int = 128
    smallest_part: int = 16
    pause: float = 0.001 if SMALL else 0.06
    gpu_share: int = 9 << 29


class Block(nn.Module):
    def __init__(self, width, heads, merge=False):
        super().__init__()
        self.heads = heads
        self.merge = nn.Linear(2 * width, width) if merge else None
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x, skip=None):
        if self.merge is not None:
            x = self.merge(torch.cat([x, skip], dim=-1))
        b, n, d = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, n, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, n, d)
        del q, k, v
        x = x + self.proj(y)
        y = self.up(self.norm2(x))
        return x + self.down(F.gelu(y))


class UViT(nn.Module):
    """Transformer with long connections from the first to the second half, as in U-Nets."""

    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        tokens = (cfg.latent // cfg.patch) ** 2
        self.enter = nn.Linear(4 * cfg.patch**2, cfg.width)
        self.places = nn.Parameter(torch.randn(tokens, cfg.width) * 0.02)
        self.first = nn.ModuleList(Block(cfg.width, cfg.heads) for _ in range(cfg.depth))
        self.second = nn.ModuleList(Block(cfg.width, cfg.heads, merge=True) for _ in range(cfg.depth))
        self.leave = nn.Linear(cfg.width, 4 * cfg.patch**2)

    def forward(self, x):
        patches = F.pixel_unshuffle(x, self.cfg.patch).flatten(2).transpose(1, 2)
        h = self.enter(patches) + self.places
        features = []
        for block in self.first:
            h = block(h)
            features.append(h)
        for block in self.second:
            h = block(h, features.pop())
        side = self.cfg.latent // self.cfg.patch
        return F.pixel_shuffle(self.leave(h).transpose(1, 2).unflatten(2, (side, side)), self.cfg.patch)


class Sampler:
    def __init__(self, cfg):
        self.cfg = cfg
        self.net = UViT(cfg).to(DEVICE, DTYPE).eval()
        self.alphas = torch.linspace(0.98, 0.05, cfg.steps + 1).tolist()

    @torch.inference_mode()
    def sample(self, seeds):
        gen = torch.Generator(device=DEVICE).manual_seed(seeds[0])
        x = torch.randn(len(seeds), 4, self.cfg.latent, self.cfg.latent, device=DEVICE, dtype=DTYPE, generator=gen)
        for step in range(self.cfg.steps, 0, -1):
            now, then = self.alphas[step], self.alphas[step - 1]
            noise = self.net(x)
            clean = (x - (1 - now) ** 0.5 * noise) / now**0.5
            x = then**0.5 * clean.clamp(-3, 3) + (1 - then) ** 0.5 * noise
        return [image.cpu() for image in x.float()]


class RenderService:
    def __init__(self, cfg):
        self.cfg = cfg
        self.sampler = Sampler(cfg)
        self.divided = 0
        self.images = 0

    def render(self, seeds):
        try:
            return self.sampler.sample(seeds)
        except torch.OutOfMemoryError:
            if len(seeds) <= self.cfg.smallest_part:
                raise
            self.divided += 1
            torch.cuda.empty_cache()
            half = len(seeds) // 2
            print(f"job of {len(seeds)} does not fit, dividing", flush=True)
            return self.render(seeds[:half]) + self.render(seeds[half:])

    def submit(self, seeds):
        images = self.render(seeds)
        self.images += len(images)
        return images


def main():
    torch.manual_seed(83)
    cfg = ServiceConfig()
    if DEVICE.type == "cuda":
        total = torch.cuda.get_device_properties(0).total_memory
        torch.cuda.set_per_process_memory_fraction(cfg.gpu_share / total)
    rng = random.Random(83)
    service = RenderService(cfg)
    curve = []
    try:
        for number in range(cfg.web_jobs):
            size = rng.choice(cfg.web_sizes)
            service.submit([rng.randrange(1 << 30) for _ in range(size)])
            if (number + 1) % (cfg.web_jobs // 10) == 0:
                curve.append(torch.cuda.memory_allocated())
                print(f"job {number + 1}: {service.images} images")
            time.sleep(cfg.pause)
        service.submit(list(range(cfg.catalogue_job)))
        print(f"catalogue done, {service.images} images, divided {service.divided} times")
    finally:
        truth = {"allocated": curve, "rounds": cfg.web_jobs + 1, "divided": service.divided, "peak": torch.cuda.max_memory_allocated()}
        print("TRUTH " + json.dumps(truth), file=sys.stderr)


if __name__ == "__main__":
    main()
