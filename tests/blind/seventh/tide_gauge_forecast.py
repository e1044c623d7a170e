# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Probabilistic forecast of water levels at tide gauges with a decoder-only transformer on hourly patches.

Training begins with short histories and lengthens them stage by stage up to eight weeks (curriculum); the batch keeps the
number of gauges, so that later stages see more hours per step.
"""
import json
import math
import os
import sys
import time
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn
from transformers import GPT2Config, GPT2Model

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class Config:
    gauges: int = 4 if SMALL else 24
    patch: int = 3
    channels: int = 4 if SMALL else 96
    width: int = 32 if SMALL else 384
    layers: int = 2 if SMALL else 6
    heads: int = 2 if SMALL else 6
    stages: tuple = (4, 6, 8, 12, 16) if SMALL else (48, 80, 128, 192, 288, 400, 512)
    steps_per_stage: int = 6 if SMALL else 60
    final_steps: int = 20 if SMALL else 240
    mixtures: int = 3
    lr: float = 3e-4


class StepLog:
    def __init__(self, steps: int):
        self.stride = max(1, -(-steps // 200))
        self.steps = 0
        self.allocated = []

    def mark(self):
        self.steps += 1
        if DEVICE.type == "cuda" and self.steps % self.stride == 0:
            self.allocated.append(torch.cuda.memory_allocated())

    def close(self):
        print("TRUTH " + json.dumps({"allocated": self.allocated, "rounds": self.steps}), file=sys.stderr)


class Gauges:
    """Tides as sums of constituents with local phases, plus surges and the channels of a weather model."""

    speeds = (28.984, 30.0, 15.041, 13.943, 57.968)  # degrees per hour

    def __init__(self, cfg: Config):
        self.cfg = cfg
        self.speed = torch.tensor(self.speeds, device=DEVICE) * math.pi / 180
        self.amplitude = torch.rand(cfg.gauges, len(self.speeds), device=DEVICE) + 0.1
        self.phase = torch.rand(cfg.gauges, len(self.speeds), device=DEVICE) * 2 * math.pi
        self.exposure = torch.randn(cfg.gauges, cfg.channels, device=DEVICE) / cfg.channels ** 0.5

    @torch.no_grad()
    def history(self, patches: int):
        c = self.cfg
        hours = (patches + 1) * c.patch
        t = torch.randint(0, 200_000, (c.gauges, 1), device=DEVICE) + torch.arange(hours, device=DEVICE)
        angle = t.unsqueeze(2) * self.speed + self.phase.unsqueeze(1)
        tide = (self.amplitude.unsqueeze(1) * torch.cos(angle)).sum(2)
        weather = torch.randn(c.gauges, hours, c.channels, device=DEVICE)
        surge = F.avg_pool1d((weather * self.exposure.unsqueeze(1)).sum(2).unsqueeze(1), 7, stride=1, padding=3).squeeze(1)
        level = tide + surge
        signals = torch.cat([level.unsqueeze(2), weather], dim=2).view(c.gauges, patches + 1, -1)
        return signals[:, :-1], level.view(c.gauges, patches + 1, c.patch)[:, 1:]


class TideFormer(nn.Module):
    def __init__(self, cfg: Config):
        super().__init__()
        self.cfg = cfg
        self.embed = nn.Linear(cfg.patch * (cfg.channels + 1), cfg.width)
        self.decoder = GPT2Model(GPT2Config(vocab_size=1, n_positions=max(cfg.stages), n_embd=cfg.width, n_layer=cfg.layers,
                                            n_head=cfg.heads, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, use_cache=False,
                                            bos_token_id=None, eos_token_id=None))
        self.head = nn.Linear(cfg.width, 3 * cfg.mixtures * cfg.patch)

    def forward(self, signals):
        h = self.decoder(inputs_embeds=self.embed(signals)).last_hidden_state
        weight, mean, scale = self.head(h).unflatten(-1, (3, self.cfg.patch, self.cfg.mixtures)).unbind(-3)
        return weight.log_softmax(-1), mean, F.softplus(scale) + 1e-3


def likelihood_loss(mixture, level):
    weight, mean, scale = mixture
    z = (level.unsqueeze(-1) - mean) / scale
    logp = weight - 0.5 * z.square() - scale.log() - 0.919
    return -logp.logsumexp(-1).mean()


class Curriculum:
    """Yields the length of the history for each step; the last stage is the longest one."""

    def __init__(self, cfg: Config):
        self.lengths = [n for n in cfg.stages[:-1] for _ in range(cfg.steps_per_stage)] + [cfg.stages[-1]] * cfg.final_steps

    def __len__(self):
        return len(self.lengths)

    def __iter__(self):
        return iter(self.lengths)


@torch.no_grad()
def skill(model: TideFormer, gauges: Gauges, patches: int) -> float:
    """Error of the mixture's mean on a fresh history, relative to persistence."""
    model.eval()
    signals, level = gauges.history(patches)
    weight, mean, _ = model(signals)
    expected = (weight.exp() * mean).sum(-1)
    persistence = signals.unflatten(2, (gauges.cfg.patch, -1))[..., 0]
    model.train()
    return 1 - (F.mse_loss(expected, level) / F.mse_loss(persistence, level)).item()


def train(cfg: Config):
    gauges = Gauges(cfg)
    model = TideFormer(cfg).to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr, weight_decay=0.01)
    curriculum = Curriculum(cfg)
    log = StepLog(len(curriculum))
    print(f"{sum(p.numel() for p in model.parameters()):,} weights, {len(curriculum)} steps, histories of {cfg.stages} patches")
    started, previous = time.time(), None
    for patches in curriculum:
        if patches != previous:
            if previous is not None:
                print(f"{previous:4d} patches: loss {loss.item():.4f}  skill {skill(model, gauges, previous):+.3f}  "
                      f"{time.time() - started:.1f} s")
            previous = patches
        signals, level = gauges.history(patches)
        mixture = model(signals)
        loss = likelihood_loss(mixture, level)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        log.mark()
    print(f"{previous:4d} patches: loss {loss.item():.4f}  skill {skill(model, gauges, previous):+.3f}  "
          f"{time.time() - started:.1f} s")
    log.close()


if __name__ == "__main__":
    torch.manual_seed(29)
    train(Config())
