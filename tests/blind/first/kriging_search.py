# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Hyperparameter search for a Gaussian-process emulator of a groundwater simulator.

Every trial draws a subset of the design, takes a few gradient steps on the marginal likelihood from one starting
point and reports the negative log likelihood.  Starting points for which the covariance is not positive definite are
reported at the end, together with the reason.
"""
import itertools
import json
import math
import os
import sys
import time
from dataclasses import dataclass, field

import torch

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class Search:
    design: int = 500 if SMALL else 20_000
    subset: int = 128 if SMALL else 6144
    inputs: int = 6
    steps: int = 3
    lr: float = 0.02
    length_scales: tuple = (0.04, 3.0, 0.06, 4.0)
    nuggets: tuple = (3e-2, 1e-9)
    restarts: int = 6
    device_budget_gib: float = 5.2
    pause: float = 0.0 if SMALL else 0.05
    seed: int = 17


@dataclass
class Trial:
    number: int
    length_scale: float
    nugget: float
    restart: int
    nll: float = math.inf
    state: str = "running"
    reason: object = None


@dataclass
class Study:
    trials: list = field(default_factory=list)

    @property
    def finished(self):
        return [t for t in self.trials if t.state == "complete"]

    def best(self):
        return min(self.finished, key=lambda t: t.nll)

    def summary(self):
        lines = []
        for t in self.trials:
            note = f"nll {t.nll:.3f}" if t.state == "complete" else f"{type(t.reason).__name__}"
            lines.append(f"  #{t.number:02d} l={t.length_scale:<5} nugget={t.nugget:<6g} {t.state:8s} {note}")
        return "\n".join(lines)


class Emulator:
    def __init__(self, x, y, length_scale, nugget):
        self.x, self.y, self.nugget = x, y, nugget
        self.log_length = torch.tensor(math.log(length_scale), device=DEVICE, requires_grad=True)
        self.log_var = torch.zeros((), device=DEVICE, requires_grad=True)

    def parameters(self):
        return [self.log_length, self.log_var]

    def covariance(self):
        d2 = torch.cdist(self.x, self.x).square_()
        shape = torch.exp(-0.5 * d2 * torch.exp(-2 * self.log_length))
        k = torch.exp(self.log_var) * shape
        return k + self.nugget * torch.eye(len(self.x), device=DEVICE)

    def nll(self):
        k = self.covariance()
        chol = torch.linalg.cholesky(k)
        alpha = torch.cholesky_solve(self.y[:, None], chol)[:, 0]
        return (0.5 * self.y @ alpha + chol.diagonal().log().sum()) / len(self.y)


def make_design(cfg: Search):
    g = torch.Generator().manual_seed(cfg.seed)
    x = torch.rand(cfg.design, cfg.inputs, generator=g)
    y = torch.sin(3 * x[:, 0]) + x[:, 1] * x[:, 2] + 0.1 * torch.randn(cfg.design, generator=g)
    return x.to(DEVICE), (y - y.mean()).to(DEVICE)


def run_trial(cfg: Search, trial: Trial, x, y):
    g = torch.Generator().manual_seed(1000 + trial.restart)
    pick = torch.randperm(cfg.design, generator=g)[:cfg.subset].to(DEVICE)
    emulator = Emulator(x[pick], y[pick], trial.length_scale, trial.nugget)
    optimizer = torch.optim.Adam(emulator.parameters(), lr=cfg.lr)
    for _ in range(cfg.steps):
        optimizer.zero_grad(set_to_none=True)
        value = emulator.nll()
        value.backward()
        optimizer.step()
        trial.nll = value.item()


def search(cfg: Search, study: Study, x, y, watch):
    grid = itertools.product(range(cfg.restarts), cfg.nuggets, cfg.length_scales)
    for number, (restart, nugget, length_scale) in enumerate(grid):
        trial = Trial(number, length_scale, nugget, restart)
        study.trials.append(trial)
        try:
            run_trial(cfg, trial, x, y)
            trial.state = "complete"
        except torch.linalg.LinAlgError as error:
            trial.state, trial.reason = "failed", error
        watch.append(torch.cuda.memory_allocated())
        if number % 8 == 7:
            print(f"{number + 1} trials, {len(study.finished)} complete, best {study.best().nll:.4f}", flush=True)
        time.sleep(cfg.pause)


def main():
    cfg = Search()
    torch.manual_seed(cfg.seed)
    if DEVICE.type == "cuda":
        # the emulator shares its card with the flow solver
        total = torch.cuda.get_device_properties(0).total_memory
        torch.cuda.set_per_process_memory_fraction(cfg.device_budget_gib * 2 ** 30 / total)
    x, y = make_design(cfg)
    study, watch = Study(), []
    try:
        search(cfg, study, x, y, watch)
        print(study.summary())
        print("best", study.best())
    finally:
        print("TRUTH " + json.dumps({"allocated": watch[::4], "rounds": len(study.trials),
                                     "failed": sum(t.state == "failed" for t in study.trials)}),
              file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
