# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Neural differential equation for the stocks of a mixed fishery with a posterior by stochastic gradient Langevin dynamics.

The growth term is a network, catches are given. After the burn-in every k-th state of the chain joins a window of samples;
the advice (quota) uses the forecasts of the samples in the window.
"""
import json
import os
import sys
import time
from collections import deque
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn
from torch.func import functional_call
from torchdiffeq import odeint

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class Config:
    species: int = 4 if SMALL else 24
    width: int = 16 if SMALL else 1200
    regions: int = 8 if SMALL else 128
    years: int = 4
    steps: int = 60 if SMALL else 600
    burn_in: int = 15 if SMALL else 100
    thin: int = 3 if SMALL else 10
    window: int = 6 if SMALL else 20
    temperature: float = 1e-7
    lr: float = 2e-4
    smoothing: float = 0.98
    advice_every: int = 15 if SMALL else 100


class Counter:
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


class StockDynamics(nn.Module):
    """d log(B) / dt = r(B) - catch rate; r comes from the network."""

    def __init__(self, cfg: Config):
        super().__init__()
        w = cfg.width
        self.growth = nn.Sequential(nn.Linear(2 * cfg.species, w), nn.Softplus(), nn.Linear(w, w), nn.Softplus(),
                                    nn.Linear(w, cfg.species))

    def forward(self, log_biomass, effort):
        rate = self.growth(torch.cat([log_biomass, effort], dim=-1))
        return 0.3 * torch.tanh(rate) - 0.2 * effort


class Assessment:
    """Survey indices of all regions, simulated from a competition model."""

    def __init__(self, cfg: Config):
        self.cfg = cfg
        g = torch.Generator().manual_seed(41)
        s = cfg.species
        self.competition = (0.4 * torch.eye(s) + 0.05 * torch.rand(s, s, generator=g)).to(DEVICE)
        self.times = torch.linspace(0, cfg.years, 2 * cfg.years + 1, device=DEVICE)

    @torch.no_grad()
    def draw(self):
        start = 0.3 * torch.randn(self.cfg.regions, self.cfg.species, device=DEVICE)
        effort = torch.rand(self.cfg.regions, self.cfg.species, device=DEVICE)

        def truth(t, y):
            return 0.4 - y.exp() @ self.competition - 0.2 * effort

        path = odeint(truth, start, self.times, method="rk4", options={"step_size": 0.25})
        return start, effort, path + 0.05 * torch.randn_like(path)


class Chain:
    """Langevin dynamics on the weights, a smoothed copy for the point forecast and the window of samples."""

    def __init__(self, cfg: Config):
        self.cfg = cfg
        self.model = StockDynamics(cfg).to(DEVICE)
        self.samples = deque(maxlen=cfg.window)
        self.smooth = None
        self.precondition = None
        self.step_number = 0

    def forecast(self, weights, start, effort, times):
        def field(t, y):
            return functional_call(self.model, weights, (y, effort))

        return odeint(field, start, times, method="rk4", options={"step_size": 0.5})

    def step(self, start, effort, observed, times):
        weights = dict(self.model.named_parameters())
        loss = F.mse_loss(self.forecast(weights, start, effort, times), observed)
        grads = torch.autograd.grad(loss, list(weights.values()))
        self.move(grads)
        self.step_number += 1
        if self.step_number > self.cfg.burn_in:
            self.remember()
        return loss.detach()

    @torch.no_grad()
    def move(self, grads):
        """Preconditioned step (running second moments as in RMSprop) with the matching noise."""
        c = self.cfg
        if self.precondition is None:
            self.precondition = [g.square() for g in grads]
        for p, g, v in zip(self.model.parameters(), grads, self.precondition):
            v.mul_(0.99).addcmul_(g, g, value=0.01)
            scale = 1.0 / (v.sqrt() + 1e-4)
            p.addcmul_(scale, g, value=-c.lr)
            p.add_(torch.randn_like(p) * (2 * c.lr * c.temperature * scale).sqrt())

    @torch.no_grad()
    def remember(self):
        state = self.model.state_dict()
        if self.smooth is None:
            self.smooth = {k: v.clone() for k, v in state.items()}
        for k, v in self.smooth.items():
            v.lerp_(state[k], 1 - self.cfg.smoothing)
        if self.step_number % self.cfg.thin == 0:
            self.samples.append({k: v.clone() for k, v in state.items()})

    @torch.no_grad()
    def advise(self, start, effort, times):
        """Spread of the samples' forecasts and the share of stocks below the limit in the last year."""
        paths = torch.stack([self.forecast(w, start, effort, times)[-1] for w in self.samples])
        point = self.forecast(self.smooth, start, effort, times)[-1]
        risk = (paths < -1.2).float().mean(0)
        return paths.std(0).mean().item(), (risk > 0.05).float().mean().item(), point.exp().mean().item()


def main():
    torch.manual_seed(19)
    cfg = Config()
    assessment, chain, counter = Assessment(cfg), Chain(cfg), Counter(cfg.steps)
    size = sum(p.numel() for p in chain.model.parameters())
    print(f"{cfg.species} species in {cfg.regions} regions, {size:,} weights")
    started, total = time.time(), torch.zeros((), device=DEVICE)
    for step in range(1, cfg.steps + 1):
        start, effort, observed = assessment.draw()
        total += chain.step(start, effort, observed, assessment.times)
        counter.mark()
        if step % cfg.advice_every == 0:
            line = f"step {step:4d}  error {total.item() / cfg.advice_every:.4f}  {time.time() - started:.1f} s"
            if len(chain.samples) > 1:
                spread, closed, mean = chain.advise(start, effort, assessment.times)
                line += f"  spread {spread:.4f}  closed {closed:.2f}  biomass {mean:.3f}"
            print(line)
            total.zero_()
    counter.close()


if __name__ == "__main__":
    main()
