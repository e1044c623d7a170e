# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Ranks draft answers to passenger questions about baggage against the airline's rulebook with a causal
language model: the rulebook is encoded once, every question then scores a batch of drafts."""

import json
import os
import sys
import time
from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from transformers import DynamicCache, LlamaConfig, LlamaForCausalLM

SMALL = os.environ.get("SMALL") == "1"


@dataclass
class DeskConfig:
    vocab: int = 256 if SMALL else 16000
    hidden: int = 32 if SMALL else 1024
    layers: int = 2 if SMALL else 20
    heads: int = 4 if SMALL else 16
    kv_heads: int = 2 if SMALL else 8
    rulebook_tokens: int = 24 if SMALL else 512
    question_tokens: int = 6 if SMALL else 40
    draft_tokens: int = 6 if SMALL else 56
    drafts: int = 4 if SMALL else 32
    questions: int = 8 if SMALL else 40
    seed: int = 7
    device: str = field(default_factory=lambda: "cuda" if torch.cuda.is_available() else "cpu")
    dtype: torch.dtype = torch.bfloat16


@dataclass
class Ranking:
    question_id: int
    best: int
    margin: float
    seconds: float


class QuestionFeed:
    """Draws questions and the draft answers that the retrieval stage proposed for them."""

    def __init__(self, cfg: DeskConfig):
        self.cfg = cfg
        self.generator = torch.Generator().manual_seed(cfg.seed)

    def tokens(self, *shape: int) -> torch.Tensor:
        return torch.randint(3, self.cfg.vocab, shape, generator=self.generator)

    def rulebook(self) -> torch.Tensor:
        return self.tokens(1, self.cfg.rulebook_tokens)

    def __iter__(self):
        for question_id in range(self.cfg.questions):
            question = self.tokens(1, self.cfg.question_tokens)
            drafts = self.tokens(self.cfg.drafts, self.cfg.draft_tokens)
            yield question_id, question, drafts


def build_model(cfg: DeskConfig) -> LlamaForCausalLM:
    torch.manual_seed(cfg.seed)
    config = LlamaConfig(
        vocab_size=cfg.vocab,
        hidden_size=cfg.hidden,
        intermediate_size=cfg.hidden * 3,
        num_hidden_layers=cfg.layers,
        num_attention_heads=cfg.heads,
        num_key_value_heads=cfg.kv_heads,
        max_position_embeddings=16384,
        bos_token_id=1,
        eos_token_id=2,
    )
    with torch.device(cfg.device):
        model = LlamaForCausalLM(config)
    return model.to(cfg.dtype).eval()


class RulebookRanker:
    """Scores drafts by their likelihood after the rulebook and the question."""

    def __init__(self, model: LlamaForCausalLM, cfg: DeskConfig):
        self.model = model
        self.cfg = cfg
        self.rulebook_cache = DynamicCache(config=model.config)

    @torch.inference_mode()
    def prefill(self, rulebook: torch.Tensor) -> None:
        ids = rulebook.to(self.cfg.device).expand(self.cfg.drafts, -1)
        self.model(input_ids=ids, past_key_values=self.rulebook_cache, use_cache=True, logits_to_keep=1)

    def _draft_scores(self, logits: torch.Tensor, ids: torch.Tensor) -> torch.Tensor:
        start = self.cfg.question_tokens
        predicted = logits[:, start - 1 : -1].float()
        target = ids[:, start:]
        nll = F.cross_entropy(predicted.transpose(1, 2), target, reduction="none")
        return -nll.mean(dim=1)

    @torch.inference_mode()
    def rank(self, question_id: int, question: torch.Tensor, drafts: torch.Tensor) -> Ranking:
        began = time.perf_counter()
        ids = torch.cat([question.expand(drafts.shape[0], -1), drafts], dim=1).to(self.cfg.device)
        outputs = self.model(input_ids=ids, past_key_values=self.rulebook_cache, use_cache=True)
        scores = self._draft_scores(outputs.logits, ids)
        top = scores.topk(2).values
        return Ranking(
            question_id=question_id,
            best=int(scores.argmax()),
            margin=float(top[0] - top[1]),
            seconds=time.perf_counter() - began,
        )


class DeskReport:
    def __init__(self):
        self.rankings: list[Ranking] = []

    def add(self, ranking: Ranking) -> None:
        self.rankings.append(ranking)

    def summary(self) -> str:
        count = len(self.rankings)
        mean_margin = sum(r.margin for r in self.rankings) / max(count, 1)
        mean_ms = 1000 * sum(r.seconds for r in self.rankings) / max(count, 1)
        return f"{count} questions, mean margin {mean_margin:.4f}, {mean_ms:.1f} ms per question"


def allocated() -> int:
    return torch.cuda.memory_allocated() if torch.cuda.is_available() else 0


def main() -> None:
    cfg = DeskConfig()
    levels: list[int] = []
    try:
        feed = QuestionFeed(cfg)
        ranker = RulebookRanker(build_model(cfg), cfg)
        ranker.prefill(feed.rulebook())
        report = DeskReport()
        for question_id, question, drafts in feed:
            ranking = ranker.rank(question_id, question, drafts)
            report.add(ranking)
            levels.append(allocated())
            if question_id % 10 == 0:
                print(f"question {question_id}: draft {ranking.best} (margin {ranking.margin:.4f})")
        print(report.summary())
    finally:
        print("TRUTH " + json.dumps({"allocated": levels, "rounds": len(levels)}), file=sys.stderr)


if __name__ == "__main__":
    main()
