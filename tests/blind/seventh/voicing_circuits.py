# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Which parts of a chorale transformer decide about the leading tone?

Attribution patching: for pairs of chorales which differ in one chord, the effect of every residual and attention output
on a logit difference is estimated with one backward pass; effects are collected in a table by hook point.
"""
import json
import logging
import math
import os
import sys
import time
from collections import defaultdict
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
log = logging.getLogger("voicing")


@dataclass
class StudyConfig:
    chords: int = 120 if SMALL else 2400
    dim: int = 32 if SMALL else 512
    heads: int = 4 if SMALL else 8
    layers: int = 2 if SMALL else 6
    length: int = 12 if SMALL else 64
    variants: int = 3 if SMALL else 8
    pairs: int = 40 if SMALL else 140
    leading_tone: int = 11
    tonic: int = 12


class HookPoint(nn.Module):
    """An identity in the model at which functions can be hung."""

    def __init__(self):
        super().__init__()
        self.name = None
        self.fwd_handles = []
        self.bwd_handles = []

    def forward(self, x):
        return x

    def add_hook(self, fn, direction="fwd"):
        if direction == "fwd":
            handle = self.register_forward_hook(lambda module, args, out: fn(out))
            self.fwd_handles.append(handle)
        elif direction == "bwd":
            handle = self.register_full_backward_hook(lambda module, gin, gout: fn(gout[0]))
            self.bwd_handles.append(handle)
        else:
            raise ValueError(f"unknown direction {direction!r}")

    @staticmethod
    def _detach_all(handles):
        for handle in handles:
            handle.remove()
        return []

    def remove_hooks(self, direction="both"):
        if direction in ("fwd", "both"):
            self.fwd_handles = self._detach_all(self.fwd_handles)
        elif direction in ("bwd", "both"):
            self.bwd_handles = self._detach_all(self.bwd_handles)
        else:
            raise ValueError(f"unknown direction {direction!r}")


class Block(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.heads = cfg.heads
        self.norm1, self.norm2 = nn.LayerNorm(cfg.dim), nn.LayerNorm(cfg.dim)
        self.qkv = nn.Linear(cfg.dim, 3 * cfg.dim)
        self.out = nn.Linear(cfg.dim, cfg.dim)
        self.mlp = nn.Sequential(nn.Linear(cfg.dim, 4 * cfg.dim), nn.GELU(), nn.Linear(4 * cfg.dim, cfg.dim))
        self.hook_attn, self.hook_resid = HookPoint(), HookPoint()

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, t, d)
        x = x + self.hook_attn(self.out(mixed))
        return self.hook_resid(x + self.mlp(self.norm2(x)))


class ChoraleModel(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.embed = nn.Embedding(cfg.chords, cfg.dim)
        self.place = nn.Parameter(torch.randn(cfg.length, cfg.dim) / math.sqrt(cfg.dim))
        self.blocks = nn.ModuleList(Block(cfg) for _ in range(cfg.layers))
        self.head = nn.Linear(cfg.dim, cfg.chords)
        for name, module in self.named_modules():
            if isinstance(module, HookPoint):
                module.name = name

    def hook_points(self):
        return [m for m in self.modules() if isinstance(m, HookPoint)]

    def reset_hooks(self):
        for point in self.hook_points():
            point.remove_hooks()

    def forward(self, chords, track=False):
        x = self.embed(chords) + self.place
        if track:
            x.requires_grad_(True)
        for block in self.blocks:
            x = block(x)
        return self.head(x[:, -1])


class AttributionStudy:
    def __init__(self, cfg):
        self.cfg = cfg
        self.model = ChoraleModel(cfg).to(DEVICE).eval().requires_grad_(False)
        self.table = defaultdict(list)
        self.rng = torch.Generator().manual_seed(5)
        self.allocated = []

    def draw_pair(self):
        clean = torch.randint(20, self.cfg.chords, (self.cfg.variants, self.cfg.length), generator=self.rng)
        corrupt = clean.clone()
        corrupt[:, -3] = torch.randint(20, self.cfg.chords, (self.cfg.variants,), generator=self.rng)
        return clean.to(DEVICE), corrupt.to(DEVICE)

    @torch.no_grad()
    def run_with_cache(self, chords):
        cache = {}
        for point in self.model.hook_points():
            point.add_hook(lambda out, name=point.name: cache.__setitem__(name, out))
        self.model(chords)
        self.model.reset_hooks()
        return cache

    def preference(self, logits):
        return (logits[:, self.cfg.leading_tone] - logits[:, self.cfg.tonic]).sum()

    def attribute(self, clean, corrupt):
        clean_cache = self.run_with_cache(clean)
        corrupt_cache = self.run_with_cache(corrupt)
        shift = {name: clean_cache[name] - corrupt_cache[name] for name in clean_cache}
        effect = {}

        def linear_effect(name):
            return lambda grad: effect.__setitem__(name, (grad * shift[name]).sum().item())

        for point in self.model.hook_points():
            point.add_hook(linear_effect(point.name), "bwd")
        self.preference(self.model(corrupt, track=True)).backward()
        self.model.reset_hooks()
        return effect

    def run(self):
        started = time.time()
        for k in range(self.cfg.pairs):
            for name, value in self.attribute(*self.draw_pair()).items():
                self.table[name].append(value)
            if DEVICE.type == "cuda":
                self.allocated.append(torch.cuda.memory_allocated())
            if (k + 1) % 20 == 0:
                log.info("pair %3d  %.2f s per pair", k + 1, (time.time() - started) / (k + 1))

    def summary(self, top=5):
        strength = {name: sum(abs(v) for v in values) / len(values) for name, values in self.table.items()}
        return sorted(strength.items(), key=lambda item: -item[1])[:top]


def main():
    torch.manual_seed(17)
    study = AttributionStudy(StudyConfig())
    study.run()
    for name, value in study.summary():
        log.info("%-22s %.4f", name, value)
    print("TRUTH " + json.dumps({"allocated": study.allocated, "rounds": study.cfg.pairs}), file=sys.stderr)
    return study


if __name__ == "__main__":
    result = main()
