# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Text-to-speech gateway: asyncio front, one acoustic model, audio delivered in pieces.

A request ends when its audio is complete, or at once when the gateway is told to stop (rolling update).
"""
import asyncio
import contextvars
import json
import os
import random
import sys
from collections import deque
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
DTYPE = torch.bfloat16 if DEVICE.type == "cuda" else torch.float32

request_id = contextvars.ContextVar("request_id", default="-")


@dataclass
class GatewayConfig:
    requests: int = 130
    arrival: float = 0.002 if SMALL else 0.06
    width: int = 64 if SMALL else 1024
    layers: int = 2 if SMALL else 8
    pieces: int = 4
    piece_frames: int = 64 if SMALL else 160
    upsample: int = 16 if SMALL else 256
    bank_voices: int = 4 if SMALL else 2048


class AcousticModel(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.phonemes = nn.Embedding(120, cfg.width)
        self.kv = nn.ModuleList(nn.Linear(cfg.width, 2 * cfg.width) for _ in range(cfg.layers))
        self.mlp = nn.ModuleList(nn.Sequential(nn.Linear(cfg.width, 4 * cfg.width), nn.GELU(), nn.Linear(4 * cfg.width, cfg.width)) for _ in range(cfg.layers))
        self.vocoder = nn.Linear(cfg.width, cfg.upsample)
        self.voices = nn.Parameter(torch.randn(cfg.bank_voices, cfg.piece_frames, cfg.width, device=DEVICE, dtype=DTYPE) * 0.02)

    def extend(self, x, memory, start):
        for layer, (kv, mlp) in enumerate(zip(self.kv, self.mlp)):
            k, v = kv(x).chunk(2, dim=-1)
            memory[layer, 0, start : start + x.shape[0]] = k
            memory[layer, 1, start : start + x.shape[0]] = v
            past = memory[layer, :, : start + x.shape[0]]
            x = x + F.scaled_dot_product_attention(x[None], past[:1], past[1:])[0]
            x = x + mlp(x)
        return x

    def style(self, x):
        blend = self.voices + x
        scores = torch.einsum("nfd,fd->n", torch.tanh(blend), x).softmax(0)
        return x + torch.einsum("n,nfd->fd", scores, self.voices)


class Job:
    def __init__(self, number, text, cfg):
        self.number = number
        self.text = text
        self.memory = torch.zeros(cfg.layers, 2, cfg.pieces * cfg.piece_frames, cfg.width, device=DEVICE, dtype=DTYPE)
        self.samples = 0
        self.cancelled = False

    def abort(self):
        self.cancelled = True
        self.memory = None


class Gateway:
    def __init__(self, cfg):
        self.cfg = cfg
        self.model = AcousticModel(cfg).to(DEVICE, DTYPE).eval()
        self.stopping = asyncio.Event()
        self.jobs = {}
        self.recent = deque(maxlen=50)
        self.aborted = 0

    @torch.inference_mode()
    def synthesize_piece(self, job, piece):
        tokens = torch.tensor(job.text[piece]).to(DEVICE)
        x = self.model.extend(self.model.phonemes(tokens), job.memory, piece * self.cfg.piece_frames)
        audio = torch.tanh(self.model.vocoder(self.model.style(x))).flatten()
        return (audio.float() * 32767).to(torch.int16).cpu()

    async def speak(self, job):
        for piece in range(self.cfg.pieces):
            pcm = self.synthesize_piece(job, piece)
            job.samples += pcm.numel()
            await asyncio.sleep(self.cfg.arrival / 2)
        return job.samples

    async def stop_requested(self, job):
        await self.stopping.wait()
        job.abort()
        self.aborted += 1

    async def handle(self, number, text):
        request_id.set(f"r{number:05d}")
        job = self.jobs[number] = Job(number, text, self.cfg)
        speaking = asyncio.create_task(self.speak(job))
        stopped = asyncio.create_task(self.stop_requested(job))
        try:
            done, _ = await asyncio.wait({speaking, stopped}, return_when=asyncio.FIRST_COMPLETED)
            if speaking in done:
                self.recent.append((request_id.get(), speaking.result()))
            else:
                speaking.cancel()
        finally:
            self.jobs.pop(number)


async def run(cfg):
    rng = random.Random(59)
    gateway = Gateway(cfg)
    clients, curve = set(), []
    for number in range(cfg.requests):
        text = [[rng.randrange(120) for _ in range(cfg.piece_frames)] for _ in range(cfg.pieces)]
        client = asyncio.create_task(gateway.handle(number, text))
        clients.add(client)
        client.add_done_callback(clients.discard)
        await asyncio.sleep(cfg.arrival)
        if (number + 1) % (cfg.requests // 10) == 0:
            curve.append(torch.cuda.memory_allocated())
            print(f"request {number + 1}: {len(gateway.jobs)} open, last {gateway.recent[-1] if gateway.recent else None}")
    await asyncio.gather(*clients)
    gateway.stopping.set()
    await asyncio.sleep(0.05)
    print(f"stopped, {len(gateway.jobs)} jobs open")
    print("TRUTH " + json.dumps({"allocated": curve, "rounds": cfg.requests}), file=sys.stderr)


if __name__ == "__main__":
    torch.manual_seed(59)
    asyncio.run(run(GatewayConfig()))
