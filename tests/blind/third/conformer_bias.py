# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Dialect identification with a small Conformer on utterances of any length."""
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
DIALECTS = ["north", "coast", "valley", "island", "border", "capital"]


@dataclass
class Settings:
    mels: int = 8 if SMALL else 80
    dim: int = 16 if SMALL else 256
    heads: int = 2 if SMALL else 16
    blocks: int = 2 if SMALL else 4
    bucket: int = 4 if SMALL else 128
    shortest: int = 1
    longest: int = 6 if SMALL else 16
    frames_per_batch: int = 48 if SMALL else 12288
    max_utterances: int = 16
    epochs: int = 10 if SMALL else 22
    batches: int = 3 if SMALL else 7
    lr: float = 4e-4
    storage_seconds: float = 0.0 if SMALL else 0.09
    seed: int = 28


class DistanceBias(nn.Module):
    """Fixed log-distance attention bias with a slope per head; the same for all blocks."""

    def __init__(self, heads):
        super().__init__()
        self.register_buffer("slopes", torch.tensor([2.0 ** (-(h + 1) / 2) for h in range(heads)]), persistent=False)
        self.tables = {}

    def forward(self, length):
        if length not in self.tables:
            place = torch.arange(length, device=self.slopes.device)
            distance = (place[:, None] - place[None, :]).abs_().float().log1p_()
            self.tables[length] = -self.slopes[:, None, None] * distance
        return self.tables[length]


class Block(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.heads = s.heads
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(s.dim) for _ in range(3))
        self.qkv = nn.Linear(s.dim, 3 * s.dim)
        self.out = nn.Linear(s.dim, s.dim)
        self.depth = nn.Conv1d(s.dim, s.dim, 15, padding=7, groups=s.dim)
        self.ff = nn.Sequential(nn.Linear(s.dim, 4 * s.dim), nn.SiLU(), nn.Linear(4 * s.dim, s.dim))

    def forward(self, x, bias):
        b, t, d = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=bias.unsqueeze(0))
        x = x + self.out(mixed.transpose(1, 2).reshape(b, t, d))
        x = x + F.silu(self.depth(self.norm2(x).transpose(1, 2))).transpose(1, 2)
        return x + self.ff(self.norm3(x))


class DialectNet(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.front = nn.Linear(s.mels, s.dim)
        self.bias = DistanceBias(s.heads)
        self.blocks = nn.ModuleList([Block(s) for _ in range(s.blocks)])
        self.head = nn.Linear(s.dim, len(DIALECTS))

    def forward(self, mel):
        x = F.silu(self.front(mel))
        bias = self.bias(x.shape[1])
        for block in self.blocks:
            x = block(x, bias)
        return self.head(x.mean(dim=1))


class DialectCorpus:
    """Utterances in buckets of similar length; short ones are common, long ones rare."""

    def __init__(self, s):
        self.s = s
        self.gen = torch.Generator().manual_seed(s.seed)
        self.pick = torch.Generator().manual_seed(s.seed + 1)
        steps = torch.arange(s.shortest, s.longest + 1, dtype=torch.float)
        self.chances = torch.exp(-((steps - 5).clamp(min=0) / (0.4 * s.longest)))

    def batch(self):
        s = self.s
        time.sleep(s.storage_seconds)
        bucket = int(torch.multinomial(self.chances, 1, generator=self.pick)) + s.shortest
        frames = bucket * s.bucket
        count = max(2, min(s.max_utterances, s.frames_per_batch // frames))
        dialect = torch.randint(0, len(DIALECTS), (count,), generator=self.gen)
        pitch = (0.05 + 0.03 * dialect.float())[:, None, None]
        wave = torch.sin(pitch * torch.arange(frames)[None, :, None] + torch.arange(s.mels)[None, None, :])
        mel = wave + 0.5 * torch.randn(count, frames, s.mels, generator=self.gen)
        return mel.to(DEVICE), dialect.to(DEVICE)


def warm_cosine(step, total, warm):
    return (step + 1) / warm if step < warm else 0.5 * (1 + math.cos(math.pi * (step - warm) / max(total - warm, 1)))


def main():
    s = Settings()
    torch.manual_seed(s.seed)
    net, corpus = DialectNet(s).to(DEVICE), DialectCorpus(s)
    optimizer = torch.optim.AdamW(net.parameters(), lr=s.lr, weight_decay=1e-2)
    total = s.epochs * s.batches
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda n: warm_cosine(n, total, max(total // 10, 1)))
    allocated = []
    try:
        for epoch in range(s.epochs):
            losses, right, seen, longest = 0.0, 0, 0, 0
            for _ in range(s.batches):
                mel, dialect = corpus.batch()
                logits = net(mel)
                loss = F.cross_entropy(logits, dialect)
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(net.parameters(), 1.0)
                optimizer.step()
                schedule.step()
                losses += loss.item()
                right += (logits.argmax(-1) == dialect).sum().item()
                seen += len(dialect)
                longest = max(longest, mel.shape[1])
            allocated.append(torch.cuda.memory_allocated())
            print(json.dumps({"epoch": epoch, "loss": round(losses / s.batches, 4),
                              "accuracy": round(right / seen, 3), "longest": longest}))
    finally:
        print("TRUTH " + json.dumps({"allocated": allocated, "rounds": len(allocated)}), file=sys.stderr)


if __name__ == "__main__":
    main()
