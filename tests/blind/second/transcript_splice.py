# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Splice-site labelling of pre-mRNA transcripts, one transcript per step, attention with a distance bias."""
import json
import os
import random
import sys
import time
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
BASES = "ACGTN"
LANDMARKS = {12: ("BRCA1_TX", 7_200), 37: ("DMD_TX", 14_000), 91: ("TTN_TX", 60_000), 118: ("TP53_TX", 2_600)}


@dataclass
class SpliceConfig:
    width: int = 32 if SMALL else 256
    heads: int = 8
    layers: int = 2 if SMALL else 4
    genes: int = 8 if SMALL else 130
    epochs: int = 1 if SMALL else 2
    stride: int = 4
    median_length: int = 256 if SMALL else 6000
    spread: float = 0.3
    lr: float = 3e-4
    clip: float = 1.0
    memory_gb: float = 12.0
    annotation_lookup: float = 0.0 if SMALL else 0.09
    seed: int = 3


@dataclass
class Gene:
    name: str
    length: int
    seed: int


class GeneCatalogue:
    """Lengths as in an annotation, log-normal around the median; the landmark transcripts are part of every run."""

    def __init__(self, cfg):
        self.cfg = cfg
        rng = random.Random(cfg.seed)
        self.genes = []
        for k in range(cfg.genes):
            length = int(cfg.median_length * rng.lognormvariate(0.0, cfg.spread))
            name, length = LANDMARKS.get(k, (f"TX{k:05d}", length))
            self.genes.append(Gene(name, length, rng.randrange(1 << 30)))

    def load(self, gene):
        time.sleep(self.cfg.annotation_lookup)
        gen = torch.Generator().manual_seed(gene.seed)
        sequence = torch.randint(0, len(BASES), (1, gene.length), generator=gen)
        donor = (sequence[:, :-1] == 2) & (sequence[:, 1:] == 3)
        labels = F.pad(donor.long(), (0, 1))
        return sequence.to(DEVICE), labels.to(DEVICE)


class DistanceBiasedAttention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width)
        self.slope = nn.Parameter(torch.logspace(-3, 0, heads, base=2.0) * 0.05)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-1, -2) * (width // self.heads) ** -0.5
        place = torch.arange(length, device=x.device)
        distance = (place[:, None] - place[None, :]).abs().to(x.dtype)
        scores = scores - self.slope.view(1, -1, 1, 1) * distance
        mixed = scores.softmax(dim=-1) @ v
        return self.out(mixed.transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = DistanceBiasedAttention(width, heads)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class SpliceTagger(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.stride = cfg.stride
        self.embed = nn.Embedding(len(BASES), cfg.width)
        self.down = nn.Conv1d(cfg.width, cfg.width, 2 * cfg.stride + 1, stride=cfg.stride, padding=cfg.stride)
        self.blocks = nn.ModuleList(Block(cfg.width, cfg.heads) for _ in range(cfg.layers))
        self.up = nn.ConvTranspose1d(cfg.width, cfg.width, cfg.stride, stride=cfg.stride)
        self.head = nn.Linear(2 * cfg.width, 2)

    def forward(self, sequence):
        base = self.embed(sequence).transpose(1, 2)
        x = self.down(base).transpose(1, 2)
        for block in self.blocks:
            x = block(x)
        x = self.up(x.transpose(1, 2))[..., : base.shape[-1]]
        return self.head(torch.cat([base, x], dim=1).transpose(1, 2))


def train(cfg):
    torch.manual_seed(cfg.seed)
    if DEVICE.type == "cuda":
        torch.cuda.set_per_process_memory_fraction(cfg.memory_gb * 2**30 / torch.cuda.mem_get_info()[1])
    catalogue = GeneCatalogue(cfg)
    model = SpliceTagger(cfg).to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr, weight_decay=0.01)
    weight = torch.tensor([1.0, 12.0], device=DEVICE)
    allocated = []
    try:
        for epoch in range(cfg.epochs):
            running = 0.0
            for step, gene in enumerate(catalogue.genes):
                sequence, labels = catalogue.load(gene)
                logits = model(sequence)
                loss = F.cross_entropy(logits.flatten(0, 1), labels.flatten(), weight=weight)
                optimizer.zero_grad(set_to_none=True)
                loss.backward()
                nn.utils.clip_grad_norm_(model.parameters(), cfg.clip)
                optimizer.step()
                running = 0.95 * running + 0.05 * loss.item() if step else loss.item()
                allocated.append(torch.cuda.memory_allocated())
                if step % 10 == 0:
                    print(f"epoch {epoch} step {step:4d} {gene.name} loss {running:.4f}", flush=True)
    finally:
        print("TRUTH " + json.dumps({"allocated": allocated, "rounds": len(allocated)}), file=sys.stderr)


if __name__ == "__main__":
    train(SpliceConfig())
