# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Causal k-mer language model for genomes, trained with a context-length curriculum."""
import json
import math
import os
import sys
import time
from dataclasses import dataclass, field

import torch
import torch.nn as nn
import torch.nn.functional as F

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.set_float32_matmul_precision("high")


@dataclass
class GenomeLMConfig:
    vocab: int = 260 if SMALL else 4160          # 6-mers plus specials
    dim: int = 32 if SMALL else 512
    heads: int = 4 if SMALL else 8
    layers: int = 2 if SMALL else 6
    batch: int = 2 if SMALL else 32
    steps_per_stage: int = 3 if SMALL else 14
    contexts: list = field(default_factory=lambda: [16 + 8 * i for i in range(10)] if SMALL
                           else [192, 256, 320, 416, 512, 608, 704, 800, 912, 1024])
    lr: float = 3e-4
    fasta_latency: float = 0.03
    seed: int = 11


class SelfAttention(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.heads = cfg.heads
        self.qkv = nn.Linear(cfg.dim, 3 * cfg.dim)
        self.out = nn.Linear(cfg.dim, cfg.dim)

    def forward(self, x, rotary):
        b, t, d = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        q, k = apply_rotary(q, rotary), apply_rotary(k, rotary)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(b, t, d))


def apply_rotary(x, rotary):
    cos, sin = rotary
    a, b = x.chunk(2, dim=-1)
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)


class Block(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(cfg.dim), nn.LayerNorm(cfg.dim)
        self.attn = SelfAttention(cfg)
        self.mlp = nn.Sequential(nn.Linear(cfg.dim, 4 * cfg.dim), nn.GELU(), nn.Linear(4 * cfg.dim, cfg.dim))

    def forward(self, x, rotary):
        x = x + self.attn(self.norm1(x), rotary)
        return x + self.mlp(self.norm2(x))


class GenomeLM(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.embed = nn.Embedding(cfg.vocab, cfg.dim)
        self.blocks = nn.ModuleList(Block(cfg) for _ in range(cfg.layers))
        self.norm = nn.LayerNorm(cfg.dim)
        self.head = nn.Linear(cfg.dim, cfg.vocab, bias=False)
        self.rotary_cache = {}

    def rotary(self, length, device):
        if length not in self.rotary_cache:
            half = self.cfg.dim // self.cfg.heads // 2
            freq = torch.exp(-math.log(10000.0) * torch.arange(half, device=device) / half)
            angle = torch.arange(length, device=device).unsqueeze(1) * freq
            self.rotary_cache[length] = (angle.cos(), angle.sin())
        return self.rotary_cache[length]

    def forward(self, tokens):
        rotary = self.rotary(tokens.shape[1], tokens.device)
        x = self.embed(tokens)
        for block in self.blocks:
            x = block(x, rotary)
        return self.head(self.norm(x))


class FastaStream:
    def __init__(self, cfg):
        self.cfg = cfg
        self.gen = torch.Generator().manual_seed(cfg.seed)

    def batch(self, context):
        time.sleep(self.cfg.fasta_latency)
        ids = torch.randint(0, self.cfg.vocab, (self.cfg.batch, context + 1), generator=self.gen)
        return ids.to(DEVICE)


class PerplexityLog:
    def __init__(self):
        self.records = []

    def add(self, step, context, loss):
        self.records.append({"step": step, "context": context, "ppl": math.exp(min(20.0, loss.item()))})

    def last(self):
        r = self.records[-1]
        return f"step {r['step']:4d} context {r['context']:5d} ppl {r['ppl']:.1f}"


def pretrain(cfg):
    torch.manual_seed(cfg.seed)
    model = GenomeLM(cfg).to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr, betas=(0.9, 0.95))
    stream, log = FastaStream(cfg), PerplexityLog()
    total = cfg.steps_per_stage * len(cfg.contexts)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, total)
    allocated, peaks, step = [], [], 0

    for context in cfg.contexts:
        if DEVICE.type == "cuda":
            torch.cuda.reset_peak_memory_stats()
        for _ in range(cfg.steps_per_stage):
            step += 1
            tokens = stream.batch(context)
            logits = model(tokens[:, :-1])
            loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
            log.add(step, context, loss)
        print(log.last())
        allocated.append(torch.cuda.memory_allocated())
        peaks.append(torch.cuda.max_memory_allocated())

    print("TRUTH " + json.dumps({"allocated": allocated, "peak": peaks, "rounds": total}), file=sys.stderr)
    return log


if __name__ == "__main__":
    pretrain(GenomeLMConfig())
