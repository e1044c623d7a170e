# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Random search with early termination for a model of battery capacity fade (cycling curves of lithium cells).

Every trial trains a small convolutional regressor on voltage curves. A trial that falls behind the median of the finished
ones, or that diverges, is given up early; the study keeps a record of each so that the table at the end can say why.
"""
import itertools
import json
import os
import statistics
import sys
import time
from dataclasses import dataclass, field

import numpy as np
import torch
import torch.nn.functional as F
from scipy.stats import loguniform
from sklearn.model_selection import ParameterSampler, train_test_split
from torch import nn

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class Config:
    cells: int = 60 if SMALL else 6000
    samples: int = 64 if SMALL else 1024
    channels: int = 3
    width: int = 8 if SMALL else 64
    hidden: int = 32 if SMALL else 640
    batch: int = 16 if SMALL else 256
    trials: int = 10 if SMALL else 70
    epochs: int = 3 if SMALL else 6
    steps: int = 3 if SMALL else 30
    startup: int = 3
    seed: int = 2


class TrialStopped(Exception):
    """Ends a trial from the inside: its budget is spent, or it is not worth more of its time."""

    def __init__(self, reason: str, epoch: int, score: float):
        super().__init__(f"{reason} in epoch {epoch} at {score:.4f}")
        self.reason, self.epoch, self.score = reason, epoch, score


@dataclass
class Trial:
    number: int
    params: dict
    curve: list = field(default_factory=list)
    value: float | None = None
    end: TrialStopped | None = None


class CyclingData:
    """Charge curves with a knee; the target is the number of cycles (in thousands) until 80 % of the capacity."""

    def __init__(self, cfg: Config):
        rng = np.random.default_rng(cfg.seed)
        t = np.linspace(0, 1, cfg.samples, dtype=np.float32)
        life = rng.gamma(6.0, 0.25, size=cfg.cells).astype(np.float32)
        knee = 0.3 + 0.4 / (1 + life[:, None])
        voltage = 3.0 + 1.1 / (1 + np.exp(-12 * (t - knee)))
        current = np.exp(-3 * t) * (1 + 0.1 * rng.standard_normal((cfg.cells, 1)))
        heat = 25 + 6 * t * np.exp(-life[:, None])
        curves = np.stack([voltage, np.broadcast_to(current, voltage.shape), heat], axis=1).astype(np.float32)
        curves += 0.05 * rng.standard_normal(curves.shape).astype(np.float32)
        rows = np.arange(cfg.cells)
        fit, held = train_test_split(rows, test_size=0.2, random_state=cfg.seed)
        curves = torch.from_numpy((curves - curves.mean((0, 2), keepdims=True)) / curves.std((0, 2), keepdims=True))
        life = torch.from_numpy(life)
        self.fit_x, self.fit_y = curves[fit].to(DEVICE), life[fit].to(DEVICE)
        self.held_x, self.held_y = curves[held].to(DEVICE), life[held].to(DEVICE)


class FadeNet(nn.Module):
    def __init__(self, cfg: Config, dropout: float):
        super().__init__()
        w = cfg.width
        self.features = nn.Sequential(nn.Conv1d(cfg.channels, w, 9, stride=4, padding=4), nn.GELU(),
                                      nn.Conv1d(w, 2 * w, 9, stride=4, padding=4), nn.GELU(), nn.AdaptiveAvgPool1d(16))
        self.regress = nn.Sequential(nn.Flatten(), nn.Linear(32 * w, cfg.hidden), nn.GELU(), nn.Dropout(dropout),
                                     nn.Linear(cfg.hidden, cfg.hidden), nn.GELU(), nn.Linear(cfg.hidden, 1))

    def forward(self, x):
        return self.regress(self.features(x)).squeeze(1)


class Study:
    space = {"lr": loguniform(1e-5, 3e-2), "dropout": [0.0, 0.1, 0.3, 0.5], "decay": loguniform(1e-6, 1e-1),
             "beta": [0.9, 0.95, 0.99]}

    def __init__(self, cfg: Config, data: CyclingData):
        self.cfg, self.data = cfg, data
        self.trials: list[Trial] = []
        self.allocated = []

    def median(self, epoch: int) -> float | None:
        seen = [t.curve[epoch] for t in self.trials if t.value is not None and len(t.curve) > epoch]
        return statistics.median(seen) if len(seen) >= self.cfg.startup else None

    def check(self, trial: Trial, epoch: int, score: float):
        trial.curve.append(score)
        if not np.isfinite(score):
            raise TrialStopped("diverged", epoch, score)
        limit = self.median(epoch)
        if limit is not None and score > limit:
            raise TrialStopped("behind the median", epoch, score)
        if epoch + 1 == self.cfg.epochs:
            raise TrialStopped("budget spent", epoch, score)

    def objective(self, trial: Trial):
        c, p = self.cfg, trial.params
        torch.manual_seed(trial.number)
        model = FadeNet(c, p["dropout"]).to(DEVICE)
        optimizer = torch.optim.AdamW(model.parameters(), lr=p["lr"], betas=(p["beta"], 0.999), weight_decay=p["decay"])
        for epoch in itertools.count():
            train_epoch(model, optimizer, self.data, c)
            score = validate(model, self.data)
            self.check(trial, epoch, score)

    def mark(self):
        if DEVICE.type == "cuda":
            self.allocated.append(torch.cuda.memory_allocated())

    def run(self):
        started = time.time()
        for number, params in enumerate(ParameterSampler(self.space, self.cfg.trials, random_state=self.cfg.seed)):
            trial = Trial(number, params)
            try:
                self.objective(trial)
            except TrialStopped as stop:
                trial.end = stop
                trial.value = stop.score if stop.reason == "budget spent" else None
            self.trials.append(trial)
            self.mark()
            print(f"trial {number:3d}  lr {params['lr']:.1e}  {trial.end}  {time.time() - started:.1f} s")

    def table(self):
        done = [t for t in self.trials if t.value is not None]
        for t in sorted(done, key=lambda t: t.value)[:3]:
            print(f"best: {t.value:.4f} with {({k: round(v, 6) for k, v in t.params.items()})}")
        reasons = [t.end.reason for t in self.trials]
        print({reason: reasons.count(reason) for reason in sorted(set(reasons))})
        print("TRUTH " + json.dumps({"allocated": self.allocated, "rounds": len(self.trials)}), file=sys.stderr)


def train_epoch(model, optimizer, data: CyclingData, cfg: Config):
    model.train()
    for _ in range(cfg.steps):
        rows = torch.randint(0, len(data.fit_x), (cfg.batch,), device=DEVICE)
        loss = F.smooth_l1_loss(model(data.fit_x[rows]), data.fit_y[rows])
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()


@torch.no_grad()
def validate(model, data: CyclingData) -> float:
    model.eval()
    error = [(model(x) - y).abs().sum() for x, y in zip(data.held_x.split(500), data.held_y.split(500))]
    return (torch.stack(error).sum() / len(data.held_x)).item()


def main():
    study = Study(Config(), CyclingData(Config()))
    study.run()
    study.table()


if __name__ == "__main__":
    main()
