# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Cross-validates a network that predicts the creep rupture life of turbine blade alloys.

The network is trained with a curvature-scaled optimizer (Hutchinson estimate of the Hessian diagonal).
"""

import json
import math
import os
import statistics
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import nn

warnings.filterwarnings("ignore", category=UserWarning)

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass(frozen=True)
class StudyConfig:
    specimens: int = 120 if SMALL else 8400
    descriptors: int = 12 if SMALL else 96
    width: int = 16 if SMALL else 3072
    hidden_layers: int = 3
    folds: int = 4 if SMALL else 14
    steps: int = 3 if SMALL else 60
    batch: int = 16 if SMALL else 2048
    lr: float = 0.02
    warmup: int = 6
    seed: int = 2024


@dataclass
class FoldScore:
    fold: int
    rmse: float
    r2: float
    final_lr: float


def allocated() -> int:
    return torch.cuda.memory_allocated() if DEVICE.type == "cuda" else 0


class AlloyTable:
    """Composition, heat treatment and test conditions with the logarithm of the rupture time."""

    def __init__(self, cfg: StudyConfig):
        generator = torch.Generator().manual_seed(cfg.seed)
        x = torch.randn(cfg.specimens, cfg.descriptors, generator=generator)
        mix = torch.randn(cfg.descriptors, 4, generator=generator) / math.sqrt(cfg.descriptors)
        latent = x @ mix
        life = latent[:, 0] - 0.5 * latent[:, 1].square() + torch.sin(2.0 * latent[:, 2]) * latent[:, 3]
        life = life + 0.05 * torch.randn(cfg.specimens, generator=generator)
        self.x = x.to(DEVICE)
        self.y = life.unsqueeze(1).to(DEVICE)
        self.order = torch.randperm(cfg.specimens, generator=generator).to(DEVICE)

    def split(self, fold: int, folds: int) -> tuple[torch.Tensor, torch.Tensor]:
        position = torch.arange(len(self.order), device=DEVICE)
        held_out = position % folds == fold
        return self.order[~held_out], self.order[held_out]


class Standardizer:
    def __init__(self, values: torch.Tensor):
        self.mean = values.mean(dim=0)
        self.std = values.std(dim=0).clamp_min(1e-6)

    def apply(self, values: torch.Tensor) -> torch.Tensor:
        return (values - self.mean) / self.std

    def undo(self, values: torch.Tensor) -> torch.Tensor:
        return values * self.std + self.mean


class LifeNet(nn.Module):
    def __init__(self, cfg: StudyConfig):
        super().__init__()
        sizes = [cfg.descriptors] + [cfg.width] * cfg.hidden_layers
        self.layers = nn.ModuleList([nn.Linear(a, b) for a, b in zip(sizes, sizes[1:])])
        self.head = nn.Linear(cfg.width, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for i, layer in enumerate(self.layers):
            h = torch.tanh(layer(x))
            x = h if i == 0 else x + h
        return self.head(x)


class CurvatureAdam(torch.optim.Optimizer):
    """Adam whose second moment is built from a stochastic estimate of the Hessian diagonal."""

    def __init__(self, params, lr: float, betas: tuple[float, float] = (0.9, 0.99), eps: float = 1e-4):
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps})

    def _active(self) -> list[nn.Parameter]:
        return [p for group in self.param_groups for p in group["params"] if p.grad is not None]

    def hessian_diagonal(self) -> list[torch.Tensor]:
        params = self._active()
        grads = [p.grad for p in params]
        probes = [torch.randint_like(p, 2).mul_(2.0).sub_(1.0) for p in params]
        products = torch.autograd.grad(grads, params, grad_outputs=probes)
        return [(hv * v).abs() for hv, v in zip(products, probes)]

    def step(self, closure=None) -> None:
        diagonals = iter(self.hessian_diagonal())
        with torch.no_grad():
            for group in self.param_groups:
                beta1, beta2 = group["betas"]
                for p in group["params"]:
                    if p.grad is None:
                        continue
                    state = self.state[p]
                    if not state:
                        state["step"] = 0
                        state["average"] = torch.zeros_like(p)
                        state["curvature"] = torch.zeros_like(p)
                    state["step"] += 1
                    state["average"].lerp_(p.grad, 1.0 - beta1)
                    state["curvature"].mul_(beta2).add_(next(diagonals).square_(), alpha=1.0 - beta2)
                    correction1 = 1.0 - beta1 ** state["step"]
                    correction2 = 1.0 - beta2 ** state["step"]
                    scale = (state["curvature"] / correction2).sqrt_().add_(group["eps"])
                    update = (state["average"] / correction1).div_(scale).clamp_(-0.05, 0.05)
                    p.add_(update, alpha=-group["lr"])


def batches(index: torch.Tensor, size: int, steps: int) -> Iterator[torch.Tensor]:
    for _ in range(steps):
        yield index[torch.randint(len(index), (size,), device=index.device)]


def set_rate(optimizer: torch.optim.Optimizer, step: int, cfg: StudyConfig) -> float:
    ramp = min(1.0, (step + 1) / cfg.warmup)
    decay = 0.5 * (1.0 + math.cos(math.pi * step / cfg.steps))
    for group in optimizer.param_groups:
        group["lr"] = cfg.lr * ramp * decay
    return group["lr"]


@torch.no_grad()
def score(net: LifeNet, x: torch.Tensor, y: torch.Tensor, target: Standardizer) -> tuple[float, float]:
    net.eval()
    predicted = torch.cat([target.undo(net(part)) for part in x.split(1024)])
    residual = (predicted - y).square().mean()
    return float(residual.sqrt()), float(1.0 - residual / y.var())


def run_fold(fold: int, table: AlloyTable, cfg: StudyConfig) -> FoldScore:
    train, held_out = table.split(fold, cfg.folds)
    inputs, target = Standardizer(table.x[train]), Standardizer(table.y[train])
    net = LifeNet(cfg).to(DEVICE)
    optimizer = CurvatureAdam(net.parameters(), lr=cfg.lr)
    criterion = nn.MSELoss()
    rate = cfg.lr
    for step, index in enumerate(batches(train, cfg.batch, cfg.steps)):
        rate = set_rate(optimizer, step, cfg)
        optimizer.zero_grad()
        loss = criterion(net(inputs.apply(table.x[index])), target.apply(table.y[index]))
        loss.backward(create_graph=True)
        optimizer.step()
    rmse, r2 = score(net, inputs.apply(table.x[held_out]), table.y[held_out], target)
    return FoldScore(fold, rmse, r2, rate)


def main() -> None:
    cfg = StudyConfig()
    torch.manual_seed(cfg.seed)
    curve: list[int] = []
    try:
        table = AlloyTable(cfg)
        scores: list[FoldScore] = []
        for fold in range(cfg.folds):
            scores.append(run_fold(fold, table, cfg))
            curve.append(allocated())
            print(f"fold {fold:2d}  rmse {scores[-1].rmse:.4f}  r2 {scores[-1].r2:.4f}")
        print(f"mean rmse {statistics.mean(s.rmse for s in scores):.4f}")
    finally:
        print("TRUTH " + json.dumps({"allocated": curve, "rounds": len(curve)}), file=sys.stderr)


if __name__ == "__main__":
    main()
