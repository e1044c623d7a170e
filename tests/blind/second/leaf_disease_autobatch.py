# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Scores a day's leaf photographs from the field stations; finds its own batch size while it works."""
import collections
import json
import os
import queue
import sys
import threading
import time
from dataclasses import dataclass

import torch
import torch.nn as nn

SMALL = os.environ.get("SMALL") == "1"
CUDA = torch.cuda.is_available()
DEVICE = torch.device("cuda" if CUDA else "cpu")


@dataclass
class ScanConfig:
    side: int = 32 if SMALL else 512
    channels: int = 8 if SMALL else 64
    diseases: int = 9
    photos: int = 60 if SMALL else 2600
    bundle: int = 6 if SMALL else 40
    first_batch: int = 2 if SMALL else 8
    largest_batch: int = 8 if SMALL else 1024
    settle_after: int = 2
    prefetch: int = 3
    station_latency: float = 0.002 if SMALL else 0.15
    share_gb: float = 10.0
    seed: int = 61


class LeafNet(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        c = cfg.channels
        self.stem = nn.Sequential(nn.Conv2d(3, c, 3, padding=1), nn.BatchNorm2d(c), nn.ReLU(inplace=True))
        self.down = nn.Sequential(*[nn.Sequential(nn.Conv2d(c, c, 3, 2, 1), nn.BatchNorm2d(c), nn.ReLU(inplace=True))
                                    for _ in range(4)])
        self.head = nn.Linear(c, cfg.diseases)

    def forward(self, photos):
        return self.head(self.down(self.stem(photos)).mean((2, 3)))


class Station(threading.Thread):
    """Fetches photo bundles ahead of the scorer; the queue is short, photos are big."""

    def __init__(self, cfg):
        super().__init__(name="station", daemon=True)
        self.cfg = cfg
        self.bundles = queue.Queue(maxsize=cfg.prefetch)

    def run(self):
        cfg = self.cfg
        gen = torch.Generator().manual_seed(cfg.seed)
        leaf = torch.rand(3, cfg.side, cfg.side, generator=gen)
        for start in range(0, cfg.photos, cfg.bundle):
            time.sleep(cfg.station_latency)
            count = min(cfg.bundle, cfg.photos - start)
            light = 0.5 + torch.rand(count, 1, 1, 1, generator=gen)
            self.bundles.put(list((leaf * light).unbind(0)))
        self.bundles.put(None)


class BatchSize:
    """Doubles after every few successes; after a refusal it halves once and stays there."""

    def __init__(self, cfg):
        self.cfg = cfg
        self.size = cfg.first_batch
        self.settled = False
        self.streak = 0

    def success(self, used):
        if self.settled or used < self.size:
            return
        self.streak += 1
        if self.streak == self.cfg.settle_after:
            self.size, self.streak = min(2 * self.size, self.cfg.largest_batch), 0

    def refused(self):
        self.size, self.settled = max(1, self.size // 2), True


class Scorer:
    def __init__(self, cfg):
        torch.manual_seed(cfg.seed)
        self.cfg = cfg
        self.model = LeafNet(cfg).to(DEVICE).eval()
        self.batch = BatchSize(cfg)
        self.waiting = collections.deque()
        self.findings = torch.zeros(cfg.diseases, dtype=torch.long)

    @torch.inference_mode()
    def score(self, photos):
        return self.model(torch.stack(photos).to(DEVICE)).argmax(1).cpu()

    def step(self):
        photos = [self.waiting.popleft() for _ in range(min(self.batch.size, len(self.waiting)))]
        labels = None
        try:
            labels = self.score(photos)
        except torch.cuda.OutOfMemoryError:
            print(f"batch of {len(photos)} does not fit, halving")
        if labels is None:
            self.waiting.extendleft(reversed(photos))
            self.batch.refused()
            torch.cuda.empty_cache()
            return 0
        self.findings += torch.bincount(labels, minlength=self.cfg.diseases)
        self.batch.success(len(photos))
        return len(photos)


def main():
    cfg = ScanConfig()
    if CUDA:
        torch.cuda.set_per_process_memory_fraction(cfg.share_gb * 2**30 / torch.cuda.mem_get_info()[1])
    station, scorer = Station(cfg), Scorer(cfg)
    station.start()
    allocated, peaks, open_end = [], [], True
    while open_end or scorer.waiting:
        while open_end and len(scorer.waiting) < scorer.batch.size:
            bundle = station.bundles.get()
            if bundle is None:
                open_end = False
            else:
                scorer.waiting.extend(bundle)
        if not scorer.waiting:
            break
        done = scorer.step()
        allocated.append(torch.cuda.memory_allocated())
        peaks.append(torch.cuda.max_memory_allocated())
        if len(allocated) % 6 == 0:
            print(f"step {len(allocated)}: {done} photos, next batch {scorer.batch.size}", flush=True)
    print(f"{int(scorer.findings.sum())} photos, findings {scorer.findings.tolist()}")
    print("TRUTH " + json.dumps({"allocated": allocated, "rounds": len(allocated), "peak": max(peaks)}), file=sys.stderr)


if __name__ == "__main__":
    main()
