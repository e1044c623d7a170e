# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Masked pre-training of an encoder, then fine-tuning for classification.

The decoder is only needed in the first phase. Learning rate curves of both
phases are reported at the end.
"""
import gc
import logging
import math
import os
import tempfile
import time
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim.lr_scheduler import LambdaLR

DEVICE = os.environ.get("DEVICE", "cuda")
SMOKE = DEVICE == "cpu"
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
log = logging.getLogger("mae")


@dataclass
class Config:
    patch: int = 12 if SMOKE else 192
    tokens: int = 16 if SMOKE else 196
    dim: int = 32 if SMOKE else 1024
    heads: int = 4 if SMOKE else 16
    enc_layers: int = 2 if SMOKE else 10
    dec_layers: int = 1 if SMOKE else 8
    classes: int = 10 if SMOKE else 100
    batch: int = 4 if SMOKE else 48
    pre_steps: int = 40 if SMOKE else 160
    fine_steps: int = 40 if SMOKE else 240
    phase_seconds: float = 8.5


def stack(cfg, layers):
    return nn.ModuleList(nn.TransformerEncoderLayer(cfg.dim, cfg.heads, 4 * cfg.dim, dropout=0.0, activation="gelu",
                                                    batch_first=True, norm_first=True) for _ in range(layers))


class Encoder(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.inp = nn.Linear(cfg.patch, cfg.dim)
        self.pos = nn.Parameter(torch.randn(cfg.tokens, cfg.dim) * 0.02)
        self.layers = stack(cfg, cfg.enc_layers)

    def forward(self, patches, keep=None):
        x = self.inp(patches) + self.pos
        if keep is not None:
            x = x.gather(1, keep[..., None].expand(-1, -1, x.shape[-1]))
        for layer in self.layers:
            x = layer(x)
        return x


class MaskedAutoencoder(nn.Module):
    def __init__(self, cfg, encoder):
        super().__init__()
        self.cfg, self.encoder = cfg, encoder
        self.pos = nn.Parameter(torch.randn(cfg.tokens, cfg.dim) * 0.02)
        self.mask = nn.Parameter(torch.zeros(cfg.dim))
        self.decoder = stack(cfg, cfg.dec_layers)
        self.out = nn.Linear(cfg.dim, cfg.patch)

    def forward(self, patches):
        b, t, _ = patches.shape
        keep = torch.rand(b, t, device=patches.device).argsort(1)[:, : t // 3]
        seen = self.encoder(patches, keep)
        full = self.mask.to(seen.dtype).expand(b, t, -1).scatter(1, keep[..., None].expand_as(seen), seen) + self.pos
        for layer in self.decoder:
            full = layer(full)
        return F.mse_loss(self.out(full).float(), patches)


class Classifier(nn.Module):
    def __init__(self, cfg, encoder):
        super().__init__()
        self.encoder = encoder
        self.head = nn.Linear(cfg.dim, cfg.classes)

    def forward(self, patches):
        return self.head(self.encoder(patches).mean(1))


class Experiment:
    def __init__(self, cfg):
        self.cfg = cfg
        self.schedules = {}
        self.losses = {}

    def data(self):
        c = self.cfg
        y = torch.randint(0, c.classes, (c.batch,), device=DEVICE)
        wave = torch.arange(c.tokens, device=DEVICE)[:, None] * 0.1 + torch.arange(c.patch, device=DEVICE) * 0.03
        x = torch.sin(wave * (1 + y[:, None, None] / c.classes)) + 0.3 * torch.randn(c.batch, c.tokens, c.patch, device=DEVICE)
        return x, y

    def schedule(self, phase, optimizer, total):
        warm = max(1, total // 10)
        rule = lambda n: min(1.0, (n + 1) / warm) * 0.5 * (1 + math.cos(math.pi * min(1.0, n / total)))
        self.schedules[phase] = LambdaLR(optimizer, rule)
        return self.schedules[phase]

    def run(self, phase, model, loss_of, steps, lr):
        optimizer = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=0.05)
        sched = self.schedule(phase, optimizer, steps)
        values, began = [], time.time()
        for n in range(steps):
            x, y = self.data()
            optimizer.zero_grad(set_to_none=True)
            with torch.autocast(DEVICE, dtype=torch.bfloat16):
                loss = loss_of(x, y)
            loss.backward()
            optimizer.step()
            sched.step()
            values.append(loss.item())
            if n % 20 == 0:
                log.info("%s step %d loss %.4f", phase, n, values[-1])
            if n >= 35 and time.time() - began > self.cfg.phase_seconds:
                break
        self.losses[phase] = values

    def pretrain(self):
        encoder = Encoder(self.cfg)
        mae = MaskedAutoencoder(self.cfg, encoder).to(DEVICE)
        self.run("pretrain", mae, lambda x, y: mae(x), self.cfg.pre_steps, 3e-4)
        return encoder

    def finetune(self, encoder):
        clf = Classifier(self.cfg, encoder).to(DEVICE)
        self.run("finetune", clf, lambda x, y: F.cross_entropy(clf(x).float(), y), self.cfg.fine_steps, 1e-4)
        return clf

    def report(self):
        for phase, sched in self.schedules.items():
            log.info("%s: %d steps, last lr %.2e, last loss %.4f", phase, sched.last_epoch,
                     sched.get_last_lr()[0], self.losses[phase][-1])


def main():
    torch.manual_seed(0)
    exp = Experiment(Config())
    encoder = exp.pretrain()
    gc.collect()
    if DEVICE == "cuda":
        torch.cuda.empty_cache()
        log.info("allocated between the phases: %.0f MiB", torch.cuda.memory_allocated() / 2**20)
    clf = exp.finetune(encoder)
    exp.report()
    with tempfile.TemporaryDirectory() as folder:
        torch.save(clf.state_dict(), os.path.join(folder, "classifier.pt"))


if __name__ == "__main__":
    main()
