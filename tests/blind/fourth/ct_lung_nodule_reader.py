# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Reads a worklist of chest CT studies: resamples each to a common voxel grid, segments nodules, reports volumes."""

import functools
import json
import os
import sys
from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from torch import nn
from torchmetrics import MeanMetric
from torchmetrics.classification import BinaryJaccardIndex

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
ALLOCATED: list[int] = []


@dataclass(frozen=True)
class ReaderConfig:
    studies: int = 6 if SMALL else 90
    target_shape: tuple[int, int, int] = (8, 16, 16) if SMALL else (96, 256, 256)
    target_spacing: tuple[float, float, float] = (2.5, 1.25, 1.25)
    stored_matrix: int = 24 if SMALL else 320
    width: int = 4 if SMALL else 16
    threshold: float = 0.5
    window: tuple[float, float] = (-1000.0, 400.0)
    flips: tuple[tuple[int, ...], ...] = ((), (4,), (3,), (3, 4))


@dataclass
class Study:
    accession: str
    volume: torch.Tensor
    spacing: tuple[float, float, float]
    reference: torch.Tensor


@dataclass
class Report:
    accession: str
    nodule_ml: float
    overlap: float
    warnings: list[str] = field(default_factory=list)


class Worklist:
    """Stands in for the archive: every study has its own field of view, so its own in-plane spacing."""

    def __init__(self, cfg: ReaderConfig, seed: int = 11) -> None:
        self.cfg = cfg
        self.host_rng = torch.Generator().manual_seed(seed)
        self.rng = torch.Generator(device=DEVICE).manual_seed(seed)

    def _load(self, number: int) -> Study:
        field_of_view = 280.0 + 180.0 * torch.rand((), generator=self.host_rng).item()
        slices = 6 if SMALL else int(torch.randint(48, 97, (), generator=self.host_rng).item())
        thickness = round(240.0 / slices, 4)
        in_plane = round(field_of_view / self.cfg.stored_matrix, 6)
        shape = (1, 1, slices, self.cfg.stored_matrix, self.cfg.stored_matrix)
        volume = torch.randn(shape, generator=self.rng, device=DEVICE).mul_(250.0).sub_(500.0)
        reference = torch.rand(shape, generator=self.rng, device=DEVICE) > 0.995
        return Study(f"CT{number:05d}", volume, (thickness, in_plane, in_plane), reference)

    def __iter__(self):
        for number in range(self.cfg.studies):
            yield self._load(number)


class VoxelGrid:
    """Sampling positions of the common grid, in the normalised coordinates of a stored volume."""

    @staticmethod
    @functools.cache
    def positions(
        stored_shape: tuple[int, ...],
        spacing: tuple[float, float, float],
        target_shape: tuple[int, int, int],
        target_spacing: tuple[float, float, float],
        device: torch.device,
    ) -> torch.Tensor:
        target_extent = [n * mm for n, mm in zip(target_shape, target_spacing)]
        stored_extent = [n * mm for n, mm in zip(stored_shape, spacing)]
        scale = [target / stored for target, stored in zip(target_extent, stored_extent)]
        theta = torch.zeros(1, 3, 4, device=device)
        for row, factor in enumerate(reversed(scale)):
            theta[0, row, row] = factor
        return F.affine_grid(theta, [1, 1, *target_shape], align_corners=False)


class Resampler:
    def __init__(self, cfg: ReaderConfig) -> None:
        self.cfg = cfg

    def __call__(self, volume: torch.Tensor, spacing: tuple[float, float, float], mode: str) -> torch.Tensor:
        grid = VoxelGrid.positions(
            tuple(volume.shape[2:]), spacing, self.cfg.target_shape, self.cfg.target_spacing, volume.device
        )
        return F.grid_sample(volume, grid, mode=mode, padding_mode="border", align_corners=False)


class ConvBlock(nn.Sequential):
    def __init__(self, c_in: int, c_out: int, stride: int = 1) -> None:
        super().__init__(
            nn.Conv3d(c_in, c_out, 3, stride=stride, padding=1),
            nn.InstanceNorm3d(c_out, affine=True),
            nn.LeakyReLU(0.01, inplace=True),
        )


class NoduleNet(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.stem = ConvBlock(1, width)
        self.down = nn.Sequential(ConvBlock(width, 2 * width, 2), ConvBlock(2 * width, 2 * width))
        self.deep = nn.Sequential(ConvBlock(2 * width, 4 * width, 2), ConvBlock(4 * width, 2 * width))
        self.up = ConvBlock(2 * width, width)
        self.head = nn.Conv3d(width, 1, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        top = self.stem(x)
        mid = self.down(top)
        deep = F.interpolate(self.deep(mid), size=mid.shape[2:], mode="nearest")
        up = F.interpolate(self.up(mid + deep), size=top.shape[2:], mode="nearest")
        return self.head(top + up)


class NoduleReader:
    def __init__(self, cfg: ReaderConfig) -> None:
        self.cfg = cfg
        self.net = NoduleNet(cfg.width).to(DEVICE).eval()
        self.resample = Resampler(cfg)
        self.overlap = BinaryJaccardIndex().to(DEVICE)
        self.mean_volume = MeanMetric().to(DEVICE)

    def _windowed(self, volume: torch.Tensor) -> torch.Tensor:
        low, high = self.cfg.window
        return volume.clamp(low, high).sub_(low).div_(high - low)

    @torch.inference_mode()
    def read(self, study: Study) -> Report:
        image = self._windowed(self.resample(study.volume, study.spacing, "bilinear"))
        truth = self.resample(study.reference.float(), study.spacing, "nearest") > 0.5
        score = torch.zeros_like(image)
        for dims in self.cfg.flips:
            flipped = torch.flip(image, dims) if dims else image
            logits = self.net(flipped)
            score += torch.sigmoid(torch.flip(logits, dims) if dims else logits)
        mask = score.div_(len(self.cfg.flips)) > self.cfg.threshold
        voxel_ml = self.cfg.target_spacing[0] * self.cfg.target_spacing[1] * self.cfg.target_spacing[2] / 1000.0
        volume_ml = mask.sum() * voxel_ml
        self.mean_volume.update(volume_ml)
        overlap = self.overlap(mask[:, 0, ::2, ::2, ::2].int(), truth[:, 0, ::2, ::2, ::2].int())
        report = Report(study.accession, float(volume_ml), float(overlap))
        if study.spacing[0] > 4.0:
            report.warnings.append("thick slices")
        return report


def main() -> None:
    torch.manual_seed(0)
    cfg = ReaderConfig()
    reader = NoduleReader(cfg)
    worklist = Worklist(cfg)
    flagged = 0
    try:
        for number, study in enumerate(worklist):
            report = reader.read(study)
            del study
            flagged += bool(report.warnings)
            ALLOCATED.append(torch.cuda.memory_allocated())
            if number % 10 == 0:
                print(f"{report.accession}: {report.nodule_ml:.1f} ml, overlap {report.overlap:.3f}")
        print(f"mean volume {float(reader.mean_volume.compute()):.1f} ml, {flagged} studies with remarks")
    finally:
        print("TRUTH " + json.dumps({"allocated": ALLOCATED, "rounds": len(ALLOCATED)}), file=sys.stderr)


if __name__ == "__main__":
    main()
