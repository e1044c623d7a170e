# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Language model with ALiBi, trained on length-bucketed batches. Bias tensors are cached per bucket."""
import functools
import math
import os
import random
import tempfile
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

DEVICE = os.environ.get("DEVICE", "cuda")
TINY = DEVICE == "cpu"

CFG = {
    "vocab": 200 if TINY else 8000,
    "dim": 32 if TINY else 512,
    "heads": 4 if TINY else 16,
    "layers": 2 if TINY else 6,
    "bucket": 16 if TINY else 128,
    "n_buckets": 6 if TINY else 14,
    "tokens_per_batch": 256 if TINY else 8192,
    "steps": 100 if TINY else 180,
    "lr": 3e-4,
    "max_seconds": 18.0,
    "seed": 9,
}


def slopes(heads):
    return torch.tensor([2 ** (-8 * (h + 1) / heads) for h in range(heads)])


@functools.lru_cache(maxsize=16)
def alibi_bias(length, heads, device):
    """[1, heads, length, length] additive bias, -inf above the diagonal."""
    pos = torch.arange(length, device=device)
    dist = (pos[None, :] - pos[:, None]).float()
    bias = slopes(heads).to(device)[:, None, None] * dist
    bias = bias.masked_fill(dist > 0, float("-inf"))
    return bias[None]


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, dim)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        bias = alibi_bias(t, self.heads, str(x.device)).to(q.dtype)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=bias.expand(b, -1, -1, -1))
        return self.out(y.transpose(1, 2).reshape(b, t, d))


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attn = Attention(dim, heads)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))

    def forward(self, x):
        x = x + self.attn(self.n1(x))
        return x + self.mlp(self.n2(x))


class AlibiLM(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.emb = nn.Embedding(cfg["vocab"], cfg["dim"])
        self.blocks = nn.ModuleList(Block(cfg["dim"], cfg["heads"]) for _ in range(cfg["layers"]))
        self.norm = nn.LayerNorm(cfg["dim"])

    def forward(self, ids):
        x = self.emb(ids)
        for blk in self.blocks:
            x = blk(x)
        return F.linear(self.norm(x), self.emb.weight)


class BucketSampler:
    """Short buckets are common, the longest ones only turn up every now and then."""

    def __init__(self, cfg):
        self.cfg, self.rng = cfg, random.Random(cfg["seed"])
        n = cfg["n_buckets"]
        self.weights = [math.exp(-3.0 * i / n) for i in range(n)]

    def __iter__(self):
        c = self.cfg
        g = torch.Generator().manual_seed(c["seed"])
        for _ in range(c["steps"]):
            time.sleep(0 if TINY else 0.02)
            bucket = self.rng.choices(range(1, c["n_buckets"] + 1), self.weights)[0]
            length = bucket * c["bucket"]
            rows = max(1, c["tokens_per_batch"] // length)
            yield torch.randint(0, c["vocab"], (rows, length + 1), generator=g)[:, : length + 1]


def train(cfg, folder):
    model = AlibiLM(cfg).to(DEVICE)
    opt = torch.optim.AdamW(model.parameters(), lr=cfg["lr"], betas=(0.9, 0.95))
    t0, seen = time.time(), set()
    for step, ids in enumerate(BucketSampler(cfg)):
        ids = ids.to(DEVICE)
        inp, tgt = ids[:, :-1], ids[:, 1:]
        seen.add(inp.shape[1])
        with torch.autocast(DEVICE, dtype=torch.bfloat16):
            logits = model(inp)
        loss = F.cross_entropy(logits.float().flatten(0, 1), tgt.flatten())
        opt.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        if step % 20 == 0:
            info = alibi_bias.cache_info()
            print(f"step {step} loss {loss.item():.3f} lengths seen {len(seen)} bias cache {info.currsize}/"
                  f"{info.maxsize} hits {info.hits} {time.time() - t0:.1f}s", flush=True)
        if step and step % 80 == 0:
            torch.save(model.state_dict(), os.path.join(folder, f"lm_{step}.pt"))
        if time.time() - t0 > cfg["max_seconds"]:
            break
    return step


def main():
    torch.manual_seed(CFG["seed"])
    with tempfile.TemporaryDirectory() as folder:
        last = train(CFG, folder)
    print(f"stopped after step {last}, {alibi_bias.cache_info()}")


if __name__ == "__main__":
    main()
