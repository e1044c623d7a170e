# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Vehicle counting on motorway cameras.

Every camera has a session with its own thread that models the empty road and counts moving blobs. Mobile links drop now
and then; the hub then opens a new session for the camera.
"""
import json
import os
import queue
import random
import sys
import threading
import time
from collections import Counter, deque
from dataclasses import dataclass

import torch
import torch.nn.functional as F

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class HubConfig:
    cameras: int = 6
    height: int = 48 if SMALL else 720
    width: int = 64 if SMALL else 1280
    modes: int = 3
    smoothing_window: int = 6
    frames: int = 120
    frame_seconds: float = 0.002 if SMALL else 0.06
    link_quality: float = 0.972
    learning_rate: float = 0.04


def count_blobs(mask):
    """Connected regions, roughly: local maxima of a heavily blurred mask."""
    pyramid = [mask]
    for _ in range(3):
        pyramid.append(F.avg_pool2d(F.interpolate(pyramid[-1], scale_factor=2.0, mode="bilinear"), 2))
    density = torch.stack([F.avg_pool2d(level, 9, stride=1, padding=4) for level in pyramid]).mean(0)
    peaks = (density == F.max_pool2d(density, 15, stride=1, padding=7)) & (density > 0.4)
    return int(peaks.sum())


class Session(threading.Thread):
    def __init__(self, camera, cfg, counts):
        super().__init__(name=f"camera-{camera}", daemon=True)
        self.camera = camera
        self.cfg = cfg
        self.counts = counts
        self.inbox = queue.Queue()

    def run(self):
        cfg = self.cfg
        means = torch.full((cfg.modes, 3, cfg.height, cfg.width), 0.5, device=DEVICE)
        variances = torch.full_like(means, 0.02)
        weights = torch.full((cfg.modes, 1, cfg.height, cfg.width), 1 / cfg.modes, device=DEVICE)
        recent = deque(maxlen=cfg.smoothing_window)
        while True:
            item = self.inbox.get()
            if item is None:
                return
            number, frame = item
            image = frame.float().div_(255)
            distance = (image - means).square().div_(variances).sum(1, keepdim=True)
            best = (distance == distance.amin(0, keepdim=True)).float()
            rate = cfg.learning_rate * best
            weights += cfg.learning_rate * (best - weights)
            variances += rate * ((image - means).square() - variances)
            variances.clamp_(min=1e-3)
            means += rate * (image - means)
            recent.append((distance.amin(0) > 9).float())
            mask = torch.stack(list(recent)).mean(0, keepdim=True)[:, 0]
            vehicles = count_blobs(mask[None] if mask.dim() == 3 else mask)
            del item, frame, image, distance, best, rate, mask
            self.counts.put((self.camera, number, vehicles))


class Hub:
    def __init__(self, cfg):
        self.cfg = cfg
        self.rng = random.Random(47)
        self.gen = torch.Generator(device=DEVICE).manual_seed(47)
        self.counts = queue.Queue()
        self.totals = Counter()
        self.reconnects = Counter()
        self.sessions = {}
        for camera in range(cfg.cameras):
            self.connect(camera)

    def connect(self, camera):
        session = Session(camera, self.cfg, self.counts)
        self.sessions[camera] = session
        session.start()

    def check_links(self):
        for camera in list(self.sessions):
            if self.rng.random() > self.cfg.link_quality:
                self.reconnects[camera] += 1
                del self.sessions[camera]
                self.connect(camera)

    def grab(self, camera):
        road = torch.randint(90, 110, (3, self.cfg.height, self.cfg.width), dtype=torch.uint8, device=DEVICE, generator=self.gen)
        for _ in range(self.rng.randint(0, 6)):
            y, x = self.rng.randrange(self.cfg.height - 8), self.rng.randrange(self.cfg.width - 12)
            road[:, y : y + self.cfg.height // 9, x : x + self.cfg.width // 9] = self.rng.randrange(150, 255)
        return road

    def frame(self, number):
        self.check_links()
        for camera, session in self.sessions.items():
            session.inbox.put((number, self.grab(camera)))
        for _ in self.sessions:
            camera, _, vehicles = self.counts.get()
            self.totals[camera] += vehicles

    def close(self):
        for session in self.sessions.values():
            session.inbox.put(None)
        for session in self.sessions.values():
            session.join()
        self.sessions.clear()


def main():
    cfg = HubConfig()
    torch.manual_seed(47)
    hub = Hub(cfg)
    curve = []
    for number in range(cfg.frames):
        hub.frame(number)
        if (number + 1) % (cfg.frames // 10) == 0:
            curve.append(torch.cuda.memory_allocated())
            print(f"frame {number + 1}: {sum(hub.totals.values())} vehicles, {sum(hub.reconnects.values())} reconnects")
        time.sleep(cfg.frame_seconds)
    hub.close()
    truth = {"allocated": curve, "rounds": cfg.frames, "events": sum(hub.reconnects.values())}
    print("TRUTH " + json.dumps(truth), file=sys.stderr)


if __name__ == "__main__":
    main()
