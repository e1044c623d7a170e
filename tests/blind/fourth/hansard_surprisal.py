# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Surprisal of parliamentary speeches under a decoder with a large vocabulary, aggregated per sitting and speaker."""

import json
import os
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from transformers import LlamaConfig, LlamaForCausalLM

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
DTYPE = torch.bfloat16 if DEVICE.type == "cuda" else torch.float32


@dataclass
class SurprisalConfig:
    sittings: int = 6 if SMALL else 40
    speeches_per_sitting: int = 2 if SMALL else 14
    shortest: int = 8 if SMALL else 500
    longest: int = 24 if SMALL else 3500
    verbatim_every: int = 4 if SMALL else 34
    verbatim_tokens: int = 60 if SMALL else 14336
    speakers: int = 25
    vocab_size: int = 500 if SMALL else 128256
    hidden_size: int = 32 if SMALL else 1024
    mlp_size: int = 64 if SMALL else 2816
    layers: int = 2 if SMALL else 12
    heads: int = 4 if SMALL else 16
    kv_heads: int = 2 if SMALL else 4
    device_share_gib: float = 10.0
    seed: int = 1803


@dataclass
class Speech:
    sitting: int
    speaker: int
    tokens: torch.Tensor

    @property
    def length(self) -> int:
        return self.tokens.numel()


class Record:
    """Synthetic official record: speeches of many lengths, at times the verbatim record of a whole day."""

    def __init__(self, cfg: SurprisalConfig):
        self.cfg = cfg
        self.gen = torch.Generator().manual_seed(cfg.seed)

    def draw(self, low: int, high: int) -> int:
        return int(torch.randint(low, high, (1,), generator=self.gen).item())

    def speech(self, sitting: int, length: int) -> Speech:
        common = torch.randint(1, self.cfg.vocab_size // 8, (length,), generator=self.gen)
        rare = torch.randint(1, self.cfg.vocab_size, (length,), generator=self.gen)
        tokens = torch.where(torch.rand(length, generator=self.gen) < 0.8, common, rare)
        return Speech(sitting, self.draw(0, self.cfg.speakers), tokens)

    def sitting(self, index: int) -> Iterator[Speech]:
        for _ in range(self.cfg.speeches_per_sitting):
            yield self.speech(index, self.draw(self.cfg.shortest, self.cfg.longest))
        if (index + 1) % self.cfg.verbatim_every == 0:
            yield self.speech(index, self.cfg.verbatim_tokens)


class SpeakerTable:
    """Plain numbers per speaker."""

    def __init__(self) -> None:
        self.bits: dict[int, float] = defaultdict(float)
        self.tokens: dict[int, int] = defaultdict(int)

    def add(self, speech: Speech, bits: float) -> None:
        self.bits[speech.speaker] += bits
        self.tokens[speech.speaker] += speech.length - 1

    def hardest(self, count: int = 3) -> list[tuple[int, float]]:
        rates = [(speaker, self.bits[speaker] / self.tokens[speaker]) for speaker in self.bits]
        return sorted(rates, key=lambda item: -item[1])[:count]


class SurprisalScorer:
    def __init__(self, cfg: SurprisalConfig):
        config = LlamaConfig(
            vocab_size=cfg.vocab_size,
            hidden_size=cfg.hidden_size,
            intermediate_size=cfg.mlp_size,
            num_hidden_layers=cfg.layers,
            num_attention_heads=cfg.heads,
            num_key_value_heads=cfg.kv_heads,
            max_position_embeddings=2 * max(cfg.longest, cfg.verbatim_tokens),
            tie_word_embeddings=True,
            use_cache=False,
        )
        with DEVICE:
            self.model = LlamaForCausalLM(config)
        self.model = self.model.to(DTYPE).eval().requires_grad_(False)

    @torch.inference_mode()
    def token_surprisal(self, tokens: torch.Tensor) -> torch.Tensor:
        """Bits per token, for every token but the first."""
        ids = tokens.to(DEVICE).unsqueeze(0)
        logits = self.model(input_ids=ids).logits
        scores = logits[0, :-1].float()
        nats = F.cross_entropy(scores, ids[0, 1:], reduction="none")
        return nats / torch.log(torch.tensor(2.0, device=DEVICE))

    def score(self, speech: Speech) -> tuple[float, float]:
        bits = self.token_surprisal(speech.tokens)
        return bits.sum().item(), bits.max().item()


def limit_device_share(gib: float) -> None:
    """The card is shared with the search service; stay within our part."""
    if DEVICE.type == "cuda" and not SMALL:
        total = torch.cuda.get_device_properties(0).total_memory
        torch.cuda.set_per_process_memory_fraction(min(1.0, gib * 2**30 / total))


def score_sitting(scorer: SurprisalScorer, record: Record, table: SpeakerTable, index: int) -> float:
    highest = 0.0
    for speech in record.sitting(index):
        bits, peak = scorer.score(speech)
        table.add(speech, bits)
        highest = max(highest, peak)
    return highest


def main() -> None:
    cfg = SurprisalConfig()
    torch.manual_seed(cfg.seed)
    limit_device_share(cfg.device_share_gib)
    allocated: list[int] = []
    try:
        scorer = SurprisalScorer(cfg)
        record = Record(cfg)
        table = SpeakerTable()
        for index in range(cfg.sittings):
            highest = score_sitting(scorer, record, table, index)
            allocated.append(torch.cuda.memory_allocated() if torch.cuda.is_available() else 0)
            if index % 5 == 0:
                print(f"sitting {index:3d}: most surprising token {highest:.1f} bits", flush=True)
        for speaker, rate in table.hardest():
            print(f"speaker {speaker:2d}: {rate:.2f} bits per token")
    finally:
        print("TRUTH " + json.dumps({"allocated": allocated, "rounds": len(allocated)}), file=sys.stderr)


if __name__ == "__main__":
    main()
