# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Instruction tuning of a small decoder with a calibration report.

The job shares its GPU with others, so it limits itself to 16 GiB.
"""
import logging
import os
import tempfile
import time
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F

DEVICE = os.environ.get("DEVICE", "cuda")
SMOKE = DEVICE == "cpu"
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
log = logging.getLogger("sft")


@dataclass
class Config:
    vocab: int = 256 if SMOKE else 32000
    dim: int = 32 if SMOKE else 1024
    heads: int = 4 if SMOKE else 16
    layers: int = 2 if SMOKE else 12
    length: int = 24 if SMOKE else 512
    batch: int = 4 if SMOKE else 8
    steps: int = 70 if SMOKE else 400
    eval_batches: int = 6 if SMOKE else 64
    memory_gib: float = 16.0
    seconds: float = 13.0


class Layer(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.heads = cfg.heads
        self.n1, self.n2 = nn.RMSNorm(cfg.dim), nn.RMSNorm(cfg.dim)
        self.qkv = nn.Linear(cfg.dim, 3 * cfg.dim, bias=False)
        self.out = nn.Linear(cfg.dim, cfg.dim, bias=False)
        self.up, self.down = nn.Linear(cfg.dim, 4 * cfg.dim), nn.Linear(4 * cfg.dim, cfg.dim)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(self.n1(x)).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(a.transpose(1, 2).reshape(b, t, d))
        return x + self.down(F.silu(self.up(self.n2(x))))


class Decoder(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.tok = nn.Embedding(cfg.vocab, cfg.dim)
        self.pos = nn.Embedding(cfg.length, cfg.dim)
        self.layers = nn.ModuleList(Layer(cfg) for _ in range(cfg.layers))
        self.norm = nn.RMSNorm(cfg.dim)
        self.head = nn.Linear(cfg.dim, cfg.vocab, bias=False)

    def forward(self, ids):
        x = self.tok(ids) + self.pos.weight[: ids.shape[1]]
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x))


class Dialogues:
    def __init__(self, cfg, seed):
        self.cfg = cfg
        self.gen = torch.Generator().manual_seed(seed)

    def batch(self):
        c = self.cfg
        start = torch.randint(0, c.vocab, (c.batch, 1), generator=self.gen)
        stride = torch.randint(1, 9, (c.batch, 1), generator=self.gen)
        ids = (start + stride * torch.arange(c.length + 1)) % c.vocab
        prompt = torch.randint(c.length // 8, c.length // 3, (c.batch, 1), generator=self.gen)
        target = torch.where(torch.arange(c.length) < prompt, -100, ids[:, 1:])
        return ids[:, :-1].to(DEVICE), target.to(DEVICE)


def calibration_error(logits, target, bins=15):
    keep = target != -100
    conf, guess = logits[keep].softmax(-1).max(-1)
    right = (guess == target[keep]).float()
    which = (conf * bins).long().clamp(max=bins - 1)
    count = torch.bincount(which, minlength=bins).clamp(min=1)
    gap = torch.bincount(which, conf, bins) / count - torch.bincount(which, right, bins) / count
    return (gap.abs() * count / count.sum()).sum().item()


class Tuner:
    def __init__(self, cfg):
        self.cfg = cfg
        self.model = Decoder(cfg).to(DEVICE)
        self.opt = torch.optim.AdamW(self.model.parameters(), lr=2e-4)
        self.train_data, self.val_data = Dialogues(cfg, 1), Dialogues(cfg, 2)

    def logits(self, ids):
        with torch.autocast(DEVICE, dtype=torch.bfloat16):
            return self.model(ids)

    def step(self):
        ids, target = self.train_data.batch()
        loss = F.cross_entropy(self.logits(ids).flatten(0, 1).float(), target.flatten(), ignore_index=-100)
        self.opt.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.opt.step()
        return loss.item()

    @torch.no_grad()
    def evaluate(self):
        self.model.eval()
        outputs, targets = [], []
        for n in range(self.cfg.eval_batches):
            ids, target = self.val_data.batch()
            logits = self.logits(ids)
            outputs.append(logits.float())
            targets.append(target)
        logits, target = torch.cat(outputs).flatten(0, 1), torch.cat(targets).flatten()
        loss = F.cross_entropy(logits, target, ignore_index=-100).item()
        return {"loss": loss, "calibration": calibration_error(logits, target)}


def main():
    torch.manual_seed(0)
    cfg = Config()
    if DEVICE == "cuda":
        total = torch.cuda.get_device_properties(0).total_memory
        torch.cuda.set_per_process_memory_fraction(cfg.memory_gib * 2**30 / total)
    tuner = Tuner(cfg)
    began = time.time()
    for n in range(cfg.steps):
        loss = tuner.step()
        if n % 20 == 0:
            log.info("step %d loss %.4f", n, loss)
        if n >= 60 and time.time() - began > cfg.seconds:
            break
    with tempfile.TemporaryDirectory() as folder:
        torch.save(tuner.model.state_dict(), os.path.join(folder, "sft.pt"))
        log.info("weights saved, evaluating")
        log.info("report %s", tuner.evaluate())


if __name__ == "__main__":
    main()
