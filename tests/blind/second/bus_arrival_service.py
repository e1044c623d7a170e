# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Arrival times for a city's buses: a track per vehicle in service, models replaced while running."""
import asyncio
import collections
import concurrent.futures
import json
import os
import sys
from dataclasses import dataclass

import torch
import torch.nn as nn

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass(frozen=True)
class FleetConfig:
    window: int = 32 if SMALL else 4096
    features: int = 16 if SMALL else 2048
    hidden: int = 32 if SMALL else 8192
    stops: int = 30
    fleet: int = 8 if SMALL else 54
    shift_changes: int = 2
    rollout: int = 1 if SMALL else 3
    minutes: int = 24 if SMALL else 48
    release_every: int = 6 if SMALL else 14
    burst: int = 4 if SMALL else 64
    keep_for_rollback: int = 1
    minute_seconds: float = 0.005 if SMALL else 0.3
    seed: int = 3003


class ArrivalNet(nn.Module):
    def __init__(self, cfg, release):
        super().__init__()
        self.release = release
        self.inward = nn.Linear(2 * cfg.features, cfg.hidden)
        self.middle = nn.Linear(cfg.hidden, cfg.hidden // 2)
        self.outward = nn.Linear(cfg.hidden // 2, cfg.stops)

    def forward(self, recent, overall):
        joined = torch.cat([recent, overall], dim=1)
        return self.outward(torch.relu(self.middle(torch.relu(self.inward(joined))))).exp()


class Track:
    """The last observations of one vehicle, oldest overwritten first."""

    def __init__(self, cfg):
        self.rows = torch.zeros(cfg.window, cfg.features, device=DEVICE)
        self.cursor = 0
        self.count = 0

    def add(self, burst):
        n, window = len(burst), len(self.rows)
        places = (torch.arange(n) + self.cursor) % window
        self.rows[places.to(DEVICE)] = burst.to(DEVICE)
        self.cursor = (self.cursor + n) % window
        self.count = min(window, self.count + n)

    def summary(self, recent):
        places = torch.arange(self.cursor - recent, self.cursor) % len(self.rows)
        return self.rows[places.to(DEVICE)].mean(0), self.rows[:self.count].mean(0)


class Dispatcher:
    def __init__(self, cfg):
        self.cfg = cfg
        self.active = self.build(0)
        self.previous = collections.deque(maxlen=cfg.keep_for_rollback)
        self.tracks = {}
        self.log_on = 0
        self.loader = concurrent.futures.ThreadPoolExecutor(1, thread_name_prefix="release-loader")
        self.gen = torch.Generator().manual_seed(cfg.seed)

    def build(self, release):
        torch.manual_seed(self.cfg.seed + release)
        model = ArrivalNet(self.cfg, release).to(DEVICE).eval()
        probe = torch.zeros(2, self.cfg.features, device=DEVICE)
        with torch.inference_mode():
            model(probe, probe)
        return model

    async def install(self, release):
        model = await asyncio.get_running_loop().run_in_executor(self.loader, self.build, release)
        self.previous.append(self.active)
        self.active = model
        print(f"release {release} serves, {[m.release for m in self.previous]} kept for rollback")

    def crew_changes(self):
        joining = self.cfg.rollout if len(self.tracks) < self.cfg.fleet else self.cfg.shift_changes
        for _ in range(joining):
            self.tracks[self.log_on] = Track(self.cfg)
            self.log_on += 1
        while len(self.tracks) > self.cfg.fleet:
            oldest = next(iter(self.tracks))
            del self.tracks[oldest]

    @torch.inference_mode()
    def minute(self):
        self.crew_changes()
        recent, overall = [], []
        for track in self.tracks.values():
            track.add(torch.randn(self.cfg.burst, self.cfg.features, generator=self.gen))
            a, b = track.summary(self.cfg.burst)
            recent.append(a)
            overall.append(b)
        arrivals = self.active(torch.stack(recent), torch.stack(overall))
        return dict(zip(self.tracks, arrivals.min(1).values.tolist()))


async def run(cfg):
    dispatcher, allocated, release = Dispatcher(cfg), [], None
    board = {}
    for minute in range(cfg.minutes):
        if minute and minute % cfg.release_every == 0:
            release = asyncio.create_task(dispatcher.install(minute // cfg.release_every))
        board = dispatcher.minute()
        await asyncio.sleep(cfg.minute_seconds)
        if release is not None and release.done():
            release.result()
            release = None
        allocated.append(torch.cuda.memory_allocated())
        if minute % 6 == 0:
            print(f"{minute:3d} min: {len(board)} vehicles, next arrival {min(board.values()):.2f} min", flush=True)
    if release is not None:
        await release
    dispatcher.loader.shutdown()
    print("TRUTH " + json.dumps({"allocated": allocated, "rounds": cfg.minutes}), file=sys.stderr)
    return dispatcher


if __name__ == "__main__":
    asyncio.run(run(FleetConfig()))
