# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Speaker diarization of committee recordings: multi-scale window embeddings, fused affinity, spectral clustering."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from torch import Tensor, nn

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass(frozen=True)
class DiarizationConfig:
    mel_bands: int = 20 if SMALL else 80
    window_frames: int = 30 if SMALL else 150
    channels: int = 16 if SMALL else 768
    embedding: int = 16 if SMALL else 192
    # windows per finest window, coarse to fine, and the weight of each scale
    scale_factors: tuple[int, ...] = (3, 2, 1)
    scale_weights: tuple[float, ...] = (0.25, 0.35, 0.4)
    encoder_batch: int = 16 if SMALL else 256
    neighbours: int = 4 if SMALL else 40
    max_speakers: int = 3 if SMALL else 8
    subspace_rounds: int = 12
    kmeans_rounds: int = 10
    device_share_gib: float = 10.0
    seed: int = 5


@dataclass(frozen=True)
class Recording:
    name: str
    windows: int


@dataclass
class Report:
    done: dict[str, int] = field(default_factory=dict)
    postponed: list[str] = field(default_factory=list)


def calendar() -> list[Recording]:
    """The recordings of a quarter: short committee meetings and, in the last week, the public hearing."""
    base, spread, hearing, count = (24, 6, 60, 5) if SMALL else (1200, 180, 30_000, 36)
    meetings = [Recording(f"committee-{i:02d}", base + spread * (i * 7 % 6)) for i in range(count)]
    position = count - 3
    return [*meetings[:position], Recording("public-hearing", hearing), *meetings[position:]]


class WindowEncoder(nn.Module):
    """TDNN with statistics pooling."""

    def __init__(self, cfg: DiarizationConfig) -> None:
        super().__init__()
        c = cfg.channels
        self.frames = nn.Sequential(
            nn.Conv1d(cfg.mel_bands, c, kernel_size=5, padding=2),
            nn.ReLU(),
            nn.BatchNorm1d(c),
            nn.Conv1d(c, c, kernel_size=3, dilation=2, padding=2),
            nn.ReLU(),
            nn.BatchNorm1d(c),
            nn.Conv1d(c, c, kernel_size=3, dilation=3, padding=3),
            nn.ReLU(),
            nn.BatchNorm1d(c),
            nn.Conv1d(c, 2 * c, kernel_size=1),
            nn.ReLU(),
        )
        self.head = nn.Linear(4 * c, cfg.embedding)

    def forward(self, mel: Tensor) -> Tensor:
        hidden = self.frames(mel)
        stats = torch.cat([hidden.mean(dim=-1), hidden.std(dim=-1)], dim=-1)
        return F.normalize(self.head(stats), dim=-1)


class MelReader:
    """Stands in for the audio reader: delivers the mel windows of one scale batch by batch."""

    def __init__(self, cfg: DiarizationConfig) -> None:
        self.cfg = cfg
        self.generator = torch.Generator(device=DEVICE).manual_seed(cfg.seed)

    def batch(self, count: int) -> Tensor:
        shape = (count, self.cfg.mel_bands, self.cfg.window_frames)
        return torch.randn(shape, generator=self.generator, device=DEVICE)


class MultiScaleAffinity:
    """Fuses the cosine affinities of all scales on the time grid of the finest one."""

    def __init__(self, cfg: DiarizationConfig) -> None:
        self.cfg = cfg

    def _repeats(self, coarse: int, fine: int) -> Tensor:
        repeats = torch.full((coarse,), fine // coarse, device=DEVICE)
        repeats[: fine - int(repeats.sum())] += 1
        return repeats

    def __call__(self, scales: Sequence[Tensor]) -> Tensor:
        fine = scales[-1].shape[0]
        fused = torch.zeros(fine, fine, device=DEVICE)
        for embeddings, weight in zip(scales, self.cfg.scale_weights, strict=True):
            scores = (embeddings @ embeddings.T + 1.0) / 2.0
            repeats = self._repeats(embeddings.shape[0], fine)
            rows = scores.repeat_interleave(repeats, dim=0)
            expanded = rows.repeat_interleave(repeats, dim=1)
            fused += weight * expanded
        return fused


class SpectralClusterer:
    def __init__(self, cfg: DiarizationConfig) -> None:
        self.cfg = cfg

    def _sparsify(self, affinity: Tensor) -> Tensor:
        kept = affinity.topk(min(self.cfg.neighbours, affinity.shape[0]), dim=-1)
        sparse = torch.zeros_like(affinity).scatter_(1, kept.indices, kept.values)
        return (sparse + sparse.T) / 2.0

    def _subspace(self, graph: Tensor) -> Tensor:
        degree = graph.sum(dim=-1).clamp_min(1e-6).rsqrt()
        basis = torch.randn(graph.shape[0], self.cfg.max_speakers, device=graph.device)
        for _ in range(self.cfg.subspace_rounds):
            basis = degree[:, None] * (graph @ (degree[:, None] * basis))
            basis = torch.linalg.qr(basis).Q
        return F.normalize(basis, dim=-1)

    def __call__(self, affinity: Tensor) -> Tensor:
        points = self._subspace(self._sparsify(affinity))
        centres = points[torch.randperm(points.shape[0], device=points.device)[: self.cfg.max_speakers]]
        labels = torch.zeros(points.shape[0], dtype=torch.long, device=points.device)
        for _ in range(self.cfg.kmeans_rounds):
            labels = (points @ centres.T).argmax(dim=-1)
            members = F.one_hot(labels, self.cfg.max_speakers).float()
            centres = F.normalize(members.T @ points, dim=-1)
        return labels


class Diarizer:
    def __init__(self, cfg: DiarizationConfig) -> None:
        self.cfg = cfg
        self.reader = MelReader(cfg)
        self.encoder = WindowEncoder(cfg).to(DEVICE).eval()
        self.affinity = MultiScaleAffinity(cfg)
        self.clusterer = SpectralClusterer(cfg)

    def embed(self, windows: int) -> Tensor:
        sizes = [min(self.cfg.encoder_batch, windows - i) for i in range(0, windows, self.cfg.encoder_batch)]
        return torch.cat([self.encoder(self.reader.batch(size)) for size in sizes])

    @torch.inference_mode()
    def __call__(self, recording: Recording) -> int:
        scales = [self.embed(recording.windows // factor) for factor in self.cfg.scale_factors]
        labels = self.clusterer(self.affinity(scales))
        return int(labels.unique().numel())


def limit_device_share(gib: float) -> None:
    if DEVICE.type == "cuda":
        total = torch.cuda.get_device_properties(DEVICE).total_memory
        torch.cuda.set_per_process_memory_fraction(min(1.0, gib * 2**30 / total))


def main() -> None:
    cfg = DiarizationConfig()
    torch.manual_seed(cfg.seed)
    limit_device_share(cfg.device_share_gib)
    allocated: list[int] = []
    report = Report()
    try:
        diarizer = Diarizer(cfg)
        for recording in calendar():
            try:
                report.done[recording.name] = diarizer(recording)
            except torch.OutOfMemoryError as error:
                print(f"{recording.name}: {str(error).splitlines()[0]}", file=sys.stderr)
                report.postponed.append(recording.name)
            allocated.append(torch.cuda.memory_allocated())
            print(f"{recording.name}: {report.done.get(recording.name, 'postponed')}", flush=True)
        print(f"{len(report.done)} recordings done, postponed: {', '.join(report.postponed) or 'none'}")
    finally:
        print("TRUTH " + json.dumps({"allocated": allocated, "rounds": len(allocated)}), file=sys.stderr)


if __name__ == "__main__":
    main()
