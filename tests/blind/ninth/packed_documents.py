# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Language model training on packed documents.

Several documents share one row of 2048 tokens; a block mask keeps them apart.
Masks are cached since building one takes several kernels.
"""
import functools
import logging
import math
import os
import random
import tempfile
import time
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F

DEVICE = os.environ.get("DEVICE", "cuda")
SMOKE = DEVICE == "cpu"
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
log = logging.getLogger("packed")


@dataclass
class Config:
    vocab: int = 256 if SMOKE else 8192
    dim: int = 32 if SMOKE else 768
    heads: int = 4 if SMOKE else 12
    layers: int = 2 if SMOKE else 12
    row: int = 64 if SMOKE else 2048
    rows: int = 2
    min_doc: int = 5 if SMOKE else 40
    max_doc: int = 30 if SMOKE else 700
    steps: int = 80 if SMOKE else 560
    eval_every: int = 40 if SMOKE else 100
    lr: float = 3e-4
    seconds: float = 17.0


@functools.lru_cache(maxsize=2048)
def block_mask(lengths, device):
    """Boolean mask (row, row): causal and within the same document."""
    doc = torch.repeat_interleave(torch.arange(len(lengths)), torch.tensor(lengths)).to(device)
    same = doc[:, None] == doc[None, :]
    return same.tril()


class PackedDocuments:
    def __init__(self, cfg, seed):
        self.cfg = cfg
        self.rng = random.Random(seed)
        self.gen = torch.Generator().manual_seed(seed)

    def lengths(self):
        c, left, out = self.cfg, self.cfg.row, []
        while left > 0:
            n = min(left, self.rng.randint(c.min_doc, c.max_doc))
            out.append(n)
            left -= n
        return tuple(out)

    def row(self):
        lengths = self.lengths()
        pieces = []
        for n in lengths:
            start, stride = torch.randint(0, self.cfg.vocab, (2,), generator=self.gen).tolist()
            pieces.append((start + (1 + stride % 7) * torch.arange(n)) % self.cfg.vocab)
        return torch.cat(pieces), lengths

    def batch(self):
        rows, lengths = zip(*(self.row() for _ in range(self.cfg.rows)))
        return torch.stack(rows).to(DEVICE), lengths


class Block(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.heads = cfg.heads
        self.n1, self.n2 = nn.LayerNorm(cfg.dim), nn.LayerNorm(cfg.dim)
        self.qkv, self.out = nn.Linear(cfg.dim, 3 * cfg.dim), nn.Linear(cfg.dim, cfg.dim)
        self.mlp = nn.Sequential(nn.Linear(cfg.dim, 4 * cfg.dim), nn.GELU(), nn.Linear(4 * cfg.dim, cfg.dim))

    def forward(self, x, mask):
        b, t, d = x.shape
        q, k, v = self.qkv(self.n1(x)).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        a = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        x = x + self.out(a.transpose(1, 2).reshape(b, t, d))
        return x + self.mlp(self.n2(x))


class PackedLM(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.tok = nn.Embedding(cfg.vocab, cfg.dim)
        self.pos = nn.Embedding(cfg.row, cfg.dim)
        self.blocks = nn.ModuleList(Block(cfg) for _ in range(cfg.layers))
        self.norm = nn.LayerNorm(cfg.dim)
        self.head = nn.Linear(cfg.dim, cfg.vocab, bias=False)

    def forward(self, ids, lengths):
        mask = torch.stack([block_mask(n, ids.device) for n in lengths])[:, None]
        x = self.tok(ids) + self.pos.weight
        for blk in self.blocks:
            x = blk(x, mask)
        return self.head(self.norm(x))


class Trainer:
    def __init__(self, cfg):
        self.cfg = cfg
        self.model = PackedLM(cfg).to(DEVICE)
        self.opt = torch.optim.AdamW(self.model.parameters(), lr=cfg.lr)
        self.train_data = PackedDocuments(cfg, 1)
        held_out = PackedDocuments(cfg, 2)
        self.val_batches = [held_out.batch() for _ in range(4)]

    def loss(self, ids, lengths):
        with torch.autocast(DEVICE, dtype=torch.bfloat16):
            logits = self.model(ids, lengths)
        return F.cross_entropy(logits[:, :-1].flatten(0, 1).float(), ids[:, 1:].flatten())

    def step(self):
        loss = self.loss(*self.train_data.batch())
        self.opt.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.opt.step()
        return loss.item()

    @torch.no_grad()
    def perplexity(self):
        losses = [self.loss(*b).item() for b in self.val_batches]
        return math.exp(min(20, sum(losses) / len(losses)))


def main():
    torch.manual_seed(0)
    cfg = Config()
    trainer = Trainer(cfg)
    began = time.time()
    with tempfile.TemporaryDirectory() as folder:
        for n in range(cfg.steps):
            loss = trainer.step()
            if n % 25 == 0:
                log.info("step %d loss %.4f", n, loss)
            if (n + 1) % cfg.eval_every == 0:
                log.info("step %d ppl %.2f masks %s", n, trainer.perplexity(), block_mask.cache_info())
                torch.save(trainer.model.state_dict(), os.path.join(folder, "lm.pt"))
            if n >= 60 and time.time() - began > cfg.seconds:
                break


if __name__ == "__main__":
    main()
