# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Cross-validates small leaf classifiers for herbarium sheets, distilled from one large frozen image network."""

import gc
import json
import os
import statistics
import sys
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from lightning.fabric import Fabric
from torch import nn
from torch.utils.data import DataLoader, Subset, TensorDataset
from torchmetrics.classification import MulticlassAccuracy
from torchvision.models import resnet18, resnet50, resnet101

SMALL = os.environ.get("SMALL") == "1"
ALLOCATED: list[int] = []


@dataclass(frozen=True)
class CrossvalConfig:
    folds: int = 4 if SMALL else 14
    sheets: int = 16 if SMALL else 448
    image: int = 32 if SMALL else 192
    classes: int = 5 if SMALL else 120
    batch_size: int = 4 if SMALL else 32
    epochs: int = 1
    lr: float = 3e-4
    temperature: float = 4.0
    feature_weight: float = 0.5
    stages: tuple[str, ...] = ("layer3", "layer4")


@dataclass
class FoldResult:
    fold: int
    train_loss: float
    accuracy: float


def herbarium_sheets(cfg: CrossvalConfig) -> TensorDataset:
    rng = torch.Generator().manual_seed(8)
    images = torch.rand(cfg.sheets, 3, cfg.image, cfg.image, generator=rng)
    labels = torch.randint(cfg.classes, (cfg.sheets,), generator=rng)
    return TensorDataset(images, labels)


def fold_indices(cfg: CrossvalConfig, fold: int) -> tuple[list[int], list[int]]:
    held_out = [i for i in range(cfg.sheets) if i % cfg.folds == fold]
    return [i for i in range(cfg.sheets) if i % cfg.folds != fold], held_out


class StageTap:
    """Remembers the latest output of chosen stages of a network."""

    def __init__(self, stages: tuple[str, ...]) -> None:
        self.stages = stages
        self.latest: dict[str, torch.Tensor] = {}

    def attach(self, network: nn.Module, on_output) -> None:
        for name in self.stages:
            stage = network.get_submodule(name)
            stage.register_forward_hook(lambda module, inputs, output, name=name: on_output(self, name, output))


class Distiller(nn.Module):
    """A student with the projections that bring its stages to the widths of the teacher's."""

    def __init__(self, cfg: CrossvalConfig, teacher: nn.Module) -> None:
        super().__init__()
        self.cfg = cfg
        self.student = resnet18(num_classes=cfg.classes) if SMALL else resnet50(num_classes=cfg.classes)
        student_width = {"layer3": 256, "layer4": 512} if SMALL else {"layer3": 1024, "layer4": 2048}
        teacher_width = {"layer3": 1024, "layer4": 2048}
        self.projections = nn.ModuleDict(
            {name: nn.Conv2d(student_width[name], teacher_width[name], 1) for name in cfg.stages}
        )
        self.student_tap, self.teacher_tap = StageTap(cfg.stages), StageTap(cfg.stages)
        self.student_tap.attach(self.student, self.remember)
        self.teacher_tap.attach(teacher, self.remember)

    def remember(self, tap: StageTap, name: str, output: torch.Tensor) -> None:
        tap.latest[name] = output

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return self.student(images)

    def stage_loss(self) -> torch.Tensor:
        terms = []
        for name, projection in self.projections.items():
            wanted = self.teacher_tap.latest.pop(name)
            terms.append(F.mse_loss(projection(self.student_tap.latest.pop(name)), wanted))
        return torch.stack(terms).mean()


class FoldRunner:
    def __init__(self, cfg: CrossvalConfig, fabric: Fabric, teacher: nn.Module, sheets: TensorDataset) -> None:
        self.cfg = cfg
        self.fabric = fabric
        self.teacher = teacher
        self.sheets = sheets

    def _loader(self, indices: list[int], shuffle: bool) -> DataLoader:
        loader = DataLoader(Subset(self.sheets, indices), batch_size=self.cfg.batch_size, shuffle=shuffle)
        return self.fabric.setup_dataloaders(loader)

    def _loss(self, distiller: Distiller, images: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            teacher_logits = self.teacher(images)
        logits = distiller(images)
        t = self.cfg.temperature
        soft = F.kl_div((logits / t).log_softmax(1), (teacher_logits / t).softmax(1), reduction="batchmean") * t * t
        return F.cross_entropy(logits, labels) + soft + self.cfg.feature_weight * distiller.stage_loss()

    def _train(self, distiller: Distiller, optimizer: torch.optim.Optimizer, loader: DataLoader) -> float:
        distiller.train()
        total = torch.zeros((), device=self.fabric.device)
        for images, labels in loader:
            optimizer.zero_grad()
            loss = self._loss(distiller, images, labels)
            self.fabric.backward(loss)
            optimizer.step()
            total += loss.detach()
        return float(total / len(loader))

    @torch.no_grad()
    def _score(self, distiller: Distiller, loader: DataLoader) -> float:
        distiller.eval()
        accuracy = MulticlassAccuracy(num_classes=self.cfg.classes, average="micro").to(self.fabric.device)
        for images, labels in loader:
            accuracy.update(distiller(images), labels)
        distiller.student_tap.latest.clear()
        return float(accuracy.compute())

    def run(self, fold: int) -> FoldResult:
        train_part, held_out = fold_indices(self.cfg, fold)
        distiller = Distiller(self.cfg, self.teacher).to(self.fabric.device)
        optimizer = torch.optim.SGD(distiller.parameters(), lr=self.cfg.lr, momentum=0.9)
        loss = 0.0
        for _ in range(self.cfg.epochs):
            loss = self._train(distiller, optimizer, self._loader(train_part, shuffle=True))
        return FoldResult(fold, loss, self._score(distiller, self._loader(held_out, shuffle=False)))


def large_network(cfg: CrossvalConfig) -> nn.Module:
    network = resnet101(num_classes=cfg.classes, zero_init_residual=True)
    return network.requires_grad_(False).eval()


def main() -> None:
    torch.manual_seed(0)
    cfg = CrossvalConfig()
    fabric = Fabric(accelerator="auto", devices=1)
    teacher = large_network(cfg).to(fabric.device)
    runner = FoldRunner(cfg, fabric, teacher, herbarium_sheets(cfg))
    results: list[FoldResult] = []
    try:
        for fold in range(cfg.folds):
            results.append(runner.run(fold))
            gc.collect()
            ALLOCATED.append(torch.cuda.memory_allocated())
            print(f"fold {fold + 1}/{cfg.folds}: loss {results[-1].train_loss:.3f}, top-1 {results[-1].accuracy:.3f}")
        print(f"mean top-1 {statistics.mean(r.accuracy for r in results):.3f}")
    finally:
        print("TRUTH " + json.dumps({"allocated": ALLOCATED, "rounds": len(ALLOCATED)}), file=sys.stderr)


if __name__ == "__main__":
    main()
