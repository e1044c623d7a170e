# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Reranker of a recipe search. Candidates of a request are padded to a bucket and scored by a recorded graph."""
import json
import os
import sys
import time
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F

CUDA = torch.cuda.is_available()
DEVICE = torch.device("cuda" if CUDA else "cpu")
SMALL = os.environ.get("SMALL") == "1"
DTYPE = torch.float16 if CUDA else torch.float32


@dataclass
class Service:
    tokens: int = 256
    dim: int = 1024
    hidden: int = 4096
    depth: int = 10
    buckets: tuple = (16, 32, 64, 96, 128, 192, 256, 384)
    requests: int = 150
    pace: float = 0.03


# from request, fewest candidates, most candidates
TRAFFIC = [(0, 5, 30), (20, 18, 62), (38, 50, 126), (60, 90, 250), (85, 6, 384)]


class RankLayer(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.up = nn.Linear(dim, hidden)
        self.down = nn.Linear(hidden, dim)

    def forward(self, x):
        return x + self.down(F.gelu(self.up(self.norm(x))))


class Ranker(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.layers = nn.Sequential(*[RankLayer(cfg.dim, cfg.hidden) for _ in range(cfg.depth)])
        self.out = nn.Linear(cfg.dim, 1)

    def forward(self, x):
        return self.out(self.layers(x)).squeeze(-1).amax(dim=1)


class Recorded:
    def __init__(self, graph, inputs, scores):
        self.graph, self.inputs, self.scores = graph, inputs, scores


class GraphRanker:
    def __init__(self, model, cfg):
        self.model = model.eval()
        self.cfg = cfg
        self.recorded = {}
        self.pool = torch.cuda.graph_pool_handle() if CUDA else None
        self.side = torch.cuda.Stream() if CUDA else None
        self.record(cfg.buckets[-1])

    @torch.no_grad()
    def record(self, rows):
        inputs = torch.zeros(rows, self.cfg.tokens, self.cfg.dim, dtype=DTYPE, device=DEVICE)
        if not CUDA:
            self.recorded[rows] = Recorded(None, inputs, None)
            return
        self.side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.side):
            for _ in range(2):
                self.model(inputs)
        torch.cuda.current_stream().wait_stream(self.side)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=self.pool):
            scores = self.model(inputs)
        self.recorded[rows] = Recorded(graph, inputs, scores)

    @torch.no_grad()
    def rank(self, candidates):
        rows = next(size for size in self.cfg.buckets if size >= len(candidates))
        if rows not in self.recorded:
            self.record(rows)
        entry = self.recorded[rows]
        entry.inputs[: len(candidates)].copy_(candidates)
        if entry.graph is None:
            scores = self.model(entry.inputs)
        else:
            entry.graph.replay()
            scores = entry.scores
        return scores[: len(candidates)].float().cpu()


class Traffic:
    def __init__(self, cfg):
        self.cfg = cfg
        self.generator = torch.Generator().manual_seed(14)
        texts = torch.Generator().manual_seed(15)
        self.source = torch.randn(cfg.buckets[-1], cfg.tokens, cfg.dim, generator=texts).to(DTYPE)

    def request(self, number):
        _, low, high = [row for row in TRAFFIC if row[0] <= number][-1]
        return self.source[: int(torch.randint(low, high + 1, (1,), generator=self.generator))]


def main():
    cfg = Service(tokens=4, dim=16, hidden=32, depth=2, pace=0.0) if SMALL else Service()
    torch.manual_seed(9)
    ranker = GraphRanker(Ranker(cfg).to(DEVICE, DTYPE), cfg)
    traffic = Traffic(cfg)
    allocated, reserved, known = [], [], []
    for number in range(cfg.requests):
        best = ranker.rank(traffic.request(number)).argmax().item()
        allocated.append(torch.cuda.memory_allocated() if CUDA else 0)
        reserved.append(torch.cuda.memory_reserved() if CUDA else 0)
        known.append(len(ranker.recorded))
        if number % 45 == 44:
            print(f"request {number + 1} best {best} recorded {known[-1]}", flush=True)
        time.sleep(cfg.pace)
    every = max(1, cfg.requests // 12)
    print("TRUTH " + json.dumps({"allocated": allocated[every - 1::every], "reserved": reserved[every - 1::every],
                                 "graphs": known[every - 1::every], "rounds": cfg.requests}), file=sys.stderr)


if __name__ == "__main__":
    main()
