# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Asynchronous federated training of a noise suppressor for hearing aids (simulated devices, buffered aggregation).

A device downloads the newest weights, trains on its own sound scenes and sends the difference to the weights it began
with, damped by how stale it is. The server therefore has to know the weights of every version that is still in use.
"""
import json
import os
import random
import sys
import time
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn
from torch.func import functional_call

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class Config:
    devices: int = 12 if SMALL else 60
    concurrent: int = 4 if SMALL else 16
    buffer: int = 2 if SMALL else 6
    versions: int = 12 if SMALL else 150
    bands: int = 32 if SMALL else 256
    width: int = 48 if SMALL else 768
    frames: int = 8 if SMALL else 50
    batch: int = 4 if SMALL else 16
    local_steps: int = 2 if SMALL else 3
    local_lr: float = 0.05
    server_lr: float = 0.7
    offline_rate: float = 0.03


class Ledger:
    def __init__(self, rounds: int):
        self.stride = max(1, -(-rounds // 200))
        self.rounds = 0
        self.allocated = []

    def mark(self):
        self.rounds += 1
        if DEVICE.type == "cuda" and self.rounds % self.stride == 0:
            self.allocated.append(torch.cuda.memory_allocated())

    def close(self):
        print("TRUTH " + json.dumps({"allocated": self.allocated, "rounds": self.rounds}), file=sys.stderr)


class Suppressor(nn.Module):
    """Predicts a gain in [0, 1] for each band of each frame."""

    def __init__(self, cfg: Config):
        super().__init__()
        self.inlet = nn.Linear(cfg.bands, cfg.width)
        self.gru = nn.GRU(cfg.width, cfg.width // 2, batch_first=True)
        self.outlet = nn.Sequential(nn.Linear(cfg.width // 2, cfg.width), nn.ReLU(), nn.Linear(cfg.width, cfg.bands))

    def forward(self, noisy):
        h, _ = self.gru(F.relu(self.inlet(noisy)))
        return self.outlet(h).sigmoid()


class Device:
    """One pair of hearing aids with the sound scenes of its wearer."""

    def __init__(self, number: int, cfg: Config):
        self.number = number
        self.cfg = cfg
        g = torch.Generator().manual_seed(1000 + number)
        self.tilt = torch.rand(cfg.bands, generator=g)
        self.level = 0.2 + torch.rand((), generator=g).item()
        self.online = True

    def scenes(self):
        c = self.cfg
        speech = torch.randn(c.batch, c.frames, c.bands, device=DEVICE).abs() * self.tilt.to(DEVICE)
        noise = self.level * torch.randn(c.batch, c.frames, c.bands, device=DEVICE).abs()
        return speech + noise, speech

    def train(self, model: nn.Module, weights: dict):
        """Plain gradient descent from the given weights; returns the difference."""
        local = {k: v.detach().clone().requires_grad_() for k, v in weights.items()}
        for _ in range(self.cfg.local_steps):
            noisy, clean = self.scenes()
            loss = F.mse_loss(functional_call(model, local, (noisy,)) * noisy, clean)
            grads = torch.autograd.grad(loss, list(local.values()))
            local = {k: (v - self.cfg.local_lr * g).detach().requires_grad_() for (k, v), g in zip(local.items(), grads)}
        return {k: (local[k] - weights[k]).detach() for k in weights}, loss.item()


class Server:
    def __init__(self, cfg: Config):
        self.cfg = cfg
        self.model = Suppressor(cfg).to(DEVICE)
        self.version = 0
        self.published = {0: {k: v.detach().clone() for k, v in self.model.named_parameters()}}
        self.in_use = {}
        self.pending = []

    def download(self, device: Device) -> int:
        self.in_use[device.number] = self.version
        return self.version

    def receive(self, device: Device, delta: dict):
        staleness = self.version - self.in_use.pop(device.number)
        self.pending.append((delta, (1.0 + staleness) ** -0.5))

    def ready(self) -> bool:
        return len(self.pending) >= self.cfg.buffer

    @torch.no_grad()
    def publish(self):
        """Fold the buffered differences into a new version and forget the versions that nobody works with."""
        newest = {k: v.clone() for k, v in self.published[self.version].items()}
        for delta, damping in self.pending:
            for k in newest:
                newest[k].add_(delta[k], alpha=self.cfg.server_lr * damping / len(self.pending))
        self.pending.clear()
        self.version += 1
        self.published[self.version] = newest
        oldest = min(self.in_use.values(), default=self.version)
        for number in [n for n in self.published if n < oldest]:
            del self.published[number]


class Federation:
    """Event loop: devices finish in random order, now and then one is switched off for good."""

    def __init__(self, cfg: Config):
        self.cfg = cfg
        self.rng = random.Random(6)
        self.server = Server(cfg)
        self.devices = [Device(n, cfg) for n in range(cfg.devices)]
        self.working = []
        self.losses = []

    def fill(self):
        idle = [d for d in self.devices if d.online and d not in self.working]
        while len(self.working) < self.cfg.concurrent and idle:
            device = idle.pop(self.rng.randrange(len(idle)))
            self.server.download(device)
            self.working.append(device)

    def finish_one(self):
        device = self.working.pop(self.rng.randrange(len(self.working)))
        online = sum(d.online for d in self.devices)
        if online > self.cfg.concurrent + 4 and self.rng.random() < self.cfg.offline_rate:
            device.online = False
            return
        weights = self.server.published[self.server.in_use[device.number]]
        delta, loss = device.train(self.server.model, weights)
        self.losses.append(loss)
        self.server.receive(device, delta)

    def next_version(self) -> float:
        self.losses.clear()
        while not self.server.ready():
            self.fill()
            self.finish_one()
        self.server.publish()
        return sum(self.losses) / len(self.losses)


def main():
    torch.manual_seed(1)
    cfg = Config()
    federation = Federation(cfg)
    ledger = Ledger(cfg.versions)
    size = sum(p.numel() for p in federation.server.model.parameters())
    print(f"{cfg.devices} devices, {size:,} parameters")
    started = time.time()
    for version in range(1, cfg.versions + 1):
        loss = federation.next_version()
        ledger.mark()
        if version % max(1, cfg.versions // 10) == 0:
            online = sum(d.online for d in federation.devices)
            print(f"version {version:3d}  loss {loss:.4f}  online {online}  {time.time() - started:.1f} s")
    ledger.close()


if __name__ == "__main__":
    main()
