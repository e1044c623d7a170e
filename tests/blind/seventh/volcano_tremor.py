# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Learns a representation of volcanic tremor: days of continuous seismograms are scanned for events once, then a masked
autoencoder is trained on the short windows round the onsets.
"""
import json
import os
import sys
import time
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class Config:
    stations: int = 2 if SMALL else 8
    hours: float = 0.05 if SMALL else 96.0
    rate: int = 100
    events_per_station: int = 6 if SMALL else 80
    window: int = 256 if SMALL else 2048
    short: int = 50
    long: int = 1500
    width: int = 8 if SMALL else 64
    batch: int = 4 if SMALL else 96
    steps: int = 30 if SMALL else 900
    report_every: int = 10 if SMALL else 100
    lr: float = 1e-3


class Meter:
    def __init__(self, steps: int):
        self.stride = max(1, -(-steps // 200))
        self.steps = 0
        self.allocated = []

    def mark(self):
        self.steps += 1
        if DEVICE.type == "cuda" and self.steps % self.stride == 0:
            self.allocated.append(torch.cuda.memory_allocated())

    def close(self):
        print("TRUTH " + json.dumps({"allocated": self.allocated, "rounds": self.steps}), file=sys.stderr)


def read_station(number: int, cfg: Config) -> torch.Tensor:
    """Stand-in for the archive: coloured noise with bursts of tremor at random times."""
    n = int(cfg.hours * 3600 * cfg.rate)
    g = torch.Generator(device=DEVICE).manual_seed(300 + number)
    trace = torch.randn(n, generator=g, device=DEVICE)
    for onset in torch.randint(0, n - cfg.window, (2 * cfg.events_per_station,), generator=g, device=DEVICE).tolist():
        t = torch.arange(cfg.window // 2, device=DEVICE) / cfg.rate
        burst = 8 * torch.exp(-t / 2.0) * torch.sin(2 * torch.pi * (2.0 + number) * t)
        trace[onset:onset + len(burst)] += burst
    return trace


def find_onsets(trace: torch.Tensor, cfg: Config) -> list[int]:
    """Classic ratio of short to long averages of the energy, evaluated on blocks; one onset for each coarse cell."""
    energy = trace.square()
    blocks = energy[: len(energy) // cfg.short * cfg.short].view(-1, cfg.short).mean(1)
    span = cfg.long // cfg.short
    background = F.avg_pool1d(blocks.view(1, 1, -1), span, stride=1, padding=span // 2).view(-1)[: len(blocks)]
    ratio = blocks / background.clamp(min=1e-6)
    cell = max(1, len(ratio) // (4 * cfg.events_per_station))
    cells = ratio[: len(ratio) // cell * cell].view(-1, cell)
    strength, place = cells.max(1)
    best = strength.topk(min(cfg.events_per_station, len(strength))).indices
    samples = (best * cell + place[best]) * cfg.short
    return sorted(int(s) for s in samples.tolist())


class EventCatalogue(torch.utils.data.Dataset):
    """The windows of all events of all stations; traces are scanned one after the other."""

    def __init__(self, cfg: Config):
        self.cfg = cfg
        self.windows: list[torch.Tensor] = []
        self.station: list[int] = []

    def scan(self, number: int):
        trace = read_station(number, self.cfg)
        lead = self.cfg.window // 8
        for onset in find_onsets(trace, self.cfg):
            start = min(max(0, onset - lead), len(trace) - self.cfg.window)
            self.windows.append(trace[start:start + self.cfg.window])
            self.station.append(number)
        del trace

    def __len__(self):
        return len(self.windows)

    def __getitem__(self, i):
        return self.windows[i]

    def batch(self, n: int) -> torch.Tensor:
        rows = torch.randint(0, len(self), (n,)).tolist()
        x = torch.stack([self[i] for i in rows]).unsqueeze(1)
        return (x - x.mean(2, keepdim=True)) / (x.std(2, keepdim=True) + 1e-6)


class TremorAutoencoder(nn.Module):
    def __init__(self, cfg: Config):
        super().__init__()
        w = cfg.width
        self.encode = nn.Sequential(nn.Conv1d(1, w, 11, stride=4, padding=5), nn.GELU(),
                                    nn.Conv1d(w, 2 * w, 11, stride=4, padding=5), nn.GELU(),
                                    nn.Conv1d(2 * w, 4 * w, 11, stride=4, padding=5))
        self.decode = nn.Sequential(nn.ConvTranspose1d(4 * w, 2 * w, 4, stride=4), nn.GELU(),
                                    nn.ConvTranspose1d(2 * w, w, 4, stride=4), nn.GELU(),
                                    nn.ConvTranspose1d(w, 1, 4, stride=4))

    def forward(self, x):
        return self.decode(self.encode(x))


def hide(x: torch.Tensor, patch: int = 64) -> torch.Tensor:
    """Mask of hidden samples: whole patches, half of them."""
    patches = torch.rand(len(x), 1, x.shape[2] // patch, device=x.device) < 0.5
    return patches.repeat_interleave(patch, dim=2)


def train(cfg: Config, catalogue: EventCatalogue):
    model = TremorAutoencoder(cfg).to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=3 * cfg.lr, total_steps=cfg.steps)
    meter = Meter(cfg.steps)
    started, total = time.time(), torch.zeros((), device=DEVICE)
    for step in range(1, cfg.steps + 1):
        x = catalogue.batch(cfg.batch)
        hidden = hide(x)
        restored = model(x.masked_fill(hidden, 0.0))
        loss = (restored - x)[hidden].square().mean()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        schedule.step()
        total += loss.detach()
        meter.mark()
        if step % cfg.report_every == 0:
            print(f"step {step:4d}  hidden error {total.item() / cfg.report_every:.4f}  {time.time() - started:.1f} s")
            total.zero_()
    meter.close()


def main():
    torch.manual_seed(8)
    cfg = Config()
    catalogue = EventCatalogue(cfg)
    for number in range(cfg.stations):
        catalogue.scan(number)
        print(f"station {number}: {catalogue.station.count(number)} events")
    seconds = len(catalogue) * cfg.window / cfg.rate
    print(f"catalogue: {len(catalogue)} windows, {seconds:.0f} s of signal")
    train(cfg, catalogue)


if __name__ == "__main__":
    main()
