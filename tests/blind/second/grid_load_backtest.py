# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Rolling-origin backtest of a PatchTST load forecaster for transmission zones, with accelerate."""
import gc
import json
import math
import os
import sys
import time
from typing import NamedTuple

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch.utils.data import DataLoader, Dataset
from transformers import PatchTSTConfig, PatchTSTForPrediction, get_cosine_schedule_with_warmup

SMALL = os.environ.get("SMALL") == "1"


class Backtest(NamedTuple):
    zones: int = 3 if SMALL else 10
    context: int = 64 if SMALL else 504
    horizon: int = 8 if SMALL else 48
    folds: int = 3 if SMALL else 14
    fold_hours: int = 40 if SMALL else 672
    history_hours: int = 160 if SMALL else 6000
    batch: int = 4 if SMALL else 12
    steps: int = 3 if SMALL else 20
    eval_steps: int = 2 if SMALL else 4
    width: int = 16 if SMALL else 512
    layers: int = 1 if SMALL else 8
    lr: float = 3e-4
    archive_wait: float = 0.001 if SMALL else 0.035


def synthetic_load(cfg):
    hours = cfg.history_hours + cfg.folds * cfg.fold_hours + cfg.context + cfg.horizon
    t = torch.arange(hours, dtype=torch.float32).unsqueeze(1)
    gen = torch.Generator().manual_seed(8)
    phase = torch.rand(cfg.zones, generator=gen) * 6.28
    daily = torch.sin(2 * math.pi * t / 24 + phase)
    weekly = torch.sin(2 * math.pi * t / 168 + 2 * phase)
    weather = torch.cumsum(0.05 * torch.randn(hours, cfg.zones, generator=gen), dim=0).sin()
    return 1.0 + 0.3 * daily + 0.15 * weekly + 0.1 * weather


class LoadWindows(Dataset):
    def __init__(self, series, cfg, start, stop, stride):
        self.series, self.cfg = series, cfg
        self.origins = list(range(start, stop - cfg.context - cfg.horizon + 1, stride))

    def __len__(self):
        return len(self.origins)

    def __getitem__(self, i):
        begin = self.origins[i]
        middle = begin + self.cfg.context
        return {"past_values": self.series[begin:middle],
                "future_values": self.series[middle:middle + self.cfg.horizon]}


def build_model(cfg):
    return PatchTSTForPrediction(PatchTSTConfig(
        num_input_channels=cfg.zones, context_length=cfg.context, prediction_length=cfg.horizon, patch_length=12,
        patch_stride=12, d_model=cfg.width, ffn_dim=4 * cfg.width, num_hidden_layers=cfg.layers,
        num_attention_heads=8, dropout=0.1, head_dropout=0.1, scaling="std", loss="mse"))


def endless(loader):
    while True:
        yield from loader


def run_fold(accelerator, cfg, series, fold):
    origin = cfg.history_hours + fold * cfg.fold_hours
    train_set = LoadWindows(series, cfg, 0, origin, stride=1 if SMALL else 6)
    test_set = LoadWindows(series, cfg, origin - cfg.context, origin + cfg.fold_hours + cfg.horizon, stride=1)
    train_loader = DataLoader(train_set, batch_size=cfg.batch, shuffle=True, drop_last=True)
    test_loader = DataLoader(test_set, batch_size=cfg.batch)

    model = build_model(cfg)
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr, weight_decay=0.01)
    scheduler = get_cosine_schedule_with_warmup(optimizer, cfg.steps // 5, cfg.steps)
    model, optimizer, scheduler, train_loader, test_loader = accelerator.prepare(
        model, optimizer, scheduler, train_loader, test_loader)

    model.train()
    train_mse = 0.0
    for step, batch in zip(range(cfg.steps), endless(train_loader)):
        time.sleep(cfg.archive_wait)
        loss = model(**batch).loss
        accelerator.backward(loss)
        accelerator.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        optimizer.zero_grad(set_to_none=True)
        train_mse += loss.item() / cfg.steps

    model.eval()
    absolute, scale = 0.0, 0.0
    with torch.no_grad():
        for step, batch in zip(range(cfg.eval_steps), test_loader):
            forecast = model(past_values=batch["past_values"]).prediction_outputs
            forecast, actual = accelerator.gather_for_metrics((forecast, batch["future_values"]))
            absolute += (forecast - actual).abs().sum().item()
            scale += actual.abs().sum().item()
    return {"fold": fold, "train_mse": round(train_mse, 5), "wape": round(absolute / scale, 5)}


def main():
    cfg = Backtest()
    set_seed(21)
    accelerator = Accelerator()
    series = synthetic_load(cfg)
    results, allocated = [], []

    for fold in range(cfg.folds):
        results.append(run_fold(accelerator, cfg, series, fold))
        gc.collect()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        allocated.append(torch.cuda.memory_allocated())
        accelerator.print(json.dumps(results[-1]))

    wape = sum(r["wape"] for r in results) / len(results)
    accelerator.print(f"mean WAPE over {cfg.folds} origins: {wape:.4f}")
    print("TRUTH " + json.dumps({"allocated": allocated, "rounds": cfg.folds}), file=sys.stderr)


if __name__ == "__main__":
    main()
