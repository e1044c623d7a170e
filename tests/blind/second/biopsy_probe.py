# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Linear probe of a ViT encoder on H&E patches: how well does each tissue class separate in feature space?"""
import json
import os
import sys
import time
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F
from torchmetrics.classification import MulticlassAccuracy, MulticlassConfusionMatrix
from torchvision.models.vision_transformer import VisionTransformer

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
TISSUES = ["adipose", "background", "debris", "lymphocytes", "mucus", "muscle", "normal", "stroma", "tumour"]


@dataclass
class ProbeConfig:
    image: int = 64 if SMALL else 224
    patch: int = 16
    layers: int = 2 if SMALL else 24
    heads: int = 2 if SMALL else 16
    width: int = 32 if SMALL else 1024
    mlp: int = 64 if SMALL else 4096
    batch: int = 4 if SMALL else 12
    epochs: int = 2 if SMALL else 8
    steps: int = 3 if SMALL else 10
    val_steps: int = 2 if SMALL else 3
    lr: float = 5e-2
    smoothing: float = 0.05
    tile_server_delay: float = 0.0 if SMALL else 0.06
    seed: int = 41


class PatchSource:
    """Stain-like colour fields, one hue per tissue, with per-slide shifts."""

    def __init__(self, cfg, slide_seed):
        self.cfg = cfg
        self.gen = torch.Generator().manual_seed(slide_seed)
        hue = torch.Generator().manual_seed(7)
        self.stain = torch.rand(len(TISSUES), 3, 1, 1, generator=hue)

    def __iter__(self):
        while True:
            time.sleep(self.cfg.tile_server_delay)
            label = torch.randint(0, len(TISSUES), (self.cfg.batch,), generator=self.gen)
            texture = torch.rand(self.cfg.batch, 1, self.cfg.image, self.cfg.image, generator=self.gen)
            shift = 0.1 * torch.randn(self.cfg.batch, 3, 1, 1, generator=self.gen)
            patch = self.stain[label] * (0.6 + 0.4 * texture) + shift
            yield patch.to(DEVICE, non_blocking=True), label.to(DEVICE, non_blocking=True)


def build_encoder(cfg):
    with torch.device(DEVICE):
        encoder = VisionTransformer(image_size=cfg.image, patch_size=cfg.patch, num_layers=cfg.layers,
                                    num_heads=cfg.heads, hidden_dim=cfg.width, mlp_dim=cfg.mlp)
        encoder.heads = nn.Identity()
    return encoder.eval()


class LinearProbe(nn.Module):
    def __init__(self, encoder, width, classes):
        super().__init__()
        self.encoder = encoder
        self.norm = nn.BatchNorm1d(width, affine=False)
        self.classifier = nn.Linear(width, classes)
        nn.init.normal_(self.classifier.weight, std=0.01)
        nn.init.zeros_(self.classifier.bias)

    def train(self, mode=True):
        super().train(mode)
        self.encoder.eval()
        return self

    def forward(self, patch):
        feature = self.encoder(patch)
        return self.classifier(self.norm(feature))


class ProbeRun:
    def __init__(self, cfg):
        self.cfg = cfg
        self.probe = LinearProbe(build_encoder(cfg), cfg.width, len(TISSUES)).to(DEVICE)
        self.optimizer = torch.optim.SGD(self.probe.classifier.parameters(), lr=cfg.lr, momentum=0.9)
        self.schedule = torch.optim.lr_scheduler.CosineAnnealingLR(self.optimizer, cfg.epochs * cfg.steps)
        self.accuracy = MulticlassAccuracy(len(TISSUES)).to(DEVICE)
        self.confusion = MulticlassConfusionMatrix(len(TISSUES)).to(DEVICE)
        self.train_patches = iter(PatchSource(cfg, cfg.seed))
        self.val_patches = iter(PatchSource(cfg, cfg.seed + 1))

    def train_epoch(self):
        self.probe.train()
        total = 0.0
        for _ in range(self.cfg.steps):
            patch, label = next(self.train_patches)
            loss = F.cross_entropy(self.probe(patch), label, label_smoothing=self.cfg.smoothing)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.schedule.step()
            total += loss.item()
        return total / self.cfg.steps

    @torch.no_grad()
    def validate(self):
        self.probe.eval()
        self.accuracy.reset()
        for _ in range(self.cfg.val_steps):
            patch, label = next(self.val_patches)
            logits = self.probe(patch)
            self.accuracy.update(logits, label)
            self.confusion.update(logits, label)
        return self.accuracy.compute().item()


def main():
    cfg = ProbeConfig()
    torch.manual_seed(cfg.seed)
    run, allocated = ProbeRun(cfg), []
    for epoch in range(cfg.epochs):
        loss = run.train_epoch()
        score = run.validate()
        print(json.dumps({"epoch": epoch, "loss": round(loss, 4), "val_accuracy": round(score, 4)}), flush=True)
        allocated.append(torch.cuda.memory_allocated())
    matrix = run.confusion.compute().float()
    recall = (matrix.diag() / matrix.sum(dim=1).clamp_min(1)).tolist()
    print("recall " + ", ".join(f"{name} {value:.2f}" for name, value in zip(TISSUES, recall)))
    print("TRUTH " + json.dumps({"allocated": allocated, "rounds": cfg.epochs}), file=sys.stderr)


if __name__ == "__main__":
    main()
