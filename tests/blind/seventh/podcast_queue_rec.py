# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Next-episode recommendation for a podcast app, trained with negatives from earlier batches.

Listening histories are encoded with a GRU, episodes with a small tower. Besides the negatives of its own batch, each
history is contrasted with the episode vectors of recent batches, which are kept for a while.
"""
import json
import logging
import os
import sys
import time
from collections import deque
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
log = logging.getLogger("podcasts")


@dataclass
class TrainConfig:
    shows: int = 300 if SMALL else 30_000
    topics: int = 20 if SMALL else 512
    dim: int = 16 if SMALL else 512
    hidden: int = 24 if SMALL else 640
    history: int = 6 if SMALL else 40
    batch: int = 16 if SMALL else 1024
    steps: int = 60 if SMALL else 520
    memory_batches: int = 40 if SMALL else 384
    memory_from: int = 5 if SMALL else 20
    temperature: float = 0.07
    lr: float = 1e-3


class EpisodeTower(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.show = nn.Embedding(cfg.shows, cfg.dim)
        self.topics = nn.Linear(cfg.topics, cfg.dim)
        self.mix = nn.Sequential(nn.Linear(2 * cfg.dim, cfg.hidden), nn.GELU(), nn.Linear(cfg.hidden, cfg.dim))

    def forward(self, shows, topics):
        return F.normalize(self.mix(torch.cat([self.show(shows), self.topics(topics)], dim=-1)), dim=-1)


class HistoryTower(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.show = nn.Embedding(cfg.shows, cfg.dim)
        self.rnn = nn.GRU(cfg.dim, cfg.hidden, batch_first=True)
        self.out = nn.Linear(cfg.hidden, cfg.dim)

    def forward(self, history):
        _, last = self.rnn(self.show(history))
        return F.normalize(self.out(last[-1]), dim=-1)


class RecentEpisodes:
    """Vectors of the episodes of recent batches, as further negatives."""

    def __init__(self, batches):
        self.vectors = deque(maxlen=batches)
        self.shows = deque(maxlen=batches)

    def __len__(self):
        return len(self.vectors)

    def remember(self, vectors, shows):
        self.vectors.append(vectors.detach())
        self.shows.append(shows)

    def scores(self, queries, wanted, temperature):
        """Log-sum-exp over all remembered vectors, in blocks, without those of the wanted show."""
        total = None
        for vectors, shows in zip(self.vectors, self.shows):
            block = queries @ vectors.T / temperature
            block = block.masked_fill(wanted[:, None] == shows[None, :], float("-inf")).logsumexp(dim=-1)
            total = block if total is None else torch.logaddexp(total, block)
        return total


class Listening:
    def __init__(self, cfg):
        self.cfg = cfg
        self.rng = torch.Generator(device=DEVICE).manual_seed(6)

    def draw(self):
        cfg, rng = self.cfg, self.rng
        taste = torch.randint(cfg.shows, (cfg.batch, 1), generator=rng, device=DEVICE)
        history = (taste + torch.randint(50, (cfg.batch, cfg.history), generator=rng, device=DEVICE)) % cfg.shows
        wanted = (taste[:, 0] + torch.randint(50, (cfg.batch,), generator=rng, device=DEVICE)) % cfg.shows
        topics = torch.rand(cfg.batch, cfg.topics, generator=rng, device=DEVICE)
        return history, wanted, topics


class Trainer:
    def __init__(self, cfg):
        self.cfg = cfg
        self.history_tower = HistoryTower(cfg).to(DEVICE)
        self.episode_tower = EpisodeTower(cfg).to(DEVICE)
        self.parameters = list(self.history_tower.parameters()) + list(self.episode_tower.parameters())
        self.optimizer = torch.optim.Adam(self.parameters, lr=cfg.lr)
        self.recent = RecentEpisodes(cfg.memory_batches)
        self.losses = []
        self.allocated = []

    def loss(self, history, wanted, topics, step):
        queries = self.history_tower(history)
        episodes = self.episode_tower(wanted, topics)
        own = queries @ episodes.T / self.cfg.temperature
        clash = (wanted[:, None] == wanted[None, :]) & ~torch.eye(len(wanted), dtype=torch.bool, device=own.device)
        denominator = own.masked_fill(clash, float("-inf")).logsumexp(dim=-1)
        if step >= self.cfg.memory_from and step % 4 == 0:
            with torch.no_grad():
                others = self.recent.scores(queries, wanted, self.cfg.temperature)
            denominator = torch.logaddexp(denominator, others)
        self.recent.remember(episodes, wanted)
        return (denominator - own.diagonal()).mean()

    def run(self, data):
        started = time.time()
        for step in range(self.cfg.steps):
            loss = self.loss(*data.draw(), step)
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(self.parameters, 5.0)
            self.optimizer.step()
            self.losses.append(loss.item())
            if DEVICE.type == "cuda":
                self.allocated.append(torch.cuda.memory_allocated())
            if (step + 1) % 65 == 0:
                log.info("step %3d  loss %.3f  negatives from %d batches  %.0f ms", step + 1, sum(self.losses[-65:]) / 65,
                         len(self.recent), 1000 * (time.time() - started) / (step + 1))


def main():
    torch.manual_seed(12)
    cfg = TrainConfig()
    trainer = Trainer(cfg)
    log.info("%.1f M parameters", sum(p.numel() for p in trainer.parameters) / 1e6)
    trainer.run(Listening(cfg))
    stride = len(trainer.allocated) // 200 + 1
    print("TRUTH " + json.dumps({"allocated": trainer.allocated[::stride], "rounds": cfg.steps}), file=sys.stderr)
    return trainer


if __name__ == "__main__":
    result = main()
