# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Evaluation harness: how well does a language model continue apparatus entries of a critical edition?

Each suite holds passages of one manuscript with their variant readings. For each passage the model scores all readings;
the harness reports accuracy by manuscript, and at the end lists what could not be evaluated.
"""
import json
import logging
import os
import sys
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field

import torch
from transformers import GPTNeoXConfig, GPTNeoXForCausalLM

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
log = logging.getLogger("apparatus")


@dataclass
class HarnessConfig:
    vocab: int = 300 if SMALL else 6_000
    hidden: int = 64 if SMALL else 768
    layers: int = 2 if SMALL else 16
    heads: int = 4 if SMALL else 12
    passage: int = 20 if SMALL else 96
    readings: int = 3 if SMALL else 4
    manuscripts: int = 8 if SMALL else 30
    passages: int = 6 if SMALL else 20


class IllegibleReading(ValueError):
    """The readings of a passage cannot be told apart by their scores."""


@dataclass
class Passage:
    key: str
    tokens: torch.Tensor
    reading_start: int
    attested: int


@dataclass
class Report:
    correct: Counter = field(default_factory=Counter)
    total: Counter = field(default_factory=Counter)
    problems: dict = field(default_factory=lambda: defaultdict(list))

    def add(self, manuscript, hit):
        self.correct[manuscript] += int(hit)
        self.total[manuscript] += 1

    def note(self, manuscript, passage, error):
        self.problems[manuscript].append((passage.key, error))

    def lines(self):
        for manuscript, total in sorted(self.total.items()):
            yield f"{manuscript}: {self.correct[manuscript] / total:.2f} of {total}"

    def problem_lines(self):
        for manuscript, entries in sorted(self.problems.items()):
            kinds = Counter(type(error).__name__ for _, error in entries)
            yield f"{manuscript}: {len(entries)} not evaluated ({dict(kinds)}), first: {entries[0][1]}"


class Edition:
    """Passages with candidate readings; lacunae leave some passages with readings that are all the same."""

    def __init__(self, cfg):
        self.cfg = cfg

    def manuscripts(self):
        return [f"ms{number:02d}" for number in range(self.cfg.manuscripts)]

    def passages(self, manuscript):
        cfg = self.cfg
        rng = torch.Generator().manual_seed(int(manuscript[2:]) + 400)
        start = cfg.passage * 3 // 4
        for k in range(cfg.passages):
            tokens = torch.randint(cfg.vocab, (1, cfg.passage), generator=rng).repeat(cfg.readings, 1)
            if k % 4 != 1:
                tokens[:, start:] = torch.randint(cfg.vocab, (cfg.readings, cfg.passage - start), generator=rng)
            yield Passage(f"{manuscript}.{k}", tokens, start, int(torch.randint(cfg.readings, (1,), generator=rng)))


class ReadingScorer:
    def __init__(self, cfg):
        config = GPTNeoXConfig(
            vocab_size=cfg.vocab, hidden_size=cfg.hidden, intermediate_size=4 * cfg.hidden, num_hidden_layers=cfg.layers,
            num_attention_heads=cfg.heads, max_position_embeddings=512)
        self.model = GPTNeoXForCausalLM(config).to(DEVICE).eval()

    @torch.no_grad()
    def log_likelihoods(self, passage):
        tokens = passage.tokens.to(DEVICE)
        logits = self.model(input_ids=tokens, use_cache=False).logits
        logprobs = torch.log_softmax(logits[:, :-1], dim=-1)
        picked = logprobs.gather(-1, tokens[:, 1:, None]).squeeze(-1)
        scores = picked[:, passage.reading_start - 1:].mean(dim=-1)
        if (scores.max() - scores.min()).item() < 1e-4:
            raise IllegibleReading(f"no reading of {passage.key} stands out among {len(scores)}")
        return scores.cpu()

    def choose(self, passage):
        return int(self.log_likelihoods(passage).argmax())


class Harness:
    def __init__(self, cfg):
        self.cfg = cfg
        self.edition = Edition(cfg)
        self.scorer = ReadingScorer(cfg)
        self.report = Report()
        self.allocated = []

    def evaluate(self, manuscript, passage):
        try:
            self.report.add(manuscript, self.scorer.choose(passage) == passage.attested)
        except IllegibleReading as error:
            self.report.note(manuscript, passage, error)

    def run(self):
        started = time.time()
        for manuscript in self.edition.manuscripts():
            for passage in self.edition.passages(manuscript):
                self.evaluate(manuscript, passage)
                if DEVICE.type == "cuda":
                    self.allocated.append(torch.cuda.memory_allocated())
            log.info("%s done, %.1f s", manuscript, time.time() - started)


def main():
    torch.manual_seed(14)
    harness = Harness(HarnessConfig())
    log.info("%.0f M parameters", sum(p.numel() for p in harness.scorer.model.parameters()) / 1e6)
    harness.run()
    for line in harness.report.lines():
        log.info(line)
    for line in harness.report.problem_lines():
        log.info(line)
    stride = len(harness.allocated) // 200 + 1
    rounds = harness.cfg.manuscripts * harness.cfg.passages
    print("TRUTH " + json.dumps({"allocated": harness.allocated[::stride], "rounds": rounds}), file=sys.stderr)
    return harness


if __name__ == "__main__":
    result = main()
