# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Captions many live audio streams at once with a causal acoustic encoder.

Rooms of a conference open one after the other. In each tick every open room delivers one chunk of audio; the encoder
continues from the keys and values of what the room has said before, the greedy CTC decoder appends the text, and a
speaker change is noticed from the voice prints of the latest turns.
"""
import json
import os
import sys
import time
from collections import deque
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

SMALL = os.environ.get("SMALL") == "1"


@dataclass
class CaptionConfig:
    mels: int = 8 if SMALL else 80
    width: int = 32 if SMALL else 512
    heads: int = 4 if SMALL else 8
    layers: int = 2 if SMALL else 12
    tokens: int = 30 if SMALL else 1000
    chunk_frames: int = 12 if SMALL else 384
    left_context: int = 12 if SMALL else 1536
    voice_prints: int = 8
    rooms: int = 4 if SMALL else 32
    new_rooms_per_tick: int = 2
    rounds: int = 16 if SMALL else 72
    tick_s: float = 0.01 if SMALL else 0.22
    device: str = "cuda" if torch.cuda.is_available() else "cpu"
    dtype: torch.dtype = torch.float16 if torch.cuda.is_available() else torch.float32


class Microphone:
    """Mel frames of one room, chunk by chunk."""

    def __init__(self, cfg: CaptionConfig, seed: int):
        self.cfg = cfg
        self.generator = torch.Generator().manual_seed(seed)

    def chunk(self):
        frames = torch.randn(self.cfg.chunk_frames, self.cfg.mels, generator=self.generator)
        return frames.to(self.cfg.device, self.cfg.dtype)


class CausalLayer(nn.Module):
    def __init__(self, cfg: CaptionConfig):
        super().__init__()
        self.heads, self.left_context = cfg.heads, cfg.left_context
        self.norm_attention, self.norm_ff = nn.LayerNorm(cfg.width), nn.LayerNorm(cfg.width)
        self.qkv = nn.Linear(cfg.width, 3 * cfg.width)
        self.out = nn.Linear(cfg.width, cfg.width)
        self.ff = nn.Sequential(nn.Linear(cfg.width, 4 * cfg.width), nn.SiLU(), nn.Linear(4 * cfg.width, cfg.width))

    def _split(self, x):
        return x.view(1, len(x), self.heads, -1).transpose(1, 2)

    def forward(self, x, memory):
        q, k, v = self.qkv(self.norm_attention(x)).chunk(3, dim=-1)
        if memory is not None:
            k, v = torch.cat([memory[0], k]), torch.cat([memory[1], v])
        heard = F.scaled_dot_product_attention(self._split(q), self._split(k), self._split(v))
        x = x + self.out(heard.transpose(1, 2).reshape(x.shape))
        kept = torch.stack([k[-self.left_context:], v[-self.left_context:]])
        return x + self.ff(self.norm_ff(x)), kept


class AcousticEncoder(nn.Module):
    def __init__(self, cfg: CaptionConfig):
        super().__init__()
        self.subsample = nn.Conv1d(cfg.mels, cfg.width, 4, stride=4)
        self.layers = nn.ModuleList(CausalLayer(cfg) for _ in range(cfg.layers))
        self.ctc = nn.Linear(cfg.width, cfg.tokens + 1)

    def forward(self, frames, memories):
        x = self.subsample(frames.T[None])[0].T
        following = []
        for layer, memory in zip(self.layers, memories):
            x, kept = layer(x, memory)
            following.append(kept)
        return x, self.ctc(x), following


class Room:
    """One audio stream: what the encoder needs to go on, the latest voice prints, and the caption so far."""

    def __init__(self, number, cfg: CaptionConfig):
        self.number = number
        self.microphone = Microphone(cfg, seed=number)
        self.memories = [None] * cfg.layers
        self.prints = deque(maxlen=cfg.voice_prints)
        self.last_token = 0
        self.caption = []
        self.speaker_changes = 0

    def hear(self, encoded, logits, memories):
        self.memories = memories
        for token in logits.argmax(dim=-1).tolist():
            if token and token != self.last_token:
                self.caption.append(token)
            self.last_token = token
        voice = F.normalize(encoded.float().mean(dim=0), dim=0)
        if self.prints and torch.stack(list(self.prints)).mv(voice).max().item() < 0.5:
            self.speaker_changes += 1
        self.prints.append(voice)


class CaptionServer:
    def __init__(self, cfg: CaptionConfig):
        self.cfg = cfg
        self.encoder = AcousticEncoder(cfg).to(cfg.device, cfg.dtype).eval()
        self.rooms = []

    def open_rooms(self):
        for _ in range(min(self.cfg.new_rooms_per_tick, self.cfg.rooms - len(self.rooms))):
            self.rooms.append(Room(len(self.rooms), self.cfg))

    @torch.no_grad()
    def tick(self):
        self.open_rooms()
        for room in self.rooms:
            encoded, logits, memories = self.encoder(room.microphone.chunk(), room.memories)
            room.hear(encoded, logits, memories)


def allocated():
    return torch.cuda.memory_allocated() if torch.cuda.is_available() else 0


def run(cfg: CaptionConfig, sizes):
    server = CaptionServer(cfg)
    due = time.monotonic()
    for number in range(cfg.rounds):
        due = max(due + cfg.tick_s, time.monotonic())
        time.sleep(max(0.0, due - time.monotonic()))
        server.tick()
        sizes.append(allocated())
        if number % 8 == 0:
            words = sum(len(room.caption) for room in server.rooms)
            print(f"tick {number}: {len(server.rooms)} rooms, {words} tokens", flush=True)


def main():
    torch.manual_seed(0)
    sizes = []
    try:
        run(CaptionConfig(), sizes)
    finally:
        print("TRUTH", json.dumps({"allocated": sizes, "rounds": len(sizes)}), file=sys.stderr)


if __name__ == "__main__":
    main()
