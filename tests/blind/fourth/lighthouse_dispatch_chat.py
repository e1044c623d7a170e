# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Assistant for coast radio stations: several watch keepers talk to one language model during a night shift, every
conversation with a key-value cache of its own."""

import json
import os
import sys
import time
from dataclasses import dataclass, field

import torch
from transformers import DynamicCache, LlamaConfig, LlamaForCausalLM

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class ShiftConfig:
    vocab: int = 128 if SMALL else 4096
    hidden: int = 32 if SMALL else 2048
    heads: int = 4 if SMALL else 16
    layers: int = 2 if SMALL else 8
    message_tokens: int = 8 if SMALL else 256
    reply_tokens: int = 2
    stations: int = 8
    shortest_watch: int = 33
    watch_step: int = 2
    rounds: int = 50
    pause_s: float = 0.0 if SMALL else 0.02
    seed: int = 4


@dataclass
class Conversation:
    station: str
    watch: int
    cache: DynamicCache = field(default_factory=DynamicCache)
    turns: int = 0

    @property
    def over(self) -> bool:
        return self.turns >= self.watch


class DispatchModel:
    def __init__(self, config: ShiftConfig):
        self.config = config
        llama = LlamaConfig(
            vocab_size=config.vocab,
            hidden_size=config.hidden,
            intermediate_size=2 * config.hidden,
            num_hidden_layers=config.layers,
            num_attention_heads=config.heads,
            num_key_value_heads=config.heads,
            max_position_embeddings=16384,
            pad_token_id=0,
        )
        self.net = LlamaForCausalLM(llama).to(DEVICE, torch.bfloat16).eval()

    @torch.inference_mode()
    def answer(self, message: torch.Tensor, cache: DynamicCache) -> list[int]:
        tokens = message[None].to(DEVICE)
        reply: list[int] = []
        for _ in range(self.config.reply_tokens):
            out = self.net(input_ids=tokens, past_key_values=cache, use_cache=True)
            tokens = out.logits[:, -1:].argmax(dim=-1)
            reply.append(int(tokens))
        return reply


class NightShift:
    def __init__(self, config: ShiftConfig):
        self.config = config
        self.model = DispatchModel(config)
        self.generator = torch.Generator().manual_seed(config.seed)
        self.conversations: dict[str, Conversation] = {}
        self.logbook: list[str] = []
        self.replies = 0

    def open_watch(self, number: int) -> None:
        station = f"station-{number}"
        watch = self.config.shortest_watch + self.config.watch_step * (number * 3 % self.config.stations)
        self.conversations[station] = Conversation(station, watch)

    def turn(self, conversation: Conversation) -> None:
        message = torch.randint(1, self.config.vocab, (self.config.message_tokens,), generator=self.generator)
        reply = self.model.answer(message, conversation.cache)
        conversation.turns += 1
        self.replies += len(reply)

    def close_finished(self) -> None:
        for station in [name for name, conversation in self.conversations.items() if conversation.over]:
            conversation = self.conversations.pop(station)
            self.logbook.append(f"{station}: watch over after {conversation.turns} turns")

    def round(self) -> None:
        for conversation in self.conversations.values():
            self.turn(conversation)
        self.close_finished()

    @property
    def cached_tokens(self) -> int:
        return sum(conversation.cache.get_seq_length() for conversation in self.conversations.values())


def allocated() -> int:
    return torch.cuda.memory_allocated() if DEVICE.type == "cuda" else 0


def main() -> None:
    config = ShiftConfig()
    torch.manual_seed(config.seed)
    shift = NightShift(config)
    for number in range(config.stations):
        shift.open_watch(number)
    truth: list[int] = []
    try:
        for number in range(config.rounds):
            shift.round()
            truth.append(allocated())
            if number % 8 == 0:
                print(
                    f"round {number}: {len(shift.conversations)} watches open, {shift.cached_tokens} tokens cached",
                    flush=True,
                )
            time.sleep(config.pause_s)
        print("\n".join(shift.logbook))
    finally:
        print("TRUTH " + json.dumps({"allocated": truth, "rounds": len(truth)}), file=sys.stderr)


if __name__ == "__main__":
    main()
