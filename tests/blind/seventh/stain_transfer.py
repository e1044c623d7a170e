# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Unpaired stain transfer for histology (H&E <-> IHC) with a small cycle-consistent GAN.

Discriminators see a mixture of new and earlier translations. Averages of the generators, which are used for the
slides in the end, begin once the first oscillations are over.
"""
import copy
import itertools
import json
import logging
import os
import random
import sys
import time
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
log = logging.getLogger("stain")


@dataclass
class Config:
    size: int = 32 if SMALL else 192
    batch: int = 1 if SMALL else 2
    width: int = 8 if SMALL else 48
    blocks: int = 2 if SMALL else 6
    steps: int = 24 if SMALL else 320
    pool: int = 8 if SMALL else 160
    average_from: int = 8 if SMALL else 100
    decay: float = 0.995
    cycle: float = 10.0
    lr: float = 2e-4
    report: int = 8 if SMALL else 40


def conv(cin, cout, k=3, stride=1):
    return nn.Sequential(nn.Conv2d(cin, cout, k, stride, k // 2, padding_mode="reflect"),
                         nn.InstanceNorm2d(cout), nn.ReLU(inplace=True))


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(conv(width, width), nn.Conv2d(width, width, 3, padding=1), nn.InstanceNorm2d(width))

    def forward(self, x):
        return x + self.body(x)


class Generator(nn.Sequential):
    def __init__(self, cfg: Config):
        w = cfg.width
        super().__init__(conv(3, w, 7), conv(w, 2 * w, stride=2), conv(2 * w, 4 * w, stride=2),
                         *[Residual(4 * w) for _ in range(cfg.blocks)],
                         nn.Upsample(scale_factor=2), conv(4 * w, 2 * w), nn.Upsample(scale_factor=2), conv(2 * w, w),
                         nn.Conv2d(w, 3, 7, padding=3), nn.Tanh())


class Critic(nn.Sequential):
    def __init__(self, cfg: Config):
        w = cfg.width
        super().__init__(nn.Conv2d(3, w, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(w, 2 * w, 4, 2, 1), nn.InstanceNorm2d(2 * w),
                         nn.LeakyReLU(0.2), nn.Conv2d(2 * w, 4 * w, 4, 2, 1), nn.InstanceNorm2d(4 * w), nn.LeakyReLU(0.2),
                         nn.Conv2d(4 * w, 1, 4, 1, 1))


class ImagePool:
    """Earlier translations (Shrivastava et al. 2017): half of the answers come from the past."""

    def __init__(self, capacity, seed):
        self.capacity = capacity
        self.images = []
        self.rng = random.Random(seed)

    def exchange(self, batch):
        answer = []
        for image in batch.detach():
            if len(self.images) < self.capacity:
                self.images.append(image.clone())
                answer.append(image)
            elif self.rng.random() < 0.5:
                slot = self.rng.randrange(self.capacity)
                answer.append(self.images[slot])
                self.images[slot] = image.clone()
            else:
                answer.append(image)
        return torch.stack(answer)


class Tissue:
    def __init__(self, cfg: Config, colours, seed):
        self.cfg = cfg
        self.gen = torch.Generator(device=DEVICE).manual_seed(seed)
        self.colours = torch.tensor(colours, device=DEVICE)

    def draw(self):
        cfg = self.cfg
        coarse = torch.randn(cfg.batch, 2, 12, 12, device=DEVICE, generator=self.gen)
        density = F.interpolate(coarse, size=(cfg.size, cfg.size), mode="bicubic").sigmoid()
        image = 1.0 - torch.einsum("bkhw,kc->bchw", density, self.colours)
        image = image + 0.03 * torch.randn(image.shape, device=DEVICE, generator=self.gen)
        return image.clamp(0, 1) * 2 - 1


class StainTransfer:
    def __init__(self, cfg: Config):
        self.cfg = cfg
        self.to_ihc, self.to_he = Generator(cfg).to(DEVICE), Generator(cfg).to(DEVICE)
        self.critic_ihc, self.critic_he = Critic(cfg).to(DEVICE), Critic(cfg).to(DEVICE)
        generators = itertools.chain(self.to_ihc.parameters(), self.to_he.parameters())
        critics = itertools.chain(self.critic_ihc.parameters(), self.critic_he.parameters())
        self.opt_g = torch.optim.Adam(generators, lr=cfg.lr, betas=(0.5, 0.999))
        self.opt_c = torch.optim.Adam(critics, lr=cfg.lr, betas=(0.5, 0.999))
        decline = lambda s: 1.0 - max(0, s - cfg.steps // 2) / (cfg.steps // 2 + 1)
        self.schedules = [torch.optim.lr_scheduler.LambdaLR(o, decline) for o in (self.opt_g, self.opt_c)]
        self.past_ihc, self.past_he = ImagePool(cfg.pool, 1), ImagePool(cfg.pool, 2)
        self.averages = None
        self.losses = {}

    def generator_step(self, he, ihc):
        fake_ihc, fake_he = self.to_ihc(he), self.to_he(ihc)
        fool = sum((c(f) - 1).square().mean() for c, f in ((self.critic_ihc, fake_ihc), (self.critic_he, fake_he)))
        cycle = F.l1_loss(self.to_he(fake_ihc), he) + F.l1_loss(self.to_ihc(fake_he), ihc)
        self.opt_g.zero_grad()
        (fool + self.cfg.cycle * cycle).backward()
        self.opt_g.step()
        self.losses.update(fool=fool.detach(), cycle=cycle.detach())
        return fake_ihc, fake_he

    def critic_step(self, he, ihc, fake_he, fake_ihc):
        loss = 0.0
        for critic, real, fake, past in ((self.critic_ihc, ihc, fake_ihc, self.past_ihc),
                                         (self.critic_he, he, fake_he, self.past_he)):
            loss = loss + 0.5 * ((critic(real) - 1).square().mean() + critic(past.exchange(fake)).square().mean())
        self.opt_c.zero_grad()
        loss.backward()
        self.opt_c.step()
        self.losses["critic"] = loss.detach()

    @torch.no_grad()
    def average(self, step):
        if step < self.cfg.average_from:
            return
        if self.averages is None:
            self.averages = [copy.deepcopy(g).requires_grad_(False) for g in (self.to_ihc, self.to_he)]
        for mean, live in zip(self.averages, (self.to_ihc, self.to_he)):
            torch._foreach_lerp_(list(mean.parameters()), list(live.parameters()), 1 - self.cfg.decay)

    def step(self, step, he, ihc):
        fake_ihc, fake_he = self.generator_step(he, ihc)
        self.critic_step(he, ihc, fake_he, fake_ihc)
        self.average(step)
        for schedule in self.schedules:
            schedule.step()


class Track:
    def __init__(self):
        self.allocated = []

    def add(self, step):
        if DEVICE.type == "cuda" and step % 2 == 0:
            self.allocated.append(torch.cuda.memory_allocated())


def main():
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
    torch.manual_seed(0)
    cfg, track = Config(), Track()
    study = StainTransfer(cfg)
    he = Tissue(cfg, [[0.2, 0.6, 0.2], [0.5, 0.6, 0.2]], seed=3)
    ihc = Tissue(cfg, [[0.3, 0.5, 0.7], [0.4, 0.2, 0.1]], seed=4)
    begin = time.time()
    for step in range(1, cfg.steps + 1):
        study.step(step, he.draw(), ihc.draw())
        track.add(step)
        if step % cfg.report == 0:
            terms = " ".join(f"{k} {v.item():.3f}" for k, v in study.losses.items())
            log.info("step %d %s (%.1f s)", step, terms, time.time() - begin)
    print("TRUTH " + json.dumps({"allocated": track.allocated, "rounds": cfg.steps}), file=sys.stderr)


if __name__ == "__main__":
    main()
