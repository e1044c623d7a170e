# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Speech-free denoising of dawn-chorus recordings, trained with a length curriculum under Accelerate.

Excerpts start short and become longer as the recurrent masking network settles. The last batch with its mask is
kept for a spectrogram preview at the end of every stage.
"""
import json
import math
import os
import sys
import time
from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, IterableDataset

SMALL = os.environ.get("SMALL") == "1"


@dataclass
class Recipe:
    rate: int = 16000
    n_fft: int = 512
    hop: int = 128
    batch: int = 2 if SMALL else 16
    hidden: int = 32 if SMALL else 320
    layers: int = 2
    seconds: list = field(default_factory=lambda: [0.2, 0.3, 0.4] if SMALL else [0.5, 1.0, 1.5, 2.0, 3.0, 4.0])
    steps_per_stage: int = 4 if SMALL else 30
    last_stage_steps: int = 10 if SMALL else 200
    accumulate: int = 2
    lr: float = 5e-4


class Chorus(IterableDataset):
    """Clean trills and chirps with wind and insects added; length can be changed between stages."""

    def __init__(self, recipe: Recipe, seed=0):
        self.recipe = recipe
        self.samples = 0
        self.gen = torch.Generator().manual_seed(seed)

    def __iter__(self):
        while True:
            u = torch.rand(8, generator=self.gen).tolist()
            t = torch.arange(self.samples) / self.recipe.rate
            sweep = 2000 + 2500 * u[0] + 800 * torch.sin(2 * math.pi * (2 + 10 * u[1]) * t)
            clean = torch.sin(2 * math.pi * torch.cumsum(sweep, 0) / self.recipe.rate)
            clean = clean * (torch.sin(2 * math.pi * (1 + 3 * u[2]) * t + 6 * u[3]) > 0)
            noise = 0.4 * torch.randn(self.samples, generator=self.gen) + 0.3 * torch.sin(2 * math.pi * 6800 * t)
            yield clean, clean + (0.3 + u[4]) * noise


class MaskNet(nn.Module):
    def __init__(self, recipe: Recipe):
        super().__init__()
        bins = recipe.n_fft // 2 + 1
        self.recipe = recipe
        self.register_buffer("window", torch.hann_window(recipe.n_fft))
        self.norm = nn.LayerNorm(bins)
        self.rnn = nn.GRU(bins, recipe.hidden, recipe.layers, batch_first=True, bidirectional=True)
        self.out = nn.Linear(2 * recipe.hidden, bins)

    def spectrum(self, wave):
        return torch.stft(wave, self.recipe.n_fft, self.recipe.hop, window=self.window, return_complex=True)

    def forward(self, noisy):
        spec = self.spectrum(noisy)
        hidden, _ = self.rnn(self.norm(spec.abs().clamp(min=1e-6).log().transpose(1, 2)))
        mask = torch.sigmoid(self.out(hidden)).transpose(1, 2)
        wave = torch.istft(spec * mask, self.recipe.n_fft, self.recipe.hop, window=self.window, length=noisy.shape[1])
        return wave, mask


def si_sdr(estimate, clean):
    scale = (estimate * clean).sum(-1, keepdim=True) / clean.square().sum(-1, keepdim=True).clamp(min=1e-6)
    target = scale * clean
    return 10 * torch.log10(target.square().sum(-1) / (estimate - target).square().sum(-1).clamp(min=1e-8) + 1e-8)


class Course:
    def __init__(self, recipe: Recipe):
        self.recipe = recipe
        self.accelerator = Accelerator(gradient_accumulation_steps=recipe.accumulate)
        self.data = Chorus(recipe)
        net = MaskNet(recipe)
        optimizer = torch.optim.AdamW(net.parameters(), lr=recipe.lr)
        warm = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: min(1.0, (s + 1) / 20))
        self.net, self.optimizer, self.warm = self.accelerator.prepare(net, optimizer, warm)
        self.preview = None
        self.allocated, self.steps = [], 0

    def batches(self, seconds):
        self.data.samples = int(seconds * self.recipe.rate)
        device = self.accelerator.device
        for clean, noisy in DataLoader(self.data, batch_size=self.recipe.batch):
            yield clean.to(device), noisy.to(device)

    def train_step(self, clean, noisy):
        with self.accelerator.accumulate(self.net):
            wave, mask = self.net(noisy)
            loss = -si_sdr(wave, clean).mean() + 10 * F.l1_loss(wave, clean)
            self.accelerator.backward(loss)
            if self.accelerator.sync_gradients:
                self.accelerator.clip_grad_norm_(self.net.parameters(), 5.0)
            self.optimizer.step()
            self.warm.step()
            self.optimizer.zero_grad()
        self.preview = {"noisy": noisy, "clean": clean, "mask": mask.detach()}
        return loss.item()

    def close_step(self):
        self.steps += 1
        if self.accelerator.device.type == "cuda" and self.steps % 2 == 0:
            self.allocated.append(torch.cuda.memory_allocated())

    def picture(self, width=56):
        mask = self.preview["mask"][0].mean(0)
        columns = F.interpolate(mask[None, None], size=width, mode="linear")[0, 0]
        return "".join(" .:-=+*#"[min(7, int(8 * v))] for v in columns.tolist())

    def stage(self, seconds, steps):
        begin, losses = time.time(), []
        source = self.batches(seconds)
        for _ in range(steps):
            losses.append(self.train_step(*next(source)))
            self.close_step()
        source.close()
        print(f"{seconds:.1f} s excerpts: loss {sum(losses) / steps:.2f}  {steps / (time.time() - begin):.1f} it/s")
        print(f"  mask |{self.picture()}|", flush=True)

    def run(self):
        *early, last = self.recipe.seconds
        for seconds in early:
            self.stage(seconds, self.recipe.steps_per_stage)
        self.stage(last, self.recipe.last_stage_steps)


def main():
    torch.manual_seed(6)
    course = Course(Recipe())
    course.run()
    print("TRUTH " + json.dumps({"allocated": course.allocated, "rounds": course.steps}), file=sys.stderr)


if __name__ == "__main__":
    main()
