# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Recognises the apparatus in short gymnastics clips: a Lightning module around a video ResNet, with a callback
that measures after each epoch how far the classes lie apart in an inner layer."""

import json
import logging
import os
import sys
import warnings
from dataclasses import dataclass

import lightning as L
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset
from torchmetrics.classification import MulticlassAccuracy
from torchvision.models.video import r3d_18

SMALL = os.environ.get("SMALL") == "1"
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
warnings.filterwarnings("ignore")

APPARATUS = ("floor", "pommel horse", "rings", "vault", "parallel bars", "high bar")


@dataclass
class ClipConfig:
    frames: int = 4 if SMALL else 16
    side: int = 32 if SMALL else 112
    batch_size: int = 2 if SMALL else 8
    train_clips: int = 2 if SMALL else 32
    val_clips: int = 4 if SMALL else 64
    probe_batches: int = 2
    epochs: int = 5 if SMALL else 36
    lr: float = 1e-3
    seed: int = 23


class ClipDataset(Dataset):
    """Moving stripes whose direction and speed depend on the apparatus."""

    def __init__(self, count: int, config: ClipConfig, seed: int):
        generator = torch.Generator().manual_seed(seed)
        self.labels = torch.randint(len(APPARATUS), (count,), generator=generator)
        base = torch.randint(0, 200, (count, 3, 1, config.side, config.side), generator=generator, dtype=torch.uint8)
        self.clips = base.repeat(1, 1, config.frames, 1, 1)
        for index, label in enumerate(self.labels.tolist()):
            for frame in range(config.frames):
                line = (frame * (label + 1)) % config.side
                if label % 2:
                    self.clips[index, :, frame, line, :] = 255
                else:
                    self.clips[index, :, frame, :, line] = 255

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, index: int):
        return self.clips[index], self.labels[index]


class LayerProbe:
    """Keeps the output of one layer for the first batches it sees."""

    def __init__(self, layer: nn.Module, batches: int):
        self.batches = batches
        self.features: list[torch.Tensor] = []
        layer.register_forward_hook(self._collect)

    def _collect(self, layer: nn.Module, inputs: tuple, output: torch.Tensor) -> None:
        if not layer.training and len(self.features) < self.batches:
            self.features.append(output.detach().clone())

    def pooled(self) -> torch.Tensor:
        return torch.cat([block.float().mean(dim=(2, 3, 4)) for block in self.features])


class ClipClassifier(L.LightningModule):
    def __init__(self, config: ClipConfig):
        super().__init__()
        self.config = config
        self.backbone = r3d_18(weights=None)
        self.backbone.fc = nn.Linear(self.backbone.fc.in_features, len(APPARATUS))
        self.val_accuracy = MulticlassAccuracy(num_classes=len(APPARATUS))

    def forward(self, clips: torch.Tensor) -> torch.Tensor:
        return self.backbone(clips.float().div(127.5).sub(1.0))

    def training_step(self, batch, batch_idx: int) -> torch.Tensor:
        clips, labels = batch
        loss = F.cross_entropy(self(clips), labels, label_smoothing=0.1)
        self.log("train_loss", loss, on_step=False, on_epoch=True)
        return loss

    def validation_step(self, batch, batch_idx: int) -> None:
        clips, labels = batch
        logits = self(clips)
        self.val_accuracy(logits, labels)
        self.log("val_accuracy", self.val_accuracy, on_step=False, on_epoch=True)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=self.config.lr, momentum=0.9)


def class_separation(features: torch.Tensor, labels: torch.Tensor) -> float:
    """Mean distance of class centres divided by the mean spread inside the classes."""
    features = F.normalize(features, dim=1)
    present = labels.unique()
    centres = torch.stack([features[labels == label].mean(dim=0) for label in present])
    nearest = centres[torch.searchsorted(present, labels)]
    spread = (features - nearest).norm(dim=1).mean()
    return float(torch.pdist(centres).mean() / spread.clamp_min(1e-6)) if len(present) > 1 else 0.0


class SeparationCallback(L.Callback):
    def __init__(self, layer: str, batches: int):
        self.layer = layer
        self.batches = batches
        self.probe: LayerProbe | None = None
        self.labels: list[torch.Tensor] = []
        self.history: list[float] = []

    def on_validation_epoch_start(self, trainer: L.Trainer, pl_module: ClipClassifier) -> None:
        self.probe = LayerProbe(pl_module.backbone.get_submodule(self.layer), self.batches)
        self.labels.clear()

    def on_validation_batch_end(self, trainer, pl_module, outputs, batch, batch_idx, dataloader_idx=0) -> None:
        if batch_idx < self.batches:
            self.labels.append(batch[1])

    def on_validation_epoch_end(self, trainer: L.Trainer, pl_module: ClipClassifier) -> None:
        self.history.append(class_separation(self.probe.pooled(), torch.cat(self.labels)))
        self.probe = None


class EpochJournal(L.Callback):
    def __init__(self):
        self.allocated: list[int] = []

    def on_train_epoch_end(self, trainer: L.Trainer, pl_module: ClipClassifier) -> None:
        self.allocated.append(torch.cuda.memory_allocated() if torch.cuda.is_available() else 0)


def main() -> None:
    config = ClipConfig()
    L.seed_everything(config.seed, verbose=False)
    journal = EpochJournal()
    separation = SeparationCallback("layer1", config.probe_batches)
    train = DataLoader(ClipDataset(config.train_clips, config, config.seed), config.batch_size, shuffle=True)
    val = DataLoader(ClipDataset(config.val_clips, config, config.seed + 1), config.batch_size)
    trainer = L.Trainer(
        max_epochs=config.epochs,
        accelerator="gpu" if torch.cuda.is_available() else "cpu",
        devices=1,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        num_sanity_val_steps=0,
        callbacks=[separation, journal],
    )
    try:
        trainer.fit(ClipClassifier(config), train, val)
        accuracy = float(trainer.callback_metrics["val_accuracy"])
        print(f"accuracy {accuracy:.3f}, separation {separation.history[0]:.3f} -> {separation.history[-1]:.3f}")
    finally:
        truth = {"allocated": journal.allocated, "rounds": len(journal.allocated)}
        print("TRUTH " + json.dumps(truth), file=sys.stderr)


if __name__ == "__main__":
    main()
