# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Coarse alignment of cryo-ET tilt series by phase correlation, session by session, with a report at the end."""
import json
import math
import os
import sys
import time
from collections import Counter
from dataclasses import dataclass, field

import torch

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class AlignConfig:
    sessions: int = 4 if SMALL else 24
    series_per_session: int = 4
    tilts: int = 7 if SMALL else 31
    pixels: int = 64 if SMALL else 640
    iterations: int = 4
    min_peak: float = 0.25
    noise: float = 0.4
    readout_pause: float = 0.02
    seed: int = 11


class AlignmentRejected(RuntimeError):
    def __init__(self, peak):
        super().__init__(f"mean correlation peak is only {peak:.3f}")
        self.peak = peak


@dataclass
class SeriesResult:
    name: str
    shifts: list = field(default_factory=list)
    error: Exception | None = None

    @property
    def aligned(self):
        return self.error is None


class Microscope:
    """Plays back sessions: most series show the lamella, one per session only drifting ice."""

    def __init__(self, cfg):
        self.cfg = cfg
        self.gen = torch.Generator().manual_seed(cfg.seed)

    def session(self, number):
        cfg, gen = self.cfg, self.gen
        icy = number % cfg.series_per_session
        shape = (cfg.tilts, cfg.pixels, cfg.pixels)
        for position in range(cfg.series_per_session):
            time.sleep(cfg.readout_pause)
            frames = torch.randn(shape, generator=gen)
            if position != icy:
                lamella = torch.randn(cfg.pixels, cfg.pixels, generator=gen)
                drift = torch.randint(-6, 7, (cfg.tilts, 2), generator=gen).tolist()
                moved = torch.stack([torch.roll(lamella, shift, dims=(0, 1)) for shift in drift])
                frames = moved.add_(frames, alpha=cfg.noise)
            yield f"s{number:02d}_p{position}", frames


def fourier_ramp(step, height, width):
    fy = torch.fft.fftfreq(height, device=step.device)[None, :, None]
    fx = torch.fft.rfftfreq(width, device=step.device)[None, None, :]
    phase = fy * step[:, 0, None, None] + fx * step[:, 1, None, None]
    return torch.polar(torch.ones_like(phase), 2 * math.pi * phase)


def correlation_peaks(spectrum, reference, height, width):
    cross = spectrum * reference.conj()
    cross /= cross.abs().clamp_min(1e-6)
    score, place = torch.fft.irfft2(cross, s=(height, width)).flatten(1).max(dim=1)
    dy, dx = place // width, place % width
    dy = torch.where(dy > height // 2, dy - height, dy)
    dx = torch.where(dx > width // 2, dx - width, dx)
    return torch.stack([dy, dx], dim=1).float(), score


def require_peak(score, minimum):
    mean = ((score.sum() - score.max()) / (len(score) - 1)).item()
    if mean < minimum:
        raise AlignmentRejected(mean)


def align(tilts, cfg):
    height, width = tilts.shape[-2:]
    spectrum = torch.fft.rfft2(tilts - tilts.mean(dim=(1, 2), keepdim=True))
    reference = spectrum[len(tilts) // 2]
    shifts = torch.zeros(len(tilts), 2, device=tilts.device)
    for _ in range(cfg.iterations):
        step, score = correlation_peaks(spectrum, reference, height, width)
        spectrum *= fourier_ramp(step, height, width)
        shifts += step
        if step.abs().max() < 0.5:
            break
    require_peak(score, cfg.min_peak)
    return shifts


class Pipeline:
    def __init__(self, cfg):
        self.cfg = cfg
        self.results = []

    def process(self, name, frames):
        tilts = frames.to(DEVICE)
        tilts = (tilts - tilts.mean()) / tilts.std()
        try:
            shifts = align(tilts, self.cfg)
        except AlignmentRejected as err:
            return SeriesResult(name, error=err)
        return SeriesResult(name, shifts=shifts.cpu().tolist())

    def run_session(self, microscope, number):
        for name, frames in microscope.session(number):
            self.results.append(self.process(name, frames))
        recent = self.results[-self.cfg.series_per_session:]
        good = sum(result.aligned for result in recent)
        print(f"session {number:02d}: {good}/{len(recent)} series aligned", flush=True)

    def report(self):
        aligned = [result for result in self.results if result.aligned]
        reasons = Counter(type(result.error).__name__ for result in self.results if not result.aligned)
        worst = min((result.error.peak for result in self.results if not result.aligned), default=1.0)
        drift = [math.hypot(*shift) for result in aligned for shift in result.shifts]
        return {"aligned": len(aligned), "failed": dict(reasons), "worst_peak": round(worst, 3),
                "mean_drift": round(sum(drift) / max(len(drift), 1), 2)}


@torch.inference_mode()
def main():
    cfg = AlignConfig()
    microscope, pipeline, allocated = Microscope(cfg), Pipeline(cfg), []
    for number in range(cfg.sessions):
        pipeline.run_session(microscope, number)
        allocated.append(torch.cuda.memory_allocated())
    print(json.dumps(pipeline.report()))
    print("TRUTH " + json.dumps({"allocated": allocated, "rounds": cfg.sessions}), file=sys.stderr)


if __name__ == "__main__":
    main()
