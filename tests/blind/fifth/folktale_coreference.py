# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Coreference resolution for folk tales: trains a mention pair scorer on excerpts, then resolves whole tales."""

import json
import os
import sys
import time
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

SMALL = os.environ.get("SMALL") == "1"


@dataclass
class CorefConfig:
    vocab_size: int = 200 if SMALL else 12000
    width: int = 16 if SMALL else 384
    pair_width: int = 16 if SMALL else 256
    layers: int = 1 if SMALL else 4
    heads: int = 4 if SMALL else 8
    distance_buckets: int = 10
    characters: int = 12
    excerpt_mentions: int = 10 if SMALL else 160
    excerpts_per_batch: int = 2 if SMALL else 16
    train_steps: int = 8 if SMALL else 600
    tales: tuple = (12, 14, 18, 40, 16) if SMALL else (700, 900, 1100, 5600, 1000)
    memory_share: float = 0.1
    learning_rate: float = 3e-4
    seed: int = 29


class TaleSource:
    """Random tales: every mention is a token that belongs to one character."""

    def __init__(self, cfg: CorefConfig, device: torch.device):
        self.cfg, self.device = cfg, device
        self.generator = torch.Generator(device=device).manual_seed(cfg.seed)

    def draw(self, count: int, mentions: int):
        cfg = self.cfg
        shape = (count, mentions)
        characters = torch.randint(0, cfg.characters, shape, generator=self.generator, device=self.device)
        variant = torch.randint(0, 8, shape, generator=self.generator, device=self.device)
        tokens = (characters * 8 + variant) % cfg.vocab_size
        return tokens, characters


def antecedent_labels(characters: torch.Tensor) -> torch.Tensor:
    """For each mention the most recent earlier mention of the same character, or itself if it is the first one."""
    mentions = characters.shape[1]
    position = torch.arange(mentions, device=characters.device)
    same = characters.unsqueeze(2) == characters.unsqueeze(1)
    earlier = position.unsqueeze(0) < position.unsqueeze(1)
    candidate = torch.where(same & earlier, position, -1).amax(-1)
    return torch.where(candidate >= 0, candidate, position)


class MentionEncoder(nn.Module):
    def __init__(self, cfg: CorefConfig):
        super().__init__()
        self.embedding = nn.Embedding(cfg.vocab_size, cfg.width)
        layer = nn.TransformerEncoderLayer(cfg.width, cfg.heads, 4 * cfg.width, dropout=0.0, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, cfg.layers, enable_nested_tensor=False)

    def forward(self, tokens):
        return self.layers(self.embedding(tokens))


class PairScorer(nn.Module):
    def __init__(self, cfg: CorefConfig):
        super().__init__()
        self.buckets = cfg.distance_buckets
        self.anaphor = nn.Linear(cfg.width, cfg.pair_width)
        self.antecedent = nn.Linear(cfg.width, cfg.pair_width)
        self.distance = nn.Embedding(cfg.distance_buckets, 1)
        self.score = nn.Linear(cfg.pair_width, 1)

    def bucket(self, mentions: int, device: torch.device):
        position = torch.arange(mentions, device=device, dtype=torch.float32)
        gap = (position.unsqueeze(1) - position.unsqueeze(0)).clamp_min(0)
        return torch.log2(gap + 1).long().clamp_max(self.buckets - 1)

    def forward(self, mentions):
        pairs = torch.tanh(self.anaphor(mentions).unsqueeze(2) + self.antecedent(mentions).unsqueeze(1))
        scores = self.score(pairs).squeeze(-1)
        count = mentions.shape[1]
        scores = scores + self.distance(self.bucket(count, mentions.device)).squeeze(-1)
        later = torch.ones(count, count, dtype=torch.bool, device=mentions.device).triu(1)
        return scores.masked_fill(later, float("-inf"))


class CorefModel(nn.Module):
    def __init__(self, cfg: CorefConfig):
        super().__init__()
        self.encoder = MentionEncoder(cfg)
        self.scorer = PairScorer(cfg)

    def forward(self, tokens):
        return self.scorer(self.encoder(tokens))


class MemoryTrace:
    def __init__(self):
        self.allocated = []

    def mark(self):
        self.allocated.append(torch.cuda.memory_allocated() if torch.cuda.is_available() else 0)


def train(model: CorefModel, source: TaleSource, cfg: CorefConfig, trace: MemoryTrace):
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.learning_rate)
    model.train()
    for step in range(cfg.train_steps):
        tokens, characters = source.draw(cfg.excerpts_per_batch, cfg.excerpt_mentions)
        labels = antecedent_labels(characters)
        scores = model(tokens)
        loss = F.cross_entropy(scores.flatten(0, 1), labels.flatten())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        del scores
        trace.mark()
        if step % 100 == 0:
            print(f"step {step}: loss {loss.item():.4f}")
    optimizer.zero_grad(set_to_none=True)


def clusters_from(antecedents: list) -> list:
    """Follows the antecedent of each mention to the first mention of its cluster."""
    first = []
    for mention, antecedent in enumerate(antecedents):
        first.append(mention if antecedent == mention else first[antecedent])
    return first


@torch.inference_mode()
def resolve(model: CorefModel, tokens: torch.Tensor, characters: torch.Tensor) -> dict:
    scores = model(tokens)
    antecedents = scores.argmax(-1)
    hits = characters.gather(1, antecedents) == characters
    clusters = clusters_from(antecedents[0].tolist())
    return {"mentions": tokens.shape[1], "clusters": len(set(clusters)), "accuracy": hits.float().mean().item()}


def main():
    cfg = CorefConfig()
    torch.manual_seed(cfg.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if device.type == "cuda":
        torch.cuda.set_per_process_memory_fraction(cfg.memory_share)
    source = TaleSource(cfg, device)
    model = CorefModel(cfg).to(device)
    trace = MemoryTrace()
    started = time.perf_counter()
    results = []
    try:
        train(model, source, cfg, trace)
        model.eval()
        for number, mentions in enumerate(cfg.tales):
            tokens, characters = source.draw(1, mentions)
            result = resolve(model, tokens, characters)
            trace.mark()
            results.append(result)
            print(f"tale {number}: {result}")
        mean = sum(r["accuracy"] for r in results) / len(results)
        print(f"mean accuracy {mean:.3f}, {time.perf_counter() - started:.1f} s")
    finally:
        print("TRUTH " + json.dumps({"allocated": trace.allocated, "rounds": len(trace.allocated)}), file=sys.stderr)


if __name__ == "__main__":
    main()
