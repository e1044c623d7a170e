# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Screening service of a parcel hub: dual-energy X-ray scans arrive in waves and are compared with the declaration."""

import asyncio
import json
import os
import sys
import time
from collections import Counter
from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from torch import nn

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass(frozen=True)
class HubConfig:
    waves: int = 6 if SMALL else 36
    parcels_per_wave: int = 8
    concurrency: int = 4
    views: int = 2
    energies: int = 2
    side: int = 64 if SMALL else 1024
    width: int = 16
    depth: int = 2 if SMALL else 6
    classes: int = 12
    belt_interval: float = 0.0 if SMALL else 0.25
    seed: int = 11


class DeclarationError(ValueError):
    """The scan cannot be compared with what the sender declared."""


@dataclass(frozen=True)
class Parcel:
    number: int
    declared: tuple[int, ...]
    weight_kg: float


@dataclass
class Verdict:
    number: int
    cleared: bool
    score: float


@dataclass
class WaveReport:
    wave: int
    seconds: float
    verdicts: list[Verdict] = field(default_factory=list)
    rejected: dict[int, Exception] = field(default_factory=dict)

    def line(self) -> str:
        cleared = sum(v.cleared for v in self.verdicts)
        return (
            f"wave {self.wave:3d}: {cleared} cleared, {len(self.verdicts) - cleared} to inspect, "
            f"{len(self.rejected)} rejected, {self.seconds:.2f} s"
        )


class Residual(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.first = nn.Conv2d(width, width, 3, padding=1)
        self.second = nn.Conv2d(width, width, 3, padding=1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.relu(x + self.second(F.relu(self.first(x))))


class ContentNet(nn.Module):
    def __init__(self, config: HubConfig):
        super().__init__()
        self.stem = nn.Conv2d(config.energies, config.width, 5, stride=2, padding=2)
        self.body = nn.Sequential(*[Residual(config.width) for _ in range(config.depth)])
        self.head = nn.Conv2d(config.width, config.classes, 1)

    def features(self, views: torch.Tensor) -> torch.Tensor:
        return self.body(F.relu(self.stem(views)))

    def class_scores(self, features: torch.Tensor) -> torch.Tensor:
        return self.head(F.adaptive_avg_pool2d(features, 16)).flatten(2).amax(dim=(0, 2))


class Scanner:
    """Stands in for the detector line; the real one writes into the same kind of buffer."""

    def __init__(self, config: HubConfig):
        self.config = config
        self.generator = torch.Generator(device=DEVICE).manual_seed(config.seed)

    def acquire(self) -> torch.Tensor:
        c = self.config
        shape = (c.views, c.energies, c.side, c.side)
        return torch.rand(shape, generator=self.generator, device=DEVICE)


def attenuation(scan: torch.Tensor) -> torch.Tensor:
    return scan.clamp(min=1e-3).log().neg_()


def compare_with_declaration(scores: torch.Tensor, parcel: Parcel) -> float:
    if not parcel.declared:
        raise DeclarationError(f"parcel {parcel.number}: empty declaration")
    wanted = torch.zeros_like(scores)
    wanted[list(parcel.declared)] = 1.0
    return F.cosine_similarity(scores.softmax(0), wanted, dim=0).item()


class ScreeningService:
    def __init__(self, config: HubConfig):
        self.config = config
        torch.manual_seed(config.seed)
        self.model = ContentNet(config).to(DEVICE).eval()
        self.scanner = Scanner(config)
        self.slots = asyncio.Semaphore(config.concurrency)
        self.reports: list[WaveReport] = []

    async def screen(self, parcel: Parcel) -> Verdict:
        async with self.slots:
            scan = self.scanner.acquire()
            await asyncio.sleep(0)
            score = self.classify(parcel, scan)
        return Verdict(parcel.number, cleared=score > 0.2, score=score)

    @torch.inference_mode()
    def classify(self, parcel: Parcel, scan: torch.Tensor) -> float:
        views = attenuation(scan)
        features = self.model.features(views)
        scores = self.model.class_scores(features)
        return compare_with_declaration(scores, parcel)

    async def run_wave(self, wave: int, parcels: list[Parcel]) -> WaveReport:
        started = time.perf_counter()
        outcomes = await asyncio.gather(*(self.screen(p) for p in parcels), return_exceptions=True)
        report = WaveReport(wave, time.perf_counter() - started)
        for parcel, outcome in zip(parcels, outcomes):
            if isinstance(outcome, Exception):
                report.rejected[parcel.number] = outcome
            else:
                report.verdicts.append(outcome)
        self.reports.append(report)
        return report

    def shift_summary(self) -> dict:
        reasons = Counter(type(e).__name__ for r in self.reports for e in r.rejected.values())
        scores = [v.score for r in self.reports for v in r.verdicts]
        return {"screened": len(scores), "mean_score": sum(scores) / max(1, len(scores)), "rejected": dict(reasons)}


def arrivals(config: HubConfig, wave: int) -> list[Parcel]:
    parcels = []
    for slot in range(config.parcels_per_wave):
        number = wave * config.parcels_per_wave + slot
        declared = () if slot % 4 == 3 else (number % config.classes, (number * 5 + 1) % config.classes)
        parcels.append(Parcel(number, declared, weight_kg=0.4 + (number % 17) * 0.3))
    return parcels


async def serve(config: HubConfig, allocated: list[int]) -> None:
    service = ScreeningService(config)
    for wave in range(config.waves):
        report = await service.run_wave(wave, arrivals(config, wave))
        if wave % 6 == 0:
            print(report.line())
        allocated.append(torch.cuda.memory_allocated())
        await asyncio.sleep(config.belt_interval)
    print(service.shift_summary())


def main() -> None:
    allocated: list[int] = []
    try:
        asyncio.run(serve(HubConfig(), allocated))
    finally:
        print("TRUTH " + json.dumps({"allocated": allocated, "rounds": len(allocated)}), file=sys.stderr)


if __name__ == "__main__":
    main()
