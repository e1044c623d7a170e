# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Slims a churn model by first-order importance of its weights and then answers scoring requests."""
import json
import os
import sys
import time
from collections import deque

import torch
import torch.nn as nn
import torch.nn.functional as F

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
SMALL = os.environ.get("SMALL") == "1"

CONFIG = {
    "features": 64 if SMALL else 512,
    "dim": 64 if SMALL else 2048,
    "hidden": 128 if SMALL else 8192,
    "depth": 8,
    "calibration_batches": 6,
    "calibration_rows": 32 if SMALL else 1024,
    "requests": 170,
    "rows_low": 8 if SMALL else 500,
    "rows_high": 32 if SMALL else 5000,
    "keep_level": 0.3,
    "recent": 32,
    "pace": 0.0 if SMALL else 0.05,
}


class ChurnBlock(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.up = nn.Linear(dim, hidden)
        self.down = nn.Linear(hidden, dim)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(self.norm(x))))


class ChurnModel(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.enter = nn.Linear(cfg["features"], cfg["dim"])
        self.blocks = nn.Sequential(*[ChurnBlock(cfg["dim"], cfg["hidden"]) for _ in range(cfg["depth"])])
        self.leave = nn.Linear(cfg["dim"], 1)

    def forward(self, customers):
        return self.leave(self.blocks(self.enter(customers))).squeeze(-1)


class Slimmer:
    """Cuts weights whose first-order effect on the loss is small."""

    def __init__(self, model, keep_level):
        self.model = model
        self.keep_level = keep_level

    def measure(self, batches):
        self.model.train()
        for customers, left in batches:
            loss = F.binary_cross_entropy_with_logits(self.model(customers), left) / len(batches)
            loss.backward()

    @torch.no_grad()
    def cut(self):
        kept = total = 0
        for module in self.model.modules():
            if isinstance(module, nn.Linear):
                effect = (module.weight * module.weight.grad).abs()
                keep = effect > effect.mean() * self.keep_level
                module.weight.mul_(keep)
                kept += int(keep.sum())
                total += keep.numel()
        return kept / total


class ScoringService:
    def __init__(self, model, recent):
        self.model = model.eval()
        for p in self.model.parameters():
            p.requires_grad_(False)
        self.recent = deque(maxlen=recent)
        self.served = 0

    @torch.inference_mode()
    def score(self, customers):
        risk = torch.sigmoid(self.model(customers.to(DEVICE)))
        self.recent.append(risk.mean())
        self.served += 1
        return risk.cpu()

    def drift(self):
        return torch.stack(list(self.recent)).std(unbiased=False).item()


def calibration_set(cfg, generator):
    batches = []
    for _ in range(cfg["calibration_batches"]):
        x = torch.randn(cfg["calibration_rows"], cfg["features"], generator=generator)
        y = (x[:, 0] > 0.4).float()
        batches.append((x.to(DEVICE), y.to(DEVICE)))
    return batches


def prepare(cfg, generator):
    model = ChurnModel(cfg).to(DEVICE)
    slimmer = Slimmer(model, cfg["keep_level"])
    slimmer.measure(calibration_set(cfg, generator))
    print(f"kept {slimmer.cut():.1%} of the weights", flush=True)
    return model


def main(cfg):
    torch.manual_seed(19)
    generator = torch.Generator().manual_seed(4)
    service = ScoringService(prepare(cfg, generator), cfg["recent"])
    allocated = []
    for number in range(1, cfg["requests"] + 1):
        rows = int(torch.randint(cfg["rows_low"], cfg["rows_high"], (1,), generator=generator))
        service.score(torch.randn(rows, cfg["features"], generator=generator))
        allocated.append(torch.cuda.memory_allocated() if DEVICE.type == "cuda" else 0)
        if number % 40 == 0:
            print(f"served {service.served} drift {service.drift():.5f}", flush=True)
        time.sleep(cfg["pace"])
    every = max(1, len(allocated) // 10)
    print("TRUTH " + json.dumps({"allocated": allocated[every - 1::every], "rounds": len(allocated)}), file=sys.stderr)


if __name__ == "__main__":
    main(CONFIG)
