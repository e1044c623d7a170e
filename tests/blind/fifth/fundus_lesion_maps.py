# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Pixel-wise lesion maps on retinal fundus photographs: trains a light segmentation network with Lightning and
reports overlap and ranking quality on the validation eyes after each epoch."""

import json
import logging
import os
import sys
import warnings
from dataclasses import dataclass

import lightning as L
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset
from torchmetrics import MeanMetric
from torchmetrics.classification import BinaryAveragePrecision, BinaryJaccardIndex
from torchvision.models.segmentation import lraspp_mobilenet_v3_large

SMALL = os.environ.get("SMALL") == "1"
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
warnings.filterwarnings("ignore")


@dataclass
class FundusConfig:
    image_size: int = 64 if SMALL else 512
    batch_size: int = 2 if SMALL else 8
    train_images: int = 4 if SMALL else 32
    val_images: int = 4 if SMALL else 16
    epochs: int = 4 if SMALL else 32
    lr: float = 3e-4
    weight_decay: float = 1e-4
    dice_weight: float = 0.5
    seed: int = 11


class FundusPhotographs(Dataset):
    """Synthetic photographs: an orange disc with a few bright exudates, and the mask of the exudates."""

    def __init__(self, count: int, size: int, seed: int):
        generator = torch.Generator().manual_seed(seed)
        axis = torch.linspace(-1.0, 1.0, size)
        rows, columns = torch.meshgrid(axis, axis, indexing="ij")
        disc = (rows.square() + columns.square() < 0.9).float()
        self.images = torch.empty(count, 3, size, size, dtype=torch.uint8)
        self.masks = torch.empty(count, 1, size, size, dtype=torch.uint8)
        tint = torch.tensor([200.0, 110.0, 40.0]).view(3, 1, 1)
        for index in range(count):
            mask = torch.zeros(size, size, dtype=torch.bool)
            for row, column, radius in torch.rand(5, 3, generator=generator).tolist():
                centre = (row * 1.2 - 0.6, column * 1.2 - 0.6)
                distance = (rows - centre[0]).square() + (columns - centre[1]).square()
                mask |= distance < (0.03 + 0.05 * radius) ** 2
            noise = torch.rand(size, size, generator=generator) * 30.0
            picture = tint * disc + noise + 50.0 * mask
            self.images[index] = picture.clamp(0, 255).to(torch.uint8)
            self.masks[index, 0] = mask.to(torch.uint8)

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, index: int):
        return self.images[index], self.masks[index]


class FundusData(L.LightningDataModule):
    def __init__(self, config: FundusConfig):
        super().__init__()
        self.config = config
        self.train_set = FundusPhotographs(config.train_images, config.image_size, config.seed)
        self.val_set = FundusPhotographs(config.val_images, config.image_size, config.seed + 1)

    def train_dataloader(self) -> DataLoader:
        return DataLoader(self.train_set, batch_size=self.config.batch_size, shuffle=True, drop_last=True)

    def val_dataloader(self) -> DataLoader:
        return DataLoader(self.val_set, batch_size=self.config.batch_size)


def soft_dice(probs: torch.Tensor, target: torch.Tensor, eps: float = 1.0) -> torch.Tensor:
    dims = (1, 2, 3)
    overlap = (probs * target).sum(dims)
    return 1.0 - ((2.0 * overlap + eps) / (probs.sum(dims) + target.sum(dims) + eps)).mean()


class LesionSegmenter(L.LightningModule):
    def __init__(self, config: FundusConfig):
        super().__init__()
        self.config = config
        self.net = lraspp_mobilenet_v3_large(weights=None, weights_backbone=None, num_classes=1)
        self.register_buffer("mean", torch.tensor([0.42, 0.24, 0.12]).view(1, 3, 1, 1))
        self.register_buffer("std", torch.tensor([0.28, 0.16, 0.09]).view(1, 3, 1, 1))
        self.train_loss = MeanMetric()
        self.val_iou = BinaryJaccardIndex()
        self.val_ap = BinaryAveragePrecision()
        self.scores: list[dict[str, float]] = []

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        pixels = images.float().div(255.0).sub(self.mean).div(self.std)
        return self.net(pixels)["out"]

    def criterion(self, logits: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        bce = F.binary_cross_entropy_with_logits(logits, target)
        return bce + self.config.dice_weight * soft_dice(logits.sigmoid(), target)

    def training_step(self, batch, batch_idx: int) -> torch.Tensor:
        images, masks = batch
        if torch.rand(()) < 0.5:
            images, masks = images.flip(-1), masks.flip(-1)
        loss = self.criterion(self(images), masks.float())
        self.train_loss(loss.detach())
        self.log("train_loss", self.train_loss, on_step=False, on_epoch=True)
        return loss

    def validation_step(self, batch, batch_idx: int) -> None:
        images, masks = batch
        probs = self(images).sigmoid()
        lesions = masks.long()
        self.val_iou.update(probs, lesions)
        self.val_ap.update(probs, lesions)
        self.log("val_iou", self.val_iou, on_step=False, on_epoch=True)

    def on_validation_epoch_end(self) -> None:
        average_precision = self.val_ap.compute()
        self.log("val_ap", average_precision)
        self.scores.append({"epoch": self.current_epoch, "ap": float(average_precision)})

    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters(), lr=self.config.lr, weight_decay=self.config.weight_decay)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=self.config.epochs)
        return {"optimizer": optimizer, "lr_scheduler": schedule}


class EpochJournal(L.Callback):
    def __init__(self):
        self.allocated: list[int] = []

    def on_train_epoch_end(self, trainer: L.Trainer, pl_module: LesionSegmenter) -> None:
        self.allocated.append(torch.cuda.memory_allocated() if torch.cuda.is_available() else 0)
        values = trainer.callback_metrics
        if trainer.current_epoch % 8 == 0:
            print(
                f"epoch {trainer.current_epoch:3d}  loss {float(values['train_loss']):.3f}"
                f"  iou {float(values['val_iou']):.3f}  ap {float(values['val_ap']):.3f}"
            )


def main() -> None:
    config = FundusConfig()
    L.seed_everything(config.seed, verbose=False)
    journal = EpochJournal()
    trainer = L.Trainer(
        max_epochs=config.epochs,
        accelerator="gpu" if torch.cuda.is_available() else "cpu",
        devices=1,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        num_sanity_val_steps=0,
        callbacks=[journal],
    )
    segmenter = LesionSegmenter(config)
    try:
        trainer.fit(segmenter, datamodule=FundusData(config))
        best = max(segmenter.scores, key=lambda entry: entry["ap"])
        print(f"best average precision {best['ap']:.3f} in epoch {best['epoch']}")
    finally:
        truth = {"allocated": journal.allocated, "rounds": len(journal.allocated)}
        print("TRUTH " + json.dumps(truth), file=sys.stderr)


if __name__ == "__main__":
    main()
