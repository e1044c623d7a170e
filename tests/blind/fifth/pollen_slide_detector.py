# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Trains a RetinaNet that finds and names pollen grains on microscope slides for a daily allergy bulletin."""

import json
import os
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import nn
from torchvision.models import resnet18
from torchvision.models.detection import RetinaNet
from torchvision.models.detection.anchor_utils import AnchorGenerator
from torchvision.models.detection.backbone_utils import _resnet_fpn_extractor
from torchvision.ops import clip_boxes_to_image
from torchvision.ops.feature_pyramid_network import LastLevelP6P7

SMALL = os.environ.get("SMALL") == "1"

TAXA = ("birch", "hazel", "alder", "grass", "mugwort", "ragweed", "plantain")


@dataclass
class SlideConfig:
    side: int = 128 if SMALL else 1024
    batch_size: int = 2
    steps: int = 6 if SMALL else 48
    usual_grains: tuple[int, int] = (4, 9) if SMALL else (20, 60)
    peak_day: int = 4 if SMALL else 40
    peak_grains: int = 60 if SMALL else 4200
    grain_radius: tuple[float, float] = (5.0, 14.0)
    card_gib: float = 10.0
    lr: float = 5e-4
    seed: int = 3


class SlideFeed:
    """Delivers batches in the order in which the traps were emptied, one day per batch."""

    def __init__(self, config: SlideConfig, device: torch.device):
        self.config = config
        self.device = device
        self.generator = torch.Generator().manual_seed(config.seed)

    def _grains_on(self, day: int, position: int) -> int:
        if day == self.config.peak_day and position == 0:
            return self.config.peak_grains
        low, high = self.config.usual_grains
        return int(torch.randint(low, high, (), generator=self.generator))

    def _target(self, count: int) -> dict[str, torch.Tensor]:
        side = float(self.config.side)
        low, high = self.config.grain_radius
        centres = torch.rand(count, 2, generator=self.generator) * (side - 2 * high) + high
        radii = torch.rand(count, 1, generator=self.generator) * (high - low) + low
        boxes = clip_boxes_to_image(torch.cat([centres - radii, centres + radii], dim=1), (int(side), int(side)))
        labels = torch.randint(len(TAXA), (count,), generator=self.generator)
        return {"boxes": boxes.to(self.device), "labels": labels.to(self.device)}

    def _image(self, target: dict[str, torch.Tensor]) -> torch.Tensor:
        side = self.config.side
        image = torch.full((3, side, side), 0.85, device=self.device)
        centres = (target["boxes"][:, :2] + target["boxes"][:, 2:]).div(2).long().clamp(0, side - 1)
        stain = 0.2 + 0.08 * target["labels"].float()
        image[0, centres[:, 1], centres[:, 0]] = stain
        image[1, centres[:, 1], centres[:, 0]] = 0.3
        blurred = nn.functional.avg_pool2d(image, kernel_size=9, stride=1, padding=4)
        return blurred + 0.02 * torch.randn_like(blurred)

    def __iter__(self) -> Iterator[tuple[list[torch.Tensor], list[dict[str, torch.Tensor]]]]:
        for day in range(self.config.steps):
            targets = [self._target(self._grains_on(day, slot)) for slot in range(self.config.batch_size)]
            yield [self._image(target) for target in targets], targets


def build_detector(config: SlideConfig) -> RetinaNet:
    trunk = resnet18(weights=None)
    backbone = _resnet_fpn_extractor(
        trunk, trainable_layers=5, returned_layers=[2, 3, 4], extra_blocks=LastLevelP6P7(256, 256)
    )
    sizes = tuple((base, int(base * 2 ** (1 / 3)), int(base * 2 ** (2 / 3))) for base in (16, 32, 64, 128, 256))
    anchors = AnchorGenerator(sizes, ((0.5, 1.0, 2.0),) * len(sizes))
    return RetinaNet(
        backbone,
        num_classes=len(TAXA),
        anchor_generator=anchors,
        min_size=config.side,
        max_size=config.side,
        detections_per_img=400,
    )


class Averager:
    def __init__(self, momentum: float = 0.9):
        self.momentum = momentum
        self.values: dict[str, float] = defaultdict(float)

    def update(self, losses: dict[str, torch.Tensor]) -> None:
        for name, loss in losses.items():
            self.values[name] = self.momentum * self.values[name] + (1 - self.momentum) * float(loss.detach())

    def __str__(self) -> str:
        return "  ".join(f"{name} {value:.3f}" for name, value in self.values.items())


class DetectorTrainer:
    def __init__(self, config: SlideConfig):
        self.config = config
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        if self.device.type == "cuda":
            total = torch.cuda.get_device_properties(0).total_memory
            torch.cuda.set_per_process_memory_fraction(min(1.0, config.card_gib * 2**30 / total))
        torch.manual_seed(config.seed)
        self.model = build_detector(config).to(self.device).train()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=config.lr)
        self.averager = Averager()
        self.allocated: list[int] = []

    def step(self, images: list[torch.Tensor], targets: list[dict[str, torch.Tensor]]) -> None:
        self.optimizer.zero_grad(set_to_none=True)
        losses = self.model(images, targets)
        sum(losses.values()).backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.averager.update(losses)

    def run(self) -> None:
        started = time.perf_counter()
        for day, (images, targets) in enumerate(SlideFeed(self.config, self.device)):
            self.step(images, targets)
            self.allocated.append(torch.cuda.memory_allocated() if self.device.type == "cuda" else 0)
            if day % 8 == 0:
                grains = sum(len(target["labels"]) for target in targets)
                print(f"day {day:3d}  {grains:4d} grains  {self.averager}")
        print(f"season finished in {time.perf_counter() - started:.1f} s")


def main() -> None:
    trainer = DetectorTrainer(SlideConfig())
    try:
        trainer.run()
    finally:
        truth = {"allocated": trainer.allocated, "rounds": len(trainer.allocated)}
        print("TRUTH " + json.dumps(truth), file=sys.stderr)


if __name__ == "__main__":
    main()
