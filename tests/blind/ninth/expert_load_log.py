# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Masked-patch pre-training of a soft mixture-of-experts encoder.

Expert load is written to a debug log that is kept in memory and reaches the
disk only if an error is reported (then the last steps can be studied).
"""
import logging
import logging.handlers
import os
import tempfile
import time
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F

DEVICE = os.environ.get("DEVICE", "cuda")
SMOKE = DEVICE == "cpu"


@dataclass
class Config:
    patch: int = 24 if SMOKE else 768
    dim: int = 32 if SMOKE else 768
    hidden: int = 32 if SMOKE else 1536
    tokens: int = 16 if SMOKE else 256
    layers: int = 2 if SMOKE else 8
    heads: int = 4 if SMOKE else 12
    experts: int = 4 if SMOKE else 16
    slots: int = 4 if SMOKE else 8
    batch: int = 4 if SMOKE else 32
    steps: int = 80 if SMOKE else 700
    seconds: float = 17.0


def make_logger(folder):
    log = logging.getLogger("moe")
    log.setLevel(logging.DEBUG)
    console = logging.StreamHandler()
    console.setLevel(logging.INFO)
    target = logging.FileHandler(os.path.join(folder, "debug.log"))
    trail = logging.handlers.MemoryHandler(capacity=20000, flushLevel=logging.ERROR,
                                           target=target, flushOnClose=False)
    log.addHandler(console)
    log.addHandler(trail)
    log.propagate = False
    return log


class SoftMoE(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.e, self.s = cfg.experts, cfg.slots
        self.phi = nn.Parameter(torch.randn(cfg.dim, cfg.experts * cfg.slots) * cfg.dim ** -0.5)
        self.w1 = nn.Parameter(torch.randn(cfg.experts, cfg.dim, cfg.hidden) * cfg.dim ** -0.5)
        self.w2 = nn.Parameter(torch.randn(cfg.experts, cfg.hidden, cfg.dim) * cfg.hidden ** -0.5)
        self.load = None

    def forward(self, x):
        scores = x @ self.phi
        dispatch, combine = scores.softmax(dim=1), scores.softmax(dim=2)
        slots = torch.einsum("btd,bts->bsd", x, dispatch)
        slots = slots.view(len(x), self.e, self.s, -1)
        h = F.gelu(torch.einsum("besd,edh->besh", slots, self.w1))
        out = torch.einsum("besh,ehd->besd", h, self.w2).flatten(1, 2)
        self.load = combine.detach().float().mean(0).view(-1, self.e, self.s).sum(-1)
        return torch.einsum("bsd,bts->btd", out, combine)


class Layer(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(cfg.dim), nn.LayerNorm(cfg.dim)
        self.att = nn.MultiheadAttention(cfg.dim, cfg.heads, batch_first=True)
        self.moe = SoftMoE(cfg)

    def forward(self, x):
        y = self.n1(x)
        x = x + self.att(y, y, y, need_weights=False)[0]
        return x + self.moe(self.n2(x))


class Encoder(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.embed = nn.Linear(cfg.patch, cfg.dim)
        self.pos = nn.Parameter(torch.zeros(cfg.tokens, cfg.dim))
        self.mask = nn.Parameter(torch.zeros(cfg.dim))
        self.layers = nn.ModuleList(Layer(cfg) for _ in range(cfg.layers))
        self.out = nn.Linear(cfg.dim, cfg.patch)

    def forward(self, patches, hide):
        x = torch.where(hide[..., None], self.mask, self.embed(patches)) + self.pos
        for layer in self.layers:
            x = layer(x)
        return self.out(x)

    def expert_load(self):
        return torch.stack([layer.moe.load for layer in self.layers])


class Pretrainer:
    def __init__(self, cfg, log):
        self.cfg, self.log = cfg, log
        self.model = Encoder(cfg).to(DEVICE)
        self.opt = torch.optim.AdamW(self.model.parameters(), lr=1e-4, weight_decay=0.05)
        self.freq = torch.rand(cfg.patch, device=DEVICE) * 3

    def batch(self):
        c = self.cfg
        phase = torch.rand(c.batch, 1, 1, device=DEVICE) * 6.28
        pos = torch.arange(c.tokens, device=DEVICE)[:, None]
        return torch.sin(phase + pos * self.freq) + 0.1 * torch.randn(c.batch, c.tokens, c.patch, device=DEVICE)

    def step(self, n):
        patches = self.batch()
        hide = torch.rand(patches.shape[:2], device=DEVICE) < 0.6
        with torch.autocast(DEVICE, dtype=torch.bfloat16):
            guess = self.model(patches, hide)
        loss = ((guess.float() - patches) ** 2)[hide].mean()
        self.opt.zero_grad(set_to_none=True)
        loss.backward()
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.opt.step()
        value = loss.item()
        self.log.debug("step %d loss %.4f norm %.3f expert load %s", n, value, norm.item(), self.model.expert_load())
        if not value < 1e4:
            self.log.error("loss is %s at step %d", value, n)
        return value

    def fit(self, folder):
        began = time.time()
        for n in range(self.cfg.steps):
            value = self.step(n)
            if n % 50 == 0:
                self.log.info("step %d loss %.4f", n, value)
            if n >= 60 and time.time() - began > self.cfg.seconds:
                break
        torch.save(self.model.state_dict(), os.path.join(folder, "encoder.pt"))


if __name__ == "__main__":
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as tmp:
        cfg = Config()
        Pretrainer(cfg, make_logger(tmp)).fit(tmp)
