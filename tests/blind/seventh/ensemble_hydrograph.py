# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Flood-plain emulator: a Fourier neural operator steps shallow-water depth and discharge forward in time.

The operator is trained on one-step pairs, then an ensemble of forecasts is rolled out for the river gauges. Members
run in a small thread pool, each for several days of lead time. The card is shared; the job has a fixed quota.
"""
import logging
import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
QUOTA_GIB = 6.0
log = logging.getLogger("hydrograph")


@dataclass
class Basin:
    rows: int = 32 if SMALL else 192
    columns: int = 32 if SMALL else 192
    channels: int = 3
    width: int = 8 if SMALL else 32
    modes: int = 6 if SMALL else 20
    depth: int = 4
    batch: int = 2 if SMALL else 8
    train_steps: int = 8 if SMALL else 250
    members: int = 3 if SMALL else 12
    lead_steps: int = 10 if SMALL else 144
    workers: int = 2
    gauges: int = 40


def reserve_quota():
    if DEVICE.type == "cuda":
        total = torch.cuda.get_device_properties(DEVICE).total_memory
        torch.cuda.set_per_process_memory_fraction(min(1.0, QUOTA_GIB * 2**30 / total), DEVICE)


class SpectralConv(nn.Module):
    def __init__(self, width, modes):
        super().__init__()
        self.modes = modes
        scale = 1.0 / width
        self.low = nn.Parameter(scale * torch.randn(width, width, modes, modes, dtype=torch.cfloat))
        self.high = nn.Parameter(scale * torch.randn(width, width, modes, modes, dtype=torch.cfloat))

    def forward(self, x):
        m = self.modes
        spectrum = torch.fft.rfft2(x, norm="forward")
        out = torch.zeros_like(spectrum)
        out[:, :, :m, :m] = torch.einsum("bixy,ioxy->boxy", spectrum[:, :, :m, :m], self.low)
        out[:, :, -m:, :m] = torch.einsum("bixy,ioxy->boxy", spectrum[:, :, -m:, :m], self.high)
        return torch.fft.irfft2(out, s=x.shape[-2:], norm="forward")


class FloodOperator(nn.Module):
    def __init__(self, basin: Basin):
        super().__init__()
        self.lift = nn.Conv2d(basin.channels + 2, basin.width, 1)
        self.spectral = nn.ModuleList(SpectralConv(basin.width, basin.modes) for _ in range(basin.depth))
        self.local = nn.ModuleList(nn.Conv2d(basin.width, basin.width, 1) for _ in range(basin.depth))
        self.project = nn.Sequential(nn.Conv2d(basin.width, 64, 1), nn.GELU(), nn.Conv2d(64, basin.channels, 1))

    def forward(self, state, terrain, rain):
        x = self.lift(torch.cat([state, terrain.expand(len(state), -1, -1, -1), rain], dim=1))
        for spectral, local in zip(self.spectral, self.local):
            x = F.gelu(spectral(x) + local(x))
        return state + 0.1 * torch.tanh(self.project(x))


class Simulator:
    """A crude local solver that makes training pairs."""

    def __init__(self, basin: Basin, seed=0):
        self.basin = basin
        self.gen = torch.Generator(device=DEVICE).manual_seed(seed)
        self.terrain = self.smooth(1, 1)[:, :1]

    def smooth(self, batch, channels):
        coarse = torch.randn(batch, channels, 8, 8, device=DEVICE, generator=self.gen)
        return F.interpolate(coarse, size=(self.basin.rows, self.basin.columns), mode="bicubic")

    def pair(self):
        state = self.smooth(self.basin.batch, self.basin.channels)
        rain = self.smooth(self.basin.batch, 1).clamp(min=0)
        level = state[:, :1] + self.terrain
        slope = torch.cat([level.roll(1, -1) - level, level.roll(1, -2) - level], dim=1)
        following = state.clone()
        following[:, :1] += 0.02 * rain + 0.05 * (slope.sum(1, keepdim=True))
        following[:, 1:] = 0.95 * following[:, 1:] + 0.05 * slope
        return state, rain, following


class Forecaster:
    def __init__(self, operator, simulator, basin: Basin, ledger):
        self.operator, self.simulator, self.basin, self.ledger = operator, simulator, basin, ledger
        rng = torch.Generator().manual_seed(3)
        self.rows = torch.randint(basin.rows, (basin.gauges,), generator=rng).to(DEVICE)
        self.columns = torch.randint(basin.columns, (basin.gauges,), generator=rng).to(DEVICE)

    def rollout(self, task):
        member, analysis, storm = task
        state = analysis + 0.05 * torch.randn_like(analysis)
        levels = []
        for hour in range(self.basin.lead_steps):
            rain = storm * max(0.0, 1.0 - hour / 48.0)
            state = self.operator(state, self.simulator.terrain, rain)
            levels.append(state[0, 0, self.rows, self.columns])
            self.ledger.note()
            if hour % 24 == 23:
                log.info("member %d: +%d h, highest gauge %.2f", member, hour + 1, levels[-1].max().item())
        return torch.stack(levels).cpu()

    @torch.no_grad()
    def ensemble(self):
        analysis, storm, _ = self.simulator.pair()
        tasks = [(m, analysis[:1], storm[:1]) for m in range(self.basin.members)]
        with ThreadPoolExecutor(self.basin.workers, thread_name_prefix="member") as pool:
            traces = list(pool.map(self.rollout, tasks))
        return torch.stack(traces)


class Ledger:
    def __init__(self):
        self.allocated, self.rounds = [], 0

    def note(self):
        self.rounds += 1
        if DEVICE.type == "cuda" and self.rounds % 3 == 0 and len(self.allocated) < 200:
            self.allocated.append(torch.cuda.memory_allocated())

    def report(self):
        print("TRUTH " + json.dumps({"allocated": self.allocated, "rounds": self.rounds}), file=sys.stderr, flush=True)


def train(operator, simulator, basin, ledger):
    optimizer = torch.optim.AdamW(operator.parameters(), lr=2e-3, weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, basin.train_steps)
    for step in range(1, basin.train_steps + 1):
        state, rain, following = simulator.pair()
        loss = F.mse_loss(operator(state, simulator.terrain, rain), following)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        ledger.note()
        if step % max(1, basin.train_steps // 5) == 0:
            log.info("step %d one-step error %.5f", step, loss.item())


def main():
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(threadName)s %(message)s", datefmt="%H:%M:%S")
    reserve_quota()
    torch.manual_seed(0)
    basin, ledger = Basin(), Ledger()
    simulator = Simulator(basin)
    operator = FloodOperator(basin).to(DEVICE)
    try:
        train(operator, simulator, basin, ledger)
        operator.eval()
        begin = time.time()
        traces = Forecaster(operator, simulator, basin, ledger).ensemble()
        spread = traces.std(0).mean().item()
        log.info("%d members x %d h in %.1f s, spread %.3f", *traces.shape[:2], time.time() - begin, spread)
    finally:
        ledger.report()


if __name__ == "__main__":
    main()
