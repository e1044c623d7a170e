# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Trains a recurrent forecaster on long river-gauge records with truncated backpropagation through time.

A record is read in chunks. The error of each chunk is propagated back through the last `reach` chunks, so that
consecutive errors share most of their way back; the weights change once per record.
"""

import json
import math
import os
import sys
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
SMALL = os.environ.get("SMALL") == "1"


@dataclass
class GaugeConfig:
    stations: int = 384
    features: int = 8
    hidden: int = 768
    chunk: int = 64
    chunks: int = 24
    reach: int = 4
    horizon: int = 3
    records: int = 60
    learning_rate: float = 5e-4
    clip: float = 1.0
    seed: int = 17


def make_config():
    if SMALL:
        return GaugeConfig(stations=8, hidden=16, chunk=8, chunks=8, records=6)
    return GaugeConfig()


class GaugeRecords:
    """Synthetic gauges: tides of several periods, random weather and a level that follows the weather slowly."""

    def __init__(self, cfg):
        self.cfg = cfg
        self.generator = torch.Generator(DEVICE).manual_seed(cfg.seed)
        self.periods = torch.tensor([12.4, 24.0, 336.0, 708.0], device=DEVICE)

    def __iter__(self):
        cfg = self.cfg
        length = cfg.chunk * cfg.chunks
        hours = torch.arange(length + cfg.horizon, device=DEVICE)[:, None, None]
        for _ in range(cfg.records):
            phase = torch.rand(1, cfg.stations, 4, device=DEVICE, generator=self.generator)
            tides = torch.sin(2 * math.pi * (hours / self.periods + phase))
            shape = (length + cfg.horizon, cfg.stations, cfg.features - 4)
            weather = torch.randn(shape, device=DEVICE, generator=self.generator)
            level = tides.sum(dim=-1) + 0.05 * weather.sum(dim=-1).cumsum(dim=0)
            inputs = torch.cat([tides, weather], dim=-1)[:length]
            targets = torch.stack([level[lead:length + lead] for lead in range(1, cfg.horizon + 1)], dim=-1)
            yield inputs, (targets - targets.mean()) / targets.std()


class GaugeForecaster(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.recurrent = nn.GRU(cfg.features, cfg.hidden)
        self.levels = nn.Linear(cfg.hidden, cfg.horizon)

    def initial_state(self):
        return torch.zeros(1, self.cfg.stations, self.cfg.hidden, device=DEVICE)

    def forward(self, inputs, state):
        features, state = self.recurrent(inputs, state)
        return self.levels(features), state


@dataclass
class Link:
    """One chunk's place in the chain: the state it began with and the state that it handed on."""

    entered: torch.Tensor
    left: torch.Tensor


class BackpropWindow:
    """The chunks through which an error still travels back."""

    def __init__(self, reach):
        self.reach = reach
        self.links = []

    def enter(self, state):
        return state.detach().requires_grad_()

    def append(self, entered, left):
        self.links.append(Link(entered, left))

    def backward(self, loss):
        loss.backward(retain_graph=True)
        for later, earlier in zip(reversed(self.links[1:]), reversed(self.links[:-1])):
            signal, later.entered.grad = later.entered.grad, None
            earlier.left.backward(signal, retain_graph=True)
        self.links[0].entered.grad = None
        if len(self.links) == self.reach:
            self.links.pop(0)

    def clear(self):
        self.links.clear()


class RecordTrainer:
    def __init__(self, model, cfg):
        self.model = model
        self.cfg = cfg
        self.window = BackpropWindow(cfg.reach)
        self.optimizer = torch.optim.Adam(model.parameters(), lr=cfg.learning_rate)
        self.history = []

    def _chunks(self, inputs, targets):
        yield from zip(inputs.split(self.cfg.chunk), targets.split(self.cfg.chunk))

    def learn(self, inputs, targets):
        self.model.train()
        self.optimizer.zero_grad(set_to_none=True)
        state = self.model.initial_state()
        losses = []
        for chunk_inputs, chunk_targets in self._chunks(inputs, targets):
            entered = self.window.enter(state)
            forecast, state = self.model(chunk_inputs, entered)
            self.window.append(entered, state)
            loss = F.smooth_l1_loss(forecast, chunk_targets) / self.cfg.chunks
            self.window.backward(loss)
            losses.append(loss.detach())
        self.window.clear()
        nn.utils.clip_grad_norm_(self.model.parameters(), self.cfg.clip)
        self.optimizer.step()
        total = torch.stack(losses).sum().item()
        self.history.append(total)
        return total


@torch.no_grad()
def persistence_error(targets):
    return F.smooth_l1_loss(targets[:-1, :, -1], targets[1:, :, -1]).item()


def main():
    cfg = make_config()
    torch.manual_seed(cfg.seed)
    torch.set_float32_matmul_precision("high")
    allocated = []
    try:
        trainer = RecordTrainer(GaugeForecaster(cfg).to(DEVICE), cfg)
        for index, (inputs, targets) in enumerate(GaugeRecords(cfg)):
            error = trainer.learn(inputs, targets)
            allocated.append(torch.cuda.memory_allocated() if DEVICE == "cuda" else 0)
            print(f"record {index}: error {error:.4f}, persistence {persistence_error(targets):.4f}")
        print(f"best error {min(trainer.history):.4f}")
    finally:
        print("TRUTH " + json.dumps({"allocated": allocated, "rounds": len(allocated)}), file=sys.stderr)


if __name__ == "__main__":
    main()
