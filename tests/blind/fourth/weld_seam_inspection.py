# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Fits a patch-level memory of sound weld seams and scores new seams by their distance to it."""

import json
import os
import sys
from dataclasses import dataclass

import lightning as L
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset
from torchmetrics.classification import BinaryAUROC
from torchvision.models import wide_resnet50_2
from torchvision.models.feature_extraction import create_feature_extractor

SMALL = os.environ.get("SMALL") == "1"
ALLOCATED: list[int] = []


@dataclass
class InspectionConfig:
    image: int = 64 if SMALL else 256
    batch_size: int = 2 if SMALL else 8
    sound_batches: int = 4 if SMALL else 56
    test_batches: int = 2 if SMALL else 24
    coreset: int = 20 if SMALL else 8000
    projection: int = 16 if SMALL else 128
    neighbours: int = 3


class SeamPictures(Dataset):
    """Random stand-ins for line-scan pictures; a third of the test pictures carries a bright pore."""

    def __init__(self, cfg: InspectionConfig, length: int, defects: bool) -> None:
        self.length = length
        self.defects = defects
        self.pool = torch.rand(12, 3, cfg.image, cfg.image, generator=torch.Generator().manual_seed(2 + defects))

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        picture = self.pool[index % len(self.pool)].roll(index, dims=-1)
        is_defect = self.defects and index % 3 == 0
        if is_defect:
            row = (index * 5) % (picture.shape[1] - 16)
            picture[:, row : row + 16, 24:40] = 1.0
        return picture, int(is_defect)


class PatchEmbedder(nn.Module):
    """Joins two intermediate stages into one vector per patch."""

    def __init__(self) -> None:
        super().__init__()
        backbone = wide_resnet50_2(weights=None, zero_init_residual=True)
        self.stages = create_feature_extractor(backbone, {"layer2": "fine", "layer3": "coarse"})
        self.pool = nn.AvgPool2d(3, stride=1, padding=1)
        self.requires_grad_(False)

    def forward(self, pictures: torch.Tensor) -> torch.Tensor:
        maps = self.stages(pictures)
        fine = self.pool(maps["fine"])
        coarse = F.interpolate(self.pool(maps["coarse"]), size=fine.shape[-2:], mode="bilinear", align_corners=False)
        return torch.cat([fine, coarse], dim=1).permute(0, 2, 3, 1)


def greedy_coreset(patches: torch.Tensor, count: int, dim: int) -> torch.Tensor:
    """Farthest-point selection in a random projection; returns the chosen row numbers."""
    basis = torch.randn(patches.shape[1], dim, device=patches.device) / dim**0.5
    points = patches @ basis
    chosen = torch.empty(count, dtype=torch.int64, device=patches.device)
    current = torch.zeros((), dtype=torch.int64, device=patches.device)
    distance = torch.full((len(points),), float("inf"), device=patches.device)
    for number in range(count):
        chosen[number] = current
        anchor = points.index_select(0, current.view(1))
        distance = torch.minimum(distance, (points - anchor).square_().sum(dim=1))
        current = distance.argmax()
    return chosen


class SeamMemory(L.LightningModule):
    def __init__(self, cfg: InspectionConfig) -> None:
        super().__init__()
        self.automatic_optimization = False
        self.cfg = cfg
        self.embedder = PatchEmbedder()
        self.register_buffer("reference", torch.empty(0))
        self.embeddings: list[torch.Tensor] = []
        self.auroc = BinaryAUROC()

    def configure_optimizers(self) -> None:
        return None

    def on_train_epoch_start(self) -> None:
        self.embedder.eval()

    def training_step(self, batch: tuple[torch.Tensor, torch.Tensor], batch_idx: int) -> None:
        pictures, _ = batch
        with torch.no_grad():
            patches = self.embedder(pictures)
        self.embeddings.append(patches.reshape(-1, patches.shape[-1]))

    def _reduce(self) -> None:
        patches = torch.vstack(self.embeddings)
        self.embeddings.clear()
        rows = greedy_coreset(patches, self.cfg.coreset, self.cfg.projection)
        self.reference = patches[rows]
        self.print(f"kept {len(rows)} of {len(patches)} patches")

    def on_validation_epoch_start(self) -> None:
        if self.embeddings:
            self._reduce()

    def validation_step(self, batch: tuple[torch.Tensor, torch.Tensor], batch_idx: int) -> None:
        pictures, is_defect = batch
        patches = self.embedder(pictures)
        n, height, width, channels = patches.shape
        distances = torch.cdist(patches.reshape(-1, channels), self.reference)
        nearest = distances.topk(self.cfg.neighbours, dim=1, largest=False).values.mean(dim=1)
        score = nearest.view(n, height * width).amax(dim=1)
        self.auroc.update(score / (1.0 + score), is_defect)

    def on_validation_epoch_end(self) -> None:
        self.print(f"image AUROC {float(self.auroc.compute()):.3f}")
        self.auroc.reset()


class StepCounter(L.Callback):
    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx) -> None:
        ALLOCATED.append(torch.cuda.memory_allocated())

    def on_validation_batch_end(self, trainer, pl_module, outputs, batch, batch_idx, dataloader_idx=0) -> None:
        ALLOCATED.append(torch.cuda.memory_allocated())


def main() -> None:
    L.seed_everything(14)
    cfg = InspectionConfig()
    sound = SeamPictures(cfg, cfg.sound_batches * cfg.batch_size, defects=False)
    mixed = SeamPictures(cfg, cfg.test_batches * cfg.batch_size, defects=True)
    trainer = L.Trainer(
        max_epochs=1,
        accelerator="auto",
        devices=1,
        num_sanity_val_steps=0,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        callbacks=[StepCounter()],
    )
    try:
        trainer.fit(
            SeamMemory(cfg),
            DataLoader(sound, batch_size=cfg.batch_size),
            DataLoader(mixed, batch_size=cfg.batch_size),
        )
    finally:
        print("TRUTH " + json.dumps({"allocated": ALLOCATED, "rounds": len(ALLOCATED)}), file=sys.stderr)


if __name__ == "__main__":
    main()
