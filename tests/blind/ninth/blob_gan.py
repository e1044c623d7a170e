# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""DCGAN on procedural 64x64 images, fp16 with gradient scaling.

Two optimizers, a moving average of the generator from epoch 3 on, and after
each epoch a Frechet distance on a large set of generated images.
"""
import copy
import logging
import os
import tempfile
import time
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F

DEVICE = os.environ.get("DEVICE", "cuda")
SMOKE = DEVICE == "cpu"
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
log = logging.getLogger("dcgan")


@dataclass
class Config:
    z: int = 16 if SMOKE else 128
    width: int = 8 if SMOKE else 128
    batch: int = 8 if SMOKE else 256
    epochs: int = 6 if SMOKE else 14
    steps: int = 12 if SMOKE else 60
    eval_images: int = 32 if SMOKE else 4096
    eval_batch: int = 16 if SMOKE else 1024
    ema_from: int = 3
    seconds: float = 17.0


def up(i, o):
    return nn.Sequential(nn.ConvTranspose2d(i, o, 4, 2, 1, bias=False), nn.BatchNorm2d(o), nn.ReLU(True))


def down(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 4, 2, 1), nn.LeakyReLU(0.2, True))


class Generator(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        w = cfg.width
        self.fc = nn.Linear(cfg.z, 8 * w * 16)
        self.net = nn.Sequential(up(8 * w, 4 * w), up(4 * w, 2 * w), up(2 * w, w),
                                 nn.ConvTranspose2d(w, 3, 4, 2, 1), nn.Tanh())

    def forward(self, z):
        return self.net(self.fc(z).view(len(z), -1, 4, 4))


class Critic(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        w = cfg.width
        self.net = nn.Sequential(down(3, w), down(w, 2 * w), down(2 * w, 4 * w), down(4 * w, 8 * w))
        self.out = nn.Linear(8 * w * 16, 1)

    def features(self, x):
        return self.net(x).mean((2, 3))

    def forward(self, x):
        return self.out(self.net(x).flatten(1)).squeeze(1)


def real_images(n):
    """Colour blobs on gradients."""
    axis = torch.linspace(-1, 1, 64, device=DEVICE)
    yy, xx = torch.meshgrid(axis, axis, indexing="ij")
    c = torch.rand(n, 3, 2, device=DEVICE) * 1.6 - 0.8
    r = torch.rand(n, 3, 1, 1, device=DEVICE) * 0.4 + 0.1
    d = (xx - c[..., :1, None]) ** 2 + (yy - c[..., 1:, None]) ** 2
    return 2 * torch.exp(-d / r ** 2) - 1


class GanTrainer:
    def __init__(self, cfg):
        self.cfg = cfg
        self.G, self.D = Generator(cfg).to(DEVICE), Critic(cfg).to(DEVICE)
        self.opt_g = torch.optim.Adam(self.G.parameters(), lr=2e-4, betas=(0.5, 0.999))
        self.opt_d = torch.optim.Adam(self.D.parameters(), lr=2e-4, betas=(0.5, 0.999))
        self.scaler = torch.amp.GradScaler(DEVICE, enabled=not SMOKE)
        self.amp = torch.bfloat16 if SMOKE else torch.float16
        self.ema = None
        self.judge = Critic(cfg).to(DEVICE).eval().requires_grad_(False)

    def noise(self, n):
        return torch.randn(n, self.cfg.z, device=DEVICE)

    def step(self):
        real = real_images(self.cfg.batch)
        with torch.autocast(DEVICE, dtype=self.amp):
            fake = self.G(self.noise(len(real)))
            d_loss = (F.softplus(-self.D(real)) + F.softplus(self.D(fake.detach()))).mean()
        self.opt_d.zero_grad(set_to_none=True)
        self.scaler.scale(d_loss).backward()
        self.scaler.step(self.opt_d)
        with torch.autocast(DEVICE, dtype=self.amp):
            g_loss = F.softplus(-self.D(fake)).mean()
        self.opt_g.zero_grad(set_to_none=True)
        self.scaler.scale(g_loss).backward()
        self.scaler.step(self.opt_g)
        self.scaler.update()
        if self.ema is not None:
            with torch.no_grad():
                for a, b in zip(self.ema.parameters(), self.G.parameters()):
                    a.lerp_(b, 0.01)
                for a, b in zip(self.ema.buffers(), self.G.buffers()):
                    a.copy_(b)
        return d_loss.item(), g_loss.item()

    @torch.no_grad()
    def distance(self):
        net = (self.ema or self.G).eval()
        feats_f, feats_r = [], []
        for _ in range(self.cfg.eval_images // self.cfg.eval_batch):
            feats_f.append(self.judge.features(net(self.noise(self.cfg.eval_batch))))
            feats_r.append(self.judge.features(real_images(self.cfg.eval_batch)))
        f, r = torch.cat(feats_f), torch.cat(feats_r)
        self.G.train()
        return ((f.mean(0) - r.mean(0)).norm() + (f.std(0) - r.std(0)).norm()).item()


def main():
    torch.manual_seed(0)
    cfg = Config()
    gan = GanTrainer(cfg)
    began = time.time()
    with tempfile.TemporaryDirectory() as folder:
        for epoch in range(cfg.epochs):
            if epoch == cfg.ema_from:
                gan.ema = copy.deepcopy(gan.G).requires_grad_(False)
            for _ in range(cfg.steps):
                d_loss, g_loss = gan.step()
            log.info("epoch %d D %.3f G %.3f distance %.4f", epoch, d_loss, g_loss, gan.distance())
            if epoch % 4 == 3:
                torch.save({"G": gan.G.state_dict(), "D": gan.D.state_dict(),
                            "opt_g": gan.opt_g.state_dict(), "opt_d": gan.opt_d.state_dict()},
                           os.path.join(folder, "gan.pt"))
            if epoch >= 4 and time.time() - began > cfg.seconds:
                break


if __name__ == "__main__":
    main()
