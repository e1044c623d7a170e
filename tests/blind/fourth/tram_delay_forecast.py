# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Daily retraining of a patch transformer that forecasts tram delays on all lines, with bias correction from recent
days and weekly calibration of prediction bands."""

import copy
import json
import os
import sys
from collections import deque
from dataclasses import dataclass

import torch
from transformers import PatchTSTConfig, PatchTSTForPrediction

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class ForecastConfig:
    days: int = 14 if SMALL else 60
    week: int = 3 if SMALL else 12
    recent_days: int = 4 if SMALL else 30
    lines: int = 3 if SMALL else 32
    context: int = 32 if SMALL else 512
    horizon: int = 8 if SMALL else 192
    patch: int = 8 if SMALL else 16
    width: int = 8 if SMALL else 128
    layers: int = 1 if SMALL else 3
    series: int = 400 if SMALL else 24_000
    windows: int = 12 if SMALL else 2048
    chunk: int = 6 if SMALL else 256
    steps: int = 1 if SMALL else 6
    base_batch: int = 4 if SMALL else 64
    batch_doubles_every: int = 5 if SMALL else 20
    coverage: float = 0.9
    ema: float = 0.97
    seed: int = 5


class DelayArchive:
    """Synthetic delays by line: rush hours, a slow season, and disruptions that decay."""

    def __init__(self, cfg: ForecastConfig):
        self.cfg = cfg
        gen = torch.Generator().manual_seed(cfg.seed)
        t = torch.arange(cfg.series, dtype=torch.float32)
        phase = torch.rand(cfg.lines, 1, generator=gen) * 6.28
        rush = torch.sin(t * 6.28 / 96 + phase) + 0.5 * torch.sin(t * 6.28 / 48 + 2 * phase)
        season = 0.5 * torch.sin(t * 6.28 / 5000 + phase)
        shocks = (torch.rand(cfg.lines, cfg.series, generator=gen) < 0.004).float() * 3
        kernel = torch.exp(-torch.arange(16.0) / 4).flip(0).view(1, 1, -1)
        decayed = torch.nn.functional.conv1d(shocks.unsqueeze(1), kernel, padding=15)[:, 0, : cfg.series]
        noise = 0.2 * torch.randn(cfg.lines, cfg.series, generator=gen)
        self.series = (rush + season + decayed + noise).to(DEVICE)
        self.span = torch.arange(cfg.context + cfg.horizon, device=DEVICE)

    def windows(self, starts):
        block = self.series[:, starts.unsqueeze(1) + self.span].permute(1, 2, 0)
        return block[:, : self.cfg.context], block[:, self.cfg.context :]

    def random_starts(self, count):
        return torch.randint(0, self.cfg.series - self.span.numel(), (count,), device=DEVICE)

    def daily_starts(self, day):
        last = self.cfg.series - self.span.numel() - self.cfg.horizon * self.cfg.days
        return torch.linspace(0, last - 1, self.cfg.windows, device=DEVICE).long() + self.cfg.horizon * day


def build_model(cfg: ForecastConfig):
    config = PatchTSTConfig(
        num_input_channels=cfg.lines,
        context_length=cfg.context,
        prediction_length=cfg.horizon,
        patch_length=cfg.patch,
        patch_stride=cfg.patch,
        d_model=cfg.width,
        num_hidden_layers=cfg.layers,
        num_attention_heads=4,
        ffn_dim=2 * cfg.width,
        attention_dropout=0.0,
        ff_dropout=0.1,
        head_dropout=0.0,
        loss="mse",
    )
    return PatchTSTForPrediction(config).to(DEVICE)


class BiasCorrector:
    """Median error of each window over the most recent days."""

    def __init__(self, days: int):
        self.errors = deque(maxlen=days)

    def add(self, error):
        self.errors.append(error)

    def correction(self):
        if len(self.errors) < 3:
            return 0.0
        return torch.stack(tuple(self.errors)).median(dim=0).values


class BandCalibrator:
    """Half width of the prediction band at each lead time, from the absolute errors of one week."""

    def __init__(self, cfg: ForecastConfig):
        self.cfg = cfg
        self.absolute = []
        self.band = torch.ones(cfg.horizon, device=DEVICE)

    def add(self, error):
        self.absolute.append(error.abs())
        if len(self.absolute) == self.cfg.week:
            self.refresh()

    def refresh(self):
        rows = []
        for lead in range(self.cfg.horizon):
            pool = torch.cat([day[:, lead].flatten() for day in self.absolute])
            rows.append(pool.kthvalue(int(self.cfg.coverage * pool.numel())).values)
        self.band = torch.stack(rows)
        self.absolute.clear()


class DailyForecaster:
    def __init__(self, cfg: ForecastConfig, archive: DelayArchive):
        self.cfg, self.archive = cfg, archive
        self.model = build_model(cfg)
        self.average = copy.deepcopy(self.model).requires_grad_(False).eval()
        self.opt = torch.optim.AdamW(self.model.parameters(), lr=1e-3)
        self.bias = BiasCorrector(cfg.recent_days)
        self.bands = BandCalibrator(cfg)

    def train_day(self, day: int):
        batch = self.cfg.base_batch * 2 ** (day // self.cfg.batch_doubles_every)
        total = 0.0
        self.model.train()
        for _ in range(self.cfg.steps):
            past, future = self.archive.windows(self.archive.random_starts(batch))
            loss = self.model(past_values=past, future_values=future).loss
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            self.update_average()
            total += loss.item()
        self.opt.zero_grad()
        return total / self.cfg.steps

    @torch.no_grad()
    def update_average(self):
        for kept, new in zip(self.average.parameters(), self.model.parameters(), strict=True):
            kept.lerp_(new, 1 - self.cfg.ema)
        for kept, new in zip(self.average.buffers(), self.model.buffers(), strict=True):
            kept.copy_(new)

    @torch.no_grad()
    def forecast_day(self, day: int):
        starts = self.archive.daily_starts(day)
        predictions = torch.empty(self.cfg.windows, self.cfg.horizon, self.cfg.lines, device=DEVICE)
        actual = torch.empty_like(predictions)
        for rows in torch.arange(self.cfg.windows, device=DEVICE).split(self.cfg.chunk):
            past, actual[rows] = self.archive.windows(starts[rows])
            predictions[rows] = self.average(past_values=past).prediction_outputs
        error = actual - (predictions + self.bias.correction())
        inside = (error.abs() <= self.bands.band.view(1, -1, 1)).float().mean().item()
        self.bias.add(actual - predictions)
        self.bands.add(error)
        return error.abs().mean().item(), inside


def main():
    cfg = ForecastConfig()
    torch.manual_seed(cfg.seed)
    forecaster = DailyForecaster(cfg, DelayArchive(cfg))
    allocated = []
    try:
        for day in range(cfg.days):
            loss = forecaster.train_day(day)
            error, inside = forecaster.forecast_day(day)
            allocated.append(torch.cuda.memory_allocated() if DEVICE.type == "cuda" else 0)
            if day % 6 == 0:
                print(f"day {day}: loss {loss:.3f}, mean error {error:.3f}, inside the band {inside:.2f}")
    finally:
        print("TRUTH " + json.dumps({"allocated": allocated, "rounds": len(allocated)}), file=sys.stderr)


if __name__ == "__main__":
    main()
