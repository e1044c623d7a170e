# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Ingests news articles into a small in-memory search index and answers the editors' queries in between.

Agency copies of the same article arrive many times a day, therefore only articles that differ from everything indexed
so far are added.
"""
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


@dataclass
class Config:
    vocab: int = 500 if SMALL else 20000
    width: int = 64 if SMALL else 512
    heads: int = 2 if SMALL else 8
    layers: int = 2 if SMALL else 6
    batch: int = 8 if SMALL else 48
    max_tokens: int = 48 if SMALL else 320
    deliveries: int = 150
    queries_every: int = 6
    queries: int = 4 if SMALL else 32
    pause: float = 0.001 if SMALL else 0.04
    duplicate_score: float = 0.995


class EncoderLayer(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.heads = cfg.heads
        self.norm1, self.norm2 = nn.LayerNorm(cfg.width), nn.LayerNorm(cfg.width)
        self.qkv = nn.Linear(cfg.width, 3 * cfg.width)
        self.out = nn.Linear(cfg.width, cfg.width)
        self.up, self.down = nn.Linear(cfg.width, 4 * cfg.width), nn.Linear(4 * cfg.width, cfg.width)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        scores = (q @ k.transpose(-1, -2) / math.sqrt(d // self.heads)).softmax(-1)
        x = x + self.out((scores @ v).transpose(1, 2).reshape(b, t, d))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class ArticleEncoder(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.words = nn.Embedding(cfg.vocab, cfg.width)
        self.places = nn.Embedding(cfg.max_tokens, cfg.width)
        self.layers = nn.ModuleList(EncoderLayer(cfg) for _ in range(cfg.layers))
        self.norm = nn.LayerNorm(cfg.width)

    def forward(self, ids):
        x = self.words(ids) + self.places(torch.arange(ids.shape[1], device=ids.device))
        for layer in self.layers:
            x = layer(x)
        return self.norm(x)


class Newsroom:
    """Delivers batches of articles; most of them are copies of what has been sent before."""

    def __init__(self, cfg):
        self.cfg = cfg
        self.gen = torch.Generator().manual_seed(31)
        self.wire = [self.write() for _ in range(24)]

    def write(self):
        return torch.randint(0, self.cfg.vocab, (self.cfg.max_tokens,), generator=self.gen)

    def chance(self, p):
        return float(torch.rand(1, generator=self.gen)) < p

    def delivery(self, number):
        picks = torch.randint(0, len(self.wire), (self.cfg.batch,), generator=self.gen).tolist()
        batch = [self.wire[i] for i in picks]
        fresh = 0 if number < 2 else int(self.chance(0.35)) * int(torch.randint(1, 4, (1,), generator=self.gen))
        for row in range(fresh):
            batch[row * 7 + 3 if not SMALL else row] = self.write()
            self.wire[int(torch.randint(0, len(self.wire), (1,), generator=self.gen))] = batch[row * 7 + 3 if not SMALL else row]
        return torch.stack(batch)


class SearchIndex:
    def __init__(self, cfg):
        self.cfg = cfg
        self.vectors = []
        self.sources = []

    def similarity(self, queries):
        if not self.vectors:
            return torch.full((queries.shape[0], 1), -1.0, device=queries.device)
        matrix = F.normalize(torch.stack(self.vectors), dim=1)
        return F.normalize(queries, dim=1) @ matrix.T

    def add_new(self, vectors, source):
        added = 0
        known = self.similarity(vectors).max(dim=1).values.tolist()
        for row, score in enumerate(known):
            if score >= self.cfg.duplicate_score:
                continue
            if added and float(self.similarity(vectors[row : row + 1]).max()) >= self.cfg.duplicate_score:
                continue
            self.vectors.append(vectors[row])
            self.sources.append((source, row))
            added += 1
        return added

    def search(self, queries, k=3):
        scores = self.similarity(queries)
        return scores.topk(min(k, scores.shape[1]), dim=1).indices.tolist()


@torch.inference_mode()
def ingest(cfg):
    newsroom, index = Newsroom(cfg), SearchIndex(cfg)
    encoder = ArticleEncoder(cfg).to(DEVICE).eval()
    curve, answered = [], 0
    for number in range(cfg.deliveries):
        ids = newsroom.delivery(number).to(DEVICE)
        hidden = encoder(ids)
        index.add_new(hidden[:, 0], source=number)
        del hidden
        if number % cfg.queries_every == 0:
            questions = encoder(ids[: cfg.queries].flip(1))
            answered += len(index.search(questions[:, 0]))
            del questions
        if (number + 1) % (cfg.deliveries // 10) == 0:
            curve.append(torch.cuda.memory_allocated())
            print(f"delivery {number + 1}: {len(index.vectors)} articles indexed, {answered} queries answered")
        time.sleep(cfg.pause)
    return curve, len(set(source for source, _ in index.sources))


def main():
    torch.manual_seed(31)
    cfg = Config()
    curve, deliveries = ingest(cfg)
    print(f"articles came from {deliveries} of {cfg.deliveries} deliveries")
    print("TRUTH " + json.dumps({"allocated": curve, "rounds": cfg.deliveries}), file=sys.stderr)


if __name__ == "__main__":
    main()
