# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Caries grading on bitewing X-rays: cross-validation with one network per fold, an ensemble of the fold networks
that grades the pictures without labels, and a compact student that learns from these grades."""

import gc
import json
import os
import sys
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn
from torchmetrics.classification import MulticlassAccuracy
from torchmetrics.regression import MeanAbsoluteError
from torchvision.models import ResNet, resnet18, resnet101

SMALL = os.environ.get("SMALL") == "1"
GRADES = 5


@dataclass
class FoldConfig:
    folds: int = 3 if SMALL else 14
    labelled: int = 12 if SMALL else 336
    unlabelled: int = 6 if SMALL else 384
    side: int = 32 if SMALL else 160
    batch_size: int = 4 if SMALL else 32
    epochs_per_fold: int = 1
    student_epochs: int = 4 if SMALL else 18
    temperature: float = 2.0
    lr: float = 3e-4
    seed: int = 31


class BitewingArchive:
    """All pictures fit on the device as bytes; labels exist only for a part of them."""

    def __init__(self, config: FoldConfig, device: torch.device):
        generator = torch.Generator().manual_seed(config.seed)
        count = config.labelled + config.unlabelled
        grades = torch.randint(GRADES, (count,), generator=generator)
        noise = torch.randint(0, 120, (count, 1, config.side, config.side), generator=generator, dtype=torch.uint8)
        noise[:, :, : config.side // 4, : config.side // 4] += (grades * 25).to(torch.uint8).view(-1, 1, 1, 1)
        self.pictures = noise.to(device)
        self.grades = grades[: config.labelled].to(device)
        self.labelled = torch.arange(config.labelled, device=device)
        self.unlabelled = torch.arange(config.labelled, count, device=device)

    def batch(self, index: torch.Tensor) -> torch.Tensor:
        return self.pictures[index].float().div(127.5).sub(1.0).expand(-1, 3, -1, -1)


def split_folds(index: torch.Tensor, folds: int) -> list[tuple[torch.Tensor, torch.Tensor]]:
    parts = [index[offset::folds] for offset in range(folds)]
    return [(torch.cat(parts[:k] + parts[k + 1 :]), parts[k]) for k in range(folds)]


def build_teacher() -> ResNet:
    return resnet18(num_classes=GRADES) if SMALL else resnet101(num_classes=GRADES)


class CrossValidation:
    def __init__(self, config: FoldConfig):
        self.config = config
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        torch.manual_seed(config.seed)
        self.archive = BitewingArchive(config, self.device)
        self.fold_networks: list[nn.Module] = []
        self.fold_scores: list[float] = []
        self.allocated: list[int] = []

    def _note(self) -> None:
        self.allocated.append(torch.cuda.memory_allocated() if torch.cuda.is_available() else 0)

    def _fit(self, network: nn.Module, index: torch.Tensor) -> None:
        optimizer = torch.optim.AdamW(network.parameters(), lr=self.config.lr, weight_decay=0.01)
        network.train()
        for _ in range(self.config.epochs_per_fold):
            order = index[torch.randperm(len(index), device=self.device)]
            for chunk in order.split(self.config.batch_size):
                optimizer.zero_grad(set_to_none=True)
                with torch.autocast(self.device.type, dtype=torch.bfloat16):
                    logits = network(self.archive.batch(chunk))
                F.cross_entropy(logits.float(), self.archive.grades[chunk]).backward()
                optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    @torch.no_grad()
    def _score(self, network: nn.Module, index: torch.Tensor) -> float:
        accuracy = MulticlassAccuracy(num_classes=GRADES, average="micro").to(self.device)
        network.eval()
        for chunk in index.split(self.config.batch_size):
            accuracy.update(network(self.archive.batch(chunk)), self.archive.grades[chunk])
        return float(accuracy.compute())

    def train_folds(self) -> None:
        for number, (train, held_out) in enumerate(split_folds(self.archive.labelled, self.config.folds)):
            with self.device:
                network = build_teacher()
            self._fit(network, train)
            gc.collect()
            self.fold_scores.append(self._score(network, held_out))
            self.fold_networks.append(network.requires_grad_(False))
            self._note()
            print(f"fold {number:2d}  accuracy {self.fold_scores[-1]:.3f}")

    @torch.no_grad()
    def grade_unlabelled(self) -> torch.Tensor:
        grades = []
        for chunk in self.archive.unlabelled.split(self.config.batch_size):
            pictures = self.archive.batch(chunk)
            votes = torch.stack([network(pictures).float() for network in self.fold_networks])
            grades.append((votes / self.config.temperature).softmax(dim=-1).mean(dim=0))
            self._note()
        return torch.cat(grades)

    def train_student(self, soft_grades: torch.Tensor) -> nn.Module:
        student = resnet18(num_classes=GRADES).to(self.device)
        optimizer = torch.optim.AdamW(student.parameters(), lr=self.config.lr)
        gap = MeanAbsoluteError().to(self.device)
        for _ in range(self.config.student_epochs):
            gap.reset()
            order = torch.randperm(len(soft_grades), device=self.device)
            for chunk in order.split(self.config.batch_size):
                logits = student(self.archive.batch(self.archive.unlabelled[chunk])) / self.config.temperature
                loss = F.kl_div(logits.log_softmax(dim=-1), soft_grades[chunk], reduction="batchmean")
                optimizer.zero_grad(set_to_none=True)
                loss.backward()
                optimizer.step()
                gap.update(logits.detach().softmax(dim=-1), soft_grades[chunk])
            self._note()
        print(f"student differs from the ensemble by {float(gap.compute()):.3f}")
        return student

    def run(self) -> nn.Module:
        self.train_folds()
        print(f"mean accuracy {sum(self.fold_scores) / len(self.fold_scores):.3f}")
        soft_grades = self.grade_unlabelled()
        self.fold_networks.clear()
        return self.train_student(soft_grades)


def main() -> None:
    study = CrossValidation(FoldConfig())
    try:
        student = study.run().eval()
        print(f"student has {sum(p.numel() for p in student.parameters()) / 1e6:.1f} million weights")
    finally:
        truth = {"allocated": study.allocated, "rounds": len(study.allocated)}
        print("TRUTH " + json.dumps(truth), file=sys.stderr)


if __name__ == "__main__":
    main()
