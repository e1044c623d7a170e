# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Turns multibeam sonar survey lines into depth tiles with a small convolutional encoder and a pool of worker
threads, and prints a survey report at the end."""

import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import torch
from torch import nn
from torchvision.ops import Conv2dNormActivation

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class SurveyConfig:
    tile_size: int = 64 if SMALL else 1024
    beams: int = 8
    width: int = 16
    lines: int = 30 if SMALL else 60
    tiles_per_line: int = 4
    workers: int = 2
    min_coverage: float = 0.6
    line_interval_s: float = 0.0 if SMALL else 0.15
    seed: int = 17


@dataclass
class TileJob:
    line: int
    column: int
    dropout: float

    @property
    def name(self) -> str:
        return f"L{self.line:03d}-T{self.column}"


@dataclass
class TileSummary:
    mean_depth: float
    shallowest: float
    roughness: float


@dataclass
class TileOutcome:
    job: TileJob
    summary: TileSummary | None = None
    error: Exception | None = None


class TileRejectedError(Exception):
    """The tile does not meet the quality standard of the survey."""


class PingEncoder(nn.Module):
    def __init__(self, beams: int, width: int):
        super().__init__()
        self.stem = Conv2dNormActivation(beams, width, 3)
        self.mix = nn.Sequential(
            nn.Conv2d(width, width, 3, padding=1, groups=4),
            nn.ReLU(),
            nn.Conv2d(width, width, 1),
        )

    def forward(self, pings: torch.Tensor) -> torch.Tensor:
        stem = self.stem(pings)
        return stem + self.mix(stem)


class DepthHead(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.project = nn.Conv2d(width, 1, 1)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        return 40.0 + 8.0 * torch.tanh(self.project(features))


class CoverageGate:
    """Rejects tiles of which too large a part was not ensonified."""

    def __init__(self, min_coverage: float):
        self.min_coverage = min_coverage

    def check(self, job: TileJob, pings: torch.Tensor) -> float:
        energy = pings.square().mean(dim=1)
        lit = energy > 1e-6
        coverage = lit.float().mean().item()
        if coverage < self.min_coverage:
            raise TileRejectedError(f"{job.name}: coverage {coverage:.2f} below {self.min_coverage:.2f}")
        return coverage


class TileWorker:
    def __init__(self, config: SurveyConfig):
        self.config = config
        self.encoder = PingEncoder(config.beams, config.width).to(DEVICE).eval()
        self.head = DepthHead(config.width).to(DEVICE).eval()
        self.gate = CoverageGate(config.min_coverage)

    def load(self, job: TileJob) -> torch.Tensor:
        size = self.config.tile_size
        generator = torch.Generator(device=DEVICE).manual_seed(self.config.seed + 131 * job.line + job.column)
        pings = torch.randn(1, self.config.beams, size, size, device=DEVICE, generator=generator)
        dark = int(size * job.dropout)
        pings[..., :dark] = 0.0
        return pings

    @torch.inference_mode()
    def process(self, job: TileJob) -> TileSummary:
        pings = self.load(job)
        features = self.encoder(pings)
        depth = self.head(features)
        self.gate.check(job, pings)
        slope = (depth[..., 1:] - depth[..., :-1]).abs().mean()
        return TileSummary(depth.mean().item(), depth.min().item(), slope.item())

    def run(self, job: TileJob) -> TileOutcome:
        try:
            return TileOutcome(job, summary=self.process(job))
        except TileRejectedError as err:
            return TileOutcome(job, error=err)


@dataclass
class Survey:
    config: SurveyConfig
    worker: TileWorker
    outcomes: list[TileOutcome] = field(default_factory=list)

    def jobs_of_line(self, line: int) -> list[TileJob]:
        shadowed = line % self.config.tiles_per_line
        return [
            TileJob(line, column, dropout=0.55 if column == shadowed else 0.05 * column)
            for column in range(self.config.tiles_per_line)
        ]

    def run_line(self, pool: ThreadPoolExecutor, line: int) -> None:
        futures = [pool.submit(self.worker.run, job) for job in self.jobs_of_line(line)]
        for future in futures:
            self.outcomes.append(future.result())

    def report(self) -> list[str]:
        good = [outcome.summary for outcome in self.outcomes if outcome.summary is not None]
        text = [f"{len(good)} of {len(self.outcomes)} tiles accepted"]
        if good:
            text.append(f"mean depth {sum(s.mean_depth for s in good) / len(good):.2f} m")
            text.append(f"shallowest {min(s.shallowest for s in good):.2f} m")
        for outcome in self.outcomes:
            if outcome.error is not None:
                text.append(f"  {type(outcome.error).__name__}: {outcome.error}")
        return text


def allocated() -> int:
    return torch.cuda.memory_allocated() if DEVICE.type == "cuda" else 0


def main() -> None:
    config = SurveyConfig()
    torch.manual_seed(config.seed)
    survey = Survey(config, TileWorker(config))
    truth: list[int] = []
    try:
        with ThreadPoolExecutor(max_workers=config.workers) as pool:
            for line in range(config.lines):
                survey.run_line(pool, line)
                truth.append(allocated())
                if line % 10 == 0:
                    print(f"line {line}: {len(survey.outcomes)} tiles seen", flush=True)
                time.sleep(config.line_interval_s)
        report = survey.report()
        print("\n".join(report[:12]))
    finally:
        print("TRUTH " + json.dumps({"allocated": truth, "rounds": len(truth)}), file=sys.stderr)


if __name__ == "__main__":
    main()
