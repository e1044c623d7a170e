# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Restore noisy dashcam clips with a recurrent denoiser and write before/after panels in the background."""
import json
import os
import sys
import tempfile
import time
import zlib
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.nn as nn
import torch.nn.functional as F

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class RestoreConfig:
    height: int = 64 if SMALL else 1080
    width: int = 128 if SMALL else 1920
    frames: int = 3 if SMALL else 5
    clips: int = 12 if SMALL else 110
    features: int = 4 if SMALL else 16
    noise: float = 0.1
    workers: int = 2
    panel_stride: int = 1 if SMALL else 6
    decode_seconds: float = 0.0 if SMALL else 0.08
    seed: int = 300


class RecurrentDenoiser(nn.Module):
    """Predicts the noise of a frame from the frame, the previous estimate and a hidden state."""

    def __init__(self, features):
        super().__init__()
        self.features = features
        self.encode = nn.Conv2d(6 + features, features, 3, padding=1)
        self.refine = nn.Conv2d(features, features, 3, padding=1)
        self.noise = nn.Conv2d(features, 3, 3, padding=1)

    def forward(self, clip):
        hidden = clip.new_zeros(1, self.features, *clip.shape[-2:])
        estimate, restored = clip[:1], []
        for frame in clip.split(1):
            hidden = F.relu(self.encode(torch.cat([frame, estimate, hidden], dim=1)))
            hidden = torch.tanh(self.refine(hidden))
            estimate = (frame - 0.1 * self.noise(hidden)).clamp(0, 1)
            restored.append(estimate)
        return torch.cat(restored)


class DashcamReel:
    """Clips of a moving road texture with sensor noise."""

    def __init__(self, cfg):
        self.cfg = cfg
        self.gen = torch.Generator(device=DEVICE).manual_seed(cfg.seed)
        coarse = torch.rand(1, 3, cfg.height // 16, cfg.width // 16, generator=self.gen, device=DEVICE)
        self.road = F.interpolate(coarse, size=(cfg.height, cfg.width), mode="bilinear")[0]

    def __iter__(self):
        cfg = self.cfg
        for number in range(cfg.clips):
            time.sleep(cfg.decode_seconds)
            clean = torch.stack([torch.roll(self.road, 3 * number + t, dims=2) for t in range(cfg.frames)])
            noise = torch.randn(clean.shape, generator=self.gen, device=DEVICE)
            yield f"clip_{number:04d}", (clean + cfg.noise * noise).clamp(0, 1), clean


class PanelWriter:
    """Compresses panels in a thread pool, so that the restoration loop does not wait for the disk."""

    def __init__(self, folder, cfg):
        self.folder = Path(folder)
        self.stride = cfg.panel_stride
        self.pool = ThreadPoolExecutor(max_workers=cfg.workers)
        self.jobs = []
        self.written = 0

    def submit(self, name, noisy, restored):
        panel = torch.cat([noisy, restored], dim=-1)
        job = self.pool.submit(self._write, name, panel)
        job.add_done_callback(lambda done: self._finished(name, tuple(panel.shape), done))
        self.jobs.append(job)

    def _write(self, name, panel):
        pixels = panel[:, ::self.stride, ::self.stride].mul(255).byte().cpu().numpy()
        packed = zlib.compress(pixels.tobytes(), level=1)
        (self.folder / f"{name}.z").write_bytes(packed)
        return len(packed)

    def _finished(self, name, shape, done):
        self.written += done.result()
        if name.endswith("0"):
            print(f"{name}: panel {shape} packed to {done.result() / 1e3:.1f} kB")

    def close(self):
        wait(self.jobs)
        self.pool.shutdown()
        return self.written


def psnr(a, b):
    return -10 * torch.log10(F.mse_loss(a, b)).item()


@torch.inference_mode()
def restore(cfg):
    torch.manual_seed(cfg.seed)
    model = RecurrentDenoiser(cfg.features).to(DEVICE).eval()
    gains, allocated = [], []
    with tempfile.TemporaryDirectory() as folder:
        writer = PanelWriter(folder, cfg)
        for name, noisy, clean in DashcamReel(cfg):
            restored = model(noisy)
            gains.append(psnr(restored, clean) - psnr(noisy, clean))
            writer.submit(name, noisy[-1], restored[-1])
            allocated.append(torch.cuda.memory_allocated())
        written = writer.close()
    print(f"{len(gains)} clips, mean gain {sum(gains) / len(gains):+.2f} dB, panels {written / 1e6:.2f} MB")
    print("TRUTH " + json.dumps({"allocated": allocated, "rounds": cfg.clips}), file=sys.stderr)


if __name__ == "__main__":
    restore(RestoreConfig())
