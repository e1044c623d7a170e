# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Embeds contract clauses with a decoder language model and answers precedent queries while the archive streams in."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from transformers import LlamaConfig, LlamaModel

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass(frozen=True)
class RetrievalConfig:
    vocab: int = 512 if SMALL else 12_000
    width: int = 64 if SMALL else 1024
    layers: int = 2 if SMALL else 12
    heads: int = 4 if SMALL else 16
    clause_tokens: int = 32 if SMALL else 512
    query_tokens: int = 8 if SMALL else 48
    clauses_per_batch: int = 4 if SMALL else 48
    queries_per_batch: int = 2 if SMALL else 16
    batches: int = 8 if SMALL else 120
    query_every: int = 4
    top_k: int = 3 if SMALL else 10
    seed: int = 41


@dataclass
class TokenBatch:
    """Token ids with their attention mask and the archive numbers of the rows."""

    ids: Tensor
    mask: Tensor
    keys: list[int]

    def to(self, device: torch.device) -> TokenBatch:
        return TokenBatch(self.ids.to(device), self.mask.to(device), self.keys)


class ClauseArchive:
    """Stands in for the document store: clauses of varying length, padded on the left like decoder models want it."""

    def __init__(self, cfg: RetrievalConfig) -> None:
        self.cfg = cfg
        self.generator = torch.Generator().manual_seed(cfg.seed)

    def _draw(self, rows: int, tokens: int, first_key: int) -> TokenBatch:
        ids = torch.randint(3, self.cfg.vocab, (rows, tokens), generator=self.generator)
        lengths = torch.randint(tokens // 2, tokens + 1, (rows,), generator=self.generator)
        positions = torch.arange(tokens).expand(rows, tokens)
        mask = (positions >= (tokens - lengths)[:, None]).long()
        return TokenBatch(ids * mask, mask, list(range(first_key, first_key + rows)))

    def clauses(self) -> Iterator[TokenBatch]:
        for number in range(self.cfg.batches):
            rows = self.cfg.clauses_per_batch
            yield self._draw(rows, self.cfg.clause_tokens, number * rows)

    def queries(self) -> TokenBatch:
        return self._draw(self.cfg.queries_per_batch, self.cfg.query_tokens, 0)


def last_token_pool(hidden: Tensor, mask: Tensor) -> Tensor:
    """Takes the hidden state of the last real token of each row."""
    left_padded = bool((mask[:, -1].sum() == mask.shape[0]).item())
    if left_padded:
        return hidden[:, -1]
    last = mask.sum(dim=1) - 1
    rows = torch.arange(hidden.shape[0], device=hidden.device)
    return hidden[rows, last]


class ClauseEncoder(nn.Module):
    def __init__(self, cfg: RetrievalConfig) -> None:
        super().__init__()
        self.backbone = LlamaModel(
            LlamaConfig(
                vocab_size=cfg.vocab,
                hidden_size=cfg.width,
                intermediate_size=cfg.width * 11 // 4,
                num_hidden_layers=cfg.layers,
                num_attention_heads=cfg.heads,
                num_key_value_heads=cfg.heads,
                max_position_embeddings=max(cfg.clause_tokens, 64),
                use_cache=False,
                pad_token_id=0,
            )
        )

    @torch.no_grad()
    def forward(self, batch: TokenBatch) -> Tensor:
        output = self.backbone(input_ids=batch.ids, attention_mask=batch.mask)
        return last_token_pool(output.last_hidden_state, batch.mask)


class ClauseIndex:
    """Flat index on the device; rows are normalised when a query comes in."""

    def __init__(self) -> None:
        self.parts: list[Tensor] = []
        self.keys: list[int] = []

    def __len__(self) -> int:
        return len(self.keys)

    def add(self, vectors: Tensor, keys: list[int]) -> None:
        if vectors.shape[0] != len(keys):
            raise ValueError(f"{vectors.shape[0]} vectors for {len(keys)} keys")
        self.parts.append(vectors.detach())
        self.keys.extend(keys)

    def search(self, queries: Tensor, top_k: int) -> list[list[tuple[int, float]]]:
        matrix = F.normalize(torch.cat(self.parts).float(), dim=-1)
        scores = F.normalize(queries.float(), dim=-1) @ matrix.T
        best = scores.topk(min(top_k, len(self)), dim=-1)
        answers = []
        for row_scores, row_ids in zip(best.values.tolist(), best.indices.tolist(), strict=True):
            answers.append([(self.keys[i], score) for i, score in zip(row_ids, row_scores, strict=True)])
        return answers


class PrecedentService:
    def __init__(self, cfg: RetrievalConfig) -> None:
        self.cfg = cfg
        self.encoder = ClauseEncoder(cfg).to(device=DEVICE, dtype=torch.bfloat16 if DEVICE.type == "cuda" else None)
        self.encoder.eval()
        self.index = ClauseIndex()
        self.mean_top_score = 0.0
        self.answered = 0

    def ingest(self, batch: TokenBatch) -> None:
        batch = batch.to(DEVICE)
        self.index.add(self.encoder(batch), batch.keys)

    def answer(self, batch: TokenBatch) -> None:
        answers = self.index.search(self.encoder(batch.to(DEVICE)), self.cfg.top_k)
        for hits in answers:
            self.answered += 1
            self.mean_top_score += (hits[0][1] - self.mean_top_score) / self.answered


def main() -> None:
    cfg = RetrievalConfig()
    torch.manual_seed(cfg.seed)
    allocated: list[int] = []
    try:
        archive = ClauseArchive(cfg)
        service = PrecedentService(cfg)
        for number, batch in enumerate(archive.clauses(), start=1):
            service.ingest(batch)
            if number % cfg.query_every == 0:
                service.answer(archive.queries())
            allocated.append(torch.cuda.memory_allocated())
            if number % 20 == 0:
                print(f"{len(service.index)} clauses, mean top score {service.mean_top_score:.4f}", flush=True)
        print(f"answered {service.answered} queries over {len(service.index)} clauses")
    finally:
        print("TRUTH " + json.dumps({"allocated": allocated, "rounds": len(allocated)}), file=sys.stderr)


if __name__ == "__main__":
    main()
