# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Pitch estimation for choir rehearsals: an asyncio service batches the recordings of several singers and returns
the pitch posteriorgram of each of them."""

import asyncio
import itertools
import json
import math
import os
import sys
from dataclasses import dataclass

import torch
from torch import nn

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class ServiceConfig:
    mels: int = 16 if SMALL else 80
    hidden: int = 16 if SMALL else 384
    bins: int = 32 if SMALL else 1024
    max_frames: int = 256 if SMALL else 8192
    layers: int = 2 if SMALL else 6
    singers: int = 6
    bars: int = 30 if SMALL else 50
    batch_window_s: float = 0.05 if SMALL else 0.12
    patience_s: float = 30.0
    preview_patience_s: float = 0.005
    pause_s: float = 0.0 if SMALL else 0.08


@dataclass
class Recording:
    singer: int
    mel: torch.Tensor

    @property
    def frames(self) -> int:
        return self.mel.shape[0]


class ConvBlock(nn.Module):
    def __init__(self, width: int, dilation: int):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.conv = nn.Conv1d(width, width, 5, padding=2 * dilation, dilation=dilation)
        self.out = nn.Linear(width, width)

    def forward(self, frames: torch.Tensor) -> torch.Tensor:
        hidden = self.conv(self.norm(frames).transpose(1, 2)).transpose(1, 2)
        return frames + self.out(torch.nn.functional.gelu(hidden))


class PitchNet(nn.Module):
    def __init__(self, config: ServiceConfig):
        super().__init__()
        self.inp = nn.Linear(config.mels, config.hidden)
        self.blocks = nn.ModuleList(ConvBlock(config.hidden, 2**i) for i in range(config.layers))
        self.bins = nn.Linear(config.hidden, config.bins)

    def forward(self, mel: torch.Tensor) -> torch.Tensor:
        frames = self.inp(mel)
        for block in self.blocks:
            frames = block(frames)
        return self.bins(frames).softmax(dim=-1)


class PitchService:
    """Collects requests for a short while, runs them as one batch and hands the rows to whoever asked."""

    def __init__(self, config: ServiceConfig):
        self.config = config
        self.model = PitchNet(config).to(DEVICE).eval()
        self.inbox: asyncio.Queue[tuple[int, Recording]] = asyncio.Queue()
        self.tickets = itertools.count()
        self.signals: dict[int, asyncio.Event] = {}
        self.finished: dict[int, torch.Tensor] = {}
        self.batches = 0

    async def analyze(self, recording: Recording) -> torch.Tensor:
        ticket = next(self.tickets)
        signal = self.signals[ticket] = asyncio.Event()
        try:
            await self.inbox.put((ticket, recording))
            await signal.wait()
        finally:
            self.signals.pop(ticket, None)
        return self.finished.pop(ticket)

    async def serve(self) -> None:
        while True:
            batch = [await self.inbox.get()]
            await asyncio.sleep(self.config.batch_window_s)
            while not self.inbox.empty() and len(batch) < self.config.singers:
                batch.append(self.inbox.get_nowait())
            self.run_batch(batch)

    @torch.inference_mode()
    def run_batch(self, batch: list[tuple[int, Recording]]) -> None:
        longest = max(recording.frames for _, recording in batch)
        mel = torch.zeros(len(batch), longest, self.config.mels)
        for row, (_, recording) in enumerate(batch):
            mel[row, : recording.frames] = recording.mel
        posterior = self.model(mel.to(DEVICE))
        for row, (ticket, recording) in enumerate(batch):
            self.finished[ticket] = posterior[row, : recording.frames].clone()
            signal = self.signals.get(ticket)
            if signal is not None:
                signal.set()
        self.batches += 1


class Rehearsal:
    def __init__(self, config: ServiceConfig, service: PitchService):
        self.config = config
        self.service = service
        self.generator = torch.Generator().manual_seed(5)
        self.answered = 0
        self.skipped = 0

    def record(self, singer: int) -> Recording:
        frames = self.config.max_frames - singer * self.config.max_frames // 16
        return Recording(singer, torch.randn(frames, self.config.mels, generator=self.generator))

    async def ask(self, singer: int) -> float | None:
        patience = self.config.preview_patience_s if singer in (1, 4) else self.config.patience_s
        try:
            posterior = await asyncio.wait_for(self.service.analyze(self.record(singer)), patience)
        except TimeoutError:
            self.skipped += 1
            return None
        self.answered += 1
        pitch = posterior.argmax(dim=-1).float().mean().item()
        return 55.0 * math.pow(2.0, pitch / 120.0)

    async def bar(self) -> float:
        pitches = await asyncio.gather(*(self.ask(singer) for singer in range(self.config.singers)))
        heard = [pitch for pitch in pitches if pitch is not None]
        await asyncio.sleep(self.config.pause_s)
        return sum(heard) / max(len(heard), 1)


def allocated() -> int:
    return torch.cuda.memory_allocated() if DEVICE.type == "cuda" else 0


async def rehearse(config: ServiceConfig, truth: list[int]) -> None:
    service = PitchService(config)
    rehearsal = Rehearsal(config, service)
    server = asyncio.create_task(service.serve())
    for bar in range(config.bars):
        pitch = await rehearsal.bar()
        truth.append(allocated())
        if bar % 10 == 0:
            print(f"bar {bar}: mean pitch {pitch:.1f} Hz, {rehearsal.skipped} previews skipped", flush=True)
    server.cancel()
    try:
        await server
    except asyncio.CancelledError:
        print(f"{service.batches} batches, {rehearsal.answered} answers")


def main() -> None:
    torch.manual_seed(3)
    truth: list[int] = []
    try:
        asyncio.run(rehearse(ServiceConfig(), truth))
    finally:
        print("TRUTH " + json.dumps({"allocated": truth, "rounds": len(truth)}), file=sys.stderr)


if __name__ == "__main__":
    main()
