# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Micro-batching service that tags the clauses of legal documents; callers await their own result."""
import asyncio
import json
import os
import sys
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pad_sequence

SMALL = os.environ.get("SMALL") == "1"
CUDA = torch.cuda.is_available()
DEVICE = torch.device("cuda" if CUDA else "cpu")


@dataclass(frozen=True)
class TaggerConfig:
    vocab: int = 300 if SMALL else 30522
    width: int = 24 if SMALL else 768
    heads: int = 2 if SMALL else 12
    layers: int = 2 if SMALL else 6
    max_positions: int = 512 if SMALL else 8192
    tags: int = 41
    max_batch: int = 4 if SMALL else 32
    max_wait: float = 0.02 if SMALL else 1.5
    short: tuple = (8, 24) if SMALL else (96, 512)
    annex: int = 60 if SMALL else 4096
    annex_at: int = 21 if SMALL else 1420
    documents: int = 40 if SMALL else 2000
    arrival_gap: float = 0.001 if SMALL else 0.008
    share_gb: float = 12.0
    seed: int = 12


class Attention(nn.Module):
    """Attention with a learned distance bias, which keeps defined terms and their uses together."""

    def __init__(self, cfg):
        super().__init__()
        self.heads = cfg.heads
        self.qkv = nn.Linear(cfg.width, 3 * cfg.width)
        self.out = nn.Linear(cfg.width, cfg.width)
        self.slope = nn.Parameter(torch.full((cfg.heads, 1, 1), 0.01))

    def forward(self, x, keep):
        n, length, width = x.shape
        q, k, v = self.qkv(x).view(n, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        scores = torch.matmul(q * q.shape[-1] ** -0.5, k.transpose(-1, -2))
        place = torch.arange(length, device=x.device)
        scores -= self.slope * (place[:, None] - place).abs()
        scores.masked_fill_(~keep[:, None, None, :], float("-inf"))
        mixed = torch.matmul(scores.softmax(-1), v)
        return self.out(mixed.transpose(1, 2).reshape(n, length, width))


class Layer(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.attention = Attention(cfg)
        self.norm_a, self.norm_f = nn.LayerNorm(cfg.width), nn.LayerNorm(cfg.width)
        self.up, self.down = nn.Linear(cfg.width, 2 * cfg.width), nn.Linear(2 * cfg.width, cfg.width)

    def forward(self, x, keep):
        x = x + self.attention(self.norm_a(x), keep)
        return x + self.down(F.gelu(self.up(self.norm_f(x))))


class ClauseTagger(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.words = nn.Embedding(cfg.vocab, cfg.width, padding_idx=0)
        self.places = nn.Embedding(cfg.max_positions, cfg.width)
        self.layers = nn.ModuleList(Layer(cfg) for _ in range(cfg.layers))
        self.head = nn.Linear(cfg.width, cfg.tags)

    def forward(self, ids):
        keep = ids.ne(0)
        x = self.words(ids) + self.places.weight[:ids.shape[1]]
        for layer in self.layers:
            x = layer(x, keep)
        return self.head(x).argmax(-1)


class Batcher:
    """Collects documents until the batch is full or the oldest one has waited long enough."""

    def __init__(self, cfg, model):
        self.cfg = cfg
        self.model = model
        self.inbox = asyncio.Queue(maxsize=4 * cfg.max_batch)
        self.allocated = []
        self.tagged = 0

    async def tag(self, ids):
        future = asyncio.get_running_loop().create_future()
        await self.inbox.put((ids, future))
        return await future

    async def collect(self):
        loop, waiting = asyncio.get_running_loop(), [await self.inbox.get()]
        closing = loop.time() + self.cfg.max_wait
        while len(waiting) < self.cfg.max_batch and (left := closing - loop.time()) > 0:
            try:
                waiting.append(await asyncio.wait_for(self.inbox.get(), left))
            except asyncio.TimeoutError:
                break
        while len(waiting) < self.cfg.max_batch and not self.inbox.empty():
            waiting.append(self.inbox.get_nowait())
        return waiting

    @torch.inference_mode()
    def infer(self, documents):
        padded = pad_sequence(documents, batch_first=True).to(DEVICE)
        return self.model(padded).cpu()

    async def run(self):
        while True:
            waiting = await self.collect()
            tags = self.infer([ids for ids, _ in waiting])
            for (ids, future), row in zip(waiting, tags):
                future.set_result(row[:len(ids)].tolist())
            self.tagged += len(waiting)
            self.allocated.append(torch.cuda.memory_allocated())
            if len(self.allocated) % 10 == 0:
                print(f"{self.tagged} documents tagged, last batch {tuple(tags.shape)}", flush=True)


async def callers(cfg, batcher):
    gen, pending = torch.Generator().manual_seed(cfg.seed), set()
    for number in range(cfg.documents):
        low, high = cfg.short
        length = cfg.annex if number == cfg.annex_at else int(torch.randint(low, high + 1, (1,), generator=gen))
        ids = torch.randint(1, cfg.vocab, (length,), generator=gen)
        task = asyncio.create_task(batcher.tag(ids))
        pending.add(task)
        task.add_done_callback(pending.discard)
        await asyncio.sleep(cfg.arrival_gap)
    await asyncio.gather(*pending)


async def main(cfg):
    torch.manual_seed(cfg.seed)
    batcher = Batcher(cfg, ClauseTagger(cfg).to(DEVICE).eval())
    service, traffic = asyncio.create_task(batcher.run()), asyncio.create_task(callers(cfg, batcher))
    try:
        done, _ = await asyncio.wait({service, traffic}, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        service.cancel()
        traffic.cancel()
        print("TRUTH " + json.dumps({"allocated": batcher.allocated, "rounds": len(batcher.allocated)}), file=sys.stderr)
    print(f"{batcher.tagged} documents tagged in {len(batcher.allocated)} batches")


if __name__ == "__main__":
    config = TaggerConfig()
    if CUDA:
        torch.cuda.set_per_process_memory_fraction(config.share_gb * 2**30 / torch.cuda.mem_get_info()[1])
    asyncio.run(main(config))
