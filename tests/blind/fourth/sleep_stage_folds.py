# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Sleep staging: cross-validated models label new nights together, then one small model learns from their votes."""

import json
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torchmetrics.classification import MulticlassAccuracy, MulticlassCohenKappa

SMALL = os.environ.get("SMALL") == "1"


@dataclass(frozen=True)
class FoldConfig:
    channels: int = 3
    samples: int = 120 if SMALL else 3000
    stages: int = 5
    width: int = 16 if SMALL else 640
    layers: int = 1 if SMALL else 8
    heads: int = 4 if SMALL else 10
    student_width: int = 16 if SMALL else 256
    student_layers: int = 1 if SMALL else 3
    folds: int = 3 if SMALL else 12
    labelled: int = 24 if SMALL else 3072
    unlabelled: int = 16 if SMALL else 2560
    batch: int = 4 if SMALL else 64
    fold_steps: int = 3 if SMALL else 40
    student_steps: int = 4 if SMALL else 60
    lr: float = 3e-4
    seed: int = 19


@dataclass
class Fold:
    """A trained fold with its predictions for the nights that it did not see."""

    number: int
    model: nn.Module
    held_out: Tensor
    logits: Tensor
    kappa: float


class EpochEncoder(nn.Module):
    """Strided convolution over 30 second epochs, then a transformer over the patches."""

    def __init__(self, cfg: FoldConfig, width: int, layers: int) -> None:
        super().__init__()
        patch = cfg.samples // 30
        self.patches = nn.Conv1d(cfg.channels, width, kernel_size=patch, stride=patch)
        self.position = nn.Parameter(torch.randn(1, 30, width) * 0.02)
        layer = nn.TransformerEncoderLayer(
            width, cfg.heads if width == cfg.width else 4, 4 * width, dropout=0.1, batch_first=True, norm_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.head = nn.Linear(width, cfg.stages)

    def forward(self, signal: Tensor) -> Tensor:
        tokens = self.patches(signal).transpose(1, 2) + self.position
        return self.head(self.encoder(tokens).mean(dim=1))


class Recordings:
    def __init__(self, cfg: FoldConfig, device: torch.device) -> None:
        self.cfg = cfg
        generator = torch.Generator(device=device).manual_seed(cfg.seed)

        def draw(count: int) -> Tensor:
            return torch.randn(count, cfg.channels, cfg.samples, generator=generator, device=device)

        self.labelled = draw(cfg.labelled)
        self.labels = torch.randint(cfg.stages, (cfg.labelled,), generator=generator, device=device)
        self.unlabelled = draw(cfg.unlabelled)

    def split(self, fold: int) -> tuple[Tensor, Tensor]:
        member = torch.arange(self.cfg.labelled, device=self.labels.device) % self.cfg.folds == fold
        return torch.nonzero(~member)[:, 0], torch.nonzero(member)[:, 0]


class Study:
    def __init__(self, cfg: FoldConfig, device: torch.device) -> None:
        self.cfg = cfg
        self.device = device
        self.data = Recordings(cfg, device)
        self.kappa = MulticlassCohenKappa(num_classes=cfg.stages).to(device)
        self.folds: list[Fold] = []
        self.allocated: list[int] = []

    def mark(self) -> None:
        self.allocated.append(torch.cuda.memory_allocated())

    def build(self, width: int, layers: int) -> EpochEncoder:
        with self.device:
            return EpochEncoder(self.cfg, width, layers)

    def _fit(self, model: nn.Module, rows: Tensor) -> None:
        optimizer = torch.optim.AdamW(model.parameters(), lr=self.cfg.lr)
        model.train()
        for _ in range(self.cfg.fold_steps):
            picked = rows[torch.randint(rows.numel(), (self.cfg.batch,), device=self.device)]
            loss = F.cross_entropy(model(self.data.labelled[picked]), self.data.labels[picked])
            loss.backward()
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        model.eval()

    @torch.no_grad()
    def _predict(self, model: nn.Module, signals: Tensor) -> Tensor:
        return torch.cat([model(part) for part in signals.split(self.cfg.batch)])

    def run_fold(self, number: int) -> float:
        train, held_out = self.data.split(number)
        model = self.build(self.cfg.width, self.cfg.layers)
        self._fit(model, train)
        logits = self._predict(model, self.data.labelled[held_out])
        self.kappa.update(logits, self.data.labels[held_out])
        fold = Fold(number, model.requires_grad_(False), held_out, logits, self.kappa.compute().item())
        self.kappa.reset()
        self.folds.append(fold)
        return fold.kappa

    def out_of_fold_accuracy(self) -> float:
        metric = MulticlassAccuracy(num_classes=self.cfg.stages, average="micro").to(self.device)
        for fold in self.folds:
            metric.update(fold.logits, self.data.labels[fold.held_out])
        return metric.compute().item()

    @torch.no_grad()
    def votes(self) -> Iterator[Tensor]:
        """Mean probabilities of all folds for the new nights, batch by batch."""
        for signals in self.data.unlabelled.split(self.cfg.batch):
            total = torch.zeros(signals.shape[0], self.cfg.stages, device=self.device)
            for fold in self.folds:
                total += fold.model(signals).softmax(dim=-1)
            yield total / len(self.folds)

    def teach_student(self, targets: Tensor) -> nn.Module:
        student = self.build(self.cfg.student_width, self.cfg.student_layers).train()
        optimizer = torch.optim.AdamW(student.parameters(), lr=self.cfg.lr)
        for step in range(self.cfg.student_steps):
            picked = torch.randint(targets.shape[0], (2 * self.cfg.batch,), device=self.device)
            log_probs = student(self.data.unlabelled[picked]).log_softmax(dim=-1)
            loss = F.kl_div(log_probs, targets[picked], reduction="batchmean")
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            self.mark()
            if step % 20 == 0:
                print(f"student step {step:2d}  divergence {loss.item():.4f}", flush=True)
        return student.eval()


def run(study: Study) -> None:
    for number in range(study.cfg.folds):
        kappa = study.run_fold(number)
        study.mark()
        print(f"fold {number:2d}  kappa {kappa:.3f}", flush=True)
    print(f"out-of-fold accuracy {study.out_of_fold_accuracy():.3f}")

    targets = []
    for probabilities in study.votes():
        targets.append(probabilities)
        study.mark()
    print(f"{len(study.folds)} models voted on {len(targets)} batches", flush=True)
    study.folds.clear()

    student = study.teach_student(torch.cat(targets))
    size = sum(parameter.numel() for parameter in student.parameters())
    print(f"student with {size} parameters is ready")


def main() -> None:
    cfg = FoldConfig()
    torch.manual_seed(cfg.seed)
    study = Study(cfg, torch.device("cuda" if torch.cuda.is_available() else "cpu"))
    try:
        run(study)
    finally:
        truth = {"allocated": study.allocated, "rounds": len(study.allocated)}
        print("TRUTH " + json.dumps(truth), file=sys.stderr)


if __name__ == "__main__":
    main()
