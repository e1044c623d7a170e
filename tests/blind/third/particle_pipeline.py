# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Langevin dynamics of a colloid; time-lag statistics run on a second stream beside the integrator."""
import contextlib
import json
import math
import os
import sys
import time
from collections import deque
from dataclasses import dataclass

import torch

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
CUDA = DEVICE.type == "cuda"


@dataclass
class ColloidConfig:
    particles: int = 2000 if SMALL else 3_000_000
    mesh: int = 8 if SMALL else 128
    box: float = 64.0
    dt: float = 0.01
    friction: float = 0.8
    temperature: float = 1.0
    substeps: int = 2 if SMALL else 6
    rounds: int = 12 if SMALL else 110
    longest_lag: int = 6 if SMALL else 56
    lags: tuple = (1, 2, 4, 8, 16, 32)
    io_pause: float = 0.0 if SMALL else 0.09
    report_every: int = 4 if SMALL else 11
    seed: int = 31


class Streams:
    """Two side streams on the GPU; on the CPU everything runs in order."""

    def __init__(self):
        self.integrate = torch.cuda.Stream() if CUDA else None
        self.measure = torch.cuda.Stream() if CUDA else None

    def on(self, stream):
        return torch.cuda.stream(stream) if CUDA else contextlib.nullcontext()

    def hand_over(self, tensors, source, target):
        if CUDA:
            target.wait_stream(source)
            for tensor in tensors:
                tensor.record_stream(target)

    def finish(self):
        if CUDA:
            torch.cuda.synchronize()


class Colloid:
    """Particles in a smooth random potential plus a mean-field repulsion computed on a mesh."""

    def __init__(self, cfg):
        self.cfg = cfg
        self.gen = torch.Generator(device=DEVICE).manual_seed(cfg.seed)
        shape = (cfg.particles, 3)
        self.position = [cfg.box * torch.rand(shape, generator=self.gen, device=DEVICE), torch.empty(shape, device=DEVICE)]
        self.velocity = [torch.randn(shape, generator=self.gen, device=DEVICE), torch.empty(shape, device=DEVICE)]
        self.front = 0
        self.wave = 2 * math.pi / cfg.box * torch.tensor([3.0, 4.0, 5.0], device=DEVICE)
        self.decay = math.exp(-cfg.friction * cfg.dt)
        self.kick = math.sqrt(cfg.temperature * (1 - self.decay ** 2))

    def density(self, position):
        n = self.cfg.mesh
        cell = (position.remainder(self.cfg.box) * (n / self.cfg.box)).long().clamp_(0, n - 1)
        index = (cell[:, 0] * n + cell[:, 1]) * n + cell[:, 2]
        counts = torch.bincount(index, minlength=n ** 3).float()
        return counts.view(n, n, n), index

    def force(self, position):
        counts, index = self.density(position)
        field = torch.stack([(counts.roll(1, axis) - counts.roll(-1, axis)) for axis in range(3)], dim=-1)
        mean = self.cfg.particles / self.cfg.mesh ** 3
        return 0.2 / mean * field.view(-1, 3)[index] - torch.sin(position * self.wave)

    def advance(self):
        cfg = self.cfg
        for _ in range(cfg.substeps):
            back = 1 - self.front
            x, v = self.position[self.front], self.velocity[self.front]
            noise = torch.randn(v.shape, generator=self.gen, device=DEVICE)
            torch.add(self.decay * (v + cfg.dt * self.force(x)), noise, alpha=self.kick, out=self.velocity[back])
            torch.add(x, self.velocity[back], alpha=cfg.dt, out=self.position[back])
            self.front = back

    def snapshot(self):
        return self.position[self.front].clone()


class LagStatistics:
    """Mean squared displacement for several time lags from the latest snapshots."""

    def __init__(self, cfg):
        self.cfg = cfg
        self.window = deque(maxlen=cfg.longest_lag + 1)
        self.sums = {lag: torch.zeros((), device=DEVICE) for lag in cfg.lags}
        self.counts = dict.fromkeys(cfg.lags, 0)

    def add(self, snapshot):
        self.window.append(snapshot)
        for lag in self.cfg.lags:
            if lag < len(self.window):
                moved = self.window[-1] - self.window[-1 - lag]
                self.sums[lag] += moved.square().sum(dim=1).mean()
                self.counts[lag] += 1

    def long_drift(self):
        return (self.window[-1] - self.window[0]).mean(dim=0).norm()

    def table(self):
        return {lag: self.sums[lag].item() / count for lag, count in self.counts.items() if count}


def main():
    cfg = ColloidConfig()
    streams, statistics = Streams(), LagStatistics(cfg)
    colloid = Colloid(cfg)
    allocated, drift = [], None
    streams.finish()

    for number in range(1, cfg.rounds + 1):
        with streams.on(streams.integrate):
            colloid.advance()
            snapshot = colloid.snapshot()
        streams.hand_over([snapshot], streams.integrate, streams.measure)
        with streams.on(streams.measure):
            statistics.add(snapshot)
            drift = statistics.long_drift()
        time.sleep(cfg.io_pause)
        if number % cfg.report_every == 0:
            streams.finish()
            table = "  ".join(f"{lag}: {value:.4f}" for lag, value in statistics.table().items())
            print(f"round {number:4d}  drift {drift.item():.5f}  msd {table}")
        allocated.append(torch.cuda.memory_allocated())

    streams.finish()
    temperature = colloid.velocity[colloid.front].square().mean().item()
    print(f"kinetic temperature {temperature:.4f}")
    print("TRUTH " + json.dumps({"allocated": allocated, "rounds": cfg.rounds}), file=sys.stderr)


if __name__ == "__main__":
    main()
