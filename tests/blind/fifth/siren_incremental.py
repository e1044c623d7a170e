# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Class-incremental training of a siren and alarm sound classifier, with rehearsal of spectrograms heard earlier."""

import json
import os
import random
import sys
import time
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn
from torchmetrics.classification import MulticlassAccuracy

SMALL = os.environ.get("SMALL") == "1"


@dataclass
class RehearsalConfig:
    mels: int = 16 if SMALL else 128
    frames: int = 16 if SMALL else 256
    tasks: int = 4 if SMALL else 8
    classes_per_task: int = 4
    steps_per_task: int = 4 if SMALL else 50
    batch_size: int = 4 if SMALL else 64
    rehearsal_batch: int = 4 if SMALL else 64
    capacity: int = 40 if SMALL else 18000
    width: int = 8 if SMALL else 48
    test_batches: int = 1 if SMALL else 2
    learning_rate: float = 1e-3
    seed: int = 41

    @property
    def classes(self) -> int:
        return self.tasks * self.classes_per_task


class SoundStream:
    """Synthetic log-mel spectrograms: each class sweeps through the mel bands at its own rate."""

    def __init__(self, cfg: RehearsalConfig, device: torch.device):
        self.cfg, self.device = cfg, device
        self.generator = torch.Generator(device=device).manual_seed(cfg.seed)
        self.time = torch.linspace(0, 1, cfg.frames, device=device)
        self.band = torch.linspace(0, 1, cfg.mels, device=device).view(1, -1, 1)

    def draw(self, task: int, count: int):
        cfg = self.cfg
        low = task * cfg.classes_per_task
        labels = torch.randint(low, low + cfg.classes_per_task, (count,), generator=self.generator, device=self.device)
        sweep = 0.5 + 0.4 * torch.sin(2 * torch.pi * (labels.view(-1, 1) + 1) * self.time)
        clean = torch.exp(-200 * (self.band - sweep.unsqueeze(1)).square())
        noise = torch.randn(clean.shape, generator=self.generator, device=self.device)
        return (clean + 0.3 * noise).unsqueeze(1), labels


class RehearsalMemory:
    """Reservoir over the whole stream: every clip heard so far is equally likely to be in it."""

    def __init__(self, capacity: int, seed: int):
        self.capacity = capacity
        self.clips = []
        self.labels = []
        self.heard = 0
        self.rng = random.Random(seed)

    def __len__(self):
        return len(self.clips)

    def observe(self, clips: torch.Tensor, labels: list):
        for clip, label in zip(clips, labels):
            self.heard += 1
            if len(self.clips) < self.capacity:
                self.clips.append(clip.clone())
                self.labels.append(label)
                continue
            slot = self.rng.randrange(self.heard)
            if slot < self.capacity:
                self.clips[slot] = clip.clone()
                self.labels[slot] = label

    def sample(self, count: int):
        chosen = self.rng.sample(range(len(self.clips)), min(count, len(self.clips)))
        clips = torch.stack([self.clips[i] for i in chosen])
        return clips, torch.tensor([self.labels[i] for i in chosen], device=clips.device)


class ConvBlock(nn.Sequential):
    def __init__(self, inputs: int, outputs: int):
        super().__init__(
            nn.Conv2d(inputs, outputs, 3, padding=1, bias=False),
            nn.GroupNorm(4, outputs),
            nn.ReLU(),
            nn.Conv2d(outputs, outputs, 3, stride=2, padding=1, bias=False),
            nn.GroupNorm(4, outputs),
            nn.ReLU(),
        )


class SirenClassifier(nn.Module):
    def __init__(self, cfg: RehearsalConfig):
        super().__init__()
        self.features = nn.Sequential(
            ConvBlock(1, cfg.width), ConvBlock(cfg.width, 2 * cfg.width), ConvBlock(2 * cfg.width, 4 * cfg.width)
        )
        self.head = nn.Linear(4 * cfg.width, cfg.classes)

    def forward(self, clips):
        return self.head(self.features(clips).mean((2, 3)))


class IncrementalTrainer:
    def __init__(self, cfg: RehearsalConfig, device: torch.device):
        self.cfg = cfg
        self.stream = SoundStream(cfg, device)
        self.model = SirenClassifier(cfg).to(device)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=cfg.learning_rate)
        self.memory = RehearsalMemory(cfg.capacity, cfg.seed)
        self.accuracy = MulticlassAccuracy(num_classes=cfg.classes, average="micro").to(device)
        self.allocated = []

    def train_step(self, task: int) -> float:
        cfg = self.cfg
        clips, labels = self.stream.draw(task, cfg.batch_size)
        inputs, targets = clips, labels
        if task > 0:
            old_clips, old_labels = self.memory.sample(cfg.rehearsal_batch)
            inputs, targets = torch.cat([clips, old_clips]), torch.cat([labels, old_labels])
        loss = F.cross_entropy(self.model(inputs), targets)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        self.memory.observe(clips, labels.tolist())
        return loss.item()

    def train_task(self, task: int):
        self.model.train()
        for _ in range(self.cfg.steps_per_task):
            loss = self.train_step(task)
            self.allocated.append(torch.cuda.memory_allocated() if torch.cuda.is_available() else 0)
        print(f"task {task}: loss {loss:.4f}, {len(self.memory)} clips in the rehearsal memory")

    @torch.no_grad()
    def evaluate(self, tasks_seen: int) -> float:
        self.model.eval()
        for task in range(tasks_seen):
            for _ in range(self.cfg.test_batches):
                clips, labels = self.stream.draw(task, self.cfg.batch_size)
                self.accuracy.update(self.model(clips), labels)
        value = self.accuracy.compute().item()
        self.accuracy.reset()
        return value


def main():
    cfg = RehearsalConfig()
    torch.manual_seed(cfg.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    trainer = IncrementalTrainer(cfg, device)
    started = time.perf_counter()
    try:
        for task in range(cfg.tasks):
            trainer.train_task(task)
            print(f"  accuracy on the {task + 1} tasks so far: {trainer.evaluate(task + 1):.3f}")
        print(f"done in {time.perf_counter() - started:.1f} s")
    finally:
        truth = {"allocated": trainer.allocated, "rounds": len(trainer.allocated)}
        print("TRUTH " + json.dumps(truth), file=sys.stderr)


if __name__ == "__main__":
    main()
