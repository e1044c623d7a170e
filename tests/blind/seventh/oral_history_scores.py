# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Perplexities for an oral-history archive, to find badly transcribed interviews.

Collections are scored one after the other with a causal language model. Texts differ in length between collections, so
the scorer begins with the configured batch and divides batches that turn out too large for the card.
"""
import json
import logging
import math
import os
import statistics
import sys
import time
from dataclasses import dataclass

import torch
from transformers import LlamaConfig, LlamaForCausalLM

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
QUOTA_GIB = 6.0  # agreed with the other users of the card
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(levelname)s %(message)s")
log = logging.getLogger("archive")


@dataclass
class Collection:
    name: str
    texts: int
    tokens: int


@dataclass
class ScoreConfig:
    vocab: int = 500 if SMALL else 32_000
    hidden: int = 32 if SMALL else 1024
    layers: int = 2 if SMALL else 8
    heads: int = 4 if SMALL else 16
    batch: int = 8 if SMALL else 16

    def collections(self):
        if SMALL:
            return [Collection("clips", 160, 12), Collection("letters", 160, 20), Collection("lives", 40, 60)]
        return [Collection("clips", 3200, 224), Collection("letters", 3840, 512), Collection("lives", 640, 1536)]


class Archive:
    def __init__(self, cfg):
        self.cfg = cfg

    def batches(self, collection):
        rng = torch.Generator().manual_seed(len(collection.name) + collection.tokens)
        for first in range(0, collection.texts, self.cfg.batch):
            count = min(self.cfg.batch, collection.texts - first)
            names = [f"{collection.name}-{first + k:05d}" for k in range(count)]
            yield names, torch.randint(self.cfg.vocab, (count, collection.tokens), generator=rng)


class PerplexityScorer:
    def __init__(self, cfg):
        config = LlamaConfig(
            vocab_size=cfg.vocab, hidden_size=cfg.hidden, intermediate_size=int(2.75 * cfg.hidden),
            num_hidden_layers=cfg.layers, num_attention_heads=cfg.heads, num_key_value_heads=cfg.heads,
            max_position_embeddings=2048)
        dtype = torch.float32 if SMALL else torch.bfloat16
        self.model = LlamaForCausalLM(config).to(DEVICE, dtype).eval()
        self.divided = 0

    @torch.no_grad()
    def losses(self, texts):
        tokens = texts.to(DEVICE)
        output = self.model(input_ids=tokens, use_cache=False)
        logits = output.logits[:, :-1].float()
        logprobs = torch.log_softmax(logits, dim=-1)
        picked = logprobs.gather(-1, tokens[:, 1:, None]).squeeze(-1)
        return (-picked.mean(dim=1)).tolist()

    def score(self, texts):
        """Losses of the texts, in as few passes as the card allows."""
        try:
            return self.losses(texts)
        except torch.cuda.OutOfMemoryError:
            torch.cuda.empty_cache()
            if len(texts) == 1:
                raise
            half = len(texts) // 2
            self.divided += 1
            log.warning("%d texts of %d tokens are too many, trying %d", len(texts), texts.shape[1], half)
            return self.score(texts[:half]) + self.score(texts[half:])


class Survey:
    def __init__(self, cfg):
        self.cfg = cfg
        self.archive = Archive(cfg)
        self.scorer = PerplexityScorer(cfg)
        self.losses = {}
        self.allocated = []
        self.batches = 0

    def run_collection(self, collection):
        started = time.time()
        before = len(self.losses)
        for names, texts in self.archive.batches(collection):
            self.losses.update(zip(names, self.scorer.score(texts)))
            self.batches += 1
            if DEVICE.type == "cuda":
                self.allocated.append(torch.cuda.memory_allocated())
            if self.batches % 80 == 0:
                done = len(self.losses) - before
                log.info("%-8s %5d texts, %.0f per second", collection.name, done, done / (time.time() - started))
        values = [v for k, v in self.losses.items() if k.startswith(collection.name)]
        log.info("%-8s median perplexity %.1f, batches divided so far: %d", collection.name,
                 math.exp(statistics.median(values)), self.scorer.divided)

    def suspects(self, count=5):
        return sorted(self.losses, key=self.losses.get, reverse=True)[:count]


def limit_card():
    if DEVICE.type == "cuda":
        total = torch.cuda.get_device_properties(0).total_memory
        torch.cuda.set_per_process_memory_fraction(min(1.0, QUOTA_GIB * 2**30 / total))


def main():
    torch.manual_seed(44)
    limit_card()
    survey = Survey(ScoreConfig())
    log.info("%.0f M parameters", sum(p.numel() for p in survey.scorer.model.parameters()) / 1e6)
    try:
        for collection in survey.cfg.collections():
            survey.run_collection(collection)
        log.info("look at %s", ", ".join(survey.suspects()))
    finally:
        stride = len(survey.allocated) // 200 + 1
        record = {"allocated": survey.allocated[::stride], "rounds": survey.batches}
        print("TRUTH " + json.dumps(record), file=sys.stderr)


if __name__ == "__main__":
    main()
