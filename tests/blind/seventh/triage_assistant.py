# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Answers notes of a veterinary hotline with a language model behind a long fixed briefing.

The briefing (rules, dosages, list of clinics) is encoded once; each caller's note is put behind it and answered
greedily. The replay below sends one evening of notes through the assistant and reports speed and agreement.
"""
import json
import logging
import os
import statistics
import sys
import time
from dataclasses import dataclass

import torch
from transformers import DynamicCache, Qwen2Config, Qwen2ForCausalLM

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
log = logging.getLogger("triage")


@dataclass
class AssistantConfig:
    vocab: int = 400 if SMALL else 48_000
    hidden: int = 64 if SMALL else 1536
    layers: int = 2 if SMALL else 8
    heads: int = 4 if SMALL else 12
    kv_heads: int = 2
    briefing_tokens: int = 40 if SMALL else 1800
    note_tokens: int = 6 if SMALL else 16
    answer_tokens: int = 3 if SMALL else 4
    evening: int = 36 if SMALL else 250
    window: int = 8192


@dataclass
class Answer:
    tokens: list
    confidence: float
    seconds: float


def build_model(cfg):
    config = Qwen2Config(
        vocab_size=cfg.vocab, hidden_size=cfg.hidden, intermediate_size=3 * cfg.hidden, num_hidden_layers=cfg.layers,
        num_attention_heads=cfg.heads, num_key_value_heads=cfg.kv_heads, max_position_embeddings=cfg.window,
        use_sliding_window=False, tie_word_embeddings=True)
    dtype = torch.float32 if SMALL else torch.bfloat16
    return Qwen2ForCausalLM(config).to(DEVICE, dtype).eval()


class Briefing:
    """The common beginning of all prompts: its tokens and what the layers computed for them."""

    def __init__(self, model, tokens):
        self.tokens = tokens
        self.states = DynamicCache()
        with torch.inference_mode():
            model(input_ids=tokens, past_key_values=self.states, use_cache=True, logits_to_keep=1)

    def __len__(self):
        return self.tokens.shape[1]


class TriageAssistant:
    def __init__(self, cfg):
        self.cfg = cfg
        self.model = build_model(cfg)
        self.rng = torch.Generator().manual_seed(2)
        self.briefing = Briefing(self.model, self.random_tokens(cfg.briefing_tokens))

    def random_tokens(self, count):
        return torch.randint(self.cfg.vocab, (1, count), generator=self.rng).to(DEVICE)

    @torch.inference_mode()
    def answer(self, note):
        started = time.perf_counter()
        past = self.briefing.states
        step_input, tokens, confidences = note, [], []
        for _ in range(self.cfg.answer_tokens):
            out = self.model(input_ids=step_input, past_key_values=past, use_cache=True, logits_to_keep=1)
            probs = torch.softmax(out.logits[0, -1].float(), dim=-1)
            best = int(probs.argmax())
            tokens.append(best)
            confidences.append(float(probs[best]))
            step_input = note.new_tensor([[best]])
        return Answer(tokens, statistics.fmean(confidences), time.perf_counter() - started)

    @torch.inference_mode()
    def urgency(self, note):
        """A second look at the note alone, scored over all its positions, without the briefing."""
        batch = note.repeat(8 if SMALL else 256, 1)
        logits = self.model(input_ids=batch, use_cache=False).logits.float()
        picked = torch.log_softmax(logits[:, :-1], dim=-1).gather(-1, batch[:, 1:, None]).squeeze(-1)
        return -picked.mean().item()


class EveningReplay:
    def __init__(self, assistant):
        self.assistant = assistant
        self.log = []
        self.allocated = []

    def run(self):
        cfg = self.assistant.cfg
        for k in range(cfg.evening):
            note = self.assistant.random_tokens(cfg.note_tokens)
            urgency = self.assistant.urgency(note)
            answer = self.assistant.answer(note)
            self.log.append((urgency, answer))
            if DEVICE.type == "cuda":
                self.allocated.append(torch.cuda.memory_allocated())
            if (k + 1) % 20 == 0:
                recent = [a.seconds for _, a in self.log[-20:]]
                log.info("note %3d  urgency %.2f  %.0f ms per answer", k + 1, urgency, 1000 * statistics.median(recent))

    def report(self):
        ranked = sorted(self.log, key=lambda entry: -entry[0])
        return statistics.fmean(a.confidence for _, a in ranked[: len(ranked) // 10 + 1])


def main():
    torch.manual_seed(30)
    assistant = TriageAssistant(AssistantConfig())
    log.info("%.0f M parameters, briefing of %d tokens", sum(p.numel() for p in assistant.model.parameters()) / 1e6,
             len(assistant.briefing))
    replay = EveningReplay(assistant)
    replay.run()
    log.info("mean confidence on the most urgent notes: %.4f", replay.report())
    stride = len(replay.allocated) // 200 + 1
    print("TRUTH " + json.dumps({"allocated": replay.allocated[::stride], "rounds": assistant.cfg.evening}), file=sys.stderr)
    return replay


if __name__ == "__main__":
    result = main()
