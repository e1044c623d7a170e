# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Species head on an image encoder for camera-trap pictures; only the head is fitted to the new reserve."""
import json
import os
import sys
import time
from dataclasses import dataclass, field

import torch
import torch.nn as nn
import torch.nn.functional as F

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
SMALL = os.environ.get("SMALL") == "1"


@dataclass
class Rates:
    encoder: float = 0.0
    head: float = 1e-3
    decay: float = 0.01


@dataclass
class Plan:
    image: int = 224
    patch: int = 16
    dim: int = 1024
    depth: int = 16
    heads: int = 16
    species: int = 48
    batch: int = 8
    steps: int = 80
    check_every: int = 20
    pace: float = 0.08
    rates: Rates = field(default_factory=Rates)


class EncoderLayer(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(dim)
        self.qkv = nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, dim)
        self.norm2 = nn.LayerNorm(dim)
        self.up = nn.Linear(dim, 4 * dim)
        self.down = nn.Linear(4 * dim, dim)

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, n, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v)
        x = x + self.out(mixed.transpose(1, 2).reshape(b, n, d))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class ImageEncoder(nn.Module):
    def __init__(self, plan):
        super().__init__()
        cells = (plan.image // plan.patch) ** 2
        self.patches = nn.Conv2d(3, plan.dim, plan.patch, stride=plan.patch)
        self.position = nn.Parameter(torch.zeros(1, cells, plan.dim))
        self.layers = nn.ModuleList(EncoderLayer(plan.dim, plan.heads) for _ in range(plan.depth))
        self.norm = nn.LayerNorm(plan.dim)

    def forward(self, pictures):
        x = self.patches(pictures).flatten(2).transpose(1, 2) + self.position
        for layer in self.layers:
            x = layer(x)
        return self.norm(x).mean(dim=1)


class SpeciesModel(nn.Module):
    def __init__(self, plan):
        super().__init__()
        self.encoder = ImageEncoder(plan)
        self.head = nn.Sequential(nn.Linear(plan.dim, plan.dim), nn.GELU(), nn.Linear(plan.dim, plan.species))

    def forward(self, pictures):
        return self.head(self.encoder(pictures))


class Reserve:
    def __init__(self, plan):
        self.plan = plan
        self.generator = torch.Generator().manual_seed(8)

    def pictures(self):
        shape = (self.plan.batch, 3, self.plan.image, self.plan.image)
        x = torch.rand(shape, generator=self.generator)
        y = torch.randint(0, self.plan.species, (self.plan.batch,), generator=self.generator)
        return x.to(DEVICE), y.to(DEVICE)


def make_optimizer(model, rates):
    groups = [
        {"params": list(model.encoder.parameters()), "lr": rates.encoder},
        {"params": list(model.head.parameters()), "lr": rates.head},
    ]
    return torch.optim.AdamW(groups, weight_decay=rates.decay)


@torch.no_grad()
def check(model, reserve):
    model.eval()
    right = seen = 0
    for _ in range(3):
        pictures, species = reserve.pictures()
        right += (model(pictures).argmax(1) == species).sum().item()
        seen += len(species)
    model.train()
    return right / seen


def fit(plan):
    torch.manual_seed(1)
    model = SpeciesModel(plan).to(DEVICE)
    optimizer = make_optimizer(model, plan.rates)
    reserve = Reserve(plan)
    allocated = []
    for step in range(1, plan.steps + 1):
        pictures, species = reserve.pictures()
        optimizer.zero_grad()
        loss = F.cross_entropy(model(pictures), species)
        loss.backward()
        optimizer.step()
        allocated.append(torch.cuda.memory_allocated() if DEVICE.type == "cuda" else 0)
        if step % plan.check_every == 0:
            print(f"step {step} loss {loss.item():.3f} accuracy {check(model, reserve):.3f}", flush=True)
        time.sleep(plan.pace)
    return model, allocated


if __name__ == "__main__":
    setup = Plan(image=32, dim=32, depth=2, heads=2, batch=2, pace=0.0) if SMALL else Plan()
    trained, rows = fit(setup)
    every = max(1, len(rows) // 10)
    size = sum(p.numel() for p in trained.encoder.parameters())
    print("TRUTH " + json.dumps({"allocated": rows[every - 1::every], "rounds": len(rows), "encoder": size}),
          file=sys.stderr)
