# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Live noise suppression for conference rooms.

The main thread receives audio chunks and hands them to one worker thread per hall; each worker cleans its rooms' spectra
and follows the background noise of the hall.
"""
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
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class Settings:
    halls: int = 2
    rooms: int = 2 if SMALL else 8
    frames: int = 32 if SMALL else 64
    bins: int = 64 if SMALL else 513
    mics: int = 2 if SMALL else 24
    width: int = 96 if SMALL else 768
    chunks: int = 110
    chunk_seconds: float = 0.002 if SMALL else 0.07
    smoothing: float = 0.96


class Suppressor(nn.Module):
    """Predicts a gain between 0 and 1 for each frame and bin."""

    def __init__(self, bins, width):
        super().__init__()
        self.encode = nn.Linear(bins, width)
        self.mix = nn.Linear(width, width)
        self.gain = nn.Linear(width, bins)
        self.act = nn.GELU()

    def forward(self, features):
        x = self.act(self.encode(features))
        x = x + self.act(self.mix(x))
        return torch.sigmoid(self.gain(x))


class Beamformer:
    """Steers the microphone array towards the strongest direction of each bin."""

    def __call__(self, spectra):
        mics = spectra.permute(0, 2, 3, 1)
        covariance = mics.unsqueeze(-1) * mics.unsqueeze(-2)
        smooth = covariance.cumsum(dim=1)
        weights = smooth.diagonal(dim1=-2, dim2=-1)
        weights = weights / weights.sum(-1, keepdim=True).clamp_min(1e-6)
        return (weights * mics).sum(-1)


class HallWorker(threading.Thread):
    def __init__(self, name, model, settings, results):
        super().__init__(name=name, daemon=True)
        self.model = model
        self.settings = settings
        self.results = results
        self.inbox = queue.Queue(maxsize=4)
        self.beamform = Beamformer()
        self.background = torch.zeros(settings.bins, device=DEVICE)
        self.levels = []

    def clean(self, spectra):
        mono = self.beamform(spectra)
        features = torch.log1p((mono - self.background).clamp_min(0))
        gain = self.model(features)
        voice = gain * mono
        residual = (mono - voice).mean(dim=(0, 1))
        keep = self.settings.smoothing
        self.background = keep * self.background + (1 - keep) * residual
        return (voice * 32767).to(torch.int16)

    def run(self):
        while True:
            chunk = self.inbox.get()
            if chunk is None:
                break
            pcm = self.clean(chunk.abs())
            self.levels.append(float(pcm.float().mean()))
            self.results.put((self.name, pcm.cpu()))
            del chunk, pcm
            self.inbox.task_done()


class Server:
    def __init__(self, settings):
        self.settings = settings
        self.model = Suppressor(settings.bins, settings.width).to(DEVICE).eval()
        self.results = queue.Queue()
        self.workers = [HallWorker(f"hall-{i}", self.model, settings, self.results) for i in range(settings.halls)]
        self.rng = torch.Generator(device=DEVICE).manual_seed(23)
        self.delivered = 0

    def warm_up(self):
        s = self.settings
        features = torch.rand(s.rooms, s.frames, s.bins, device=DEVICE, generator=self.rng)
        print(f"warm-up: mean gain {self.model(features).mean().item():.3f}, ready to serve {len(self.workers)} halls")

    def receive(self):
        s = self.settings
        return torch.randn(s.rooms, s.mics, s.frames, s.bins, device=DEVICE, generator=self.rng)

    def serve(self):
        curve = []
        for worker in self.workers:
            worker.start()
        for number in range(self.settings.chunks):
            for worker in self.workers:
                worker.inbox.put(self.receive())
            for _ in self.workers:
                _, pcm = self.results.get()
                self.delivered += pcm.numel()
            for worker in self.workers:
                worker.inbox.join()
            if (number + 1) % (self.settings.chunks // 10) == 0:
                curve.append(torch.cuda.memory_allocated())
                print(f"chunk {number + 1}: delivered {self.delivered / 1e6:.1f} M samples")
            time.sleep(self.settings.chunk_seconds)
        for worker in self.workers:
            worker.inbox.put(None)
        for worker in self.workers:
            worker.join()
        return curve


def main():
    torch.manual_seed(23)
    torch.set_grad_enabled(False)
    settings = Settings()
    server = Server(settings)
    server.warm_up()
    curve = server.serve()
    for worker in server.workers:
        print(f"{worker.name}: last level {worker.levels[-1]:.1f}, noise floor {float(worker.background.mean()):.4f}")
        worker.background = torch.zeros(settings.bins, device=DEVICE)
    print("TRUTH " + json.dumps({"allocated": curve, "rounds": settings.chunks}), file=sys.stderr)


if __name__ == "__main__":
    main()
