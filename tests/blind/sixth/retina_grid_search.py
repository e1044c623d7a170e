# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Grid search over learning rate and weight decay for a fundus image grader, all trials in one process.

Every trial trains a fresh convolutional network for a fixed budget, may be stopped early by a median rule, and keeps
its scratch files (the metric curve) in a directory of its own that goes away with the trial. The best setting is
printed at the end.
"""

import csv
import gc
import itertools
import json
import os
import shutil
import sys
import tempfile
import weakref
from dataclasses import dataclass, field
from statistics import median

import torch
import torch.nn.functional as F
from torch import nn

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class SearchSpace:
    learning_rates: tuple = (1e-4, 3e-4, 1e-3) if SMALL else (5e-5, 1e-4, 2e-4, 4e-4, 8e-4, 1.6e-3)
    weight_decays: tuple = (0.0, 1e-2) if SMALL else (0.0, 1e-3, 1e-2, 5e-2)

    def points(self):
        for lr, decay in itertools.product(self.learning_rates, self.weight_decays):
            yield {"lr": lr, "weight_decay": decay}


@dataclass
class SearchConfig:
    grades: int = 5
    image_size: int = 32 if SMALL else 96
    batch_size: int = 4 if SMALL else 128
    widths: tuple = (4, 8, 8, 8) if SMALL else (32, 64, 96, 128)
    hidden: int = 16 if SMALL else 2048
    steps_per_report: int = 1 if SMALL else 30
    reports: int = 2 if SMALL else 4
    warmup_trials: int = 4
    space: SearchSpace = field(default_factory=SearchSpace)


def device_memory() -> int:
    return torch.cuda.memory_allocated() if torch.cuda.is_available() else 0


class FundusSource:
    """Draws synthetic fundus photographs: a grade specific lesion pattern under sensor noise."""

    def __init__(self, config: SearchConfig, seed: int):
        self.config = config
        self.generator = torch.Generator(device=DEVICE).manual_seed(seed)
        size = config.image_size
        self.patterns = torch.randn(config.grades, 3, size, size, generator=self.generator, device=DEVICE)

    def batch(self):
        shape = (self.config.batch_size,)
        grades = torch.randint(self.config.grades, shape, generator=self.generator, device=DEVICE)
        images = self.patterns[grades]
        noise = torch.randn(images.shape, generator=self.generator, device=DEVICE)
        return images.add_(noise, alpha=2.0), grades


class GradingNet(nn.Module):
    """Plain convolutional grader with a two layer classifier."""

    def __init__(self, config: SearchConfig):
        super().__init__()
        blocks, inner = [], 3
        for outer in config.widths:
            blocks += [nn.Conv2d(inner, outer, 3, padding=1, bias=False), nn.BatchNorm2d(outer)]
            blocks += [nn.ReLU(inplace=True), nn.MaxPool2d(2)]
            inner = outer
        side = config.image_size // 2 ** len(config.widths)
        self.features = nn.Sequential(*blocks)
        self.classifier = nn.Sequential(
            nn.Flatten(),
            nn.Linear(inner * side * side, config.hidden),
            nn.ReLU(inplace=True),
            nn.Linear(config.hidden, config.hidden),
            nn.ReLU(inplace=True),
            nn.Linear(config.hidden, config.grades),
        )

    def forward(self, images):
        return self.classifier(self.features(images))


class MedianStopper:
    """Stops a trial whose loss at a report is worse than the median of the earlier trials."""

    def __init__(self, warmup_trials: int):
        self.warmup_trials = warmup_trials
        self.curves = []

    def should_stop(self, report: int, loss: float) -> bool:
        seen = [curve[report] for curve in self.curves if len(curve) > report]
        return len(self.curves) >= self.warmup_trials and bool(seen) and loss > 2.0 * median(seen)

    def add(self, curve):
        self.curves.append(list(curve))


class Trial:
    """One point of the grid: network, optimizer and a scratch directory for its curve."""

    def __init__(self, number: int, params: dict, config: SearchConfig):
        self.number = number
        self.params = params
        self.config = config
        self.curve = []
        self.scratch = tempfile.mkdtemp(prefix=f"trial{number:03d}-")
        self.network = GradingNet(config).to(DEVICE)
        self.optimizer = torch.optim.AdamW(self.network.parameters(), **params)
        self._cleanup = weakref.finalize(self, self.remove_scratch)

    def remove_scratch(self):
        shutil.rmtree(self.scratch, ignore_errors=True)

    def train_until_report(self, source: FundusSource) -> float:
        self.network.train()
        total = 0.0
        for _ in range(self.config.steps_per_report):
            images, grades = source.batch()
            self.optimizer.zero_grad(set_to_none=True)
            loss = F.cross_entropy(self.network(images), grades, label_smoothing=0.05)
            loss.backward()
            self.optimizer.step()
            total += loss.item()
        return total / self.config.steps_per_report

    def report(self, loss: float):
        self.curve.append(loss)
        with open(os.path.join(self.scratch, "curve.csv"), "a", newline="") as handle:
            csv.writer(handle).writerow([len(self.curve), f"{loss:.5f}"])

    @torch.no_grad()
    def validate(self, source: FundusSource) -> float:
        self.network.eval()
        images, grades = source.batch()
        return (self.network(images).argmax(dim=1) == grades).float().mean().item()


class GridSearch:
    def __init__(self, config: SearchConfig):
        self.config = config
        self.stopper = MedianStopper(config.warmup_trials)
        self.results = []

    def objective(self, number: int, params: dict) -> float:
        torch.manual_seed(number)
        trial = Trial(number, params, self.config)
        source = FundusSource(self.config, seed=7)
        for index in range(self.config.reports):
            loss = trial.train_until_report(source)
            trial.report(loss)
            if self.stopper.should_stop(index, loss):
                break
        self.stopper.add(trial.curve)
        return trial.validate(FundusSource(self.config, seed=11))

    def run(self, allocated):
        for number, params in enumerate(self.config.space.points()):
            score = self.objective(number, params)
            self.results.append((score, params))
            gc.collect()
            if torch.cuda.is_available():
                torch.cuda.empty_cache()
            allocated.append(device_memory())
            print(f"trial {number:2d} {params} accuracy {score:.3f}", flush=True)
        return max(self.results, key=lambda item: item[0])


def main():
    allocated = []
    try:
        score, params = GridSearch(SearchConfig()).run(allocated)
        print(f"best accuracy {score:.3f} with {params}")
    finally:
        print("TRUTH " + json.dumps({"allocated": allocated, "rounds": len(allocated)}), file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
