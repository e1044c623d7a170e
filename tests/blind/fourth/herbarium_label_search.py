# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Search in transcribed herbarium labels: a fixed collection is encoded once, then curators' queries are run."""

import json
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from transformers import BertConfig, BertModel

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class HerbariumConfig:
    drawers: int = 5 if SMALL else 72
    labels_per_drawer: int = 6 if SMALL else 64
    queries: int = 8 if SMALL else 160
    queries_at_once: int = 2 if SMALL else 32
    label_tokens: int = 16 if SMALL else 256
    query_tokens: int = 6 if SMALL else 24
    top_k: int = 3 if SMALL else 20
    vocab_size: int = 200 if SMALL else 18000
    hidden_size: int = 32 if SMALL else 768
    layers: int = 2 if SMALL else 8
    heads: int = 4 if SMALL else 12
    seed: int = 1753


class LabelEncoder:
    """Sentence vectors from the first token of a BERT encoder."""

    def __init__(self, cfg: HerbariumConfig):
        config = BertConfig(
            vocab_size=cfg.vocab_size,
            hidden_size=cfg.hidden_size,
            num_hidden_layers=cfg.layers,
            num_attention_heads=cfg.heads,
            intermediate_size=4 * cfg.hidden_size,
            max_position_embeddings=cfg.label_tokens,
        )
        self.model = BertModel(config, add_pooling_layer=False).to(DEVICE).eval().requires_grad_(False)

    @torch.inference_mode()
    def encode(self, tokens: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        output = self.model(input_ids=tokens.to(DEVICE), attention_mask=mask.to(DEVICE))
        return output.last_hidden_state[:, 0]


class Collection:
    """Drawers of transcribed labels; tokens of a genus recur within a drawer."""

    def __init__(self, cfg: HerbariumConfig):
        self.cfg = cfg

    def drawer(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        gen = torch.Generator().manual_seed(self.cfg.seed + index)
        shape = (self.cfg.labels_per_drawer, self.cfg.label_tokens)
        genus = torch.randint(1, self.cfg.vocab_size, (16,), generator=gen)
        tokens = torch.randint(1, self.cfg.vocab_size, shape, generator=gen)
        named = genus[torch.randint(0, 16, shape, generator=gen)]
        tokens = torch.where(torch.rand(shape, generator=gen) < 0.4, named, tokens)
        lengths = torch.randint(self.cfg.label_tokens // 2, self.cfg.label_tokens + 1, (shape[0], 1), generator=gen)
        mask = (torch.arange(self.cfg.label_tokens)[None, :] < lengths).long()
        return tokens * mask, mask

    def queries(self) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        gen = torch.Generator().manual_seed(self.cfg.seed - 1)
        for _ in range(self.cfg.queries):
            shape = (self.cfg.queries_at_once, self.cfg.query_tokens)
            tokens = torch.randint(1, self.cfg.vocab_size, shape, generator=gen)
            yield tokens, torch.ones_like(tokens)


class Whitening:
    """Per-dimension centre and scale of the collection, known only when all drawers are in."""

    def __init__(self, hidden_size: int):
        self.total = torch.zeros(hidden_size, device=DEVICE)
        self.squares = torch.zeros(hidden_size, device=DEVICE)
        self.count = 0

    def observe(self, vectors: torch.Tensor) -> None:
        self.total += vectors.sum(dim=0)
        self.squares += vectors.square().sum(dim=0)
        self.count += vectors.size(0)

    def apply(self, vectors: torch.Tensor) -> torch.Tensor:
        centre = self.total / self.count
        scale = (self.squares / self.count - centre.square()).clamp_min(1e-6).rsqrt()
        return F.normalize((vectors - centre) * scale, dim=-1)


class LabelIndex:
    """One shard of vectors per drawer, searched one after the other."""

    def __init__(self, cfg: HerbariumConfig):
        self.cfg = cfg
        self.shards: dict[int, torch.Tensor] = {}
        self.whitening = Whitening(cfg.hidden_size)

    def add(self, drawer: int, vectors: torch.Tensor) -> None:
        self.whitening.observe(vectors)
        self.shards[drawer] = vectors

    @torch.inference_mode()
    def search(self, queries: torch.Tensor) -> list[list[tuple[int, int]]]:
        wanted = self.whitening.apply(queries)
        best_scores, best_places = [], []
        for drawer, vectors in self.shards.items():
            scores = wanted @ self.whitening.apply(vectors).T
            top = scores.topk(min(self.cfg.top_k, scores.size(1)), dim=1)
            best_scores.append(top.values)
            best_places.append(top.indices + drawer * self.cfg.labels_per_drawer)
        merged = torch.cat(best_scores, dim=1).topk(self.cfg.top_k, dim=1).indices
        places = torch.cat(best_places, dim=1).gather(1, merged).cpu().tolist()
        return [[divmod(place, self.cfg.labels_per_drawer) for place in row] for row in places]


def allocated_now() -> int:
    return torch.cuda.memory_allocated() if torch.cuda.is_available() else 0


def build_index(cfg: HerbariumConfig, encoder: LabelEncoder, collection: Collection, seen: list[int]) -> LabelIndex:
    index = LabelIndex(cfg)
    for drawer in range(cfg.drawers):
        tokens, mask = collection.drawer(drawer)
        index.add(drawer, encoder.encode(tokens, mask))
        seen.append(allocated_now())
    return index


def main() -> None:
    cfg = HerbariumConfig()
    torch.manual_seed(cfg.seed)
    allocated: list[int] = []
    try:
        encoder = LabelEncoder(cfg)
        collection = Collection(cfg)
        index = build_index(cfg, encoder, collection, allocated)
        print(f"{index.whitening.count} labels from {len(index.shards)} drawers indexed", flush=True)
        drawers_hit: set[int] = set()
        for tokens, mask in collection.queries():
            hits = index.search(encoder.encode(tokens, mask))
            drawers_hit.update(drawer for row in hits for drawer, _ in row)
            allocated.append(allocated_now())
        print(f"queries answered, {len(drawers_hit)} drawers appeared in the results")
    finally:
        print("TRUTH " + json.dumps({"allocated": allocated, "rounds": len(allocated)}), file=sys.stderr)


if __name__ == "__main__":
    main()
