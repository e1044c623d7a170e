# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Token streaming endpoint (the part behind the web framework) with a GPT-2 style model."""
import asyncio
import logging
import os
import random
import time

import torch
from transformers import DynamicCache, GPT2Config, GPT2LMHeadModel

DEVICE = os.environ.get("DEVICE", "cuda")
TINY = DEVICE == "cpu"
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
log = logging.getLogger("stream")

PROMPT = 16 if TINY else 1500
MAX_TOKENS = 4 if TINY else 14
N_CLIENTS = 70 if TINY else 130
BUDGET = 16.0


def load_model():
    cfg = GPT2Config(vocab_size=300 if TINY else 32000, n_positions=2048, n_embd=64 if TINY else 1024,
                     n_layer=2 if TINY else 16, n_head=2 if TINY else 16, bos_token_id=1, eos_token_id=2)
    model = GPT2LMHeadModel(cfg).to(DEVICE).eval()
    return model if TINY else model.to(torch.bfloat16)


class ClientDisconnected(Exception):
    pass


class Client:
    """Consumes the stream; some users close the tab before the answer is complete."""

    def __init__(self, rng):
        self.patience = rng.randint(1, MAX_TOKENS - 2) if rng.random() < 0.35 else None
        self.received = []

    async def send(self, token):
        if self.patience is not None and len(self.received) >= self.patience:
            raise ClientDisconnected
        self.received.append(token)
        await asyncio.sleep(0)


class StreamingEngine:
    def __init__(self, model):
        self.model = model
        self.streams = {}
        self.tokens_out = 0
        self.opened = 0

    def open(self, prompt_ids):
        self.opened += 1
        stream_id = f"s{self.opened:05d}"
        self.streams[stream_id] = self._generate(prompt_ids)
        return stream_id

    def _generate(self, prompt_ids):
        ids = prompt_ids.to(DEVICE)
        past = DynamicCache()
        for _ in range(MAX_TOKENS):
            with torch.inference_mode():
                out = self.model(input_ids=ids, past_key_values=past, use_cache=True)
                past = out.past_key_values
                probs = torch.softmax(out.logits[:, -1].float() / 0.8, -1)
                ids = torch.multinomial(probs, 1)
            self.tokens_out += 1
            yield int(ids)

    def next_token(self, stream_id):
        """Returns None when the answer is complete."""
        try:
            return next(self.streams[stream_id])
        except StopIteration:
            self.streams.pop(stream_id)
            return None


class Stats:
    def __init__(self):
        self.completed = self.dropped = 0
        self.first_token = []

    def line(self, engine):
        mean = sum(self.first_token) / max(1, len(self.first_token))
        return (f"completed {self.completed} dropped {self.dropped} tokens {engine.tokens_out} "
                f"time to first token {1000 * mean:.1f} ms")


async def handle(engine, client, prompt_ids, stats):
    t = time.time()
    stream_id = engine.open(prompt_ids)
    try:
        first = True
        while (token := engine.next_token(stream_id)) is not None:
            if first:
                stats.first_token.append(time.time() - t)
                first = False
            await client.send(token)
        stats.completed += 1
    except ClientDisconnected:
        stats.dropped += 1
        log.debug("client of %s went away", stream_id)


async def serve():
    torch.manual_seed(4)
    rng = random.Random(4)
    engine, stats, t0 = StreamingEngine(load_model()), Stats(), time.time()
    log.info("model loaded, %.0fM parameters", sum(p.numel() for p in engine.model.parameters()) / 1e6)
    served = 0
    while served < N_CLIENTS and time.time() - t0 < BUDGET:
        group = []
        for _ in range(min(rng.randint(1, 3), N_CLIENTS - served)):
            prompt = torch.randint(3, engine.model.config.vocab_size, (1, rng.randint(PROMPT // 2, PROMPT)))
            group.append(handle(engine, Client(rng), prompt, stats))
        await asyncio.gather(*group)
        served += len(group)
        if served % 10 < 3:
            log.info("%d requests, %s", served, stats.line(engine))
        await asyncio.sleep(0.01)
    log.info("shutting down: %s", stats.line(engine))


if __name__ == "__main__":
    asyncio.run(serve())
