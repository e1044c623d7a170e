# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Nightly transient survey: register, subtract and search every exposure of a queue, then write a night report."""
import collections
import json
import logging
import os
import sys
import time
from dataclasses import dataclass, field

import torch
import torch.nn as nn
import torch.nn.functional as F

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
log = logging.getLogger("survey")


@dataclass
class SurveyConfig:
    chips: int = 4
    side: int = 64 if SMALL else 2048
    kernel: int = 7
    exposures: int = 20 if SMALL else 120
    cloudy_every: int = 4
    min_stars: int = 5
    star_sigma: float = 8.0
    detection_sigma: float = 6.0
    readout: float = 0.0 if SMALL else 0.07
    seed: int = 404


class RegistrationError(RuntimeError):
    pass


class RealBogus(nn.Module):
    """Small convolutional vetting network applied to the whole difference image."""

    def __init__(self, chips, width=8):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(chips, width, 5, padding=2), nn.GELU(),
                                  nn.Conv2d(width, width, 3, padding=1), nn.GELU(), nn.Conv2d(width, 1, 1))

    def forward(self, difference):
        return self.body(difference).sigmoid()


class Camera:
    """Simulated exposures: star field, background and, on bad minutes, clouds."""

    def __init__(self, cfg):
        self.cfg = cfg
        self.gen = torch.Generator(device=DEVICE).manual_seed(cfg.seed)
        stars = torch.rand(cfg.chips, cfg.side, cfg.side, generator=self.gen, device=DEVICE)
        self.field = (stars > 0.999).float() * 400.0

    def expose(self, number):
        cfg = self.cfg
        time.sleep(cfg.readout)
        shift = (number * 5 % 7 - 3, number * 3 % 5 - 2)
        transparency = 0.0 if number % cfg.cloudy_every == cfg.cloudy_every - 1 else 1.0
        sky = torch.randn(cfg.chips, cfg.side, cfg.side, generator=self.gen, device=DEVICE)
        return torch.roll(self.field, shift, dims=(1, 2)) * transparency + sky, shift


@dataclass
class NightReport:
    candidates: collections.Counter = field(default_factory=collections.Counter)
    zero_points: list = field(default_factory=list)
    rejected: dict = field(default_factory=dict)

    def summary(self):
        reasons = collections.Counter(type(err).__name__ for err in self.rejected.values())
        return {"searched": len(self.zero_points), "candidates": sum(self.candidates.values()),
                "rejected": dict(reasons)}


class Pipeline:
    def __init__(self, cfg, reference):
        self.cfg = cfg
        self.reference = reference
        self.vetting = RealBogus(cfg.chips).to(DEVICE).eval()
        grid = torch.arange(cfg.kernel, device=DEVICE).float() - cfg.kernel // 2
        psf = torch.exp(-(grid[:, None] ** 2 + grid[None, :] ** 2) / 4.0)
        self.psf = (psf / psf.sum()).expand(cfg.chips, 1, -1, -1).contiguous()

    def smooth(self, image):
        return F.conv2d(image.unsqueeze(0), self.psf, padding=self.cfg.kernel // 2, groups=self.cfg.chips)[0]

    def calibrate(self, raw):
        overscan = raw.mean(dim=(1, 2), keepdim=True)
        return raw - overscan

    def register(self, image, guess):
        sharp = self.smooth(image)
        stars = int((sharp > self.cfg.star_sigma).sum())
        if stars < self.cfg.min_stars:
            raise RegistrationError(f"only {stars} guide stars above {self.cfg.star_sigma} sigma")
        return torch.roll(image, (-guess[0], -guess[1]), dims=(1, 2)), stars

    def process(self, raw, guess):
        image = self.calibrate(raw)
        aligned, stars = self.register(image, guess)
        difference = self.smooth(aligned - self.reference)
        score = self.vetting(difference.unsqueeze(0))[0, 0]
        found = (difference.abs().amax(0) > self.cfg.detection_sigma) & (score > 0.5)
        return int(found.sum()), stars


@torch.inference_mode()
def run_night(cfg):
    torch.manual_seed(cfg.seed)
    camera = Camera(cfg)
    pipeline = Pipeline(cfg, camera.field - camera.field.mean(dim=(1, 2), keepdim=True))
    report = NightReport()
    allocated = []

    for number in range(cfg.exposures):
        raw, guess = camera.expose(number)
        try:
            candidates, stars = pipeline.process(raw, guess)
            report.candidates[number] = candidates
            report.zero_points.append(stars)
        except RegistrationError as err:
            log.warning("exposure %03d skipped: %s", number, err)
            report.rejected[number] = err
        del raw
        allocated.append(torch.cuda.memory_allocated())

    print(json.dumps(report.summary()))
    for number, err in list(report.rejected.items())[:3]:
        print(f"  first rejections: {number:03d} {err}")
    print("TRUTH " + json.dumps({"allocated": allocated, "rounds": cfg.exposures}), file=sys.stderr)


if __name__ == "__main__":
    logging.basicConfig(level=logging.WARNING, format="%(name)s %(levelname)s %(message)s")
    run_night(SurveyConfig())
