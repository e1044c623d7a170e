# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Completion server for document templates.

A request consists of a template (a long shared prefix) and a short question. Keys and values of the prefix are kept, so
that the next request for the same template only has to run its question.
"""
import asyncio
import json
import os
import random
import sys
from collections import OrderedDict, deque
from dataclasses import dataclass, field

import torch
import torch.nn as nn
import torch.nn.functional as F

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
DTYPE = torch.bfloat16 if DEVICE.type == "cuda" else torch.float32

LAYERS = 2 if SMALL else 16
WIDTH = 64 if SMALL else 1024
HEADS = 2 if SMALL else 8
REQUESTS = 180
TEMPLATES = 400
ARRIVAL_SECONDS = 0.001 if SMALL else 0.045
KV_BUDGET = (3 << 20) if SMALL else (3 << 30)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.out = nn.Linear(WIDTH, WIDTH, bias=False)
        self.mlp = nn.Sequential(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x, past=None):
        q, k, v = self.qkv(self.norm(x)).view(x.shape[0], 3, HEADS, WIDTH // HEADS).unbind(1)
        q, k, v = (t.transpose(0, 1) for t in (q, k, v))
        if past is not None:
            k = torch.cat([past[0], k], dim=1)
            v = torch.cat([past[1], v], dim=1)
        y = F.scaled_dot_product_attention(q[None], k[None], v[None], is_causal=past is None)[0]
        x = x + self.out(y.transpose(0, 1).reshape(x.shape[0], WIDTH))
        return x + self.mlp(x), torch.stack([k, v])


class Model(nn.Module):
    def __init__(self, vocab=8000):
        super().__init__()
        self.embed = nn.Embedding(vocab, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.head = nn.Linear(WIDTH, vocab, bias=False)

    def forward(self, tokens, past=None):
        x = self.embed(tokens)
        present = []
        for i, block in enumerate(self.blocks):
            x, kv = block(x, None if past is None else past[i])
            present.append(kv)
        return self.head(x), present


@dataclass
class Entry:
    layers: list
    readers: int = 0
    hits: int = 0
    size: int = field(init=False)

    def __post_init__(self):
        self.size = sum(t.numel() * t.element_size() for t in self.layers)


class PrefixStore:
    def __init__(self, budget):
        self.budget = budget
        self.entries = OrderedDict()
        self.used = 0

    def get(self, key):
        entry = self.entries.get(key)
        if entry is not None:
            self.entries.move_to_end(key)
            entry.hits += 1
        return entry

    def put(self, key, layers):
        entry = Entry(layers)
        self.entries[key] = entry
        self.used += entry.size
        for old in list(self.entries):
            if self.used <= self.budget:
                break
            if old != key and self.entries[old].readers == 0:
                self.used -= self.entries.pop(old).size
        return entry


class CompletionServer:
    def __init__(self):
        self.model = Model().to(DEVICE, DTYPE).eval()
        self.store = PrefixStore(KV_BUDGET)
        self.latencies = deque(maxlen=256)
        self.in_flight = {}
        self.answers = 0

    def template_tokens(self, key):
        gen = torch.Generator().manual_seed(key)
        length = 64 * int(torch.randint(4, 13, (1,), generator=gen))
        return torch.randint(0, 8000, (length // 4 if SMALL else length,), generator=gen)

    @torch.inference_mode()
    def prefill(self, key):
        logits, present = self.model(self.template_tokens(key).to(DEVICE))
        return self.store.put(key, present)

    @torch.inference_mode()
    def step(self, tokens, past):
        logits, present = self.model(tokens, past)
        return logits[-1:].argmax(-1), present

    async def complete(self, number, key):
        loop = asyncio.get_running_loop()
        began = loop.time()
        entry = self.store.get(key) or self.prefill(key)
        entry.readers += 1
        self.in_flight[number] = entry
        try:
            past = entry.layers
            token = torch.randint(0, 8000, (24,)).to(DEVICE)
            for _ in range(4):
                token, past = self.step(token, past)
                await asyncio.sleep(ARRIVAL_SECONDS / 3)
            self.answers += int(token[0]) >= 0
        finally:
            entry.readers -= 1
            del self.in_flight[number]
            self.latencies.append(loop.time() - began)


async def serve():
    rng = random.Random(3)
    server = CompletionServer()
    weights = [1 / (rank + 8) ** 0.7 for rank in range(TEMPLATES)]
    tasks, curve = set(), []
    for number in range(REQUESTS):
        key = rng.choices(range(TEMPLATES), weights)[0]
        task = asyncio.create_task(server.complete(number, key))
        tasks.add(task)
        task.add_done_callback(tasks.discard)
        await asyncio.sleep(ARRIVAL_SECONDS)
        if (number + 1) % 15 == 0:
            curve.append(torch.cuda.memory_allocated())
            print(f"request {number + 1}: {len(server.store.entries)} prefixes, {len(server.in_flight)} in flight")
    await asyncio.gather(*tasks)
    print(f"{server.answers} answers, slowest {max(server.latencies):.2f} s")
    print("TRUTH " + json.dumps({"allocated": curve, "rounds": REQUESTS}), file=sys.stderr)


if __name__ == "__main__":
    torch.manual_seed(3)
    asyncio.run(serve())
