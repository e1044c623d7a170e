# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Near-real-time land-cover monitoring from a stream of multispectral satellite acquisitions.

Every acquisition updates a greenest-pixel composite of the last two months, which a small U-Net segments tile by tile;
the monitor reports the area of every class and how much of the map changed.
"""

import json
import os
import sys
from dataclasses import dataclass

import torch
from torch import nn

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
SMALL = os.environ.get("SMALL") == "1"


@dataclass
class MonitorConfig:
    size: int = 3072
    bands: int = 10
    red: int = 2
    infrared: int = 6
    classes: int = 6
    acquisitions: int = 40
    revisit_days: int = 5
    window_days: int = 60
    tile: int = 512
    overlap: int = 64
    width: int = 24
    cloud_blocks: int = 48
    cloud_cover: float = 0.35
    seed: int = 3


def make_config():
    if SMALL:
        return MonitorConfig(size=96, acquisitions=16, tile=48, overlap=16, width=4, cloud_blocks=12, window_days=30)
    return MonitorConfig()


@dataclass
class Scene:
    day: int
    reflectance: torch.Tensor
    clear: torch.Tensor


class AcquisitionStream:
    """Simulated surface reflectance with seasonal greenness and block-shaped clouds."""

    def __init__(self, cfg):
        self.cfg = cfg
        self.greenness = torch.rand(cfg.size, cfg.size, device=DEVICE, dtype=torch.float32).half()

    def acquire(self, index):
        cfg = self.cfg
        day = index * cfg.revisit_days
        season = 0.5 + 0.5 * torch.sin(torch.tensor(6.2832 * day / 365)).item()
        reflectance = torch.empty(cfg.bands, cfg.size, cfg.size, device=DEVICE, dtype=torch.half)
        for band in range(cfg.bands):
            reflectance[band].uniform_(0.05, 0.25)
        reflectance[cfg.infrared] += season * self.greenness
        blocks = torch.rand(1, 1, cfg.cloud_blocks, cfg.cloud_blocks, device=DEVICE) > cfg.cloud_cover
        clear = nn.functional.interpolate(blocks.float(), size=(cfg.size, cfg.size))[0, 0] > 0.5
        return Scene(day, reflectance, clear)


class SceneArchive:
    """The scenes of the compositing window by day of acquisition."""

    def __init__(self, cfg):
        self.cfg = cfg
        self.scenes = {}

    def ingest(self, scene):
        self.scenes[scene.day] = scene
        self._expire(scene.day)

    def _expire(self, today):
        outdated = [day for day in self.scenes if day <= today - self.cfg.window_days]
        for day in outdated:
            del self.scenes[day]

    def __len__(self):
        return len(self.scenes)

    def newest_first(self):
        return [self.scenes[day] for day in sorted(self.scenes, reverse=True)]


class GreenestPixel:
    """Takes each pixel from the clear acquisition with the highest NDVI."""

    def __init__(self, cfg):
        self.cfg = cfg

    def ndvi(self, reflectance):
        red, infrared = reflectance[self.cfg.red], reflectance[self.cfg.infrared]
        return (infrared - red) / (infrared + red)

    def compose(self, scenes):
        composite = scenes[0].reflectance.clone()
        best = torch.full_like(composite[0], -2.0)
        for scene in scenes:
            greenness = self.ndvi(scene.reflectance).masked_fill(~scene.clear, -1.5)
            better = greenness > best
            best = torch.where(better, greenness, best)
            for band in range(self.cfg.bands):
                composite[band] = torch.where(better, scene.reflectance[band], composite[band])
        return composite


def double_conv(inputs, outputs):
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU(inplace=True),
                         nn.Conv2d(outputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU(inplace=True))


class LandCoverNet(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        width = cfg.width
        self.enter = double_conv(cfg.bands, width)
        self.down = double_conv(width, 2 * width)
        self.bottom = double_conv(2 * width, 4 * width)
        self.rise = nn.ConvTranspose2d(4 * width, 2 * width, 2, stride=2)
        self.middle = double_conv(4 * width, 2 * width)
        self.leave = nn.ConvTranspose2d(2 * width, width, 2, stride=2)
        self.last = nn.Sequential(double_conv(2 * width, width), nn.Conv2d(width, cfg.classes, 1))

    def forward(self, image):
        fine = self.enter(image)
        coarse = self.down(nn.functional.max_pool2d(fine, 2))
        bottom = self.bottom(nn.functional.max_pool2d(coarse, 2))
        coarse = self.middle(torch.cat([self.rise(bottom), coarse], dim=1))
        return self.last(torch.cat([self.leave(coarse), fine], dim=1))


class TiledSegmenter:
    def __init__(self, model, cfg):
        self.model = model
        self.cfg = cfg
        ramp = torch.hann_window(cfg.tile, periodic=False, device=DEVICE).clamp(min=1e-3)
        self.weight = ramp[:, None] * ramp[None, :]

    def _starts(self):
        last = self.cfg.size - self.cfg.tile
        return sorted({*range(0, last, self.cfg.tile - self.cfg.overlap), last})

    @torch.inference_mode()
    def segment(self, composite):
        cfg = self.cfg
        votes = torch.zeros(cfg.classes, cfg.size, cfg.size, device=DEVICE)
        for top in self._starts():
            for left in self._starts():
                window = (slice(None), slice(top, top + cfg.tile), slice(left, left + cfg.tile))
                with torch.autocast(DEVICE, dtype=torch.bfloat16, enabled=DEVICE == "cuda"):
                    logits = self.model(composite[window].unsqueeze(0).float())
                votes[window] += self.weight * logits[0].float().softmax(dim=0)
        return votes.argmax(dim=0).to(torch.uint8)


class ChangeLog:
    def __init__(self, classes):
        self.classes = classes
        self.previous = None
        self.entries = []

    def record(self, day, cover):
        cover = cover.cpu()
        changed = 0.0 if self.previous is None else (cover != self.previous).float().mean().item()
        self.entries.append((day, changed, torch.bincount(cover.flatten(), minlength=self.classes).tolist()))
        self.previous = cover


def main():
    cfg = make_config()
    torch.manual_seed(cfg.seed)
    allocated = []
    try:
        stream, archive, composer = AcquisitionStream(cfg), SceneArchive(cfg), GreenestPixel(cfg)
        segmenter = TiledSegmenter(LandCoverNet(cfg).to(DEVICE).eval(), cfg)
        log = ChangeLog(cfg.classes)
        for index in range(cfg.acquisitions):
            archive.ingest(stream.acquire(index))
            log.record(index * cfg.revisit_days, segmenter.segment(composer.compose(archive.newest_first())))
            allocated.append(torch.cuda.memory_allocated() if DEVICE == "cuda" else 0)
            day, changed, _ = log.entries[-1]
            print(f"day {day}: {len(archive)} scenes in the window, {changed:.2%} of the map changed")
    finally:
        print("TRUTH " + json.dumps({"allocated": allocated, "rounds": len(allocated)}), file=sys.stderr)


if __name__ == "__main__":
    main()
