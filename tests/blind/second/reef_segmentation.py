# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Benthic cover segmentation on reef transects with torchvision's LR-ASPP, with a review sheet for the biologists."""
import json
import os
import sys
import time
from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from torchmetrics.classification import MulticlassAccuracy, MulticlassJaccardIndex
from torchvision.models.segmentation import lraspp_mobilenet_v3_large

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
COVER = ["sand", "rubble", "turf", "macroalgae", "cca", "branching", "massive", "tabular", "soft", "sponge", "bleached",
         "shadow"]


@dataclass
class ReefConfig:
    crop: int = 64 if SMALL else 384
    mosaic: int = 96 if SMALL else 512
    batch: int = 2 if SMALL else 12
    epochs: int = 3 if SMALL else 14
    steps: int = 2 if SMALL else 12
    transects: int = 3 if SMALL else 24
    patch: int = 16 if SMALL else 48
    lr: float = 4e-4
    momentum: float = 0.9
    read_train: float = 0.002 if SMALL else 0.05
    read_mosaic: float = 0.001 if SMALL else 0.02


class Quadrats:
    """Colour-corrected photo quadrats with point annotations grown to masks."""

    def __init__(self, cfg, seed):
        self.cfg = cfg
        self.gen = torch.Generator().manual_seed(seed)

    def draw(self, count, size):
        seeds = torch.randn(count, len(COVER), size // 16, size // 16, generator=self.gen)
        coarse = F.interpolate(seeds, scale_factor=4, mode="bilinear").argmax(1)
        mask = coarse.repeat_interleave(4, dim=1).repeat_interleave(4, dim=2)
        tint = torch.linspace(0.1, 0.9, len(COVER))[mask].unsqueeze(1)
        image = tint + 0.2 * torch.rand(count, 3, size, size, generator=self.gen)
        return image.to(DEVICE, non_blocking=True), mask.to(DEVICE, non_blocking=True)

    def train_batches(self):
        for _ in range(self.cfg.steps):
            time.sleep(self.cfg.read_train)
            yield self.draw(self.cfg.batch, self.cfg.crop)

    def transects(self):
        for site in range(self.cfg.transects):
            time.sleep(self.cfg.read_mosaic)
            image, mask = self.draw(1, self.cfg.mosaic)
            yield f"T{site:02d}", image, mask


@dataclass
class Finding:
    """The least certain spot of a transect in one epoch, for the second annotator."""
    epoch: int
    transect: str
    row: int
    col: int
    entropy: float
    patch: torch.Tensor


@dataclass
class ReviewSheet:
    cfg: ReefConfig
    findings: list = field(default_factory=list)

    def inspect(self, epoch, transect, probs):
        size = self.cfg.patch
        entropy = -(probs * probs.clamp_min(1e-8).log()).sum(1)
        pooled = F.avg_pool2d(entropy.unsqueeze(1), size, stride=size // 2)[0, 0]
        spot = pooled.argmax().item()
        row = spot // pooled.shape[1] * (size // 2)
        col = spot % pooled.shape[1] * (size // 2)
        patch = probs[0, :, row:row + size, col:col + size]
        self.findings.append(Finding(epoch, transect, row, col, pooled.max().item(), patch))

    def summary(self, limit=5):
        ranked = sorted(self.findings, key=lambda f: f.entropy, reverse=True)[:limit]
        return [{"epoch": f.epoch, "transect": f.transect, "at": [f.row, f.col], "entropy": round(f.entropy, 4),
                 "likely": COVER[f.patch.mean(dim=(1, 2)).argmax().item()]} for f in ranked]


class CoverMetrics:
    def __init__(self):
        self.iou = MulticlassJaccardIndex(num_classes=len(COVER), average=None).to(DEVICE)
        self.acc = MulticlassAccuracy(num_classes=len(COVER), average="micro").to(DEVICE)

    def update(self, probs, mask):
        label = probs.argmax(1)
        self.iou.update(label, mask)
        self.acc.update(label, mask)

    def compute(self):
        per_class = self.iou.compute().tolist()
        row = {"miou": round(sum(per_class) / len(per_class), 4), "acc": round(self.acc.compute().item(), 4),
               "bleached_iou": round(per_class[COVER.index("bleached")], 4)}
        self.iou.reset()
        self.acc.reset()
        return row


def train_epoch(model, optimizer, scheduler, quadrats):
    model.train()
    total = torch.zeros((), device=DEVICE)
    for image, mask in quadrats.train_batches():
        logits = model(image)["out"]
        loss = F.cross_entropy(logits, mask)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        scheduler.step()
        total += loss.detach()
    return (total / quadrats.cfg.steps).item()


@torch.no_grad()
def validate(model, quadrats, metrics, sheet, epoch):
    model.eval()
    for transect, image, mask in quadrats.transects():
        probs = model(image)["out"].softmax(dim=1)
        metrics.update(probs, mask)
        sheet.inspect(epoch, transect, probs)
    return metrics.compute()


def main():
    cfg = ReefConfig()
    torch.manual_seed(11)
    model = lraspp_mobilenet_v3_large(weights=None, weights_backbone=None, num_classes=len(COVER)).to(DEVICE)
    optimizer = torch.optim.SGD(model.parameters(), lr=cfg.lr, momentum=cfg.momentum, weight_decay=1e-4)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, cfg.epochs * cfg.steps)
    train_set, val_set = Quadrats(cfg, seed=1), Quadrats(cfg, seed=2)
    metrics, sheet = CoverMetrics(), ReviewSheet(cfg)
    allocated = []

    for epoch in range(cfg.epochs):
        loss = train_epoch(model, optimizer, scheduler, train_set)
        row = validate(model, val_set, metrics, sheet, epoch)
        print(json.dumps({"epoch": epoch, "loss": round(loss, 4), **row}))
        allocated.append(torch.cuda.memory_allocated())

    for entry in sheet.summary():
        print(json.dumps(entry))
    print("TRUTH " + json.dumps({"allocated": allocated, "rounds": cfg.epochs * cfg.transects}), file=sys.stderr)


if __name__ == "__main__":
    main()
