# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Serve two-stage passage retrieval with a static Matryoshka embedding model.

The leading dimensions of each passage vector stay on the device for the shortlist; the whole vector is quantised to
eight bits and goes to host memory, where only the rows of the shortlist are fetched from for rescoring. After the index
is built the script answers batches of queries and prints latency and the share of queries that find their own passage.
"""

import json
import os
import sys
import time
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class RetrievalConfig:
    vocab: int = 30522
    full_dim: int = 1024
    shortlist_dim: int = 128
    passage_batches: int = 64
    passages_per_batch: int = 16384
    passage_tokens: int = 48
    query_tokens: int = 32
    requests: int = 40
    queries_per_request: int = 256
    shortlist: int = 64
    top_k: int = 10
    request_interval: float = 0.15

    @classmethod
    def from_env(cls):
        if os.environ.get("SMALL") == "1":
            return cls(vocab=512, full_dim=64, shortlist_dim=8, passage_batches=4, passages_per_batch=128,
                       passage_tokens=12, query_tokens=8, requests=6, queries_per_request=16, shortlist=16, top_k=4,
                       request_interval=0.0)
        return cls()


class StaticEncoder(nn.Module):
    """A bag of token vectors, as in static retrieval models."""

    def __init__(self, vocab, dim):
        super().__init__()
        self.bag = nn.EmbeddingBag(vocab, dim, mode="mean")
        with torch.no_grad():
            self.bag.weight.mul_(torch.linspace(1.5, 0.5, dim))

    def forward(self, tokens):
        return self.bag(tokens)


class Corpus:
    def __init__(self, cfg: RetrievalConfig):
        self.cfg = cfg

    def tokens(self, batch):
        generator = torch.Generator().manual_seed(1000 + batch)
        shape = (self.cfg.passages_per_batch, self.cfg.passage_tokens)
        return torch.randint(0, self.cfg.vocab, shape, generator=generator).to(DEVICE)

    def queries(self, request):
        batch = request % self.cfg.passage_batches
        generator = torch.Generator().manual_seed(request)
        rows = torch.randint(0, self.cfg.passages_per_batch, (self.cfg.queries_per_request,), generator=generator)
        words = self.tokens(batch)[rows.to(DEVICE), :self.cfg.query_tokens]
        return words, rows + batch * self.cfg.passages_per_batch


def unit_length_(vectors):
    return vectors.div_(vectors.norm(dim=-1, keepdim=True).clamp_min_(1e-9))


def quantise(vectors):
    return F.normalize(vectors, dim=-1).mul_(127.0).round_().to(torch.int8)


class PassageIndex:
    def __init__(self, cfg: RetrievalConfig):
        self.cfg = cfg
        self.segments = []
        self.rescore_rows = []
        self.size = 0

    def add(self, vectors):
        self.rescore_rows.append(quantise(vectors).cpu())
        lead, _ = vectors.split([self.cfg.shortlist_dim, vectors.shape[-1] - self.cfg.shortlist_dim], dim=-1)
        self.segments.append((self.size, unit_length_(lead)))
        self.size += vectors.shape[0]

    def candidates(self, query):
        probe = unit_length_(query[:, :self.cfg.shortlist_dim].clone())
        best_score = best_id = None
        for offset, segment in self.segments:
            score, local = (probe @ segment.t()).topk(self.cfg.shortlist, dim=1)
            ids = local + offset
            if best_score is None:
                best_score, best_id = score, ids
                continue
            merged, pick = torch.cat([best_score, score], 1).topk(self.cfg.shortlist, dim=1)
            best_score, best_id = merged, torch.cat([best_id, ids], 1).gather(1, pick)
        return best_id

    def rescore(self, query, ids):
        host_ids = ids.cpu()
        batch = torch.div(host_ids, self.cfg.passages_per_batch, rounding_mode="floor")
        row = host_ids - batch * self.cfg.passages_per_batch
        rows = torch.empty(*host_ids.shape, query.shape[-1], dtype=torch.int8)
        for part in batch.unique().tolist():
            mask = batch == part
            rows[mask] = self.rescore_rows[part][row[mask]]
        score = torch.einsum("qd,qkd->qk", F.normalize(query, dim=-1), rows.to(DEVICE).float())
        order = score.topk(self.cfg.top_k, dim=1).indices
        return ids.gather(1, order)


class RetrievalService:
    def __init__(self, cfg: RetrievalConfig):
        self.cfg = cfg
        self.corpus = Corpus(cfg)
        self.encoder = StaticEncoder(cfg.vocab, cfg.full_dim).to(DEVICE).eval()
        self.index = PassageIndex(cfg)

    @torch.inference_mode()
    def build(self):
        for batch in range(self.cfg.passage_batches):
            self.index.add(self.encoder(self.corpus.tokens(batch)))
        print(f"indexed {self.index.size} passages at {self.cfg.shortlist_dim} dimensions")

    @torch.inference_mode()
    def answer(self, request):
        words, wanted = self.corpus.queries(request)
        query = self.encoder(words)
        found = self.index.rescore(query, self.index.candidates(query)).cpu()
        return (found == wanted.unsqueeze(1)).any(dim=1).float().mean().item()


def main():
    torch.manual_seed(2)
    cfg = RetrievalConfig.from_env()
    service = RetrievalService(cfg)
    allocated = []
    try:
        service.build()
        for request in range(cfg.requests):
            started = time.perf_counter()
            recall = service.answer(request)
            elapsed = time.perf_counter() - started
            if request % 8 == 0:
                print(f"request {request:3d}  recall {recall:.3f}  {elapsed * 1000:.0f} ms")
            time.sleep(cfg.request_interval)
            allocated.append(torch.cuda.memory_allocated() if DEVICE.type == "cuda" else 0)
    finally:
        print("TRUTH " + json.dumps({"allocated": allocated, "rounds": len(allocated)}), file=sys.stderr)


if __name__ == "__main__":
    main()
