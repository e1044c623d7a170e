# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Token streaming gateway for helpdesk answers: one decoder, many concurrent browser connections."""
import asyncio
import itertools
import json
import logging
import os
import sys
from dataclasses import dataclass, field

import torch
import torch.nn as nn
import torch.nn.functional as F

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
DTYPE = torch.bfloat16 if DEVICE.type == "cuda" else torch.float32
log = logging.getLogger("gateway")


@dataclass
class GatewayConfig:
    vocab: int = 97 if SMALL else 32000
    width: int = 32 if SMALL else 1024
    heads: int = 2 if SMALL else 16
    layers: int = 2 if SMALL else 12
    context: int = 64 if SMALL else 1024
    prompt: int = 12 if SMALL else 256
    answer: int = 8 if SMALL else 36
    waves: int = 4 if SMALL else 20
    connections: int = 8
    socket_latency: float = 0.001 if SMALL else 0.012
    seed: int = 401


class DecoderLayer(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.heads = cfg.heads
        self.norm_a, self.norm_m = nn.LayerNorm(cfg.width), nn.LayerNorm(cfg.width)
        self.qkv = nn.Linear(cfg.width, 3 * cfg.width)
        self.proj = nn.Linear(cfg.width, cfg.width)
        self.up, self.down = nn.Linear(cfg.width, 4 * cfg.width), nn.Linear(4 * cfg.width, cfg.width)

    def forward(self, x, kv, start):
        n, width = x.shape
        q, k, v = self.qkv(self.norm_a(x)).view(n, 3, self.heads, -1).permute(1, 2, 0, 3)
        kv[0, :, start:start + n] = k
        kv[1, :, start:start + n] = v
        keys, values = kv[:, :, :start + n]
        mixed = F.scaled_dot_product_attention(q[None], keys[None], values[None], is_causal=n > 1)[0]
        x = x + self.proj(mixed.transpose(0, 1).reshape(n, width))
        return x + self.down(F.gelu(self.up(self.norm_m(x))))


class AnswerDecoder(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.embed = nn.Embedding(cfg.vocab, cfg.width)
        self.position = nn.Embedding(cfg.context, cfg.width)
        self.layers = nn.ModuleList(DecoderLayer(cfg) for _ in range(cfg.layers))
        self.norm = nn.LayerNorm(cfg.width)

    def forward(self, tokens, kv, start):
        x = self.embed(tokens) + self.position.weight[start:start + len(tokens)]
        for layer, arena in zip(self.layers, kv):
            x = layer(x, arena, start)
        return F.linear(self.norm(x[-1]), self.embed.weight)


@dataclass
class Stream:
    ticket: int
    kv: torch.Tensor
    length: int = 0
    sent: list = field(default_factory=list)


class StreamTable:
    """All conversations being answered, by connection number."""

    def __init__(self, cfg):
        self.cfg = cfg
        self.numbers = itertools.count()
        self.open_streams = {}

    def open(self, ticket):
        cfg = self.cfg
        kv = torch.zeros(cfg.layers, 2, cfg.heads, cfg.context, cfg.width // cfg.heads, dtype=DTYPE, device=DEVICE)
        number = next(self.numbers)
        self.open_streams[number] = Stream(ticket, kv)
        return number

    def close(self, number):
        stream = self.open_streams.pop(number)
        log.debug("ticket %d answered with %d tokens", stream.ticket, len(stream.sent))


class Engine:
    def __init__(self, cfg):
        self.cfg = cfg
        self.model = AnswerDecoder(cfg).to(DEVICE, DTYPE).eval()
        self.table = StreamTable(cfg)

    @torch.inference_mode()
    def advance(self, stream, tokens):
        logits = self.model(torch.tensor(tokens, device=DEVICE), stream.kv, stream.length)
        stream.length += len(tokens)
        return int(logits.float().argmax())

    async def stream(self, ticket, prompt):
        number = self.table.open(ticket)
        stream = self.table.open_streams[number]
        token = self.advance(stream, prompt)
        while len(stream.sent) < self.cfg.answer:
            stream.sent.append(token)
            yield token
            token = self.advance(stream, [token])
        self.table.close(number)


class Browser:
    """The other end of a connection; some visitors find the answer early and navigate away."""

    def __init__(self, cfg, patience):
        self.latency = cfg.socket_latency
        self.patience = patience
        self.received = 0

    async def send(self, token):
        await asyncio.sleep(self.latency)
        if self.received == self.patience:
            raise ConnectionResetError("peer went away")
        self.received += 1


class Gateway:
    def __init__(self, cfg):
        self.cfg = cfg
        self.engine = Engine(cfg)
        self.gen = torch.Generator().manual_seed(cfg.seed)
        self.completed = self.dropped = 0

    async def handle(self, ticket, browser):
        prompt = torch.randint(self.cfg.vocab, (self.cfg.prompt,), generator=self.gen).tolist()
        tokens = self.engine.stream(ticket, prompt)
        try:
            async for token in tokens:
                await browser.send(token)
            self.completed += 1
        except ConnectionResetError as gone:
            self.dropped += 1
            log.info("ticket %d: %s after %d tokens", ticket, gone, browser.received)
        finally:
            await tokens.aclose()

    async def wave(self, index):
        cfg, jobs = self.cfg, []
        for slot in range(cfg.connections):
            patience = 1 + slot * cfg.answer // 10 if slot % 3 == 1 else cfg.answer + 1
            jobs.append(self.handle(index * cfg.connections + slot, Browser(cfg, patience)))
        await asyncio.gather(*jobs)


async def serve(cfg):
    torch.manual_seed(cfg.seed)
    gateway, allocated = Gateway(cfg), []
    for index in range(cfg.waves):
        await gateway.wave(index)
        allocated.append(torch.cuda.memory_allocated())
        print(f"wave {index:2d} completed {gateway.completed} dropped {gateway.dropped}")
    print("TRUTH " + json.dumps({"allocated": allocated, "rounds": cfg.waves}), file=sys.stderr)
    return gateway


if __name__ == "__main__":
    logging.basicConfig(level=logging.WARNING)
    done = asyncio.run(serve(GatewayConfig()))
    print(f"{done.completed} answers delivered, {done.dropped} visitors left early")
