# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Online fault classification of bearings from a vibration stream whose operating regime drifts."""
import json
import os
import random
import sys
import time
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F

SMALL = os.environ.get("SMALL") == "1"
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


@dataclass
class StreamConfig:
    bands: int = 16 if SMALL else 128
    frames: int = 16 if SMALL else 128
    sensors: int = 3
    classes: int = 12
    batch: int = 8 if SMALL else 64
    steps: int = 40 if SMALL else 210
    regimes: int = 6
    memory_size: int = 240 if SMALL else 6000
    remember_per_step: int = 8 if SMALL else 40
    replay: int = 4 if SMALL else 64
    alpha: float = 0.3
    beta: float = 0.5
    width: int = 8 if SMALL else 64
    acquisition_time: float = 0.015
    seed: int = 21


class SpectrogramNet(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        w = cfg.width
        layers, c = [], cfg.sensors
        for out, stride in ((w, 1), (w, 2), (2 * w, 2), (4 * w, 2)):
            layers += [nn.Conv2d(c, out, 3, stride=stride, padding=1, bias=False), nn.BatchNorm2d(out), nn.ReLU()]
            c = out
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Linear(c, cfg.classes)

    def forward(self, x):
        return self.classifier(self.features(x).mean(dim=(2, 3)))


class VibrationStream:
    def __init__(self, cfg):
        self.cfg = cfg
        self.gen = torch.Generator().manual_seed(cfg.seed)
        self.centres = torch.randn(cfg.classes, cfg.sensors, cfg.bands, 1, generator=self.gen)

    def __iter__(self):
        cfg = self.cfg
        for step in range(cfg.steps):
            time.sleep(cfg.acquisition_time)
            regime = step * cfg.regimes // cfg.steps
            label = (torch.randint(0, 4, (cfg.batch,), generator=self.gen) + 2 * regime) % cfg.classes
            noise = torch.randn(cfg.batch, cfg.sensors, cfg.bands, cfg.frames, generator=self.gen)
            yield step, regime, (noise + self.centres[label]).to(DEVICE), label.to(DEVICE)


class Memory:
    """Past windows with the answers the network gave when it saw them."""

    def __init__(self, size, seed):
        self.size = size
        self.windows, self.labels, self.answers = [], [], []
        self.seen = 0
        self.rng = random.Random(seed)

    def __len__(self):
        return len(self.windows)

    def remember(self, window, label, answer):
        self.seen += 1
        if len(self.windows) < self.size:
            self.windows.append(window.clone())
            self.labels.append(label)
            self.answers.append(answer.detach().clone())
            return
        slot = self.rng.randrange(self.seen)
        if slot < self.size:
            self.windows[slot] = window.clone()
            self.labels[slot] = label
            self.answers[slot] = answer.detach().clone()

    def recall(self, n):
        picks = [self.rng.randrange(len(self.windows)) for _ in range(n)]
        return (torch.stack([self.windows[i] for i in picks]),
                torch.tensor([self.labels[i] for i in picks], device=DEVICE),
                torch.stack([self.answers[i] for i in picks]))


def replay_loss(model, memory, cfg):
    windows, labels, answers = memory.recall(cfg.replay)
    logits = model(windows)
    return cfg.alpha * F.mse_loss(logits, answers) + cfg.beta * F.cross_entropy(logits, labels)


class RegimeReport:
    def __init__(self, regimes):
        self.hits = [0] * regimes
        self.total = [0] * regimes

    def add(self, regime, logits, label):
        self.hits[regime] += int((logits.argmax(1) == label).sum())
        self.total[regime] += label.numel()

    def __str__(self):
        return " ".join(f"{h / max(1, t):.2f}" for h, t in zip(self.hits, self.total))


def run(cfg):
    torch.manual_seed(cfg.seed)
    model = SpectrogramNet(cfg).to(DEVICE)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.03, momentum=0.9)
    memory, report = Memory(cfg.memory_size, cfg.seed), RegimeReport(cfg.regimes)
    allocated, filled = [], []

    for step, regime, windows, label in VibrationStream(cfg):
        logits = model(windows)
        report.add(regime, logits, label)
        loss = F.cross_entropy(logits, label)
        if len(memory) >= cfg.replay:
            loss = loss + replay_loss(model, memory, cfg)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

        labels = label.tolist()
        for i in memory.rng.sample(range(cfg.batch), cfg.remember_per_step):
            memory.remember(windows[i], labels[i], logits[i])
        if (step + 1) % (cfg.steps // 10) == 0:
            print(f"step {step + 1:4d} loss {loss.item():.3f} memory {len(memory)} regimes {report}")
            allocated.append(torch.cuda.memory_allocated())
            filled.append(len(memory))

    print("TRUTH " + json.dumps({"allocated": allocated, "filled": filled, "rounds": cfg.steps,
                                 "peak": torch.cuda.max_memory_allocated()}), file=sys.stderr)


if __name__ == "__main__":
    run(StreamConfig())
