# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Grid search of forecasting models on a bank of synthetic series.

Trials run one after another. Only the score and the CPU copy of the best
weights outlive a trial.
"""
import gc
import itertools
import logging
import os
import tempfile
import time
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F

DEVICE = os.environ.get("DEVICE", "cuda")
SMOKE = DEVICE == "cpu"
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
log = logging.getLogger("search")

CONTEXT, HORIZON, CHANNELS = (24, 6, 4) if SMOKE else (336, 48, 32)
BATCH = 16 if SMOKE else 128
STEPS = 20 if SMOKE else 160
TRIAL_SECONDS = 2.2


@dataclass
class Result:
    name: str
    score: float
    seconds: float
    steps: int


class Series:
    def __init__(self, n, seed):
        gen = torch.Generator().manual_seed(seed)
        t = torch.arange(n, dtype=torch.float32)[:, None]
        freq = torch.rand(CHANNELS, generator=gen) * 0.3
        walk = torch.randn(n, CHANNELS, generator=gen).cumsum(0) * 0.02
        self.values = (torch.sin(t * freq) + walk).to(DEVICE)

    def batch(self, size):
        start = torch.randint(0, len(self.values) - CONTEXT - HORIZON, (size, 1), device=DEVICE)
        window = self.values[start + torch.arange(CONTEXT + HORIZON, device=DEVICE)]
        return window[:, :CONTEXT], window[:, CONTEXT:]


class Recurrent(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.rnn = nn.GRU(CHANNELS, width, depth, batch_first=True)
        self.out = nn.Linear(width, HORIZON * CHANNELS)

    def forward(self, x):
        return self.out(self.rnn(x)[0][:, -1]).view(-1, HORIZON, CHANNELS)


class Convolutional(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.inp = nn.Conv1d(CHANNELS, width, 1)
        self.convs = nn.ModuleList(
            nn.Conv1d(width, width, 3, padding=2 ** (i % 6), dilation=2 ** (i % 6)) for i in range(2 * depth))
        self.out = nn.Linear(width, HORIZON * CHANNELS)

    def forward(self, x):
        h = self.inp(x.transpose(1, 2))
        for conv in self.convs:
            h = h + F.gelu(conv(h))
        return self.out(h.mean(-1)).view(-1, HORIZON, CHANNELS)


class Attentive(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.inp = nn.Linear(CHANNELS, width)
        self.pos = nn.Parameter(torch.randn(CONTEXT, width) * 0.02)
        layer = nn.TransformerEncoderLayer(width, 8, 4 * width, dropout=0.1, batch_first=True, norm_first=True)
        self.enc = nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)
        self.out = nn.Linear(width, HORIZON * CHANNELS)

    def forward(self, x):
        return self.out(self.enc(self.inp(x) + self.pos).mean(1)).view(-1, HORIZON, CHANNELS)


FAMILIES = {"gru": Recurrent, "tcn": Convolutional, "transformer": Attentive}


def make_optimizer(kind, params):
    if kind == "adamw":
        return torch.optim.AdamW(params, lr=5e-4)
    return torch.optim.SGD(params, lr=1e-2, momentum=0.9)


@torch.no_grad()
def score(model, data, batches=6):
    model.eval()
    errors = []
    for _ in range(batches):
        x, y = data.batch(2 * BATCH)
        errors.append((model(x) - y).abs().mean())
    return torch.stack(errors).mean().item()


def run_trial(name, family, width, depth, optim, train, valid):
    torch.manual_seed(17)
    model = FAMILIES[family](width, depth).to(DEVICE)
    opt = make_optimizer(optim, model.parameters())
    began, step = time.time(), 0
    for step in range(1, STEPS + 1):
        x, y = train.batch(BATCH)
        with torch.autocast(DEVICE, dtype=torch.bfloat16):
            guess = model(x)
        loss = F.l1_loss(guess.float(), y)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        if step % 10 == 0 and (loss.item() != loss.item() or time.time() - began > TRIAL_SECONDS):
            break
    result = Result(name, score(model, valid), time.time() - began, step)
    return result, {k: v.detach().cpu() for k, v in model.state_dict().items()}


def main():
    torch.manual_seed(0)
    train, valid = Series(5000 if SMOKE else 200000, 1), Series(1000 if SMOKE else 20000, 2)
    widths = (16, 32) if SMOKE else (256, 512)
    results, best, best_state = [], None, None
    for family, width, optim in itertools.product(FAMILIES, widths, ("adamw", "sgd")):
        depth = 2 if width == widths[0] else 4
        name = f"{family}-{width}x{depth}-{optim}"
        result, state = run_trial(name, family, width, depth, optim, train, valid)
        results.append(result)
        if best is None or result.score < best.score:
            best, best_state = result, state
        del state
        gc.collect()
        if DEVICE == "cuda":
            torch.cuda.empty_cache()
        log.info("%-28s MAE %.4f in %d steps, %.1f s", name, result.score, result.steps, result.seconds)
        if sum(r.seconds for r in results) > 19:
            break
    with tempfile.TemporaryDirectory() as folder:
        torch.save(best_state, os.path.join(folder, "best.pt"))
    log.info("best: %s", best)


if __name__ == "__main__":
    main()
