# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Scores the options of multiple-choice questions with a causal language model and a fixed few-shot prompt.

The demonstrations are encoded once; each request brings a batch of questions with one candidate answer each, and the
score is the log-probability of the answer after the demonstrations minus its log-probability without context (PMI).
"""

import json
import os
import sys
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from transformers import LlamaConfig, LlamaForCausalLM

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
SMALL = os.environ.get("SMALL") == "1"


@dataclass
class ScoringConfig:
    vocab_size: int = 16000
    hidden_size: int = 2048
    intermediate_size: int = 4096
    layers: int = 12
    heads: int = 16
    kv_heads: int = 8
    demonstration_tokens: int = 512
    question_tokens: int = 48
    answer_tokens: int = 16
    batch_size: int = 16
    requests: int = 120
    seed: int = 11

    @property
    def request_tokens(self):
        return self.question_tokens + self.answer_tokens


def make_config():
    if SMALL:
        return ScoringConfig(vocab_size=500, hidden_size=64, intermediate_size=96, layers=2, heads=4, kv_heads=2,
                             demonstration_tokens=24, question_tokens=6, answer_tokens=2, batch_size=4, requests=8)
    return ScoringConfig()


def build_model(cfg):
    model_config = LlamaConfig(
        vocab_size=cfg.vocab_size,
        hidden_size=cfg.hidden_size,
        intermediate_size=cfg.intermediate_size,
        num_hidden_layers=cfg.layers,
        num_attention_heads=cfg.heads,
        num_key_value_heads=cfg.kv_heads,
        max_position_embeddings=16384,
        bos_token_id=1,
        eos_token_id=2,
    )
    previous = torch.get_default_dtype()
    torch.set_default_dtype(torch.bfloat16 if DEVICE == "cuda" else torch.float32)
    try:
        with torch.device(DEVICE):
            model = LlamaForCausalLM(model_config)
    finally:
        torch.set_default_dtype(previous)
    return model.eval().requires_grad_(False)


class QuestionStream:
    """Synthetic questions: token ids of question and answer, and which half of the batch is right."""

    def __init__(self, cfg):
        self.cfg = cfg
        self.generator = torch.Generator().manual_seed(cfg.seed)

    def demonstrations(self):
        return torch.randint(3, self.cfg.vocab_size, (1, self.cfg.demonstration_tokens), generator=self.generator)

    def __iter__(self):
        cfg = self.cfg
        for _ in range(cfg.requests):
            shape = (cfg.batch_size, cfg.request_tokens)
            tokens = torch.randint(3, cfg.vocab_size, shape, generator=self.generator)
            yield tokens, torch.arange(cfg.batch_size) % 2


class FewShotContext:
    """The demonstrations, encoded once for every row of a batch."""

    def __init__(self, model, token_ids, batch_size):
        rows = token_ids.to(DEVICE).expand(batch_size, -1)
        encoded = model(input_ids=rows, use_cache=True, logits_to_keep=1)
        self.keys_values = encoded.past_key_values
        self.first_logits = encoded.logits[:, -1].float().log_softmax(dim=-1)
        self.tokens = token_ids.shape[1]


class OptionScorer:
    def __init__(self, model, context, cfg):
        self.model = model
        self.context = context
        self.cfg = cfg

    def _answer_logprob(self, logits, tokens):
        start = self.cfg.question_tokens
        predicted = logits[:, start - 1:-1].float()
        answer = tokens[:, start:]
        losses = F.cross_entropy(predicted.flatten(0, 1), answer.flatten(), reduction="none")
        return -losses.view(answer.shape).sum(dim=1)

    def with_context(self, tokens):
        output = self.model(input_ids=tokens, past_key_values=self.context.keys_values)
        return self._answer_logprob(output.logits, tokens)

    def without_context(self, tokens):
        output = self.model(input_ids=tokens, use_cache=False)
        return self._answer_logprob(output.logits, tokens)

    @torch.no_grad()
    def score(self, tokens):
        tokens = tokens.to(DEVICE)
        return (self.with_context(tokens) - self.without_context(tokens)).cpu()


class Leaderboard:
    """Accuracy of pairwise choices: of two neighbouring rows the higher score is the choice."""

    def __init__(self):
        self.right = 0
        self.total = 0

    def update(self, scores, labels):
        pairs = scores.view(-1, 2)
        choice = pairs.argmax(dim=1)
        self.right += int((choice == labels.view(-1, 2).argmax(dim=1)).sum())
        self.total += len(choice)

    def accuracy(self):
        return self.right / max(self.total, 1)


def main():
    cfg = make_config()
    torch.manual_seed(cfg.seed)
    allocated = []
    try:
        model = build_model(cfg)
        questions = QuestionStream(cfg)
        with torch.no_grad():
            context = FewShotContext(model, questions.demonstrations(), cfg.batch_size)
        scorer = OptionScorer(model, context, cfg)
        board = Leaderboard()
        for index, (tokens, labels) in enumerate(questions):
            board.update(scorer.score(tokens), labels)
            allocated.append(torch.cuda.memory_allocated() if DEVICE == "cuda" else 0)
            if (index + 1) % 20 == 0:
                print(f"request {index + 1}: accuracy {board.accuracy():.3f} over {board.total} pairs")
        print(f"final accuracy {board.accuracy():.3f} after {context.tokens} demonstration tokens")
    finally:
        print("TRUTH " + json.dumps({"allocated": allocated, "rounds": len(allocated)}), file=sys.stderr)


if __name__ == "__main__":
    main()
