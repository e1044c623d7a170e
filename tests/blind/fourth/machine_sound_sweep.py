# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Hyperparameter sweep for a classifier of machine sounds (log-mel patches), with early stopping of weak trials."""

import json
import math
import os
import random
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torchvision.models import resnet18

SMALL = os.environ.get("SMALL") == "1"


@dataclass(frozen=True)
class SweepConfig:
    machines: int = 10
    mel_bands: int = 32 if SMALL else 96
    frames: int = 32 if SMALL else 128
    clips: int = 16 if SMALL else 2048
    holdout: int = 8 if SMALL else 512
    batch: int = 8 if SMALL else 128
    epochs: int = 4
    rung: int = 1
    trials: int = 5 if SMALL else 34
    production_accuracy: float = 0.62
    margin: float = 0.05
    seed: int = 13


@dataclass(frozen=True)
class TrialParams:
    number: int
    lr: float
    weight_decay: float
    smoothing: float
    mask_width: int


@dataclass
class TrialRecord:
    params: TrialParams
    state: str
    accuracy: float
    reason: Exception | None = None
    curve: list[float] = field(default_factory=list)


class TrialStopped(Exception):
    """Raised by the gate when a trial falls short of the production model."""

    def __init__(self, epoch: int, accuracy: float, needed: float) -> None:
        super().__init__(f"epoch {epoch}: {accuracy:.3f} is below {needed:.3f}")
        self.epoch = epoch
        self.accuracy = accuracy


class ProductionGate:
    def __init__(self, cfg: SweepConfig) -> None:
        self.cfg = cfg

    def check(self, epoch: int, accuracy: float) -> None:
        needed = self.cfg.production_accuracy - self.cfg.margin * (self.cfg.epochs - epoch)
        if epoch >= self.cfg.rung and accuracy < needed:
            raise TrialStopped(epoch, accuracy, needed)


class ClipSet:
    """All clips live on the device; they are shared by the trials."""

    def __init__(self, cfg: SweepConfig, device: torch.device) -> None:
        self.cfg = cfg
        generator = torch.Generator(device=device).manual_seed(cfg.seed)
        shape = (cfg.clips + cfg.holdout, 1, cfg.mel_bands, cfg.frames)
        self.patches = torch.randn(shape, generator=generator, device=device)
        self.labels = torch.randint(cfg.machines, shape[:1], generator=generator, device=device)

    def train_batches(self) -> Iterator[tuple[Tensor, Tensor]]:
        order = torch.randperm(self.cfg.clips, device=self.labels.device)
        for rows in order.split(self.cfg.batch):
            yield self.patches[rows], self.labels[rows]

    def holdout_batches(self) -> Iterator[tuple[Tensor, Tensor]]:
        patches, labels = self.patches[self.cfg.clips :], self.labels[self.cfg.clips :]
        yield from zip(patches.split(self.cfg.batch), labels.split(self.cfg.batch), strict=True)


class TrialRunner:
    def __init__(self, cfg: SweepConfig, params: TrialParams, device: torch.device) -> None:
        self.cfg = cfg
        self.params = params
        with device:
            self.model = resnet18(num_classes=cfg.machines)
            self.model.conv1 = nn.Conv2d(1, 64, kernel_size=7, stride=2, padding=3, bias=False)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=params.lr, weight_decay=params.weight_decay)

    def _mask_bands(self, patches: Tensor) -> Tensor:
        start = random.randrange(self.cfg.mel_bands - self.params.mask_width)
        masked = patches.clone()
        masked[:, :, start : start + self.params.mask_width] = 0.0
        return masked

    def train_epoch(self, clips: ClipSet) -> float:
        self.model.train()
        total = torch.zeros((), device=clips.labels.device)
        for patches, labels in clips.train_batches():
            self.optimizer.zero_grad(set_to_none=True)
            logits = self.model(self._mask_bands(patches))
            loss = F.cross_entropy(logits, labels, label_smoothing=self.params.smoothing)
            loss.backward()
            self.optimizer.step()
            total += loss.detach() * labels.numel()
        return total.item() / self.cfg.clips

    @torch.no_grad()
    def accuracy(self, clips: ClipSet) -> float:
        self.model.eval()
        hits = sum(
            (self.model(patches).argmax(-1) == labels).sum().item() for patches, labels in clips.holdout_batches()
        )
        return hits / self.cfg.holdout


class Sweep:
    def __init__(self, cfg: SweepConfig, device: torch.device) -> None:
        self.cfg = cfg
        self.device = device
        self.clips = ClipSet(cfg, device)
        self.gate = ProductionGate(cfg)
        self.random = random.Random(cfg.seed)
        self.records: list[TrialRecord] = []

    def suggest(self, number: int) -> TrialParams:
        return TrialParams(
            number=number,
            lr=math.exp(self.random.uniform(math.log(1e-5), math.log(3e-3))),
            weight_decay=self.random.choice([0.0, 0.01, 0.05]),
            smoothing=self.random.choice([0.0, 0.05, 0.1]),
            mask_width=self.random.randint(2, 12),
        )

    def objective(self, params: TrialParams) -> TrialRecord:
        runner = TrialRunner(self.cfg, params, self.device)
        curve = []
        for epoch in range(self.cfg.epochs):
            runner.train_epoch(self.clips)
            curve.append(runner.accuracy(self.clips))
            self.gate.check(epoch, curve[-1])
        return TrialRecord(params, "complete", max(curve), curve=curve)

    def run_trial(self, number: int) -> TrialRecord:
        params = self.suggest(number)
        try:
            record = self.objective(params)
        except TrialStopped as stop:
            record = TrialRecord(params, "stopped", stop.accuracy, reason=stop)
        self.records.append(record)
        return record

    def summary(self) -> str:
        states = Counter(record.state for record in self.records)
        best = max(self.records, key=lambda record: record.accuracy)
        lines = [f"{state}: {count}" for state, count in sorted(states.items())]
        lines.append(f"best trial {json.dumps(asdict(best.params))} with {best.accuracy:.3f}")
        lines += [f"  trial {r.params.number}: {r.reason}" for r in self.records[-3:] if r.reason is not None]
        return "\n".join(lines)


def main() -> None:
    cfg = SweepConfig()
    torch.manual_seed(cfg.seed)
    random.seed(cfg.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    allocated: list[int] = []
    try:
        sweep = Sweep(cfg, device)
        for number in range(cfg.trials):
            record = sweep.run_trial(number)
            allocated.append(torch.cuda.memory_allocated())
            print(f"trial {number:2d} {record.state:8s} accuracy {record.accuracy:.3f}", flush=True)
        print(sweep.summary())
    finally:
        print("TRUTH " + json.dumps({"allocated": allocated, "rounds": len(allocated)}), file=sys.stderr)


if __name__ == "__main__":
    main()
