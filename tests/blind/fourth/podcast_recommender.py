# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Self-supervised graph recommender for podcasts: light graph convolutions on listeners and shows, with a
contrastive term between two thinned views of the listening graph."""

import functools
import json
import os
import sys
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F
from torch_geometric.nn import LGConv
from torch_geometric.utils import degree

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class RecConfig:
    listeners: int = 200 if SMALL else 60_000
    shows: int = 80 if SMALL else 20_000
    plays: int = 1_000 if SMALL else 1_048_576
    dim: int = 8 if SMALL else 32
    layers: int = 2
    keep: float = 0.875
    epochs: int = 12 if SMALL else 60
    batches: int = 2 if SMALL else 6
    batch_size: int = 64 if SMALL else 2048
    temperature: float = 0.2
    contrast: float = 0.1
    decay: float = 1e-4
    top_k: int = 10
    seed: int = 8


class ListeningGraph:
    """The bipartite graph of plays, both directions in one edge index."""

    def __init__(self, cfg: RecConfig):
        gen = torch.Generator().manual_seed(cfg.seed)
        who = torch.randint(0, cfg.listeners, (cfg.plays,), generator=gen)
        skew = torch.rand(cfg.plays, generator=gen).square()
        what = (skew * cfg.shows).long().clamp_max(cfg.shows - 1)
        self.cfg = cfg
        self.who, self.what = who.to(DEVICE), what.to(DEVICE)
        self.num_nodes = cfg.listeners + cfg.shows
        self.edge_index = self.both_ways(self.who, self.what)

    def both_ways(self, who, what):
        shifted = what + self.cfg.listeners
        return torch.stack([torch.cat([who, shifted]), torch.cat([shifted, who])])

    def thinned(self):
        kept = int(self.cfg.keep * self.cfg.plays)
        chosen = torch.randperm(self.cfg.plays, device=DEVICE)[:kept]
        return self.both_ways(self.who[chosen], self.what[chosen])

    def triples(self):
        pick = torch.randint(0, self.cfg.plays, (self.cfg.batch_size,), device=DEVICE)
        other = torch.randint(0, self.cfg.shows, (self.cfg.batch_size,), device=DEVICE)
        return self.who[pick], self.what[pick], other


@functools.lru_cache(maxsize=None)
def symmetric_weights(edge_index: torch.Tensor, num_nodes: int) -> torch.Tensor:
    source, target = edge_index
    scale = degree(target, num_nodes).clamp_min(1.0).rsqrt()
    return scale[source] * scale[target]


class PodcastNet(nn.Module):
    def __init__(self, cfg: RecConfig, num_nodes: int):
        super().__init__()
        self.cfg = cfg
        self.num_nodes = num_nodes
        self.embedding = nn.Embedding(num_nodes, cfg.dim)
        nn.init.normal_(self.embedding.weight, std=0.1)
        self.convs = nn.ModuleList(LGConv(normalize=False) for _ in range(cfg.layers))

    def forward(self, edge_index):
        weight = symmetric_weights(edge_index, self.num_nodes)
        x = self.embedding.weight
        total = x
        for conv in self.convs:
            x = conv(x, edge_index, weight)
            total = total + x
        total = total / (len(self.convs) + 1)
        return total[: self.cfg.listeners], total[self.cfg.listeners :]


def ranking_loss(listeners, shows, triple):
    who, good, bad = triple
    margin = (listeners[who] * (shows[good] - shows[bad])).sum(-1)
    return -F.logsigmoid(margin).mean()


def contrast_loss(first, second, index, temperature):
    a = F.normalize(first[index], dim=-1)
    b = F.normalize(second[index], dim=-1)
    logits = a @ b.t() / temperature
    return F.cross_entropy(logits, torch.arange(index.numel(), device=index.device))


def train_epoch(model, graph, opt, cfg: RecConfig):
    views = graph.thinned(), graph.thinned()
    total = 0.0
    model.train()
    for _ in range(cfg.batches):
        triple = graph.triples()
        listeners, shows = model(graph.edge_index)
        (who_a, what_a), (who_b, what_b) = model(views[0]), model(views[1])
        loss = ranking_loss(listeners, shows, triple)
        loss = loss + cfg.contrast * contrast_loss(who_a, who_b, triple[0], cfg.temperature)
        loss = loss + cfg.contrast * contrast_loss(what_a, what_b, triple[1], cfg.temperature)
        loss = loss + cfg.decay * model.embedding(triple[0]).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    opt.zero_grad()
    return total / cfg.batches


@torch.no_grad()
def hit_rate(model, graph, cfg: RecConfig):
    model.eval()
    listeners, shows = model(graph.edge_index)
    who, what, _ = graph.triples()
    best = (listeners[who] @ shows.t()).topk(cfg.top_k, dim=-1).indices
    return (best == what.unsqueeze(-1)).any(-1).float().mean().item()


def main():
    cfg = RecConfig()
    torch.manual_seed(cfg.seed)
    graph = ListeningGraph(cfg)
    model = PodcastNet(cfg, graph.num_nodes).to(DEVICE)
    opt = torch.optim.Adam(model.parameters(), lr=5e-3)
    allocated = []
    try:
        for epoch in range(cfg.epochs):
            loss = train_epoch(model, graph, opt, cfg)
            rate = hit_rate(model, graph, cfg)
            allocated.append(torch.cuda.memory_allocated() if DEVICE.type == "cuda" else 0)
            if epoch % 10 == 0:
                print(f"epoch {epoch}: loss {loss:.4f}, hit rate at {cfg.top_k} {rate:.4f}")
    finally:
        print("TRUTH " + json.dumps({"allocated": allocated, "rounds": len(allocated)}), file=sys.stderr)


if __name__ == "__main__":
    main()
