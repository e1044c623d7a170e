# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Deep ensemble that forecasts tokamak disruptions from plasma diagnostics, trained in one go with vmap.

All members see the same stream of shots but different bootstrap weights and initial values; the spread between them is
reported as the epistemic part of the warning.
"""
import copy
import json
import os
import sys
import time
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn
from torch.func import functional_call, stack_module_state, vmap

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class Config:
    members: int = 4 if SMALL else 16
    signals: int = 12 if SMALL else 128
    width: int = 32 if SMALL else 1024
    horizons: int = 8
    batch: int = 16 if SMALL else 96
    steps: int = 40 if SMALL else 1200
    report_every: int = 10 if SMALL else 150
    lr: float = 3e-4
    clip: float = 1.0


class Allocations:
    def __init__(self, steps: int):
        self.stride = max(1, -(-steps // 200))
        self.steps = 0
        self.values = []

    def mark(self):
        self.steps += 1
        if DEVICE.type == "cuda" and self.steps % self.stride == 0:
            self.values.append(torch.cuda.memory_allocated())

    def close(self):
        print("TRUTH " + json.dumps({"allocated": self.values, "rounds": self.steps}), file=sys.stderr)


class Shots:
    """Synthetic diagnostics: a hidden stability margin decays and leaves its trace in some of the signals."""

    def __init__(self, cfg: Config):
        self.cfg = cfg
        g = torch.Generator().manual_seed(21)
        self.mixing = torch.randn(6, cfg.signals, generator=g).to(DEVICE)
        self.limits = torch.linspace(-1.0, 1.0, cfg.horizons, device=DEVICE)

    def draw(self):
        hidden = torch.randn(self.cfg.batch, 6, device=DEVICE)
        signals = torch.tanh(hidden @ self.mixing) + 0.2 * torch.randn(self.cfg.batch, self.cfg.signals, device=DEVICE)
        margin = hidden[:, 0] + 0.5 * hidden[:, 1] * hidden[:, 2]
        return signals, (margin.unsqueeze(1) < self.limits).float()


class Predictor(nn.Module):
    def __init__(self, cfg: Config):
        super().__init__()
        w = cfg.width
        self.net = nn.Sequential(nn.Linear(cfg.signals, w), nn.GELU(), nn.Linear(w, 2 * w), nn.GELU(),
                                 nn.Linear(2 * w, w), nn.GELU(), nn.Linear(w, cfg.horizons))

    def forward(self, x):
        return self.net(x)


class Ensemble:
    """Stacked weights of all members; a shell without storage serves as the function that vmap maps."""

    def __init__(self, cfg: Config):
        self.cfg = cfg
        self.members = [Predictor(cfg).to(DEVICE) for _ in range(cfg.members)]
        self.weights, self.buffers = stack_module_state(self.members)
        self.shell = copy.deepcopy(self.members[0]).to("meta")
        self.optimizer = torch.optim.Adam(self.weights.values(), lr=cfg.lr, fused=DEVICE.type == "cuda")

    def __len__(self):
        return len(self.members)

    def call_one(self, weights, buffers, x):
        return functional_call(self.shell, (weights, buffers), (x,))

    def logits(self, x):
        """(members, batch, horizons)"""
        return vmap(self.call_one, in_dims=(0, 0, None))(self.weights, self.buffers, x)

    def step(self, signals, target):
        logits = self.logits(signals)
        bootstrap = torch.poisson(torch.ones(len(self), len(signals), 1, device=DEVICE))
        loss = F.binary_cross_entropy_with_logits(logits, target.expand_as(logits), weight=bootstrap, reduction="none")
        loss = loss.mean(dim=(1, 2)).sum()
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(self.weights.values(), self.cfg.clip * len(self) ** 0.5)
        self.optimizer.step()
        return loss.detach() / len(self)

    @torch.no_grad()
    def warn(self, signals):
        """Mean probability and its spread between the members."""
        p = self.logits(signals).sigmoid()
        return p.mean(0), p.std(0)


class Trainer:
    def __init__(self, cfg: Config):
        self.cfg = cfg
        self.shots = Shots(cfg)
        self.ensemble = Ensemble(cfg)
        self.allocations = Allocations(cfg.steps)

    def validate(self):
        signals, target = self.shots.draw()
        p, spread = self.ensemble.warn(signals)
        brier = (p - target).square().mean().item()
        hit = ((p > 0.5) == target.bool()).float().mean().item()
        return brier, hit, spread.mean().item()

    def run(self):
        started = time.time()
        total = torch.zeros((), device=DEVICE)
        for step in range(1, self.cfg.steps + 1):
            total += self.ensemble.step(*self.shots.draw())
            self.allocations.mark()
            if step % self.cfg.report_every == 0:
                brier, hit, spread = self.validate()
                print(f"step {step:5d}  loss {total.item() / self.cfg.report_every:.4f}  brier {brier:.4f}  right {hit:.3f}  "
                      f"spread {spread:.4f}  {time.time() - started:.1f} s")
                total.zero_()
        self.allocations.close()


def main():
    torch.manual_seed(6)
    cfg = Config()
    trainer = Trainer(cfg)
    size = sum(w[0].numel() for w in trainer.ensemble.weights.values())
    print(f"{len(trainer.ensemble)} members with {size:,} weights each")
    trainer.run()


if __name__ == "__main__":
    main()
