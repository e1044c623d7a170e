# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Online training of a substitution recommender for a grocery delivery service.

Micro-batches of baskets arrive from the click stream; each basket is scored against a slate of candidate products.
A ranker is updated on each micro-batch, and a side thread audits how well the served scores separate clicks.
"""
import json
import logging
import math
import os
import queue
import sys
import threading
import time
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
log = logging.getLogger("grocery")


@dataclass
class StreamConfig:
    baskets: int = 64 if SMALL else 2048
    slate: int = 16 if SMALL else 256
    basket_len: int = 6 if SMALL else 24
    products: int = 2000 if SMALL else 60_000
    dim: int = 32 if SMALL else 192
    micro_batches: int = 90 if SMALL else 420
    batches_per_hour: int = 4 if SMALL else 5
    cadence_s: float = 0.01 if SMALL else 0.03
    lr: float = 2e-3


class BasketRanker(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.products = nn.EmbeddingBag(cfg.products, cfg.dim, mode="mean")
        self.candidates = nn.Embedding(cfg.products, cfg.dim)
        self.query = nn.Sequential(nn.Linear(cfg.dim, 4 * cfg.dim), nn.GELU(), nn.Linear(4 * cfg.dim, cfg.dim))
        self.bias = nn.Embedding(cfg.products, 1)

    def forward(self, baskets, slates):
        q = self.query(self.products(baskets))
        c = self.candidates(slates)
        return torch.einsum("bd,bsd->bs", q, c) / math.sqrt(q.shape[-1]) + self.bias(slates).squeeze(-1)


class ClickStream:
    """Baskets with slates and clicks; how much is clicked follows the hours of opening."""

    def __init__(self, cfg):
        self.cfg = cfg
        self.rng = torch.Generator(device=DEVICE).manual_seed(11)

    def hourly_rate(self, index):
        hour = (6 + index // self.cfg.batches_per_hour) % 24
        return max(0.0, 0.08 * math.sin(math.pi * (hour - 5) / 17)) if hour < 22 else 0.0

    def __iter__(self):
        cfg = self.cfg
        for i in range(cfg.micro_batches):
            baskets = torch.randint(cfg.products, (cfg.baskets, cfg.basket_len), generator=self.rng, device=DEVICE)
            slates = torch.randint(cfg.products, (cfg.baskets, cfg.slate), generator=self.rng, device=DEVICE)
            dice = torch.rand(cfg.baskets, cfg.slate, generator=self.rng, device=DEVICE)
            yield baskets, slates, (dice < self.hourly_rate(i)).float()
            time.sleep(cfg.cadence_s)


def rank_auc(scores, clicked):
    order = scores.flatten().argsort()
    hits = clicked.flatten()[order]
    n_pos = int(hits.sum())
    n_neg = hits.numel() - n_pos
    ranks = torch.arange(1, hits.numel() + 1, device=hits.device, dtype=torch.float64)
    return (float((ranks * hits).sum()) - n_pos * (n_pos + 1) / 2) / (n_pos * n_neg)


class ScoreAuditor(threading.Thread):
    """Computes the AUC of what was served, beside the training, so that the trainer need not wait for it."""

    def __init__(self):
        super().__init__(name="auditor", daemon=True)
        self.inbox = queue.Queue()
        self.history = []

    def submit(self, step, scores, clicked):
        self.inbox.put((step, scores.detach(), clicked))

    def run(self):
        while True:
            item = self.inbox.get()
            if item is None:
                return
            step, scores, clicked = item
            self.history.append((step, rank_auc(scores, clicked)))
            del item, scores, clicked

    def close(self):
        self.inbox.put(None)
        self.join(timeout=20)


class OnlineTrainer:
    def __init__(self, cfg):
        self.cfg = cfg
        self.model = BasketRanker(cfg).to(DEVICE)
        self.optimizer = torch.optim.Adagrad(self.model.parameters(), lr=cfg.lr)
        self.auditor = ScoreAuditor()
        self.smoothed = None
        self.allocated = []

    def step(self, index, baskets, slates, clicked):
        scores = self.model(baskets, slates)
        loss = F.binary_cross_entropy_with_logits(scores, clicked)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.auditor.submit(index, scores, clicked)
        value = loss.item()
        self.smoothed = value if self.smoothed is None else 0.98 * self.smoothed + 0.02 * value

    def run(self):
        self.auditor.start()
        started = time.time()
        for i, (baskets, slates, clicked) in enumerate(ClickStream(self.cfg)):
            self.step(i, baskets, slates, clicked)
            del baskets, slates, clicked
            if DEVICE.type == "cuda":
                self.allocated.append(torch.cuda.memory_allocated())
            if i % 60 == 0:
                log.info("batch %4d  loss %.4f  %.1f batches/s", i, self.smoothed, (i + 1) / (time.time() - started))
        self.auditor.close()
        if self.auditor.history:
            step, auc = self.auditor.history[-1]
            log.info("audited AUC %.4f at batch %d", auc, step)


def main():
    torch.manual_seed(3)
    cfg = StreamConfig()
    trainer = OnlineTrainer(cfg)
    log.info("%.1f M parameters", sum(p.numel() for p in trainer.model.parameters()) / 1e6)
    trainer.run()
    stride = max(1, len(trainer.allocated) // 200 + 1)
    print("TRUTH " + json.dumps({"allocated": trainer.allocated[::stride], "rounds": cfg.micro_batches}), file=sys.stderr)


if __name__ == "__main__":
    main()
