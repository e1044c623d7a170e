# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Host for hotel review ratings: one encoder per language, loaded at the first request and evicted by a byte budget."""

import gc
import json
import os
import sys
import time
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Lock

import torch
from torch import nn
from transformers import BertConfig, BertForSequenceClassification

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
MIB = 2**20

# language: (vocabulary, layers)
LANGUAGES = {
    "en": (30_000, 12),
    "de": (32_000, 12),
    "fr": (32_000, 10),
    "es": (31_000, 10),
    "it": (31_000, 8),
    "pt": (29_000, 8),
    "nl": (30_000, 8),
    "pl": (40_000, 12),
    "ja": (48_000, 12),
    "sv": (28_000, 6),
    "fi": (50_000, 10),
    "el": (35_000, 8),
}


@dataclass(frozen=True)
class HostConfig:
    budget: int = (2 * MIB) if SMALL else (4096 * MIB)
    hidden: int = 32 if SMALL else 1024
    heads: int = 4 if SMALL else 16
    vocabulary_divisor: int = 50 if SMALL else 1
    layer_divisor: int = 6 if SMALL else 1
    batch: int = 2 if SMALL else 32
    length: int = 16 if SMALL else 256
    ratings: int = 5
    requests: int = 24 if SMALL else 72
    idle: float = 0.0 if SMALL else 0.05


@dataclass(frozen=True)
class ReviewBatch:
    number: int
    language: str
    tokens: torch.Tensor


@dataclass
class Resident:
    model: nn.Module
    size: int
    uses: int = 0


class ModelHost:
    def __init__(self, config: HostConfig):
        self.config = config
        self.residents: OrderedDict[str, Resident] = OrderedDict()
        self.lock = Lock()
        self.loads = 0
        self.evictions = 0

    def model_config(self, language: str) -> BertConfig:
        vocabulary, layers = LANGUAGES[language]
        c = self.config
        return BertConfig(
            vocab_size=vocabulary // c.vocabulary_divisor,
            hidden_size=c.hidden,
            intermediate_size=4 * c.hidden,
            num_hidden_layers=max(1, layers // c.layer_divisor),
            num_attention_heads=c.heads,
            max_position_embeddings=512,
            num_labels=c.ratings,
        )

    def expected_size(self, model_config: BertConfig) -> int:
        with torch.device("meta"):
            skeleton = BertForSequenceClassification(model_config)
        return sum(p.numel() * p.element_size() for p in skeleton.parameters())

    def used(self) -> int:
        return sum(r.size for r in self.residents.values())

    def make_room(self, size: int) -> None:
        evicted = []
        while self.residents and self.used() + size > self.config.budget:
            language, _ = self.residents.popitem(last=False)
            evicted.append(language)
        if evicted:
            gc.collect()
            self.evictions += len(evicted)
            print(f"evicted {', '.join(evicted)}")

    def load(self, language: str) -> Resident:
        model_config = self.model_config(language)
        size = self.expected_size(model_config)
        self.make_room(size)
        with DEVICE:
            model = BertForSequenceClassification(model_config).eval().requires_grad_(False)
        self.loads += 1
        return Resident(model, size)

    def get(self, language: str) -> nn.Module:
        with self.lock:
            resident = self.residents.pop(language, None) or self.load(language)
            resident.uses += 1
            self.residents[language] = resident
            return resident.model

    @torch.inference_mode()
    def rate(self, batch: ReviewBatch) -> list[float]:
        model = self.get(batch.language)
        tokens = batch.tokens.to(DEVICE)
        with torch.autocast(DEVICE.type, dtype=torch.bfloat16, cache_enabled=False):
            logits = model(input_ids=tokens, attention_mask=torch.ones_like(tokens)).logits
        stars = torch.arange(1, self.config.ratings + 1, device=DEVICE, dtype=torch.float32)
        return (logits.float().softmax(-1) @ stars).tolist()


def traffic(config: HostConfig) -> list[ReviewBatch]:
    """Guests of the day: the more eastern and northern time zones wake up one after another."""
    generator = torch.Generator().manual_seed(40)
    names = list(LANGUAGES)
    batches = []
    for number in range(config.requests):
        awake = min(len(names), 1 + number * 16 // config.requests)
        if number * 16 % config.requests < 16:
            language = names[awake - 1]
        else:
            recent = int(torch.randint(0, min(awake, 5), (), generator=generator))
            language = names[awake - 1 - recent]
        limit = LANGUAGES[language][0] // config.vocabulary_divisor
        tokens = torch.randint(0, limit, (config.batch, config.length), generator=generator)
        batches.append(ReviewBatch(number, language, tokens))
    return batches


def serve(config: HostConfig, allocated: list[int]) -> None:
    torch.manual_seed(config.hidden)
    host = ModelHost(config)
    averages: dict[str, float] = {}
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="rater") as pool:
        for batch in traffic(config):
            stars = pool.submit(host.rate, batch).result()
            previous = averages.get(batch.language, 3.0)
            averages[batch.language] = 0.9 * previous + 0.1 * sum(stars) / len(stars)
            allocated.append(torch.cuda.memory_allocated())
            if batch.number % 12 == 0:
                print(f"request {batch.number}: {len(host.residents)} models, {host.used() / MIB:.0f} MiB")
            time.sleep(config.idle)
    print(f"{host.loads} loads, {host.evictions} evictions, averages {averages}")


def main() -> None:
    allocated: list[int] = []
    try:
        serve(HostConfig(), allocated)
    finally:
        print("TRUTH " + json.dumps({"allocated": allocated, "rounds": len(allocated)}), file=sys.stderr)


if __name__ == "__main__":
    main()
