# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Denoising of seismic traces. Finds the batch the card can take, then trains."""
import gc
import json
import os
import sys
import time
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
SMALL = os.environ.get("SMALL") == "1"


@dataclass
class Job:
    channels: int = 64
    samples: int = 4096
    depth: int = 10
    first_batch: int = 8
    last_batch: int = 2048
    steps: int = 72
    lr: float = 1e-3
    pace: float = 0.06
    card_bytes: int = int(11.5 * 2**30)


class TraceLayer(nn.Module):
    def __init__(self, channels, dilation):
        super().__init__()
        self.conv = nn.Conv1d(channels, channels, 5, padding=2 * dilation, dilation=dilation)
        self.norm = nn.GroupNorm(8, channels)

    def forward(self, x):
        return x + F.silu(self.norm(self.conv(x)))


class Denoiser(nn.Module):
    def __init__(self, job):
        super().__init__()
        self.enter = nn.Conv1d(1, job.channels, 7, padding=3)
        self.layers = nn.Sequential(*[TraceLayer(job.channels, 2 ** (i % 4)) for i in range(job.depth)])
        self.leave = nn.Conv1d(job.channels, 1, 7, padding=3)

    def forward(self, traces):
        return traces - self.leave(self.layers(self.enter(traces)))


class Survey:
    def __init__(self, job):
        self.samples = job.samples
        self.generator = torch.Generator().manual_seed(40)

    def shots(self, batch):
        time_axis = torch.linspace(0, 1, self.samples)
        tone = 5 + 40 * torch.rand(batch, 1, 1, generator=self.generator)
        clean = torch.sin(2 * torch.pi * tone * time_axis)
        noisy = clean + 0.3 * torch.randn(batch, 1, self.samples, generator=self.generator)
        return noisy.to(DEVICE), clean.to(DEVICE)


class Trainer:
    def __init__(self, job):
        torch.manual_seed(2)
        self.job = job
        self.survey = Survey(job)
        self.model = Denoiser(job).to(DEVICE)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=job.lr)

    def step(self, batch, keep=True):
        noisy, clean = self.survey.shots(batch)
        self.optimizer.zero_grad(set_to_none=True)
        loss = F.l1_loss(self.model(noisy), clean)
        loss.backward()
        if keep:
            self.optimizer.step()
        return loss.item()

    def fits(self, batch):
        try:
            self.step(batch, keep=False)
        except torch.cuda.OutOfMemoryError:
            fine = False
        else:
            fine = True
        self.optimizer.zero_grad(set_to_none=True)
        gc.collect()
        if DEVICE.type == "cuda":
            torch.cuda.empty_cache()
        return fine

    def largest_batch(self):
        batch = self.job.first_batch
        while batch < self.job.last_batch and self.fits(2 * batch):
            batch *= 2
            print(f"{batch} traces fit", flush=True)
        return batch


def main():
    job = Job()
    if SMALL:
        job = Job(channels=8, samples=64, depth=2, last_batch=32, pace=0.0)
    if DEVICE.type == "cuda":
        card = torch.cuda.get_device_properties(0).total_memory
        torch.cuda.set_per_process_memory_fraction(job.card_bytes / card)
    trainer = Trainer(job)
    batch = trainer.largest_batch()
    allocated = []
    for step in range(1, job.steps + 1):
        loss = trainer.step(batch)
        allocated.append(torch.cuda.memory_allocated() if DEVICE.type == "cuda" else 0)
        if step % 24 == 0:
            print(f"step {step} batch {batch} loss {loss:.4f}", flush=True)
        time.sleep(job.pace)
    every = max(1, len(allocated) // 10)
    peak = torch.cuda.max_memory_allocated() if DEVICE.type == "cuda" else 0
    print("TRUTH " + json.dumps({"allocated": allocated[every - 1::every], "rounds": len(allocated), "batch": batch,
                                 "peak": peak}), file=sys.stderr)


if __name__ == "__main__":
    main()
