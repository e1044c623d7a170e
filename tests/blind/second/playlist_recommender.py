# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Playlist continuation: a session encoder over track embeddings, trained with sampled softmax."""
import argparse
import json
import math
import os
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F

SMALL = os.environ.get("SMALL") == "1"
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def parse_args():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--tracks", type=int, default=4000 if SMALL else 5_500_000)
    p.add_argument("--dim", type=int, default=16 if SMALL else 128)
    p.add_argument("--history", type=int, default=8 if SMALL else 40)
    p.add_argument("--negatives", type=int, default=7 if SMALL else 63)
    p.add_argument("--micro-batch", type=int, default=8 if SMALL else 1024)
    p.add_argument("--accumulate", type=int, default=4 if SMALL else 48)
    p.add_argument("--updates", type=int, default=2 if SMALL else 20)
    p.add_argument("--lr", type=float, default=2e-3)
    p.add_argument("--memory-gb", type=float, default=9.5)
    p.add_argument("--seed", type=int, default=5)
    return p.parse_args()


class TrackTable(nn.Module):
    def __init__(self, tracks, dim):
        super().__init__()
        self.embed = nn.Embedding(tracks, dim, device=DEVICE)
        nn.init.normal_(self.embed.weight, std=dim ** -0.5)

    def forward(self, ids):
        return self.embed(ids)


class SessionEncoder(nn.Module):
    def __init__(self, dim, layers=2, heads=4, max_len=64):
        super().__init__()
        self.position = nn.Parameter(torch.zeros(max_len, dim))
        layer = nn.TransformerEncoderLayer(dim, heads, 4 * dim, dropout=0.1, batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.pool = nn.Linear(dim, 1)

    def forward(self, x):
        h = self.encoder(x + self.position[: x.shape[1]])
        weight = self.pool(h).softmax(dim=1)
        return (weight * h).sum(dim=1)


class Recommender(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.history = args.history
        self.tracks = TrackTable(args.tracks, args.dim)
        self.session = SessionEncoder(args.dim)
        self.scale = nn.Parameter(torch.tensor(math.log(10.0)))

    def forward(self, history, candidates):
        vectors = self.tracks(torch.cat([history, candidates], dim=1))
        listened, offered = vectors[:, : self.history], vectors[:, self.history:]
        query = F.normalize(self.session(listened), dim=-1)
        return self.scale.exp() * torch.einsum("bd,bcd->bc", query, F.normalize(offered, dim=-1))


class PlaylistStream:
    """Zipf-like popularity; the true continuation is the first candidate."""

    def __init__(self, args):
        self.args = args
        self.gen = torch.Generator().manual_seed(args.seed)

    def draw(self, *shape):
        u = torch.rand(*shape, generator=self.gen)
        return (u.pow(3) * self.args.tracks).long().clamp_(max=self.args.tracks - 1)

    def micro_batches(self):
        a = self.args
        for _ in range(a.accumulate):
            time.sleep(0 if SMALL else 0.22)
            yield self.draw(a.micro_batch, a.history).to(DEVICE), self.draw(a.micro_batch, a.negatives + 1).to(DEVICE)


class Trainer:
    def __init__(self, args):
        self.args = args
        self.model = Recommender(args).to(DEVICE)
        decay = [p for p in self.model.parameters() if p.dim() > 1]
        plain = [p for p in self.model.parameters() if p.dim() <= 1]
        self.optimizer = torch.optim.AdamW([{"params": decay, "weight_decay": 0.01},
                                            {"params": plain, "weight_decay": 0.0}], lr=args.lr)
        self.stream = PlaylistStream(args)
        self.allocated = []

    def micro_step(self, history, candidates):
        scores = self.model(history, candidates)
        target = torch.zeros(len(scores), dtype=torch.long, device=DEVICE)
        loss = F.cross_entropy(scores, target)
        (loss / self.args.accumulate).backward()
        return loss.item(), (scores.argmax(dim=1) == 0).float().mean().item()

    def update(self, number):
        losses, hits = [], []
        for history, candidates in self.stream.micro_batches():
            loss, hit = self.micro_step(history, candidates)
            losses.append(loss)
            hits.append(hit)
            self.allocated.append(torch.cuda.memory_allocated())
        self.optimizer.step()
        self.optimizer.zero_grad()
        n = len(losses)
        print(f"update {number:3d}  loss {sum(losses) / n:.4f}  hit@1 {sum(hits) / n:.3f}", flush=True)


def main():
    args = parse_args()
    torch.manual_seed(args.seed)
    if DEVICE == "cuda":
        torch.cuda.set_per_process_memory_fraction(args.memory_gb * 2**30 / torch.cuda.mem_get_info()[1])
    trainer = Trainer(args)
    print(f"{sum(p.numel() for p in trainer.model.parameters()):,} parameters, "
          f"{args.micro_batch * args.accumulate} playlists per update", flush=True)
    try:
        for number in range(args.updates):
            trainer.update(number)
    finally:
        print("TRUTH " + json.dumps({"allocated": trainer.allocated, "rounds": len(trainer.allocated)}), file=sys.stderr)


if __name__ == "__main__":
    main()
