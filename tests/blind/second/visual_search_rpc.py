# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Visual product search: photo in, most similar catalogue items out, with a timing trace for every request."""
import asyncio
import gc
import json
import os
import sys
import time
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass(frozen=True)
class SearchConfig:
    side: int = 32 if SMALL else 512
    crops: int = 2 if SMALL else 8
    channels: int = 16 if SMALL else 256
    dim: int = 16 if SMALL else 256
    catalogue: int = 1024 if SMALL else 262144
    top: int = 5
    ticks: int = 5 if SMALL else 30
    per_tick: int = 3 if SMALL else 4
    upload_latency: float = 0.005 if SMALL else 0.16
    seed: int = 1906


class Span:
    """One timed section of a request; sections nest."""

    def __init__(self, name, parent=None):
        self.name = name
        self.parent = parent
        self.children = []
        self.tags = {}
        self.began = time.perf_counter()
        self.seconds = None
        if parent is not None:
            parent.children.append(self)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        self.seconds = time.perf_counter() - self.began

    def section(self, name, **tags):
        child = Span(name, parent=self)
        child.tags.update(tags)
        return child

    def timings(self):
        rows = {self.name: round(1000 * self.seconds, 2)}
        for child in self.children:
            rows.update(child.timings())
        return rows


class Embedder(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        c = cfg.channels
        self.stem = nn.Sequential(nn.Conv2d(3, c // 4, 4, 4), nn.GELU(), nn.Conv2d(c // 4, c, 2, 2), nn.GELU())
        self.project = nn.Linear(c, cfg.dim)

    def forward(self, features):
        return F.normalize(self.project(features.mean((2, 3))), dim=1)


class Catalogue:
    def __init__(self, cfg):
        gen = torch.Generator().manual_seed(cfg.seed)
        vectors = torch.randn(cfg.catalogue // 64, cfg.dim, generator=gen).repeat(64, 1).to(DEVICE)
        self.vectors = F.normalize(vectors, dim=1)
        self.stock = (torch.arange(cfg.catalogue, device=DEVICE) % 13).ne(0).float()


class SearchRequest:
    """Everything that belongs to one photo on its way through the service."""

    def __init__(self, number, cfg):
        self.number = number
        self.cfg = cfg
        self.trace = Span(f"request-{number}")
        self.trace.tags["request"] = self
        self.crops = None
        self.features = None
        self.scores = None

    async def upload(self, gen):
        with self.trace.section("upload"):
            await asyncio.sleep(self.cfg.upload_latency)
            shape = (self.cfg.crops, 3, self.cfg.side, self.cfg.side)
            photo = torch.rand(1, 3, self.cfg.side, self.cfg.side, generator=gen)
            self.crops = photo.to(DEVICE).expand(shape).contiguous()

    def embed(self, embedder):
        with self.trace.section("embed", crops=len(self.crops)):
            self.features = embedder.stem(self.crops)
            return embedder(self.features)

    def rank(self, queries, catalogue):
        with self.trace.section("rank"):
            self.scores = queries @ catalogue.vectors.T
            self.scores.mul_(catalogue.stock)
            best = self.scores.amax(0).topk(self.cfg.top)
        return list(zip(best.indices.tolist(), [round(v, 3) for v in best.values.tolist()]))


class SearchService:
    def __init__(self, cfg):
        self.cfg = cfg
        torch.manual_seed(cfg.seed)
        self.embedder = Embedder(cfg).to(DEVICE).eval()
        self.catalogue = Catalogue(cfg)
        self.gen = torch.Generator().manual_seed(cfg.seed + 1)
        self.answered = 0
        self.slowest = {}

    async def handle(self, number):
        request = SearchRequest(number, self.cfg)
        with torch.inference_mode(), request.trace:
            await request.upload(self.gen)
            hits = request.rank(request.embed(self.embedder), self.catalogue)
        for section, ms in request.trace.timings().items():
            if not section.startswith("request"):
                self.slowest[section] = max(ms, self.slowest.get(section, 0.0))
        self.answered += 1
        return hits

    async def warm_up(self):
        await self.handle(-1)
        self.slowest.clear()


async def main(cfg):
    service, allocated = SearchService(cfg), []
    await service.warm_up()
    # collections in the middle of a request cost us the 99th percentile
    gc.collect()
    gc.freeze()
    gc.disable()

    for tick in range(cfg.ticks):
        hits = []
        for k in range(cfg.per_tick):
            hits.append(await service.handle(tick * cfg.per_tick + k))
        allocated.append(torch.cuda.memory_allocated())
        if tick % 5 == 0:
            print(f"tick {tick:2d}: {service.answered - 1} answered, best {hits[0][0]}, slowest ms {service.slowest}")
    print("TRUTH " + json.dumps({"allocated": allocated, "rounds": cfg.ticks}), file=sys.stderr)
    return service


if __name__ == "__main__":
    asyncio.run(main(SearchConfig()))
