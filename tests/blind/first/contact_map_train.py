# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Residue contact prediction. Trains on crops of protein chains and scores a panel of families every few steps."""
import json
import os
import random
import sys
import time
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
SMALL = os.environ.get("SMALL") == "1"

# family, residues per chain, chains in the panel
FAMILIES = [
    ("kinase", 290, 14), ("gpcr", 380, 10), ("serpin", 410, 8), ("abc_transporter", 1280, 5),
    ("spectrin", 2470, 3), ("dynein_motor", 4640, 2), ("titin_band", 12288, 1),
]


@dataclass
class Config:
    dim: int = 256
    heads: int = 8
    layers: int = 6
    crop: int = 320
    batch: int = 8
    steps: int = 120
    panel_every: int = 20
    panel_size: int = 9
    reach: int = 64
    lr: float = 2e-4
    pace: float = 0.06
    gpu_budget: int = 12 * 2**30
    shrink: int = 1


class RelativeBias(nn.Module):
    def __init__(self, heads, reach):
        super().__init__()
        self.reach = reach
        self.table = nn.Embedding(2 * reach + 1, heads)

    def forward(self, length, device):
        position = torch.arange(length, device=device)
        offset = position[None, :] - position[:, None]
        bucket = offset.clamp(-self.reach, self.reach) + self.reach
        return self.table(bucket).permute(2, 0, 1)


class ResidueBlock(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.scale = (dim // heads) ** -0.5
        self.norm1 = nn.LayerNorm(dim)
        self.qkv = nn.Linear(dim, 3 * dim)
        self.proj = nn.Linear(dim, dim)
        self.norm2 = nn.LayerNorm(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))

    def forward(self, x, bias):
        b, n, d = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, n, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        scores = torch.matmul(q, k.transpose(-1, -2))
        scores = scores * self.scale + bias
        weights = scores.softmax(dim=-1)
        x = x + self.proj(torch.matmul(weights, v).transpose(1, 2).reshape(b, n, d))
        return x + self.mlp(self.norm2(x))


class ContactNet(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.residues = nn.Embedding(21, cfg.dim)
        self.bias = RelativeBias(cfg.heads, cfg.reach)
        self.blocks = nn.ModuleList(ResidueBlock(cfg.dim, cfg.heads) for _ in range(cfg.layers))
        self.left = nn.Linear(cfg.dim, 32)
        self.right = nn.Linear(cfg.dim, 32)

    def forward(self, chain):
        x = self.residues(chain)
        bias = self.bias(chain.shape[1], chain.device)
        for block in self.blocks:
            x = block(x, bias)
        return torch.matmul(self.left(x), self.right(x).transpose(-1, -2))


class Panel:
    """Chains of the validation families, visited a few at a time."""

    def __init__(self, cfg, seed):
        self.lengths = [max(16, n // cfg.shrink) for _, n, count in FAMILIES for _ in range(count)]
        random.Random(seed).shuffle(self.lengths)
        self.size, self.at = cfg.panel_size, 0

    def take(self):
        for _ in range(self.size):
            yield self.lengths[self.at % len(self.lengths)]
            self.at += 1


class MemoryLog:
    def __init__(self):
        self.rows = []

    def note(self):
        self.rows.append(torch.cuda.memory_allocated() if DEVICE.type == "cuda" else 0)

    def report(self):
        every = max(1, len(self.rows) // 10)
        peak = torch.cuda.max_memory_allocated() if DEVICE.type == "cuda" else 0
        print("TRUTH " + json.dumps({"allocated": self.rows[every - 1::every], "rounds": len(self.rows), "peak": peak}),
              file=sys.stderr, flush=True)


def contacts(chain):
    return ((chain[:, :, None] + chain[:, None, :]) % 7 == 0).float()


@torch.no_grad()
def score_panel(model, panel, generator):
    model.eval()
    hits = []
    for length in panel.take():
        chain = torch.randint(0, 21, (1, length), generator=generator).to(DEVICE)
        logits = model(chain)
        top = logits.flatten().topk(min(length, 256)).indices
        pairs = (chain[0, top // length] + chain[0, top % length]) % 7 == 0
        hits.append(pairs.float().mean().item())
    model.train()
    return sum(hits) / len(hits)


def train(cfg, log):
    torch.manual_seed(11)
    generator = torch.Generator().manual_seed(5)
    model = ContactNet(cfg).to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr)
    panel = Panel(cfg, seed=5)
    for step in range(1, cfg.steps + 1):
        chain = torch.randint(0, 21, (cfg.batch, cfg.crop), generator=generator).to(DEVICE)
        loss = F.binary_cross_entropy_with_logits(model(chain), contacts(chain))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        log.note()
        if step % cfg.panel_every == 0:
            print(f"step {step} loss {loss.item():.4f} precision {score_panel(model, panel, generator):.4f}", flush=True)
        time.sleep(cfg.pace)


if __name__ == "__main__":
    config = Config()
    if SMALL:
        config = Config(dim=32, heads=2, layers=1, crop=24, batch=2, pace=0.0, shrink=40)
    if DEVICE.type == "cuda":
        total = torch.cuda.get_device_properties(0).total_memory
        torch.cuda.set_per_process_memory_fraction(config.gpu_budget / total)
    memory = MemoryLog()
    try:
        train(config, memory)
    finally:
        memory.report()
