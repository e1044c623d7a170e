# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Text generation server with a prefix cache.

Requests come in bursts. Each burst shares one of a few dozen system prompts
whose keys and values are kept in an LRU cache with a limit in bytes.
"""
import logging
import os
import random
import time
from collections import OrderedDict
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F

DEVICE = os.environ.get("DEVICE", "cuda")
SMOKE = DEVICE == "cpu"
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
log = logging.getLogger("serve")


@dataclass
class Config:
    vocab: int = 300 if SMOKE else 32000
    dim: int = 32 if SMOKE else 2048
    layers: int = 2 if SMOKE else 16
    heads: int = 4 if SMOKE else 16
    prompts: int = 40
    cache_bytes: int = 200_000 if SMOKE else 3 * 2**30
    max_burst: int = 4 if SMOKE else 10
    bursts: int = 70 if SMOKE else 260
    seconds: float = 17.0


class Layer(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.heads = cfg.heads
        self.n1, self.n2 = nn.RMSNorm(cfg.dim), nn.RMSNorm(cfg.dim)
        self.qkv = nn.Linear(cfg.dim, 3 * cfg.dim, bias=False)
        self.out = nn.Linear(cfg.dim, cfg.dim, bias=False)
        self.mlp = nn.Sequential(nn.Linear(cfg.dim, 4 * cfg.dim), nn.SiLU(), nn.Linear(4 * cfg.dim, cfg.dim))

    def forward(self, x, kv, pos):
        b, t, d = x.shape
        q, k, v = self.qkv(self.n1(x)).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        kv[0, :, :, pos:pos + t] = k
        kv[1, :, :, pos:pos + t] = v
        a = F.scaled_dot_product_attention(q, kv[0, :, :, :pos + t], kv[1, :, :, :pos + t],
                                           is_causal=t > 1 and pos == 0)
        x = x + self.out(a.transpose(1, 2).reshape(b, t, d))
        return x + self.mlp(self.n2(x))


class Decoder(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.emb = nn.Embedding(cfg.vocab, cfg.dim)
        self.layers = nn.ModuleList(Layer(cfg) for _ in range(cfg.layers))
        self.norm = nn.RMSNorm(cfg.dim)
        self.head = nn.Linear(cfg.dim, cfg.vocab, bias=False)

    def new_kv(self, batch, length):
        c = self.cfg
        w = self.emb.weight
        return torch.zeros(c.layers, 2, batch, c.heads, length, c.dim // c.heads, dtype=w.dtype, device=w.device)

    def forward(self, ids, kv, pos):
        x = self.emb(ids)
        for i, layer in enumerate(self.layers):
            x = layer(x, kv[i], pos)
        return self.head(self.norm(x[:, -1]))


class PrefixCache:
    """LRU over prompt id; the oldest entries go when the limit is passed."""

    def __init__(self, limit):
        self.limit, self.used = limit, 0
        self.entries = OrderedDict()
        self.hits = self.misses = 0

    def get(self, key):
        if key not in self.entries:
            self.misses += 1
            return None
        self.hits += 1
        self.entries.move_to_end(key)
        return self.entries[key]

    def put(self, key, kv):
        self.entries[key] = kv
        self.used += kv.numel() * kv.element_size()
        while self.used > self.limit and len(self.entries) > 1:
            _, old = self.entries.popitem(last=False)
            self.used -= old.numel() * old.element_size()


class Server:
    def __init__(self, cfg):
        self.cfg = cfg
        self.model = Decoder(cfg).to(DEVICE, torch.bfloat16).eval()
        self.cache = PrefixCache(cfg.cache_bytes)
        rng = random.Random(5)
        lengths = [rng.randint(4, 12) if SMOKE else rng.randint(256, 1024) for _ in range(cfg.prompts)]
        self.prompts = [torch.randint(0, cfg.vocab, (1, n)) for n in lengths]
        self.tokens = 0

    def prefix(self, pid):
        kv = self.cache.get(pid)
        if kv is None:
            ids = self.prompts[pid].to(DEVICE)
            kv = self.model.new_kv(1, ids.shape[1])
            self.model(ids, kv, 0)
            self.cache.put(pid, kv)
        return kv

    @torch.inference_mode()
    def burst(self, pid, count, new_tokens):
        base = self.prefix(pid)
        start = base.shape[4]
        kv = self.model.new_kv(count, start + new_tokens)
        kv[..., :start, :] = base
        ids = torch.randint(0, self.cfg.vocab, (count, 1), device=DEVICE)
        out = []
        for i in range(new_tokens):
            logits = self.model(ids, kv, start + i)
            ids = torch.multinomial(logits.float().softmax(-1), 1)
            out.append(ids)
        self.tokens += count * new_tokens
        return torch.cat(out, dim=1).cpu().tolist()


def main():
    torch.manual_seed(0)
    cfg = Config()
    server = Server(cfg)
    rng = random.Random(1)
    began, done = time.time(), 0
    for n in range(cfg.bursts):
        pid = min(int(rng.paretovariate(0.6)) - 1, cfg.prompts - 1)
        answers = server.burst(pid, rng.randint(1, cfg.max_burst), rng.choice([8, 24, 48]))
        done += len(answers)
        if n % 20 == 0:
            log.info("burst %d requests %d cache %d entries %.0f MB hit rate %.2f", n, done,
                     len(server.cache.entries), server.cache.used / 2**20, server.cache.hits / (n + 1))
        if n >= 60 and time.time() - began > cfg.seconds:
            break
    log.info("served %d requests, %d tokens", done, server.tokens)


if __name__ == "__main__":
    main()
