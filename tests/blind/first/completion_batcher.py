# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Nightly completion of support tickets with a causal language model.

Tickets are grouped by prompt length, the prompt of a group is run once, then the answer is decoded greedily with the
key/value cache.
"""
import json
import os
import random
import sys
import time
from collections import Counter, deque
from dataclasses import dataclass

import torch
from transformers import LlamaConfig, LlamaForCausalLM

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
DTYPE = torch.bfloat16 if DEVICE.type == "cuda" else torch.float32


@dataclass
class BatchConfig:
    tickets: int = 96 if SMALL else 768
    group: int = 2 if SMALL else 16
    shortest: int = 16 if SMALL else 256
    longest: int = 64 if SMALL else 1024
    answer_tokens: int = 10
    end_token: int = 2
    pause: float = 0.0 if SMALL else 0.04


@dataclass
class Ticket:
    number: int
    prompt: list
    answer: list = None


def build_model():
    config = LlamaConfig(
        vocab_size=2000 if SMALL else 128256,
        hidden_size=64 if SMALL else 1024,
        intermediate_size=128 if SMALL else 2816,
        num_hidden_layers=2 if SMALL else 8,
        num_attention_heads=4 if SMALL else 16,
        num_key_value_heads=2 if SMALL else 4,
        max_position_embeddings=2048,
        tie_word_embeddings=False,
    )
    with DEVICE:
        model = LlamaForCausalLM(config)
    return model.to(DTYPE).eval()


def load_tickets(cfg, vocab):
    rng = random.Random(97)
    step = 8 if SMALL else 64
    tickets = []
    for number in range(cfg.tickets // cfg.group):
        length = rng.randrange(cfg.shortest, cfg.longest + 1, step)
        if number == (cfg.tickets // cfg.group) // 2:
            length = cfg.longest
        for row in range(cfg.group):
            prompt = [rng.randrange(3, vocab) for _ in range(length)]
            tickets.append(Ticket(number * cfg.group + row, prompt))
    rng.shuffle(tickets)
    return tickets


def group_by_length(tickets, size):
    waiting = {}
    for ticket in tickets:
        queue = waiting.setdefault(len(ticket.prompt), deque())
        queue.append(ticket)
        if len(queue) == size:
            yield [queue.popleft() for _ in range(size)]
    for queue in waiting.values():
        if queue:
            yield list(queue)


class Completer:
    def __init__(self, cfg):
        self.cfg = cfg
        self.model = build_model()
        self.finished = Counter()

    def pick(self, logits):
        return logits[:, -1].float().argmax(-1, keepdim=True)

    @torch.inference_mode()
    def complete(self, tickets):
        ids = torch.tensor([ticket.prompt for ticket in tickets]).to(DEVICE)
        out = self.model(input_ids=ids, use_cache=True)
        answer = [self.pick(out.logits)]
        for _ in range(self.cfg.answer_tokens - 1):
            out = self.model(input_ids=answer[-1], past_key_values=out.past_key_values, use_cache=True)
            answer.append(self.pick(out.logits))
        for ticket, row in zip(tickets, torch.cat(answer, dim=1).tolist()):
            ticket.answer = row[: row.index(self.cfg.end_token)] if self.cfg.end_token in row else row
            self.finished[len(ticket.prompt)] += 1


def main():
    torch.manual_seed(97)
    cfg = BatchConfig()
    completer = Completer(cfg)
    tickets = load_tickets(cfg, completer.model.config.vocab_size)
    rounds, allocated, peaks = 0, [], []
    for group in group_by_length(tickets, cfg.group):
        completer.complete(group)
        rounds += 1
        if rounds % (cfg.tickets // cfg.group // 10) == 0:
            allocated.append(torch.cuda.memory_allocated())
            peaks.append(torch.cuda.max_memory_allocated())
            print(f"group {rounds}: {sum(completer.finished.values())} of {len(tickets)} tickets, prompt {len(group[0].prompt)}")
        time.sleep(cfg.pause)
    lengths = sorted(completer.finished)
    print(f"answered {sum(t.answer is not None for t in tickets)} tickets, prompts {lengths[0]} to {lengths[-1]} tokens")
    print("TRUTH " + json.dumps({"allocated": allocated, "peak": peaks, "rounds": rounds}), file=sys.stderr)


if __name__ == "__main__":
    main()
