# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Trains a one-stage detector that counts apples on drone pictures, from seedling plots to old orchards."""

import json
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import nn
from torchmetrics import MeanMetric
from torchvision.models.detection import retinanet_resnet50_fpn
from torchvision.ops import clip_boxes_to_image

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
ALLOCATED: list[int] = []


@dataclass(frozen=True)
class OrchardConfig:
    image_size: int = 128 if SMALL else 1024
    batch_size: int = 1 if SMALL else 2
    lr: float = 2e-4
    momentum: float = 0.9
    memory_share_gib: float = 16.0
    clip_norm: float = 5.0
    log_every: int = 10


@dataclass(frozen=True)
class Plot:
    """One flight over a plot; `fruits` is the usual number of apples visible in one picture."""

    name: str
    pictures: int
    fruits: int
    fruit_px: tuple[float, float]


PLOTS = (
    Plot("nursery", 1 if SMALL else 32, 12, (30.0, 60.0)),
    Plot("young spindle", 1 if SMALL else 32, 60, (18.0, 40.0)),
    Plot("full crop", 1 if SMALL else 32, 180, (14.0, 30.0)),
    Plot("windfall carpet", 1 if SMALL else 8, 40 if SMALL else 5200, (8.0, 14.0)),
)


class FlightPictures:
    def __init__(self, cfg: OrchardConfig, plot: Plot, seed: int) -> None:
        self.cfg = cfg
        self.plot = plot
        self.rng = torch.Generator(device=DEVICE).manual_seed(seed)

    def __len__(self) -> int:
        return self.plot.pictures // self.cfg.batch_size

    def _picture(self) -> torch.Tensor:
        side = self.cfg.image_size
        return torch.rand(3, side, side, generator=self.rng, device=DEVICE)

    def _annotation(self) -> dict[str, torch.Tensor]:
        side = float(self.cfg.image_size)
        count = self.plot.fruits
        low, high = self.plot.fruit_px
        centres = torch.rand(count, 2, generator=self.rng, device=DEVICE) * (side - 2 * low) + low
        extent = torch.rand(count, 2, generator=self.rng, device=DEVICE) * (high - low) + low
        boxes = torch.cat([centres - extent / 2, centres + extent / 2], dim=1)
        boxes = clip_boxes_to_image(boxes, (self.cfg.image_size, self.cfg.image_size))
        labels = torch.ones(count, dtype=torch.int64, device=DEVICE)
        return {"boxes": boxes, "labels": labels}

    def __iter__(self) -> Iterator[tuple[list[torch.Tensor], list[dict[str, torch.Tensor]]]]:
        for _ in range(len(self)):
            pictures = [self._picture() for _ in range(self.cfg.batch_size)]
            yield pictures, [self._annotation() for _ in range(self.cfg.batch_size)]


def build_detector(cfg: OrchardConfig) -> nn.Module:
    model = retinanet_resnet50_fpn(
        weights=None,
        weights_backbone=None,
        num_classes=2,
        min_size=cfg.image_size,
        max_size=cfg.image_size,
    )
    return model.to(DEVICE)


class DetectorTraining:
    def __init__(self, cfg: OrchardConfig) -> None:
        self.cfg = cfg
        self.model = build_detector(cfg)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=cfg.lr, momentum=cfg.momentum)
        self.class_loss = MeanMetric().to(DEVICE)
        self.box_loss = MeanMetric().to(DEVICE)
        self.step_number = 0

    def train_step(self, pictures: list[torch.Tensor], targets: list[dict[str, torch.Tensor]]) -> None:
        losses = self.model(pictures, targets)
        total = losses["classification"] + losses["bbox_regression"]
        self.optimizer.zero_grad(set_to_none=True)
        total.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), self.cfg.clip_norm)
        self.optimizer.step()
        self.class_loss.update(losses["classification"].detach())
        self.box_loss.update(losses["bbox_regression"].detach())

    def fit_plot(self, plot: Plot, pictures: FlightPictures) -> None:
        self.model.train()
        for batch, targets in pictures:
            self.train_step(batch, targets)
            ALLOCATED.append(torch.cuda.memory_allocated())
            self.step_number += 1
            if self.step_number % self.cfg.log_every == 0:
                print(f"{plot.name}: step {self.step_number}, class loss {float(self.class_loss.compute()):.3f}")
        print(f"{plot.name}: done, box loss {float(self.box_loss.compute()):.3f}")
        self.class_loss.reset()
        self.box_loss.reset()


def reserve_share(cfg: OrchardConfig) -> None:
    """The workstation is shared with the mapping pipeline; stay within the agreed part of the card."""
    if DEVICE.type == "cuda":
        total = torch.cuda.get_device_properties(DEVICE).total_memory
        torch.cuda.set_per_process_memory_fraction(min(1.0, cfg.memory_share_gib * 2**30 / total))


def main() -> None:
    torch.manual_seed(3)
    cfg = OrchardConfig()
    reserve_share(cfg)
    training = DetectorTraining(cfg)
    try:
        for season, plot in enumerate(PLOTS):
            training.fit_plot(plot, FlightPictures(cfg, plot, seed=100 + season))
    finally:
        print("TRUTH " + json.dumps({"allocated": ALLOCATED, "rounds": len(ALLOCATED)}), file=sys.stderr)


if __name__ == "__main__":
    main()
