# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Next-loan recommendation from the circulation log of a city library.

A session transformer in which attention knows how much time lies between two loans. Sessions come in the order of the
log: from home accounts, and from the reading-room terminals, where nobody logs out.
"""
import json
import logging
import os
import sys
import time
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
QUOTA_GIB = 6.0  # what the shared card's rules give to one job
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
log = logging.getLogger("loans")


@dataclass
class LoanConfig:
    titles: int = 300 if SMALL else 24_000
    dim: int = 32 if SMALL else 256
    heads: int = 4
    layers: int = 2 if SMALL else 6
    buckets: int = 32
    batch: int = 4 if SMALL else 48
    batches: int = 60 if SMALL else 640
    terminal_every: int = 170 if SMALL else 24_000
    terminal_loans: int = 60 if SMALL else 2400
    lr: float = 6e-4


class CirculationLog(Dataset):
    """Sessions with the titles that were lent and the times of the loans, in hours."""

    def __init__(self, cfg):
        self.cfg = cfg
        rng = torch.Generator().manual_seed(77)
        count = cfg.batch * cfg.batches
        spread = torch.randn(count, generator=rng)
        self.loans = torch.exp(2.2 + 0.3 * spread if SMALL else 3.4 + 0.4 * spread).long().clamp(4, 12 if SMALL else 140)
        self.loans[cfg.terminal_every - 1::cfg.terminal_every] = cfg.terminal_loans

    def __len__(self):
        return len(self.loans)

    def __getitem__(self, index):
        rng = torch.Generator().manual_seed(index)
        n = int(self.loans[index])
        start = int(torch.randint(self.cfg.titles, (1,), generator=rng))
        titles = 1 + (start + torch.randint(0, 200, (n,), generator=rng)) % (self.cfg.titles - 1)
        return titles, torch.rand(n, generator=rng).mul(90).cumsum(0)


def collate(sessions):
    titles, hours = zip(*sessions)
    return pad_sequence(titles, batch_first=True), pad_sequence(hours, batch_first=True)


class TimeAwareBlock(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.heads = cfg.heads
        self.norm1, self.norm2 = nn.LayerNorm(cfg.dim), nn.LayerNorm(cfg.dim)
        self.qkv = nn.Linear(cfg.dim, 3 * cfg.dim)
        self.out = nn.Linear(cfg.dim, cfg.dim)
        self.mlp = nn.Sequential(nn.Linear(cfg.dim, 4 * cfg.dim), nn.GELU(), nn.Linear(4 * cfg.dim, cfg.dim))

    def forward(self, x, bias):
        b, t, d = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        x = x + self.out(F.scaled_dot_product_attention(q, k, v, attn_mask=bias).transpose(1, 2).reshape(b, t, d))
        return x + self.mlp(self.norm2(x))


class LoanTransformer(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.titles = nn.Embedding(cfg.titles, cfg.dim, padding_idx=0)
        self.gap_bias = nn.Embedding(cfg.buckets, cfg.heads)
        self.blocks = nn.ModuleList(TimeAwareBlock(cfg) for _ in range(cfg.layers))
        self.norm = nn.LayerNorm(cfg.dim)

    def time_bias(self, titles, hours):
        gaps = torch.log1p((hours[:, :, None] - hours[:, None, :]).abs())
        bucket = gaps.mul_(3).long().clamp_(max=self.cfg.buckets - 1)
        bias = self.gap_bias(bucket).permute(0, 3, 1, 2)
        later = torch.ones(titles.shape[1], titles.shape[1], dtype=torch.bool, device=titles.device).triu(1)
        return bias.masked_fill(later, float("-inf"))

    def forward(self, titles, hours):
        bias = self.time_bias(titles, hours)
        x = self.titles(titles)
        for block in self.blocks:
            x = block(x, bias)
        return self.norm(x)


def next_loan_loss(model, states, titles, negatives=512):
    """Sampled softmax over the next title of each loan."""
    keep = titles[:, 1:] > 0
    queries, wanted = states[:, :-1][keep], titles[:, 1:][keep]
    sampled = torch.randint(1, model.cfg.titles, (negatives,), device=titles.device)
    positive = (queries * model.titles(wanted)).sum(-1, keepdim=True)
    others = queries @ model.titles(sampled).T
    others = others.masked_fill(wanted[:, None] == sampled[None, :], float("-inf"))
    return F.cross_entropy(torch.cat([positive, others], dim=1), torch.zeros_like(wanted))


def train(cfg, record):
    model = LoanTransformer(cfg).to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr)
    loader = DataLoader(CirculationLog(cfg), batch_size=cfg.batch, collate_fn=collate)
    log.info("%.1f M parameters, %d sessions", sum(p.numel() for p in model.parameters()) / 1e6, len(loader.dataset))
    started, smoothed = time.time(), None
    for step, (titles, hours) in enumerate(loader):
        titles, hours = titles.to(DEVICE), hours.to(DEVICE)
        loss = next_loan_loss(model, model(titles, hours), titles)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        smoothed = loss.item() if smoothed is None else 0.95 * smoothed + 0.05 * loss.item()
        if DEVICE.type == "cuda":
            record["allocated"].append(torch.cuda.memory_allocated())
        record["rounds"] = step + 1
        if step % 50 == 0:
            log.info("step %3d  loss %.3f  %.0f ms", step, smoothed, 1000 * (time.time() - started) / (step + 1))


def main():
    torch.manual_seed(29)
    if DEVICE.type == "cuda":
        total = torch.cuda.get_device_properties(0).total_memory
        torch.cuda.set_per_process_memory_fraction(min(1.0, QUOTA_GIB * 2**30 / total))
    record = {"allocated": [], "rounds": 0}
    try:
        train(LoanConfig(), record)
    finally:
        record["allocated"] = record["allocated"][::len(record["allocated"]) // 200 + 1]
        print("TRUTH " + json.dumps(record), file=sys.stderr)


if __name__ == "__main__":
    main()
