# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Extracts frame features from a folder of clips; decoding, upload and normalisation overlap with the network.

Each clip is opened with a ClipReader, which prepares chunk i+1 while chunk i is in the network.
"""
import contextlib
import json
import os
import sys
import time
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
DTYPE = torch.float16 if DEVICE.type == "cuda" else torch.float32


@dataclass
class ExtractConfig:
    clips: int = 48
    chunks_per_clip: int = 3
    frames: int = 2 if SMALL else 32
    height: int = 54 if SMALL else 540
    width: int = 96 if SMALL else 960
    feature_dim: int = 32 if SMALL else 384
    pause: float = 0.001 if SMALL else 0.1


class Decoder:
    """Stands in for the video decoder: yields chunks of frames in pinned host memory."""

    def __init__(self, cfg):
        gen = torch.Generator().manual_seed(71)
        shape = (cfg.frames, 3, cfg.height, cfg.width)
        self.surfaces = [torch.randint(0, 256, shape, dtype=torch.uint8, generator=gen) for _ in range(2)]
        if DEVICE.type == "cuda":
            self.surfaces = [surface.pin_memory() for surface in self.surfaces]

    def chunks(self, clip, cfg):
        for number in range(cfg.chunks_per_clip):
            yield self.surfaces[(clip + number) % len(self.surfaces)]


class ClipReader:
    MEAN = (0.485, 0.456, 0.406)
    STD = (0.229, 0.224, 0.225)

    def __init__(self, decoder, clip, cfg):
        self.source = decoder.chunks(clip, cfg)
        self.stream = torch.cuda.Stream() if DEVICE.type == "cuda" else None
        self.mean = torch.tensor(self.MEAN, device=DEVICE, dtype=DTYPE).view(3, 1, 1)
        self.std = torch.tensor(self.STD, device=DEVICE, dtype=DTYPE).view(3, 1, 1)
        self.upcoming = None
        self._preload()

    def _preload(self):
        host = next(self.source, None)
        if host is None:
            self.upcoming = None
            return
        with torch.cuda.stream(self.stream) if self.stream else contextlib.nullcontext():
            frames = host.to(DEVICE, non_blocking=True)
            self.upcoming = frames.to(DTYPE).div_(255).sub_(self.mean).div_(self.std)

    def __iter__(self):
        while self.upcoming is not None:
            if self.stream is not None:
                torch.cuda.current_stream().wait_stream(self.stream)
                self.upcoming.record_stream(torch.cuda.current_stream())
            chunk = self.upcoming
            self._preload()
            yield chunk
            del chunk


class FrameNet(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.patches = nn.Conv2d(3, dim, 12, stride=12)
        self.blocks = nn.ModuleList(nn.Sequential(nn.GroupNorm(8, dim), nn.Conv2d(dim, dim, 3, padding=1), nn.GELU(), nn.Conv2d(dim, dim, 1)) for _ in range(4))

    def forward(self, frames):
        x = self.patches(frames)
        for block in self.blocks:
            x = x + block(x)
        return F.adaptive_avg_pool2d(x, 1).flatten(1)


class FeatureStore:
    def __init__(self):
        self.rows = {}

    def save(self, clip, features):
        self.rows[clip] = torch.cat(features).mean(0)


@torch.inference_mode()
def extract(cfg):
    net = FrameNet(cfg.feature_dim).to(DEVICE, DTYPE).eval()
    decoder, store = Decoder(cfg), FeatureStore()
    allocated, reserved = [], []
    for clip in range(cfg.clips):
        reader = ClipReader(decoder, clip, cfg)
        features = [net(chunk).float().cpu() for chunk in reader]
        store.save(clip, features)
        del reader
        if (clip + 1) % (cfg.clips // 12) == 0:
            allocated.append(torch.cuda.memory_allocated())
            reserved.append(torch.cuda.memory_reserved())
            print(f"clip {clip + 1}/{cfg.clips}: {len(store.rows)} stored")
        time.sleep(cfg.pause)
    return store, allocated, reserved


def main():
    torch.manual_seed(71)
    cfg = ExtractConfig()
    store, allocated, reserved = extract(cfg)
    mean = torch.stack(list(store.rows.values())).mean().item()
    print(f"features of {len(store.rows)} clips, mean {mean:.4f}")
    print("TRUTH " + json.dumps({"allocated": allocated, "reserved": reserved, "rounds": cfg.clips}), file=sys.stderr)


if __name__ == "__main__":
    main()
