# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Small diffusion model: activation checkpointing, sampling through a CUDA graph."""
import copy
import logging
import math
import os
import tempfile
import time
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

DEVICE = os.environ.get("DEVICE", "cuda")
SMOKE = DEVICE == "cpu"
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
log = logging.getLogger("diffusion")


@dataclass
class Config:
    size: int = 16 if SMOKE else 64
    timesteps: int = 1000
    width: int = 8 if SMOKE else 128
    batch: int = 4 if SMOKE else 64
    samples: int = 4 if SMOKE else 128
    sample_steps: int = 5 if SMOKE else 30
    epochs: int = 5 if SMOKE else 7
    steps: int = 14 if SMOKE else 34
    seconds: float = 17.0


class ResBlock(nn.Module):
    def __init__(self, i, o, emb):
        super().__init__()
        self.n1, self.c1 = nn.GroupNorm(8, i), nn.Conv2d(i, o, 3, padding=1)
        self.n2, self.c2 = nn.GroupNorm(8, o), nn.Conv2d(o, o, 3, padding=1)
        self.e = nn.Linear(emb, o)
        self.skip = nn.Conv2d(i, o, 1) if i != o else nn.Identity()

    def body(self, x, emb):
        h = self.c1(F.silu(self.n1(x))) + self.e(F.silu(emb))[:, :, None, None]
        return self.skip(x) + self.c2(F.silu(self.n2(h)))

    def forward(self, x, emb):
        return checkpoint(self.body, x, emb, use_reentrant=False) if self.training else self.body(x, emb)


class UNet(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.width, w, e = cfg.width, cfg.width, 4 * cfg.width
        self.time = nn.Sequential(nn.Linear(w, e), nn.SiLU(), nn.Linear(e, e))
        self.inp = nn.Conv2d(3, w, 3, padding=1)
        self.down = nn.ModuleList([ResBlock(w, w, e), ResBlock(w, 2 * w, e), ResBlock(2 * w, 3 * w, e)])
        self.mid = ResBlock(3 * w, 3 * w, e)
        self.up = nn.ModuleList([ResBlock(6 * w, 2 * w, e), ResBlock(4 * w, w, e), ResBlock(2 * w, w, e)])
        self.norm, self.out = nn.GroupNorm(8, w), nn.Conv2d(w, 3, 3, padding=1)

    def forward(self, x, t):
        half = self.width // 2
        ang = t[:, None].float() * torch.exp(-math.log(1e4) / half * torch.arange(half, device=x.device))
        emb = self.time(torch.cat([ang.sin(), ang.cos()], 1))
        h, skips = self.inp(x), []
        for n, block in enumerate(self.down):
            skips.append(block(h, emb))
            h = F.avg_pool2d(skips[-1], 2) if n < 2 else skips[-1]
        h = self.mid(h, emb)
        for n, block in enumerate(self.up):
            h = block(torch.cat([h, skips.pop()], 1), emb)
            h = F.interpolate(h, scale_factor=2.0, mode="nearest") if n < 2 else h
        return self.out(F.silu(self.norm(h)))


class Sampler:
    def __init__(self, cfg, net, alphas):
        self.cfg, self.net, self.alphas = cfg, net, alphas
        self.x = torch.zeros(cfg.samples, 3, cfg.size, cfg.size, device=DEVICE)
        self.t, self.eps, self.graph = torch.zeros(cfg.samples, dtype=torch.long, device=DEVICE), None, None

    @torch.autocast(DEVICE, dtype=torch.bfloat16, cache_enabled=False)
    def call(self):
        return self.net(self.x, self.t).float()

    def capture(self):
        side, here = torch.cuda.Stream(), torch.cuda.current_stream()
        side.wait_stream(here)
        with torch.cuda.stream(side):
            for _ in range(3):
                self.call()
        here.wait_stream(side)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.eps = self.call()

    def predict(self):
        if not SMOKE:
            self.graph.replay()
        return self.call() if SMOKE else self.eps

    @torch.no_grad()
    def sample(self):
        if self.graph is None and not SMOKE:
            self.capture()
        self.x.normal_()
        grid = torch.linspace(self.cfg.timesteps - 1, 0, self.cfg.sample_steps + 1).long().tolist()
        for now, nxt in zip(grid, grid[1:]):
            self.t.fill_(now)
            eps, a, b = self.predict(), self.alphas[now], self.alphas[nxt]
            x0 = ((self.x - (1 - a).sqrt() * eps) / a.sqrt()).clamp(-1, 1)
            self.x.copy_(b.sqrt() * x0 + (1 - b).sqrt() * eps)
        return self.x.cpu()


class Diffusion:
    def __init__(self, cfg):
        self.cfg = cfg
        self.net = UNet(cfg).to(DEVICE)
        self.ema = copy.deepcopy(self.net).requires_grad_(False).eval()
        self.opt = torch.optim.AdamW(self.net.parameters(), lr=2e-4)
        self.alphas = torch.cos(torch.linspace(0.01, 1.55, cfg.timesteps, device=DEVICE)) ** 2
        self.sampler = Sampler(cfg, self.ema, self.alphas)

    def images(self):
        axis = torch.linspace(-3, 3, self.cfg.size, device=DEVICE)
        f = 3 * torch.rand(self.cfg.batch, 3, 1, 1, device=DEVICE)
        return torch.sin(f * axis + f) * torch.cos(f * axis[:, None])

    def step(self):
        x0 = self.images()
        t = torch.randint(0, self.cfg.timesteps, (len(x0),), device=DEVICE)
        a, noise = self.alphas[t][:, None, None, None], torch.randn_like(x0)
        with torch.autocast(DEVICE, dtype=torch.bfloat16):
            guess = self.net(a.sqrt() * x0 + (1 - a).sqrt() * noise, t)
        loss = F.mse_loss(guess.float(), noise)
        self.opt.zero_grad(set_to_none=True)
        loss.backward()
        self.opt.step()
        for p, q in zip(self.ema.parameters(), self.net.parameters()):
            p.lerp_(q.detach(), 0.01)
        return loss.item()


def main():
    torch.manual_seed(0)
    cfg = Config()
    model, began = Diffusion(cfg), time.time()
    with tempfile.TemporaryDirectory() as tmp:
        for epoch in range(cfg.epochs):
            losses = [model.step() for _ in range(cfg.steps)]
            images = model.sampler.sample()
            log.info("epoch %d loss %.4f sample std %.3f", epoch, sum(losses) / len(losses), images.std().item())
            torch.save({"net": model.net.state_dict(), "ema": model.ema.state_dict()}, os.path.join(tmp, "ckpt.pt"))
            if epoch >= 2 and time.time() - began > cfg.seconds:
                break


if __name__ == "__main__":
    main()
