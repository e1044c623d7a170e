# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Linear probe of a vision transformer on histology tiles."""
import json
import os
import sys
import time
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F
from torchvision.models import VisionTransformer

SMALL = os.environ.get("SMALL") == "1"
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
torch.set_float32_matmul_precision("high")

TISSUES = ["adipose", "background", "debris", "lymphocytes", "mucus", "muscle", "normal", "stroma", "tumour"]


@dataclass
class ProbeConfig:
    image: int = 32 if SMALL else 224
    patch: int = 16
    layers: int = 2 if SMALL else 24
    heads: int = 4 if SMALL else 16
    hidden: int = 32 if SMALL else 1024
    mlp: int = 64 if SMALL else 4096
    batch: int = 4 if SMALL else 24
    epochs: int = 5
    tiles_per_epoch: int = 28 if SMALL else 504
    val_tiles: int = 8 if SMALL else 48
    lr: float = 0.05
    slide_latency: float = 0.03
    seed: int = 5


def build_backbone(cfg):
    with torch.device(DEVICE):
        return VisionTransformer(image_size=cfg.image, patch_size=cfg.patch, num_layers=cfg.layers,
                                 num_heads=cfg.heads, hidden_dim=cfg.hidden, mlp_dim=cfg.mlp,
                                 num_classes=len(TISSUES))


def freeze(*parts):
    for part in parts:
        for module in part.modules():
            module.requires_grad = False
            if isinstance(module, nn.Dropout):
                module.p = 0.0


class TileSet(torch.utils.data.Dataset):
    def __init__(self, cfg, count, offset):
        self.cfg, self.count, self.offset = cfg, count, offset

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        gen = torch.Generator().manual_seed(self.offset + i)
        tile = torch.randint(0, 256, (3, self.cfg.image, self.cfg.image), generator=gen, dtype=torch.uint8)
        return tile, int(torch.randint(0, len(TISSUES), (1,), generator=gen))


def stain_normalise(tiles):
    x = tiles.float().div_(255.0)
    return (x - x.mean(dim=(2, 3), keepdim=True)) / (x.std(dim=(2, 3), keepdim=True) + 1e-5)


class Probe:
    def __init__(self, cfg):
        self.cfg = cfg
        self.model = build_backbone(cfg)
        freeze(self.model.conv_proj, self.model.encoder)
        nn.init.normal_(self.model.heads.head.weight, std=0.01)
        self.optimizer = torch.optim.SGD(self.model.heads.parameters(), lr=cfg.lr, momentum=0.9)
        self.scheduler = torch.optim.lr_scheduler.StepLR(self.optimizer, 2, gamma=0.3)
        self.allocated = [torch.cuda.memory_allocated()]
        self.steps = 0

    def batches(self, tiles, shuffle):
        gen = torch.Generator().manual_seed(self.cfg.seed)
        loader = torch.utils.data.DataLoader(tiles, batch_size=self.cfg.batch, shuffle=shuffle, generator=gen)
        for images, labels in loader:
            time.sleep(self.cfg.slide_latency)
            yield stain_normalise(images.to(DEVICE)), labels.to(DEVICE)

    def fit_epoch(self, tiles):
        self.model.train()
        running = 0.0
        for images, labels in self.batches(tiles, shuffle=True):
            loss = F.cross_entropy(self.model(images), labels, label_smoothing=0.05)
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()
            self.optimizer.step()
            running += loss.item()
            self.steps += 1
            if self.steps % 10 == 0:
                self.allocated.append(torch.cuda.memory_allocated())
        self.scheduler.step()
        return running

    @torch.no_grad()
    def accuracy(self, tiles):
        self.model.eval()
        hits = [(self.model(x).argmax(1) == y).float().mean().item() for x, y in self.batches(tiles, shuffle=False)]
        return sum(hits) / len(hits)


def main():
    cfg = ProbeConfig()
    torch.manual_seed(cfg.seed)
    probe = Probe(cfg)
    train_tiles = TileSet(cfg, cfg.tiles_per_epoch, 0)
    val_tiles = TileSet(cfg, cfg.val_tiles, 10**6)
    tuned = sum(p.numel() for g in probe.optimizer.param_groups for p in g["params"])
    print(f"tuning {tuned} of {sum(p.numel() for p in probe.model.parameters())} weights")
    for epoch in range(cfg.epochs):
        loss = probe.fit_epoch(train_tiles)
        print(f"epoch {epoch} loss {loss:.3f} val acc {probe.accuracy(val_tiles):.3f}")
    print("TRUTH " + json.dumps({"allocated": probe.allocated, "rounds": probe.steps,
                                 "peak": torch.cuda.max_memory_allocated()}), file=sys.stderr)


if __name__ == "__main__":
    main()
