# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Trains an ensemble of load forecasters for electrical substations in one vectorized pass with torch.func."""

import copy
import json
import os
import sys
from dataclasses import dataclass

import torch
from torch import nn
from torch.func import functional_call, stack_module_state, vmap

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class ForecastConfig:
    members: int = 3 if SMALL else 12
    history: int = 24 if SMALL else 336
    horizon: int = 6 if SMALL else 48
    width: int = 32 if SMALL else 2560
    blocks: int = 2 if SMALL else 3
    substations: int = 8 if SMALL else 256
    hours: int = 200 if SMALL else 6000
    batch_size: int = 16 if SMALL else 256
    steps: int = 8 if SMALL else 300
    learning_rate: float = 2e-4
    quantile_low: float = 0.1
    quantile_high: float = 0.9
    seed: int = 23


class ResidualBlock(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, width)
        self.down = nn.Linear(width, width)

    def forward(self, x):
        return x + self.down(torch.nn.functional.gelu(self.up(self.norm(x))))


class LoadForecaster(nn.Module):
    """Maps the recent load curve of a substation to the next hours."""

    def __init__(self, cfg: ForecastConfig):
        super().__init__()
        self.embed = nn.Linear(cfg.history, cfg.width)
        self.blocks = nn.ModuleList(ResidualBlock(cfg.width) for _ in range(cfg.blocks))
        self.head = nn.Linear(cfg.width, cfg.horizon)

    def forward(self, history):
        level = history.mean(dim=-1, keepdim=True)
        x = self.embed(history - level)
        for block in self.blocks:
            x = block(x)
        return self.head(x) + level


class LoadSeries:
    """Synthetic hourly load with a daily and a weekly rhythm."""

    def __init__(self, cfg: ForecastConfig, device: torch.device):
        self.cfg = cfg
        hours = torch.arange(cfg.hours, device=device)
        daily = torch.sin(hours * (2 * torch.pi / 24))
        weekly = torch.sin(hours * (2 * torch.pi / 168))
        mix = torch.rand(cfg.substations, 2, device=device)
        noise = 0.1 * torch.randn(cfg.substations, cfg.hours, device=device)
        self.load = 1.0 + mix[:, :1] * daily + mix[:, 1:] * weekly + noise
        self.window = torch.arange(cfg.history + cfg.horizon, device=device)

    def batch(self, members: int) -> tuple[torch.Tensor, torch.Tensor]:
        cfg = self.cfg
        shape = (members, cfg.batch_size)
        device = self.load.device
        station = torch.randint(cfg.substations, shape, device=device)
        start = torch.randint(cfg.hours - cfg.history - cfg.horizon, shape, device=device)
        curves = self.load[station.unsqueeze(-1), start.unsqueeze(-1) + self.window]
        return curves[..., : cfg.history], curves[..., cfg.history :]


class ForecastEnsemble:
    """Independent forecasters with their own random initial weights, evaluated with vmap."""

    def __init__(self, cfg: ForecastConfig, device: torch.device):
        self.cfg = cfg
        self.members = [LoadForecaster(cfg).to(device) for _ in range(cfg.members)]
        self.params, self.buffers = stack_module_state(self.members)
        self.skeleton = copy.deepcopy(self.members[0]).to("meta")
        self.optimizer = torch.optim.Adam(self.params.values(), lr=cfg.learning_rate)
        self.forward_all = vmap(self._forward_one)

    def _forward_one(self, params, buffers, history):
        return functional_call(self.skeleton, (params, buffers), (history,))

    def __len__(self) -> int:
        return len(self.members)

    def describe(self) -> str:
        count = sum(p.numel() for p in self.skeleton.parameters())
        return f"{len(self)} members with {count / 1e6:.1f} M parameters each"

    def predict(self, history: torch.Tensor) -> torch.Tensor:
        return self.forward_all(self.params, self.buffers, history)

    def train_step(self, history: torch.Tensor, future: torch.Tensor) -> torch.Tensor:
        error = self.predict(history) - future
        per_member = error.square().mean(dim=(1, 2))
        self.optimizer.zero_grad(set_to_none=True)
        per_member.sum().backward()
        self.optimizer.step()
        return per_member.detach()

    @torch.no_grad()
    def interval(self, history: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        forecasts = self.predict(history.expand(len(self), -1, -1))
        levels = torch.tensor([self.cfg.quantile_low, 0.5, self.cfg.quantile_high], device=history.device)
        low, median, high = forecasts.quantile(levels, dim=0)
        return low, median, high


def coverage(ensemble: ForecastEnsemble, series: LoadSeries) -> float:
    history, future = series.batch(1)
    low, _, high = ensemble.interval(history[0])
    inside = (future[0] >= low) & (future[0] <= high)
    return inside.float().mean().item()


def main() -> None:
    cfg = ForecastConfig()
    torch.manual_seed(cfg.seed)
    allocated: list[int] = []
    try:
        series = LoadSeries(cfg, DEVICE)
        ensemble = ForecastEnsemble(cfg, DEVICE)
        print(ensemble.describe())
        for step in range(cfg.steps):
            losses = ensemble.train_step(*series.batch(len(ensemble)))
            allocated.append(torch.cuda.memory_allocated())
            if (step + 1) % 50 == 0:
                spread = losses.max() - losses.min()
                print(f"step {step + 1}: loss {losses.mean().item():.4f}, spread {spread.item():.4f}")
        print(f"interval coverage {coverage(ensemble, series):.3f}")
    finally:
        print("TRUTH " + json.dumps({"allocated": allocated, "rounds": len(allocated)}), file=sys.stderr)


if __name__ == "__main__":
    main()
