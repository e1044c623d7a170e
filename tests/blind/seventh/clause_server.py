# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Streaming completion service for contract clauses, with its own load test.

Editors of a law firm ask for the continuation of a clause. The side pane shows the first words of a suggestion while
the text cursor moves; a suggestion that is accepted is read to its end. All requests share one model on one GPU.
"""
import asyncio
import contextlib
import json
import logging
import os
import random
import sys
import time
from dataclasses import dataclass, field

import torch
from transformers import DynamicCache, LlamaConfig, LlamaForCausalLM

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
log = logging.getLogger("clauses")


@dataclass
class ServiceConfig:
    vocab: int = 500 if SMALL else 32_000
    hidden: int = 64 if SMALL else 1024
    layers: int = 2 if SMALL else 6
    heads: int = 4 if SMALL else 8
    context: int = 48 if SMALL else 384
    full_length: int = 10 if SMALL else 28
    pane_length: int = 4 if SMALL else 8
    editors: int = 6
    requests_per_editor: int = 6 if SMALL else 35
    max_active: int = 4


@dataclass
class Sequence:
    request_id: str
    prompt: torch.Tensor
    limit: int
    cache: DynamicCache = field(default_factory=DynamicCache)
    tokens: list = field(default_factory=list)
    opened: float = field(default_factory=time.monotonic)

    @property
    def next_input(self):
        return self.prompt if not self.tokens else self.prompt.new_tensor([[self.tokens[-1]]])


class ClauseEngine:
    """Decodes sequences one token at a time and lets the event loop interleave them."""

    def __init__(self, cfg):
        self.cfg = cfg
        config = LlamaConfig(
            vocab_size=cfg.vocab, hidden_size=cfg.hidden, intermediate_size=int(2.75 * cfg.hidden),
            num_hidden_layers=cfg.layers, num_attention_heads=cfg.heads, num_key_value_heads=cfg.heads,
            max_position_embeddings=2048)
        dtype = torch.float32 if SMALL else torch.bfloat16
        self.model = LlamaForCausalLM(config).to(DEVICE, dtype).eval()
        self.slots = asyncio.Semaphore(cfg.max_active)
        self.active = {}
        self.latencies = []
        self.served = 0

    @torch.inference_mode()
    def advance(self, seq):
        out = self.model(input_ids=seq.next_input, past_key_values=seq.cache, use_cache=True, logits_to_keep=1)
        probs = torch.softmax(out.logits[:, -1].float() / 0.8, dim=-1)
        seq.tokens.append(int(torch.multinomial(probs, 1)))
        return seq.tokens[-1]

    async def stream(self, request_id, prompt, limit):
        seq = Sequence(request_id, prompt, limit)
        async with self.slots:
            self.active[request_id] = seq
            while len(seq.tokens) < seq.limit:
                token = self.advance(seq)
                await asyncio.sleep(0)
                yield token
            self.finish(seq)

    def finish(self, seq):
        self.latencies.append(time.monotonic() - seq.opened)
        self.served += len(seq.tokens)
        del self.active[seq.request_id]


class Editor:
    """A simulated user: mostly looks at the pane, and accepts a suggestion now and then."""

    def __init__(self, number, engine, cfg):
        self.number, self.engine, self.cfg = number, engine, cfg
        self.rng = random.Random(number)
        self.accepted = 0
        self.glanced = 0

    def draft(self):
        return torch.tensor([[self.rng.randrange(self.cfg.vocab) for _ in range(self.cfg.context)]], device=DEVICE)

    async def accept(self, request_id):
        words = [t async for t in self.engine.stream(request_id, self.draft(), self.cfg.full_length)]
        self.accepted += 1
        return words

    async def glance(self, request_id):
        words = []
        async with contextlib.aclosing(self.engine.stream(request_id, self.draft(), self.cfg.full_length)) as stream:
            async for token in stream:
                words.append(token)
                if len(words) == self.cfg.pane_length:
                    break
        self.glanced += 1
        return words

    async def work(self, on_request):
        for k in range(self.cfg.requests_per_editor):
            request_id = f"editor{self.number}-{k:04d}"
            if (k + self.number) % 3 == 0:
                await self.glance(request_id)
            else:
                await self.accept(request_id)
            on_request()


class LoadTest:
    def __init__(self, cfg):
        self.cfg = cfg
        self.engine = ClauseEngine(cfg)
        self.editors = [Editor(n, self.engine, cfg) for n in range(cfg.editors)]
        self.allocated = []
        self.done = 0

    def on_request(self):
        self.done += 1
        if DEVICE.type == "cuda":
            self.allocated.append(torch.cuda.memory_allocated())
        if self.done % 30 == 0:
            recent = self.engine.latencies[-20:] or [0.0]
            log.info("%4d requests, %6d tokens, latency %.2f s", self.done, self.engine.served, sum(recent) / len(recent))

    async def run(self):
        await asyncio.gather(*(editor.work(self.on_request) for editor in self.editors))
        log.info("accepted %d, glanced at %d", sum(e.accepted for e in self.editors), sum(e.glanced for e in self.editors))


def main():
    torch.manual_seed(8)
    test = LoadTest(ServiceConfig())
    size = sum(p.numel() for p in test.engine.model.parameters())
    log.info("model with %.1f M parameters on %s", size / 1e6, DEVICE)
    asyncio.run(test.run())
    stride = len(test.allocated) // 200 + 1
    print("TRUTH " + json.dumps({"allocated": test.allocated[::stride], "rounds": test.done}), file=sys.stderr)
    return test


if __name__ == "__main__":
    result = main()
