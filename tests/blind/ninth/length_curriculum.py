# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Pre-train a small GPT on synthetic token streams.

The context length follows a curriculum (128 -> 1024 tokens); gradients are
accumulated over several micro-batches and the weights live in fp32 with
bf16 autocast.
"""
import logging
import math
import os
import tempfile
import time
from dataclasses import dataclass, field

import torch
import torch.nn as nn
import torch.nn.functional as F

DEVICE = os.environ.get("DEVICE", "cuda")
SMOKE = DEVICE == "cpu"
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
log = logging.getLogger("pretrain")


@dataclass
class Config:
    vocab: int = 512 if SMOKE else 32000
    dim: int = 64 if SMOKE else 1024
    layers: int = 2 if SMOKE else 16
    heads: int = 4 if SMOKE else 16
    micro_batch: int = 4
    accumulate: int = 4
    lr: float = 3e-4
    steps_per_stage: int = 16 if SMOKE else 45
    stages: tuple = field(default=(16, 32, 48, 64) if SMOKE else (128, 256, 512, 1024))
    stage_seconds: float = 4.5


class Block(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.heads = cfg.heads
        self.ln1, self.ln2 = nn.LayerNorm(cfg.dim), nn.LayerNorm(cfg.dim)
        self.qkv = nn.Linear(cfg.dim, 3 * cfg.dim, bias=False)
        self.proj = nn.Linear(cfg.dim, cfg.dim, bias=False)
        self.up = nn.Linear(cfg.dim, 4 * cfg.dim)
        self.down = nn.Linear(4 * cfg.dim, cfg.dim)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(self.ln1(x)).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(a.transpose(1, 2).reshape(b, t, d))
        return x + self.down(F.gelu(self.up(self.ln2(x))))


class GPT(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.tok = nn.Embedding(cfg.vocab, cfg.dim)
        self.pos = nn.Embedding(max(cfg.stages), cfg.dim)
        self.blocks = nn.ModuleList(Block(cfg) for _ in range(cfg.layers))
        self.norm = nn.LayerNorm(cfg.dim)
        self.head = nn.Linear(cfg.dim, cfg.vocab, bias=False)
        self.head.weight = self.tok.weight

    def forward(self, ids):
        x = self.tok(ids) + self.pos.weight[: ids.shape[1]]
        for blk in self.blocks:
            x = blk(x)
        return self.head(self.norm(x))


class Trainer:
    def __init__(self, cfg):
        self.cfg = cfg
        self.model = GPT(cfg).to(DEVICE)
        for p in self.model.parameters():
            if p.dim() > 1:
                nn.init.normal_(p, std=0.02)
        self.opt = torch.optim.AdamW(self.model.parameters(), lr=cfg.lr, betas=(0.9, 0.95))
        self.gen = torch.Generator().manual_seed(11)
        self.history = []

    def batch(self, length):
        n = self.cfg.micro_batch
        start = torch.randint(0, self.cfg.vocab, (n, 1), generator=self.gen)
        stride = torch.randint(1, 7, (n, 1), generator=self.gen)
        ids = (start + stride * torch.arange(length + 1)) % self.cfg.vocab
        return ids.to(DEVICE, non_blocking=True)

    def loss(self, ids):
        with torch.autocast(DEVICE, dtype=torch.bfloat16):
            logits = self.model(ids[:, :-1])
        return F.cross_entropy(logits.flatten(0, 1).float(), ids[:, 1:].flatten())

    def step(self, length):
        total = 0.0
        for _ in range(self.cfg.accumulate):
            loss = self.loss(self.batch(length)) / self.cfg.accumulate
            loss.backward()
            total += loss.item()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.opt.step()
        self.opt.zero_grad(set_to_none=True)
        return total

    @torch.no_grad()
    def evaluate(self, length, batches=8):
        self.model.eval()
        losses = [self.loss(self.batch(length)).item() for _ in range(batches)]
        self.model.train()
        return math.exp(min(20.0, sum(losses) / len(losses)))

    def fit(self):
        step = 0
        for stage, length in enumerate(self.cfg.stages):
            began = time.time()
            for i in range(self.cfg.steps_per_stage):
                value = self.step(length)
                self.history.append((step, length, value))
                step += 1
                if i % 15 == 0:
                    log.info("stage %d len %d step %d loss %.3f", stage, length, step, value)
                if i >= 15 and time.time() - began > self.cfg.stage_seconds:
                    break
            log.info("stage %d done, ppl %.1f", stage, self.evaluate(length))
        return step


def main():
    torch.manual_seed(0)
    trainer = Trainer(Config())
    steps = trainer.fit()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "gpt.pt")
        state = {k: v.to("cpu", torch.bfloat16) for k, v in trainer.model.state_dict().items()}
        torch.save({"model": state, "steps": steps}, path)
        log.info("saved %.1f MB after %d steps", os.path.getsize(path) / 1e6, steps)


if __name__ == "__main__":
    main()
