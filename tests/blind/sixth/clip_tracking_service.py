# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Tracks one object through the clips that traffic cameras deliver and reports how long it stays in the picture.

Clips come in over an asyncio queue. Every clip is worked on in its own task: a convolutional backbone turns each frame
into features, attention over the features of the clip's earlier frames finds the object again, and a small head draws
the mask. A status board shows operators which clips are being handled.
"""
import asyncio
import contextvars
import json
import os
import sys
import time
from collections import deque
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class ServiceConfig:
    clips: int = 40
    frames: int = 24
    side: int = 512
    channels: int = 256
    lookback: int = 6
    arrival_seconds: float = 0.15
    pulse_seconds: float = 2.0
    embeddings: int = 8
    device: str = "cuda" if torch.cuda.is_available() else "cpu"

    @classmethod
    def from_environment(cls):
        if os.environ.get("SMALL") == "1":
            return cls(clips=6, frames=4, side=64, channels=32, arrival_seconds=0.02, pulse_seconds=0.05)
        return cls()


class ClipMemory:
    """Features of the frames of one clip, the newest mask and the position in the clip."""

    def __init__(self, clip_id, config):
        side = config.side // 8
        self.clip_id = clip_id
        self.features = torch.zeros(config.frames, config.channels, side, side, device=config.device)
        self.mask = torch.zeros(1, 1, side, side, device=config.device)
        self.filled = 0

    def remember(self, features):
        self.features[self.filled].copy_(features[0])
        self.filled += 1

    def window(self, lookback):
        return self.features[max(0, self.filled - lookback):self.filled]


current_clip = contextvars.ContextVar("current_clip")


def log(message):
    memory = current_clip.get(None)
    print(f"[{memory.clip_id if memory else 'service'}] {message}")


class Backbone(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.stages = nn.Sequential(
            nn.Conv2d(3, channels // 4, 7, stride=2, padding=3), nn.GELU(),
            nn.Conv2d(channels // 4, channels // 2, 3, stride=2, padding=1), nn.GELU(),
            nn.Conv2d(channels // 2, channels, 3, stride=2, padding=1))

    def forward(self, frame):
        return self.stages(frame)


class MemoryAttention(nn.Module):
    def __init__(self, channels, heads=4):
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(channels, channels)
        self.key_value = nn.Linear(channels, 2 * channels)

    def split(self, tokens):
        return tokens.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def forward(self, features, lookback):
        memory = current_clip.get()
        if memory.filled == 0:
            return features
        seen = memory.window(lookback).permute(0, 2, 3, 1).flatten(0, 2).unsqueeze(0)
        tokens = features.flatten(2).transpose(1, 2)
        key, value = self.key_value(seen).chunk(2, dim=-1)
        found = F.scaled_dot_product_attention(self.split(self.query(tokens)), self.split(key), self.split(value))
        return features + found.transpose(1, 2).flatten(2).transpose(1, 2).view_as(features)


class ObjectTracker(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.backbone = Backbone(config.channels)
        self.attention = MemoryAttention(config.channels)
        self.head = nn.Conv2d(config.channels + 1, 1, 1)

    @torch.inference_mode()
    def track(self, frame):
        memory = current_clip.get()
        features = self.backbone(frame)
        enriched = self.attention(features, self.config.lookback)
        memory.mask = self.head(torch.cat([enriched, memory.mask], dim=1)).sigmoid()
        memory.remember(features)
        return memory.mask.mean()


class StatusBoard:
    """Tells operators that a clip is alive; the dashboard reads `seen`."""

    def __init__(self, pulse_seconds):
        self.pulse_seconds = pulse_seconds
        self.seen = {}
        self.pulses = set()

    def announce(self, clip_id):
        self.seen[clip_id] = time.monotonic()
        pulse = asyncio.create_task(self.keep_pulsing(clip_id), name=f"pulse-{clip_id}")
        self.pulses.add(pulse)
        pulse.add_done_callback(self.pulses.discard)

    async def keep_pulsing(self, clip_id):
        while True:
            await asyncio.sleep(self.pulse_seconds)
            self.seen[clip_id] = time.monotonic()


class TrackingService:
    def __init__(self, config):
        self.config = config
        self.tracker = ObjectTracker(config).to(config.device).eval()
        self.board = StatusBoard(config.pulse_seconds)
        self.queue = asyncio.Queue(maxsize=2)
        self.embeddings = deque(maxlen=config.embeddings)
        self.allocated = []

    async def cameras(self):
        for number in range(self.config.clips):
            seed = 1000 + number
            await self.queue.put((f"cam{number % 4}-{number:04d}", seed))
            await asyncio.sleep(self.config.arrival_seconds)
        await self.queue.put(None)

    def decode(self, seed):
        generator = torch.Generator().manual_seed(seed)
        still = torch.rand(1, 3, self.config.side, self.config.side, generator=generator).to(self.config.device)
        for index in range(self.config.frames):
            yield still.roll(4 * index, dims=3)

    async def handle(self, clip_id, seed):
        current_clip.set(ClipMemory(clip_id, self.config))
        self.board.announce(clip_id)
        coverage = []
        for frame in self.decode(seed):
            coverage.append(self.tracker.track(frame))
            await asyncio.sleep(0)
        self.embeddings.append(current_clip.get().features.mean(dim=(0, 2, 3)))
        share = torch.stack(coverage).gt(0.5).float().mean().item()
        log(f"object visible in {share:.0%} of {len(coverage)} frames, {len(self.embeddings)} clips for matching")
        return share

    async def serve(self):
        producer = asyncio.create_task(self.cameras())
        while (clip := await self.queue.get()) is not None:
            await asyncio.create_task(self.handle(*clip))
            self.allocated.append(torch.cuda.memory_allocated() if torch.cuda.is_available() else 0)
        await producer


async def main():
    torch.manual_seed(7)
    service = TrackingService(ServiceConfig.from_environment())
    try:
        await service.serve()
    finally:
        truth = {"allocated": service.allocated, "rounds": len(service.allocated)}
        print("TRUTH " + json.dumps(truth), file=sys.stderr)


if __name__ == "__main__":
    asyncio.run(main())
