# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Trains a crack segmenter on electroluminescence images of solar cells, with rehearsal of difficult cells."""

import json
import os
import random
import sys
from collections import deque
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class InspectConfig:
    batch: int = 4 if SMALL else 32
    size: int = 32 if SMALL else 512
    width: int = 4 if SMALL else 16
    steps: int = 8 if SMALL else 130
    accumulate: int = 2
    rehearsal_slots: int = 3 if SMALL else 40
    rehearsal_draw: int = 2 if SMALL else 6
    rehearsal_every: int = 4
    lr: float = 2e-3
    momentum: float = 0.9


@dataclass
class CellBatch:
    images: torch.Tensor
    masks: torch.Tensor


@dataclass
class DifficultCell:
    image: torch.Tensor
    mask: torch.Tensor
    loss: float
    step: int


def allocated() -> int:
    return torch.cuda.memory_allocated() if DEVICE.type == "cuda" else 0


class CellRenderer:
    """Draws cells with bus bars, grain texture and a few dark cracks."""

    def __init__(self, cfg: InspectConfig, seed: int):
        self.cfg = cfg
        self.generator = torch.Generator(device=DEVICE).manual_seed(seed)
        axis = torch.linspace(-1.0, 1.0, cfg.size, device=DEVICE)
        self.yy, self.xx = torch.meshgrid(axis, axis, indexing="ij")
        self.bars = (torch.cos(self.xx * 12.0) > 0.96).float()

    def _uniform(self, *shape: int) -> torch.Tensor:
        return torch.rand(*shape, generator=self.generator, device=DEVICE)

    def draw(self) -> CellBatch:
        b, n = self.cfg.batch, self.cfg.size
        angle = self._uniform(b, 1, 1, 1) * 3.14159
        offset = self._uniform(b, 1, 1, 1) - 0.5
        distance = (torch.cos(angle) * self.xx + torch.sin(angle) * self.yy - offset).abs()
        masks = (distance < 0.03).float()
        images = self._uniform(b, 3, n, n)
        images.mul_(0.2).add_(0.6).sub_(self.bars * 0.3).sub_(masks * 0.25).clamp_(0.0, 1.0)
        return CellBatch(images, masks)


class BalancedLogits(torch.autograd.Function):
    """Weighted logistic loss per pixel with a hand-written derivative."""

    @staticmethod
    def forward(ctx, logits: torch.Tensor, target: torch.Tensor, weight: float) -> torch.Tensor:
        ctx.save_for_backward(logits, target)
        ctx.weight = weight
        scale = 1.0 + (weight - 1.0) * target
        return scale * (F.softplus(logits) - target * logits)

    @staticmethod
    def backward(ctx, grad_output: torch.Tensor):
        logits, target = ctx.saved_tensors
        scale = 1.0 + (ctx.weight - 1.0) * target
        return grad_output * scale * (torch.sigmoid(logits) - target), None, None


def conv_unit(inputs: int, outputs: int, stride: int = 1) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, 3, stride=stride, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU()
    )


class CrackNet(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.stem = conv_unit(3, width, stride=2)
        self.down = nn.Sequential(conv_unit(width, 2 * width, stride=2), conv_unit(2 * width, 4 * width, stride=2))
        self.middle = nn.Sequential(*[conv_unit(4 * width, 4 * width) for _ in range(3)])
        self.merge = conv_unit(5 * width, 2 * width)
        self.head = nn.Conv2d(2 * width, 1, 1)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        fine = self.stem(images)
        coarse = self.middle(self.down(fine))
        coarse = F.interpolate(coarse, size=fine.shape[-2:], mode="bilinear", align_corners=False)
        logits = self.head(self.merge(torch.cat([fine, coarse], dim=1)))
        return F.interpolate(logits, size=images.shape[-2:], mode="bilinear", align_corners=False)


class HeavyBall:
    """Plain momentum descent with decoupled decay."""

    def __init__(self, parameters, lr: float, momentum: float, decay: float = 1e-4):
        self.parameters = list(parameters)
        self.lr, self.momentum, self.decay = lr, momentum, decay
        self.velocity = [torch.zeros_like(p) for p in self.parameters]

    @torch.no_grad()
    def step(self) -> None:
        for p, v in zip(self.parameters, self.velocity):
            v.mul_(self.momentum).add_(p.grad)
            p.mul_(1.0 - self.lr * self.decay).add_(v, alpha=-self.lr)
            p.grad = None


class Rehearsal:
    """The most recent difficult cells, one per batch."""

    def __init__(self, slots: int, seed: int):
        self.cells: deque[DifficultCell] = deque(maxlen=slots)
        self.random = random.Random(seed)

    def consider(self, batch: CellBatch, per_image: torch.Tensor, step: int) -> None:
        worst = int(per_image.argmax())
        image, mask = batch.images[worst], batch.masks[worst]
        self.cells.append(DifficultCell(image, mask, float(per_image[worst]), step))

    def draw(self, count: int) -> CellBatch:
        chosen = self.random.sample(list(self.cells), min(count, len(self.cells)))
        return CellBatch(torch.stack([c.image for c in chosen]), torch.stack([c.mask for c in chosen]))

    def mean_loss(self) -> float:
        return sum(c.loss for c in self.cells) / max(1, len(self.cells))


class Trainer:
    def __init__(self, cfg: InspectConfig):
        self.cfg = cfg
        self.net = CrackNet(cfg.width).to(DEVICE)
        self.optimizer = HeavyBall(self.net.parameters(), cfg.lr, cfg.momentum)
        self.rehearsal = Rehearsal(cfg.rehearsal_slots, seed=5)
        self.renderer = CellRenderer(cfg, seed=3)

    def backward_on(self, batch: CellBatch) -> torch.Tensor:
        pixel_loss = BalancedLogits.apply(self.net(batch.images), batch.masks, 8.0)
        per_image = pixel_loss.mean(dim=(1, 2, 3))
        (per_image.mean() / self.cfg.accumulate).backward()
        return per_image.detach()

    def step(self, number: int) -> float:
        batch = self.renderer.draw()
        per_image = self.backward_on(batch)
        self.rehearsal.consider(batch, per_image, number)
        if (number + 1) % self.cfg.rehearsal_every == 0:
            self.backward_on(self.rehearsal.draw(self.cfg.rehearsal_draw))
        if (number + 1) % self.cfg.accumulate == 0:
            self.optimizer.step()
        return float(per_image.mean())


def main() -> None:
    torch.manual_seed(1)
    cfg = InspectConfig()
    curve: list[int] = []
    try:
        trainer = Trainer(cfg)
        for number in range(cfg.steps):
            loss = trainer.step(number)
            curve.append(allocated())
            if number % 20 == 0:
                print(f"step {number:4d}  loss {loss:.4f}  rehearsal loss {trainer.rehearsal.mean_loss():.4f}")
    finally:
        print("TRUTH " + json.dumps({"allocated": curve, "rounds": len(curve)}), file=sys.stderr)


if __name__ == "__main__":
    main()
