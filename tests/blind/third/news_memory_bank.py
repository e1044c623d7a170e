# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""News recommendation: click model trained against recent batches kept as extra negatives."""
import argparse
import os
import random
import sys
import time
from collections import deque

import torch
import torch.nn.functional as F
from torch import nn

SMALL = os.environ.get("SMALL") == "1"


def options():
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--articles", type=int, default=300 if SMALL else 120_000)
    ap.add_argument("--dim", type=int, default=8 if SMALL else 384)
    ap.add_argument("--history", type=int, default=5 if SMALL else 20)
    ap.add_argument("--batch", type=int, default=8 if SMALL else 8192)
    ap.add_argument("--bank-batches", type=int, default=10 if SMALL else 110)
    ap.add_argument("--draw", type=int, default=2 if SMALL else 3)
    ap.add_argument("--steps", type=int, default=18 if SMALL else 190)
    ap.add_argument("--warmup", type=int, default=2 if SMALL else 8)
    ap.add_argument("--lr", type=float, default=2e-3)
    ap.add_argument("--log-seconds", type=float, default=0.0 if SMALL else 0.045)
    return ap.parse_args()


class ArticleEncoder(nn.Module):
    def __init__(self, articles, dim):
        super().__init__()
        self.lookup = nn.Embedding(articles, dim)
        self.project = nn.Sequential(nn.Linear(dim, 2 * dim), nn.ReLU(), nn.Linear(2 * dim, dim))

    def forward(self, ids):
        x = self.lookup(ids)
        return F.normalize(x + self.project(x), dim=-1)


class ReaderEncoder(nn.Module):
    """Attention over what the reader clicked before."""

    def __init__(self, dim):
        super().__init__()
        self.query = nn.Parameter(torch.randn(dim) / dim ** 0.5)
        self.mix = nn.Linear(dim, dim)

    def forward(self, clicked):
        weight = (torch.tanh(self.mix(clicked)) @ self.query).softmax(dim=1)
        return F.normalize((weight.unsqueeze(-1) * clicked).sum(1), dim=-1)


class RecentBatches:
    """Embeddings and ids of the latest batches; older ones make room for new ones."""

    def __init__(self, capacity, seed):
        self.entries = deque(maxlen=capacity)
        self.rng = random.Random(seed)

    def __len__(self):
        return len(self.entries)

    def add(self, embeddings, ids):
        self.entries.append((embeddings.detach().clone(), ids.clone()))

    def draw(self, count):
        picks = self.rng.sample(range(len(self.entries)), min(count, len(self.entries)))
        vectors, ids = zip(*(self.entries[i] for i in picks))
        return torch.cat(vectors), torch.cat(ids)


class ClickLog:
    def __init__(self, opt, device, seed):
        self.opt, self.device = opt, device
        self.gen = torch.Generator().manual_seed(seed)

    def read(self):
        opt = self.opt
        time.sleep(opt.log_seconds)
        theme = torch.randint(0, 40, (opt.batch, 1), generator=self.gen)
        spread = opt.articles // 40
        history = theme * spread + torch.randint(0, spread, (opt.batch, opt.history), generator=self.gen)
        clicked = theme * spread + torch.randint(0, spread, (opt.batch, 1), generator=self.gen)
        return history.to(self.device), clicked.squeeze(1).to(self.device)


def contrast(readers, positives, ids, bank, opt, temperature=0.08):
    """Own batch plus a few earlier batches; an article is never a negative for itself."""
    own = (readers * positives).sum(-1, keepdim=True)
    size = min(2048, len(readers))
    rows = torch.randperm(len(readers), device=readers.device)[:size]
    candidates, candidate_ids = positives.detach(), ids
    if len(bank) >= opt.warmup:
        more, more_ids = bank.draw(opt.draw)
        candidates, candidate_ids = torch.cat([candidates, more]), torch.cat([ids, more_ids])
    scores = readers[rows] @ candidates.T
    same = ids[rows].unsqueeze(1) == candidate_ids.unsqueeze(0)
    scores = scores.masked_fill(same, float("-inf"))
    logits = torch.cat([own[rows], scores], dim=1) / temperature
    return F.cross_entropy(logits, torch.zeros(size, dtype=torch.long, device=logits.device))


def main():
    opt = options()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.manual_seed(14)
    articles = ArticleEncoder(opt.articles, opt.dim).to(device)
    readers = ReaderEncoder(opt.dim).to(device)
    optimizer = torch.optim.Adagrad([*articles.parameters(), *readers.parameters()], lr=opt.lr)
    bank, log = RecentBatches(opt.bank_batches, seed=3), ClickLog(opt, device, seed=8)
    allocated, smooth = [], None
    try:
        for step in range(opt.steps):
            history, clicked = log.read()
            positives = articles(clicked)
            loss = contrast(readers(articles(history)), positives, clicked, bank, opt)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            bank.add(positives, clicked)
            value = loss.item()
            smooth = value if smooth is None else 0.95 * smooth + 0.05 * value
            if step % 20 == 0:
                print(f"step {step:4d}  loss {smooth:.4f}  bank {len(bank)}")
            allocated.append(torch.cuda.memory_allocated())
    finally:
        print('TRUTH {"allocated": %s, "rounds": %d}' % (allocated, len(allocated)), file=sys.stderr)


if __name__ == "__main__":
    main()
