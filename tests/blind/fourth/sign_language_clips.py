# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Trains a sign-language recogniser on short video clips that are decoded to the accelerator once and used again."""

import json
import os
import sys
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn
from torchmetrics import MetricCollection
from torchmetrics.classification import MulticlassAccuracy, MulticlassF1Score
from torchvision.models.video import r3d_18

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
ALLOCATED: list[int] = []


@dataclass(frozen=True)
class Stage:
    """A part of the schedule: later stages see more frames of a sign."""

    name: str
    steps: int
    frames: int


@dataclass(frozen=True)
class ClipConfig:
    recordings: int = 12 if SMALL else 1500
    signs: int = 4 if SMALL else 200
    side: int = 16 if SMALL else 112
    stored_frames: tuple[int, int] = (8, 12) if SMALL else (48, 80)
    batch_size: int = 2 if SMALL else 12
    cache_bytes: int = 40_000 if SMALL else 3 * 2**29
    lr: float = 1e-3
    label_smoothing: float = 0.1
    teacher_decay: float = 0.99


STAGES = (
    Stage("still", 2 if SMALL else 40, 4 if SMALL else 8),
    Stage("gesture", 2 if SMALL else 60, 6 if SMALL else 16),
    Stage("sentence", 2 if SMALL else 80, 8 if SMALL else 24),
)


class RecordingArchive:
    """Decodes a recording; here a seeded noise film of the recording's own length."""

    def __init__(self, cfg: ClipConfig) -> None:
        self.cfg = cfg
        rng = torch.Generator().manual_seed(31)
        low, high = cfg.stored_frames
        self.lengths = torch.randint(low, high + 1, (cfg.recordings,), generator=rng).tolist()
        self.labels = torch.randint(cfg.signs, (cfg.recordings,), generator=rng).tolist()

    def decode(self, number: int) -> torch.Tensor:
        rng = torch.Generator(device=DEVICE).manual_seed(number)
        shape = (self.lengths[number], 3, self.cfg.side, self.cfg.side)
        return torch.randint(0, 256, shape, generator=rng, dtype=torch.uint8, device=DEVICE)


class DecodedFilms:
    """Decoded films on the accelerator, least recently used first; stays within `limit` bytes."""

    def __init__(self, archive: RecordingArchive, limit: int) -> None:
        self.archive = archive
        self.limit = limit
        self.films: OrderedDict[int, torch.Tensor] = OrderedDict()
        self.held = 0
        self.hits = 0
        self.requests = 0

    def _make_room(self, wanted: int) -> None:
        while self.films and self.held + wanted > self.limit:
            _, film = self.films.popitem(last=False)
            self.held -= film.nbytes

    def get(self, number: int) -> torch.Tensor:
        self.requests += 1
        if number in self.films:
            self.hits += 1
            self.films.move_to_end(number)
            return self.films[number]
        film = self.archive.decode(number)
        self._make_room(film.nbytes)
        self.films[number] = film
        self.held += film.nbytes
        return film


class ClipLoader:
    def __init__(self, cfg: ClipConfig, films: DecodedFilms, seed: int = 6) -> None:
        self.cfg = cfg
        self.films = films
        self.rng = torch.Generator().manual_seed(seed)

    def _clip(self, number: int, frames: int) -> torch.Tensor:
        film = self.films.get(number)
        start = int(torch.randint(len(film) - frames + 1, (), generator=self.rng))
        return film[start : start + frames]

    def batches(self, stage: Stage) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        for _ in range(stage.steps):
            numbers = torch.randint(self.cfg.recordings, (self.cfg.batch_size,), generator=self.rng).tolist()
            clips = torch.stack([self._clip(number, stage.frames) for number in numbers])
            labels = torch.tensor([self.films.archive.labels[n] for n in numbers], device=DEVICE)
            yield clips.transpose(1, 2).float().div_(127.5).sub_(1.0), labels


class MeanTeacher:
    """A slowly following copy of the student; it is the network that gets deployed."""

    def __init__(self, student: nn.Module, decay: float) -> None:
        self.decay = decay
        self.network = r3d_18(num_classes=student.fc.out_features).to(DEVICE)
        self.network.load_state_dict(student.state_dict())
        self.network.requires_grad_(False).eval()

    @torch.no_grad()
    def follow(self, student: nn.Module) -> None:
        for mine, theirs in zip(self.network.parameters(), student.parameters()):
            mine.lerp_(theirs, 1.0 - self.decay)
        for mine, theirs in zip(self.network.buffers(), student.buffers()):
            mine.copy_(theirs)


class Recogniser:
    def __init__(self, cfg: ClipConfig) -> None:
        self.cfg = cfg
        self.student = r3d_18(num_classes=cfg.signs).to(DEVICE)
        self.teacher = MeanTeacher(self.student, cfg.teacher_decay)
        self.optimizer = torch.optim.AdamW(self.student.parameters(), lr=cfg.lr)
        self.metrics = MetricCollection(
            {
                "top1": MulticlassAccuracy(num_classes=cfg.signs, average="micro"),
                "f1": MulticlassF1Score(num_classes=cfg.signs),
            }
        ).to(DEVICE)

    def train_step(self, clips: torch.Tensor, labels: torch.Tensor) -> None:
        self.student.train()
        logits = self.student(clips)
        loss = F.cross_entropy(logits, labels, label_smoothing=self.cfg.label_smoothing)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        self.teacher.follow(self.student)
        self.metrics.update(logits.detach(), labels)

    def summary(self) -> dict[str, float]:
        values = {name: round(float(value), 4) for name, value in self.metrics.compute().items()}
        self.metrics.reset()
        return values


def main() -> None:
    torch.manual_seed(1)
    cfg = ClipConfig()
    films = DecodedFilms(RecordingArchive(cfg), cfg.cache_bytes)
    loader = ClipLoader(cfg, films)
    recogniser = Recogniser(cfg)
    try:
        for stage in STAGES:
            for clips, labels in loader.batches(stage):
                recogniser.train_step(clips, labels)
                ALLOCATED.append(torch.cuda.memory_allocated())
            share = films.hits / films.requests
            print(f"{stage.name}: {recogniser.summary()}, {films.held / 2**20:.0f} MiB of films, hit rate {share:.2f}")
    finally:
        print("TRUTH " + json.dumps({"allocated": ALLOCATED, "rounds": len(ALLOCATED)}), file=sys.stderr)


if __name__ == "__main__":
    main()
