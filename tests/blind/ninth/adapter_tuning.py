# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Adapter tuning of a sentence encoder for intent detection.

The backbone stays as it is; only bottleneck adapters after each layer and the
classification head are trained.
"""
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
log = logging.getLogger("adapters")


@dataclass
class Config:
    vocab: int = 500 if SMOKE else 30000
    dim: int = 32 if SMOKE else 1536
    layers: int = 2 if SMOKE else 24
    heads: int = 4 if SMOKE else 16
    bottleneck: int = 8 if SMOKE else 64
    intents: int = 10 if SMOKE else 150
    length: int = 12 if SMOKE else 256
    batch: int = 4 if SMOKE else 8
    steps: int = 80 if SMOKE else 360
    eval_every: int = 40 if SMOKE else 80
    lr: float = 1e-3
    seconds: float = 17.0


class Adapter(nn.Module):
    def __init__(self, dim, bottleneck):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.down, self.up = nn.Linear(dim, bottleneck), nn.Linear(bottleneck, dim)
        nn.init.zeros_(self.up.weight)
        nn.init.zeros_(self.up.bias)

    def forward(self, x):
        return x + self.up(F.gelu(self.down(self.norm(x))))


class Backbone(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.emb = nn.Embedding(cfg.vocab, cfg.dim)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(cfg.dim, cfg.heads, 4 * cfg.dim, dropout=0.0, activation="gelu",
                                       batch_first=True, norm_first=True) for _ in range(cfg.layers))


class AdaptedClassifier(nn.Module):
    def __init__(self, cfg, backbone):
        super().__init__()
        self.backbone = backbone
        self.adapters = nn.ModuleList(Adapter(cfg.dim, cfg.bottleneck) for _ in range(cfg.layers))
        self.head = nn.Linear(cfg.dim, cfg.intents)

    def forward(self, ids):
        x = self.backbone.emb(ids)
        for layer, adapter in zip(self.backbone.layers, self.adapters):
            x = adapter(layer(x))
        return self.head(x.mean(dim=1))

    def tunable(self):
        yield from self.adapters.parameters()
        yield from self.head.parameters()


def freeze(module):
    module.eval()
    module.requires_grad = False
    return module


class Data:
    def __init__(self, cfg, seed):
        self.cfg = cfg
        self.gen = torch.Generator().manual_seed(seed)

    def batch(self, n):
        c = self.cfg
        y = torch.randint(0, c.intents, (n,), generator=self.gen)
        ids = torch.randint(0, c.vocab, (n, c.length), generator=self.gen)
        marked = torch.rand(n, c.length, generator=self.gen) < 0.3
        ids = torch.where(marked, y[:, None], ids)
        return ids.to(DEVICE), y.to(DEVICE)


class Tuner:
    def __init__(self, cfg):
        self.cfg = cfg
        self.model = AdaptedClassifier(cfg, freeze(Backbone(cfg))).to(DEVICE)
        self.params = list(self.model.tunable())
        self.opt = torch.optim.AdamW(self.params, lr=cfg.lr, weight_decay=0.01)
        self.sched = torch.optim.lr_scheduler.OneCycleLR(self.opt, cfg.lr, total_steps=cfg.steps)
        self.train_data, self.val_data = Data(cfg, 1), Data(cfg, 2)
        log.info("tuning %.2f M of %.1f M parameters", sum(p.numel() for p in self.params) / 1e6,
                 sum(p.numel() for p in self.model.parameters()) / 1e6)

    def step(self):
        ids, y = self.train_data.batch(self.cfg.batch)
        self.opt.zero_grad(set_to_none=True)
        with torch.autocast(DEVICE, dtype=torch.bfloat16):
            logits = self.model(ids)
        loss = F.cross_entropy(logits.float(), y)
        loss.backward()
        nn.utils.clip_grad_norm_(self.params, 1.0)
        self.opt.step()
        self.sched.step()
        return loss.item()

    @torch.inference_mode()
    def accuracy(self, batches=5):
        hits = total = 0
        for _ in range(batches):
            ids, y = self.val_data.batch(2 * self.cfg.batch)
            with torch.autocast(DEVICE, dtype=torch.bfloat16):
                hits += (self.model(ids).argmax(-1) == y).sum().item()
            total += len(y)
        return hits / total

    def save(self, path):
        state = {k: v for k, v in self.model.state_dict().items() if not k.startswith("backbone.")}
        torch.save(state, path)


def main():
    torch.manual_seed(0)
    cfg = Config()
    tuner = Tuner(cfg)
    began = time.time()
    with tempfile.TemporaryDirectory() as folder:
        for step in range(cfg.steps):
            loss = tuner.step()
            if step % 20 == 0:
                log.info("step %d loss %.4f lr %.2e", step, loss, tuner.sched.get_last_lr()[0])
            if (step + 1) % cfg.eval_every == 0:
                log.info("step %d accuracy %.3f", step, tuner.accuracy())
                tuner.save(os.path.join(folder, "adapters.pt"))
            if step >= 60 and time.time() - began > cfg.seconds:
                break


if __name__ == "__main__":
    main()
