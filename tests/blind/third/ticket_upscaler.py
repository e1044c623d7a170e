# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Photo upscaling service: submit an image, get a ticket and a thumbnail, download the full picture later."""
import asyncio
import itertools
import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
DTYPE = torch.float16 if DEVICE.type == "cuda" else torch.float32


@dataclass
class ServiceConfig:
    side: int = 16 if SMALL else 256
    scale: int = 4
    width: int = 8 if SMALL else 48
    blocks: int = 2 if SMALL else 6
    max_batch: int = 4
    waves: int = 5 if SMALL else 90
    users_per_wave: int = 8 if SMALL else 16
    gather_delay: float = 0.004
    wave_gap: float = 0.05
    thumb: int = 8 if SMALL else 96


class ResidualBlock(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(width, width, 3, padding=1), nn.GELU(),
                                  nn.Conv2d(width, width, 3, padding=1))

    def forward(self, x):
        return x + 0.2 * self.body(x)


class Upscaler(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.scale = cfg.scale
        self.stem = nn.Conv2d(3, cfg.width, 3, padding=1)
        self.trunk = nn.Sequential(*[ResidualBlock(cfg.width) for _ in range(cfg.blocks)])
        self.tail = nn.Conv2d(cfg.width, 3 * cfg.scale ** 2, 3, padding=1)

    def forward(self, x):
        detail = F.pixel_shuffle(self.tail(self.trunk(self.stem(x))), self.scale)
        return F.interpolate(x, scale_factor=self.scale, mode="bicubic") + 0.1 * detail


class UpscaleService:
    """Requests are gathered into batches; the model runs in a worker thread."""

    def __init__(self, cfg):
        self.cfg = cfg
        self.model = Upscaler(cfg).to(DEVICE, DTYPE).eval()
        self.inbox = asyncio.Queue()
        self.pool = ThreadPoolExecutor(max_workers=1)
        self.ticket_numbers = itertools.count(1)
        self.finished = {}
        self.served = 0

    @torch.inference_mode()
    def run_model(self, photos):
        batch = torch.stack(photos).to(DEVICE, DTYPE)
        pictures = self.model(batch).clamp(0, 1)
        thumbs = F.interpolate(pictures.float(), size=(self.cfg.thumb, self.cfg.thumb), mode="area").cpu()
        return [picture.clone() for picture in pictures], list(thumbs)

    async def batcher(self):
        loop = asyncio.get_running_loop()
        while True:
            jobs = [await self.inbox.get()]
            await asyncio.sleep(self.cfg.gather_delay)
            while len(jobs) < self.cfg.max_batch and not self.inbox.empty():
                jobs.append(self.inbox.get_nowait())
            pictures, thumbs = await loop.run_in_executor(self.pool, self.run_model, [job[0] for job in jobs])
            for (_, answer), picture, thumb in zip(jobs, pictures, thumbs):
                ticket = next(self.ticket_numbers)
                self.finished[ticket] = picture
                answer.set_result((ticket, thumb))
            del jobs, pictures, thumbs, picture, thumb, answer

    async def submit(self, photo):
        answer = asyncio.get_running_loop().create_future()
        await self.inbox.put((photo, answer))
        return await answer

    async def download(self, ticket):
        picture = self.finished.pop(ticket)
        self.served += 1
        return (picture * 255).round().to(torch.uint8).cpu()


@dataclass
class Visitor:
    device: str
    photo: torch.Tensor

    async def visit(self, service):
        started = time.perf_counter()
        ticket, thumb = await service.submit(self.photo)
        received = thumb.numel()
        if self.device == "desktop":
            await asyncio.sleep(0.002)
            received += (await service.download(ticket)).numel()
        return received, time.perf_counter() - started


def arrivals(cfg, wave):
    gen = torch.Generator().manual_seed(wave)
    for user in range(cfg.users_per_wave):
        coarse = torch.rand(1, 3, cfg.side // 8, cfg.side // 8, generator=gen)
        photo = F.interpolate(coarse, size=(cfg.side, cfg.side), mode="bilinear")[0]
        yield Visitor("phone" if user % 4 == 1 else "desktop", photo)


async def traffic(cfg):
    torch.manual_seed(8)
    service = UpscaleService(cfg)
    worker = asyncio.create_task(service.batcher())
    allocated, sent = [], 0
    for wave in range(cfg.waves):
        visits = await asyncio.gather(*(visitor.visit(service) for visitor in arrivals(cfg, wave)))
        sent += sum(size for size, _ in visits)
        slowest = max(latency for _, latency in visits)
        if wave % 15 == 0:
            print(f"wave {wave:3d}  downloads {service.served:5d}  sent {sent / 2**20:8.1f} MiB  slowest {slowest:.3f} s")
        await asyncio.sleep(cfg.wave_gap)
        allocated.append(torch.cuda.memory_allocated())
    worker.cancel()
    service.pool.shutdown()
    print("TRUTH " + json.dumps({"allocated": allocated, "rounds": cfg.waves}), file=sys.stderr)


if __name__ == "__main__":
    asyncio.run(traffic(ServiceConfig()))
