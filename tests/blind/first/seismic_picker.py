# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Train a 1-D U-Net phase picker (noise / P / S) on three-component waveforms."""
import json
import os
import sys
import time
from collections import defaultdict
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class PickerConfig:
    batch_size: int = 4 if SMALL else 32
    samples: int = 512 if SMALL else 8192
    width: int = 8 if SMALL else 256
    steps: int = 30 if SMALL else 200
    lr: float = 8e-4
    pick_sigma: float = 12.0
    sharpness_weight: float = 0.0
    amplitude_weight: float = 0.1
    val_every: int = 25
    archive_latency: float = 0.02
    seed: int = 7


class ConvBlock(nn.Module):
    def __init__(self, c_in, c_out):
        super().__init__()
        self.conv = nn.Conv1d(c_in, c_out, 7, padding=3, bias=False)
        self.norm = nn.BatchNorm1d(c_out)

    def forward(self, x):
        return F.relu(self.norm(self.conv(x)))


class PickerUNet(nn.Module):
    def __init__(self, width):
        super().__init__()
        widths = [width, width, 2 * width, 2 * width]
        self.stem = ConvBlock(3, widths[0])
        self.down = nn.ModuleList(ConvBlock(a, b) for a, b in zip(widths[:-1], widths[1:]))
        self.up = nn.ModuleList(ConvBlock(a + b, a) for a, b in zip(widths[:-1], widths[1:]))
        self.head = nn.Conv1d(widths[0], 3, 1)
        self.magnitude = nn.Linear(widths[-1], 1)

    def forward(self, x):
        skips = [self.stem(x)]
        for block in self.down:
            skips.append(block(F.avg_pool1d(skips[-1], 4)))
        y = skips[-1]
        magnitude = self.magnitude(y.mean(dim=-1)).squeeze(-1)
        for block, skip in zip(reversed(self.up), reversed(skips[:-1])):
            y = block(torch.cat([F.interpolate(y, size=skip.shape[-1]), skip], dim=1))
        return self.head(y), magnitude


class WaveformArchive:
    """Synthetic event windows with P and S arrivals, read batch by batch."""

    def __init__(self, cfg):
        self.cfg = cfg
        self.gen = torch.Generator().manual_seed(cfg.seed)

    def read(self):
        cfg = self.cfg
        time.sleep(cfg.archive_latency)
        onset = torch.randint(cfg.samples // 8, cfg.samples // 2, (cfg.batch_size,), generator=self.gen)
        delay = torch.randint(cfg.samples // 16, cfg.samples // 4, (cfg.batch_size,), generator=self.gen)
        magnitude = torch.rand(cfg.batch_size, generator=self.gen) * 4
        wave = torch.randn(cfg.batch_size, 3, cfg.samples, generator=self.gen)
        return wave.to(DEVICE), onset.to(DEVICE), (onset + delay).to(DEVICE), magnitude.to(DEVICE)


class RunStatistics:
    """Sample-weighted averages of everything that goes to the run summary."""

    def __init__(self):
        self.sums = defaultdict(float)
        self.counts = defaultdict(int)

    def update(self, n, **values):
        for key, value in values.items():
            self.sums[key] = self.sums[key] + value * n
            self.counts[key] += n

    def summary(self):
        return {k: round(torch.as_tensor(v / self.counts[k]).item(), 4) for k, v in self.sums.items()}


def make_labels(p, s, samples, sigma):
    t = torch.arange(samples, device=p.device).unsqueeze(0)
    label = torch.zeros(p.shape[0], samples, dtype=torch.long, device=p.device)
    label[(t - p.unsqueeze(1)).abs() < sigma] = 1
    label[(t - s.unsqueeze(1)).abs() < sigma] = 2
    return label


def onset_sharpness(logits, wave):
    prob = logits.softmax(dim=1)
    slope = prob[..., 1:] - prob[..., :-1]
    envelope = wave.abs().mean(dim=1, keepdim=True)[..., 1:]
    return (slope.abs() * envelope).mean()


def training_terms(model, batch, cfg):
    wave, p, s, magnitude = batch
    logits, mag = model(wave)
    picks = F.cross_entropy(logits, make_labels(p, s, cfg.samples, cfg.pick_sigma))
    amplitude = F.smooth_l1_loss(mag, magnitude)
    sharpness = onset_sharpness(logits, wave)
    loss = picks + cfg.amplitude_weight * amplitude
    if cfg.sharpness_weight > 0:
        loss = loss + cfg.sharpness_weight * sharpness
    return loss, picks, amplitude, sharpness


@torch.no_grad()
def validate(model, archive, cfg):
    model.eval()
    loss, picks, _, _ = training_terms(model, archive.read(), cfg)
    model.train()
    return loss.item(), picks.item()


def train(cfg):
    torch.manual_seed(cfg.seed)
    model = PickerUNet(cfg.width).to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr)
    archive, val_archive = WaveformArchive(cfg), WaveformArchive(cfg)
    stats, history, allocated = RunStatistics(), [], []
    best, best_state = float("inf"), None

    for step in range(1, cfg.steps + 1):
        loss, picks, amplitude, sharpness = training_terms(model, archive.read(), cfg)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
        stats.update(cfg.batch_size, loss=loss.item(), picks=picks.item(), amplitude=amplitude.item(), sharpness=sharpness)
        history.append(loss.item())

        if step % cfg.val_every == 0:
            val_loss, val_picks = validate(model, val_archive, cfg)
            if val_loss < best:
                best = val_loss
                best_state = {k: v.detach().cpu() for k, v in model.state_dict().items()}
            print(f"step {step:4d} val {val_loss:.4f} picks {val_picks:.4f} {stats.summary()}")
        if step % max(1, cfg.steps // 10) == 0:
            allocated.append(torch.cuda.memory_allocated())

    print("TRUTH " + json.dumps({"allocated": allocated, "rounds": cfg.steps,
                                 "peak": torch.cuda.max_memory_allocated()}), file=sys.stderr)
    return history, best_state


if __name__ == "__main__":
    losses, weights = train(PickerConfig())
    print(f"first {losses[0]:.4f} last {losses[-1]:.4f} kept {len(weights)} tensors")
