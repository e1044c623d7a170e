# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Chat desk of a ferry line: passengers' dialogues are continued turn by turn from their key-value caches."""

import json
import os
import random
import sys
from collections import OrderedDict
from dataclasses import dataclass, field

import torch
from transformers import DynamicCache, LlamaConfig, LlamaForCausalLM

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
DTYPE = torch.bfloat16 if DEVICE.type == "cuda" else torch.float32


@dataclass
class DeskConfig:
    turns: int = 24 if SMALL else 150
    passengers: int = 9 if SMALL else 60
    open_dialogues: int = 4 if SMALL else 24
    question_tokens: int = 6 if SMALL else 160
    answer_tokens: int = 3 if SMALL else 8
    context_tokens: int = 24 if SMALL else 640
    vocab_size: int = 200 if SMALL else 24000
    hidden_size: int = 32 if SMALL else 1024
    mlp_size: int = 64 if SMALL else 2816
    layers: int = 2 if SMALL else 16
    heads: int = 4 if SMALL else 16
    seed: int = 64


@dataclass
class Dialogue:
    passenger: int
    cache: DynamicCache
    turns: int = 0
    last_answer: list[int] = field(default_factory=list)

    def length(self) -> int:
        return self.cache.get_seq_length()


class DialogueStore:
    """Open dialogues, the least recently used one is closed when the desk is full."""

    def __init__(self, limit: int, config: LlamaConfig):
        self.limit = limit
        self.config = config
        self.open: OrderedDict[int, Dialogue] = OrderedDict()
        self.closed = 0
        self.resumed = 0

    def fetch(self, passenger: int) -> Dialogue:
        if passenger in self.open:
            self.open.move_to_end(passenger)
            self.resumed += 1
            return self.open[passenger]
        while len(self.open) >= self.limit:
            self.open.popitem(last=False)
            self.closed += 1
        dialogue = Dialogue(passenger, DynamicCache(config=self.config))
        self.open[passenger] = dialogue
        return dialogue

    def restart(self, dialogue: Dialogue) -> None:
        """A dialogue that fills its context starts anew with an empty cache."""
        dialogue.cache = DynamicCache(config=self.config)
        dialogue.turns = 0

    def clear(self) -> None:
        self.open.clear()


class FerryDesk:
    def __init__(self, cfg: DeskConfig):
        self.cfg = cfg
        self.config = LlamaConfig(
            vocab_size=cfg.vocab_size,
            hidden_size=cfg.hidden_size,
            intermediate_size=cfg.mlp_size,
            num_hidden_layers=cfg.layers,
            num_attention_heads=cfg.heads,
            num_key_value_heads=cfg.heads,
            max_position_embeddings=4 * cfg.context_tokens,
        )
        with DEVICE:
            model = LlamaForCausalLM(self.config)
        self.model = model.to(DTYPE).eval().requires_grad_(False)
        self.store = DialogueStore(cfg.open_dialogues, self.config)

    def room_left(self, dialogue: Dialogue) -> bool:
        needed = self.cfg.question_tokens + self.cfg.answer_tokens
        return dialogue.length() + needed <= self.cfg.context_tokens

    @torch.inference_mode()
    def answer(self, passenger: int, question: torch.Tensor) -> list[int]:
        dialogue = self.store.fetch(passenger)
        if not self.room_left(dialogue):
            self.store.restart(dialogue)
        tokens = question.to(DEVICE).unsqueeze(0)
        answer: list[int] = []
        for _ in range(self.cfg.answer_tokens):
            output = self.model(input_ids=tokens, past_key_values=dialogue.cache, use_cache=True, logits_to_keep=1)
            tokens = output.logits[:, -1].argmax(dim=-1, keepdim=True)
            answer.append(int(tokens.item()))
        dialogue.turns += 1
        dialogue.last_answer = answer
        return answer

    def tokens_held(self) -> int:
        return sum(dialogue.length() for dialogue in self.store.open.values())


class PassengerFlow:
    """Who asks next: a few regulars during boarding, newcomers in between."""

    def __init__(self, cfg: DeskConfig):
        self.cfg = cfg
        self.random = random.Random(cfg.seed)
        self.gen = torch.Generator().manual_seed(cfg.seed)

    def next_passenger(self, turn: int) -> int:
        window = self.cfg.passengers // 3
        start = (turn * self.cfg.passengers) // (2 * self.cfg.turns)
        return (start + self.random.randrange(window)) % self.cfg.passengers

    def question(self) -> torch.Tensor:
        return torch.randint(1, self.cfg.vocab_size, (self.cfg.question_tokens,), generator=self.gen)


def main() -> None:
    cfg = DeskConfig()
    torch.manual_seed(cfg.seed)
    allocated: list[int] = []
    try:
        desk = FerryDesk(cfg)
        flow = PassengerFlow(cfg)
        for turn in range(cfg.turns):
            desk.answer(flow.next_passenger(turn), flow.question())
            allocated.append(torch.cuda.memory_allocated() if torch.cuda.is_available() else 0)
            if turn % 25 == 0:
                print(f"turn {turn:4d}: {len(desk.store.open)} dialogues, {desk.tokens_held()} tokens held", flush=True)
        print(f"{desk.store.resumed} turns resumed a dialogue, {desk.store.closed} dialogues closed")
        desk.store.clear()
        allocated.append(torch.cuda.memory_allocated() if torch.cuda.is_available() else 0)
    finally:
        print("TRUTH " + json.dumps({"allocated": allocated, "rounds": len(allocated)}), file=sys.stderr)


if __name__ == "__main__":
    main()
