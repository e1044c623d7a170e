# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Where in a transformer of genealogies does the degree of kinship become readable?

For each layer in turn the residual stream is recorded over a corpus of family records, a multinomial probe is fitted to
it by stochastic gradient descent, and the accuracy on held-out records is noted. The result is a curve over the layers.
"""
import json
import logging
import math
import os
import sys
import time
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
log = logging.getLogger("kinship")


@dataclass
class ProbeConfig:
    names: int = 100 if SMALL else 5000
    relations: int = 6 if SMALL else 24
    dim: int = 32 if SMALL else 768
    heads: int = 4 if SMALL else 12
    layers: int = 4 if SMALL else 8
    length: int = 8 if SMALL else 64
    records: int = 8 if SMALL else 128
    batches: int = 12 if SMALL else 56
    heldout: int = 3 if SMALL else 8
    epochs: int = 2 if SMALL else 3
    lr: float = 2e-3


class GenealogyTransformer(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.names = nn.Embedding(cfg.names, cfg.dim)
        self.positions = nn.Parameter(torch.randn(cfg.length, cfg.dim) / math.sqrt(cfg.dim))
        self.blocks = nn.ModuleList(
            nn.TransformerEncoderLayer(cfg.dim, cfg.heads, 4 * cfg.dim, dropout=0.0, activation="gelu", batch_first=True,
                                       norm_first=True) for _ in range(cfg.layers))

    def forward(self, records):
        x = self.names(records) + self.positions
        for block in self.blocks:
            x = block(x)
        return x


class FamilyRecords:
    """Batches that can be drawn again by their number."""

    def __init__(self, cfg):
        self.cfg = cfg

    def batch(self, number):
        rng = torch.Generator(device=DEVICE).manual_seed(number)
        records = torch.randint(self.cfg.names, (self.cfg.records, self.cfg.length), generator=rng, device=DEVICE)
        relation = (records + records.roll(1, dims=1)) % self.cfg.relations
        return records, relation


class ResidualRecorder:
    """Records the output of one block while it is open."""

    def __init__(self):
        self.parts = []
        self.handle = None

    def open(self, block):
        self.parts.clear()
        self.handle = block.register_forward_hook(self.take)

    def take(self, block, args, output):
        self.parts.append(output.detach())

    def close(self):
        self.handle.remove()
        self.handle = None


class Probe:
    def __init__(self, cfg):
        self.cfg = cfg
        self.linear = nn.Linear(cfg.dim, cfg.relations).to(DEVICE)
        self.optimizer = torch.optim.AdamW(self.linear.parameters(), lr=cfg.lr)

    def fit(self, features, targets):
        order = list(range(len(features)))
        for epoch in range(self.cfg.epochs):
            for i in order[epoch % 2:] + order[:epoch % 2]:
                for x, y in zip(features[i].chunk(4), targets[i].chunk(4)):
                    loss = F.cross_entropy(self.linear(x).flatten(0, 1), y.flatten())
                    self.optimizer.zero_grad(set_to_none=True)
                    loss.backward()
                    self.optimizer.step()

    @torch.no_grad()
    def accuracy(self, features, targets):
        hits = sum((self.linear(x).argmax(-1) == y).float().mean().item() for x, y in zip(features, targets))
        return hits / len(features)


class LayerSweep:
    def __init__(self, cfg):
        self.cfg = cfg
        self.model = GenealogyTransformer(cfg).to(DEVICE).eval().requires_grad_(False)
        self.data = FamilyRecords(cfg)
        self.recorder = ResidualRecorder()
        self.curve = []
        self.allocated = []

    def record(self, layer):
        self.recorder.open(self.model.blocks[layer])
        relations = []
        with torch.no_grad():
            for number in range(self.cfg.batches):
                records, relation = self.data.batch(number)
                self.model(records)
                relations.append(relation)
                if DEVICE.type == "cuda":
                    self.allocated.append(torch.cuda.memory_allocated())
        self.recorder.close()
        return self.recorder.parts, relations

    def visit(self, layer):
        features, relations = self.record(layer)
        cut = len(features) - self.cfg.heldout
        probe = Probe(self.cfg)
        probe.fit(features[:cut], relations[:cut])
        return probe.accuracy(features[cut:], relations[cut:])

    def run(self):
        started = time.time()
        for layer in range(self.cfg.layers):
            self.curve.append(self.visit(layer))
            log.info("layer %2d  accuracy %.3f  %.1f s", layer, self.curve[-1], time.time() - started)
        self.recorder.parts.clear()
        if DEVICE.type == "cuda":
            self.allocated.append(torch.cuda.memory_allocated())
        return max(range(len(self.curve)), key=self.curve.__getitem__)


def main():
    torch.manual_seed(4)
    sweep = LayerSweep(ProbeConfig())
    log.info("%.1f M parameters", sum(p.numel() for p in sweep.model.parameters()) / 1e6)
    best = sweep.run()
    log.info("most readable after layer %d", best)
    stride = len(sweep.allocated) // 200 + 1
    rounds = sweep.cfg.layers * sweep.cfg.batches
    print("TRUTH " + json.dumps({"allocated": sweep.allocated[::stride], "rounds": rounds}), file=sys.stderr)
    return sweep


if __name__ == "__main__":
    result = main()
