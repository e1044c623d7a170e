# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Vehicle detection in aerial mosaics: a light RetinaNet trained on tiles of very different density."""
import json
import math
import os
import sys
import time
from collections import OrderedDict

import torch
import torch.nn as nn
from torchvision.models.detection import RetinaNet
from torchvision.models.detection.anchor_utils import AnchorGenerator
from torchvision.ops import FeaturePyramidNetwork

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")

CONFIG = {
    "tile": 128 if SMALL else 1024,
    "batch": 2,
    "tiles": 16 if SMALL else 160,
    "classes": 4,
    "width": 16 if SMALL else 64,
    "lr": 2e-3,
    "gpu_budget_gb": 10.0,
    "read_seconds": 0.0 if SMALL else 0.2,
    "log_every": 4 if SMALL else 10,
    "seed": 71,
}
# site -> (share of the tiles, vehicles per tile)
SITES = {
    "rural": (0.50, (0, 6)),
    "suburb": (0.35, (10, 40)),
    "harbour": (0.14, (40, 90)),
    "car terminal": (0.01, (110, 110) if SMALL else (2600, 2600)),
}


def stage(c_in, c_out):
    return nn.Sequential(nn.Conv2d(c_in, c_out, 3, stride=2, padding=1), nn.GroupNorm(8, c_out), nn.SiLU(),
                         nn.Conv2d(c_out, c_out, 3, padding=1), nn.GroupNorm(8, c_out), nn.SiLU())


class LightBackbone(nn.Module):
    """Strides 8, 16 and 32 with a feature pyramid."""

    def __init__(self, width):
        super().__init__()
        self.out_channels = width
        self.stem = nn.Sequential(stage(3, width // 2), stage(width // 2, width))
        self.c3, self.c4, self.c5 = stage(width, width), stage(width, 2 * width), stage(2 * width, 2 * width)
        self.fpn = FeaturePyramidNetwork([width, 2 * width, 2 * width], width)

    def forward(self, x):
        c3 = self.c3(self.stem(x))
        c4 = self.c4(c3)
        return self.fpn(OrderedDict(p3=c3, p4=c4, p5=self.c5(c4)))


def build_detector(cfg):
    sizes = tuple((s, int(s * 2 ** (1 / 3)), int(s * 2 ** (2 / 3))) for s in (16, 32, 64))
    anchors = AnchorGenerator(sizes=sizes, aspect_ratios=((0.5, 1.0, 2.0),) * len(sizes))
    return RetinaNet(LightBackbone(cfg["width"]), num_classes=cfg["classes"], anchor_generator=anchors,
                     min_size=cfg["tile"], max_size=cfg["tile"], image_mean=[0.4] * 3, image_std=[0.25] * 3)


class MosaicTiles:
    """A shuffled list of tiles; each one knows its site and draws its vehicles."""

    def __init__(self, cfg):
        self.cfg = cfg
        self.gen = torch.Generator().manual_seed(cfg["seed"])
        sites = [name for name, (share, _) in SITES.items() for _ in range(math.ceil(share * cfg["tiles"]))]
        order = torch.randperm(len(sites), generator=self.gen).tolist()
        self.sites = [sites[i] for i in order][:cfg["tiles"]]

    def __len__(self):
        return len(self.sites)

    def vehicles(self, count):
        tile = self.cfg["tile"]
        centre = torch.rand(count, 2, generator=self.gen) * (tile - 24) + 12
        half = torch.rand(count, 2, generator=self.gen) * 6 + 4
        return torch.cat([centre - half, centre + half], dim=1)

    def __getitem__(self, i):
        low, high = SITES[self.sites[i]][1]
        count = int(torch.randint(low, high + 1, (1,), generator=self.gen))
        tile = self.cfg["tile"]
        image = 0.4 + 0.1 * torch.rand(3, tile, tile, generator=self.gen)
        boxes = self.vehicles(count)
        for x0, y0, x1, y1 in boxes.int().tolist():
            image[:, y0:y1, x0:x1] += 0.3
        labels = torch.randint(1, self.cfg["classes"], (count,), generator=self.gen)
        return image, {"boxes": boxes, "labels": labels}


def batches(tiles, cfg):
    for start in range(0, len(tiles) - cfg["batch"] + 1, cfg["batch"]):
        time.sleep(cfg["read_seconds"])
        images, targets = zip(*(tiles[start + k] for k in range(cfg["batch"])))
        yield ([image.to(DEVICE) for image in images],
               [{k: v.to(DEVICE) for k, v in target.items()} for target in targets])


def train(cfg, allocated):
    torch.manual_seed(cfg["seed"])
    if DEVICE.type == "cuda":
        torch.cuda.set_per_process_memory_fraction(cfg["gpu_budget_gb"] * 2 ** 30 / torch.cuda.mem_get_info()[1])
    detector = build_detector(cfg).to(DEVICE).train()
    optimizer = torch.optim.SGD(detector.parameters(), lr=cfg["lr"], momentum=0.9, weight_decay=1e-4)
    tiles = MosaicTiles(cfg)
    for step, (images, targets) in enumerate(batches(tiles, cfg)):
        losses = detector(images, targets)
        loss = sum(losses.values())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(detector.parameters(), 5.0)
        optimizer.step()
        if step % cfg["log_every"] == 0:
            parts = "  ".join(f"{name} {value.item():.4f}" for name, value in losses.items())
            print(f"step {step:4d}  {parts}")
        del losses, loss
        allocated.append(torch.cuda.memory_allocated())
    return detector


def main():
    allocated = []
    try:
        train(CONFIG, allocated)
        print(f"finished after {len(allocated)} steps")
    finally:
        print("TRUTH " + json.dumps({"allocated": allocated, "rounds": len(allocated)}), file=sys.stderr)


if __name__ == "__main__":
    main()
