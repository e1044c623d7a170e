# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Kidney and tumour segmentation in CT with patches that grow in stages (warm-up on small context, then full context)."""
import json
import os
import sys
import time
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass(frozen=True)
class Stage:
    patch: tuple
    batch: int
    steps: int
    lr: float


STAGES = (
    [Stage((8, 16, 16), 2, 3, 1e-3), Stage((8, 24, 24), 2, 3, 8e-4), Stage((16, 32, 32), 2, 4, 5e-4)] if SMALL else
    [Stage((32, 64, 64), 2, 20, 1e-3), Stage((48, 96, 96), 2, 20, 8e-4), Stage((64, 128, 128), 2, 20, 6e-4),
     Stage((80, 160, 160), 2, 50, 4e-4)]
)
CHANNELS = (4, 8, 16) if SMALL else (20, 40, 80, 160)
CLASSES = ("background", "kidney", "tumour")
EMA_DECAY = 0.98
ARCHIVE_DELAY = 0.0 if SMALL else 0.07


class ConvUnit(nn.Module):
    def __init__(self, c_in, c_out):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv3d(c_in, c_out, 3, padding=1), nn.Conv3d(c_out, c_out, 3, padding=1)
        self.norm1, self.norm2 = nn.InstanceNorm3d(c_out, affine=True), nn.InstanceNorm3d(c_out, affine=True)

    def forward(self, x):
        x = F.leaky_relu(self.norm1(self.conv1(x)), 0.01, inplace=True)
        return F.leaky_relu(self.norm2(self.conv2(x)), 0.01, inplace=True)


class UNet3d(nn.Module):
    def __init__(self, channels, classes):
        super().__init__()
        self.down = nn.ModuleList(ConvUnit(a, b) for a, b in zip((1,) + channels[:-1], channels))
        pairs = list(zip(channels[:0:-1], channels[-2::-1]))
        self.lift = nn.ModuleList(nn.ConvTranspose3d(a, b, 2, stride=2) for a, b in pairs)
        self.up = nn.ModuleList(ConvUnit(2 * b, b) for _, b in pairs)
        self.head = nn.Conv3d(channels[0], classes, 1)

    def forward(self, x):
        skips = []
        for k, unit in enumerate(self.down):
            x = unit(x if k == 0 else F.max_pool3d(x, 2))
            skips.append(x)
        skips.pop()
        for lift, unit in zip(self.lift, self.up):
            x = unit(torch.cat([lift(x), skips.pop()], dim=1))
        return self.head(x)


class CtArchive:
    """Synthetic abdomen: one big ellipsoid (kidney) with a small sphere inside (tumour), Hounsfield-like noise."""

    def __init__(self, seed):
        self.gen = torch.Generator().manual_seed(seed)

    def patches(self, stage):
        axes = [torch.linspace(-1, 1, n) for n in stage.patch]
        z, y, x = torch.meshgrid(*axes, indexing="ij")
        for _ in range(stage.steps):
            time.sleep(ARCHIVE_DELAY)
            volumes, masks = [], []
            for cz, cy, cx, size in (torch.rand(stage.batch, 4, generator=self.gen) - 0.5).tolist():
                distance = ((z - cz) / 0.7) ** 2 + (y - cy) ** 2 + ((x - cx) / 0.5) ** 2
                mask = (distance < 0.25 + 0.1 * size).long()
                mask[distance < 0.03] = 2
                volumes.append(mask * 0.8 - 0.4)
                masks.append(mask)
            volume = torch.stack(volumes).unsqueeze(1)
            volume += 0.3 * torch.randn(volume.shape[-2:], generator=self.gen)
            yield volume.to(DEVICE), torch.stack(masks).to(DEVICE)


def dice_ce(logits, target):
    prob = logits.softmax(dim=1)
    dims = (0, 2, 3, 4)
    dice = 0.0
    for label in range(1, len(CLASSES)):
        truth = (target == label).float()
        overlap = (prob[:, label] * truth).sum()
        dice = dice + (2 * overlap + 1) / (prob[:, label].sum() + truth.sum() + 1)
    return F.cross_entropy(logits, target) + 1 - dice / (len(CLASSES) - 1), prob.detach().mean(dims)


class Trainer:
    def __init__(self):
        self.net = UNet3d(CHANNELS, len(CLASSES)).to(DEVICE)
        self.optimizer = torch.optim.AdamW(self.net.parameters(), lr=STAGES[0].lr, weight_decay=1e-4)
        self.average = torch.optim.swa_utils.AveragedModel(
            self.net, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(EMA_DECAY))
        self.archive = CtArchive(seed=31)
        self.history, self.allocated = [], []

    def run_stage(self, number, stage):
        for group in self.optimizer.param_groups:
            group["lr"] = stage.lr
        total = 0.0
        for volume, mask in self.archive.patches(stage):
            loss, share = dice_ce(self.net(volume), mask)
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(self.net.parameters(), 12.0)
            self.optimizer.step()
            self.average.update_parameters(self.net)
            total += loss.item()
            self.history.append(share.tolist())
            self.allocated.append(torch.cuda.memory_allocated())
        peak = torch.cuda.max_memory_allocated() / 2**30
        print(f"stage {number} patch {'x'.join(map(str, stage.patch))}: loss {total / stage.steps:.4f}, "
              f"peak {peak:.2f} GiB, reserved {torch.cuda.memory_reserved() / 2**30:.2f} GiB", flush=True)


def main():
    torch.manual_seed(31)
    trainer = Trainer()
    for number, stage in enumerate(STAGES):
        trainer.run_stage(number, stage)
    share = dict(zip(CLASSES, (round(v, 3) for v in trainer.history[-1])))
    print("predicted share " + json.dumps(share))
    print("TRUTH " + json.dumps({"allocated": trainer.allocated, "rounds": len(trainer.allocated)}), file=sys.stderr)


if __name__ == "__main__":
    main()
