# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Day-ahead power forecast of a wind farm. Keeps a snapshot on disk and returns to it when the loss jumps."""
import argparse
import json
import os
import sys
import tempfile
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
SMALL = os.environ.get("SMALL") == "1"


class MixBlock(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.up = nn.Linear(dim, hidden)
        self.down = nn.Linear(hidden, dim)

    def forward(self, x):
        return x + self.down(F.silu(self.up(self.norm(x))))


class FarmModel(nn.Module):
    def __init__(self, sensors, horizon, dim, hidden, depth):
        super().__init__()
        self.enter = nn.Linear(sensors, dim)
        self.blocks = nn.Sequential(*[MixBlock(dim, hidden) for _ in range(depth)])
        self.leave = nn.Linear(dim, horizon)

    def forward(self, readings):
        return self.leave(self.blocks(self.enter(readings)))


class ScadaStream:
    """Readings of all turbines; now and then a gateway reports in raw counts instead of kilowatts."""

    def __init__(self, batch, sensors, horizon, bad_days=(52, 97)):
        self.generator = torch.Generator().manual_seed(2024)
        self.batch, self.sensors, self.horizon = batch, sensors, horizon
        self.bad_days = bad_days
        self.day = 0

    def next_day(self):
        self.day += 1
        x = torch.randn(self.batch, self.sensors, generator=self.generator)
        y = x[:, : self.horizon].tanh() + 0.1 * torch.randn(self.batch, self.horizon, generator=self.generator)
        if self.day in self.bad_days:
            y = y * 400.0
        return x.to(DEVICE), y.to(DEVICE)


class Forecaster:
    def __init__(self, args, folder):
        torch.manual_seed(3)
        self.args = args
        self.path = os.path.join(folder, "farm.pt")
        self.model = FarmModel(args.sensors, args.horizon, args.dim, args.hidden, args.depth).to(DEVICE)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-4)
        self.level = None
        self.history = []

    def save(self, day):
        torch.save({"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict(), "day": day}, self.path)

    def rewind(self):
        snapshot = torch.load(self.path)
        self.model.load_state_dict(snapshot["model"])
        self.optimizer.load_state_dict(snapshot["optimizer"])
        return snapshot["day"]

    def fit_day(self, readings, power):
        self.optimizer.zero_grad(set_to_none=True)
        loss = F.smooth_l1_loss(self.model(readings), power)
        loss.backward()
        value = loss.item()
        if self.level is not None and value > 20 * self.level:
            print(f"loss {value:.2f} against {self.level:.3f}, back to day {self.rewind()}", flush=True)
            return value
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.level = value if self.level is None else 0.9 * self.level + 0.1 * value
        self.history.append(value)
        return value


def allocated():
    return torch.cuda.memory_allocated() if DEVICE.type == "cuda" else 0


def run(args, rows):
    stream = ScadaStream(args.batch, args.sensors, args.horizon)
    with tempfile.TemporaryDirectory() as folder:
        forecaster = Forecaster(args, folder)
        for day in range(1, args.days + 1):
            value = forecaster.fit_day(*stream.next_day())
            rows.append(allocated())
            if day == args.first_save or day % args.save_every == 0:
                forecaster.save(day)
            if day % 20 == 0:
                print(f"day {day} loss {value:.4f}", flush=True)
            time.sleep(args.pace)


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sensors", type=int, default=96 if SMALL else 512)
    parser.add_argument("--horizon", type=int, default=48)
    parser.add_argument("--dim", type=int, default=64 if SMALL else 2048)
    parser.add_argument("--hidden", type=int, default=128 if SMALL else 8192)
    parser.add_argument("--depth", type=int, default=4)
    parser.add_argument("--batch", type=int, default=16 if SMALL else 512)
    parser.add_argument("--days", type=int, default=120)
    parser.add_argument("--first-save", type=int, default=30)
    parser.add_argument("--save-every", type=int, default=80)
    parser.add_argument("--pace", type=float, default=0.0 if SMALL else 0.12)
    parser.add_argument("--gpu-gib", type=float, default=3.0)
    return parser.parse_args()


if __name__ == "__main__":
    options = parse()
    if DEVICE.type == "cuda":
        card = torch.cuda.get_device_properties(0).total_memory
        torch.cuda.set_per_process_memory_fraction(options.gpu_gib * 2**30 / card)
    levels = []
    try:
        run(options, levels)
    finally:
        every = max(1, len(levels) // 10)
        print("TRUTH " + json.dumps({"allocated": levels[every - 1::every], "rounds": len(levels)}), file=sys.stderr)
