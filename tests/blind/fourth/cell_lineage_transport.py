# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Learns a cell embedding whose entropic transport plans between time points match lineage barcodes."""

import json
import os
import sys
from dataclasses import dataclass
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import nn
from torchmetrics import MeanMetric

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class LineageConfig:
    genes: int = 24 if SMALL else 2000
    cells: int = 16 if SMALL else 1536
    clones: int = 4 if SMALL else 96
    pairs_per_step: int = 2 if SMALL else 6
    hidden: int = 16 if SMALL else 512
    latent: int = 8 if SMALL else 64
    epsilon: float = 0.08
    sinkhorn_iterations: int = 10 if SMALL else 120
    epochs: int = 3 if SMALL else 8
    steps_per_epoch: int = 4 if SMALL else 10
    lr: float = 3e-4
    weight_decay: float = 1e-4
    ema_decay: float = 0.98
    distance_weight: float = 0.1


class Transport(NamedTuple):
    plan: torch.Tensor
    distance: torch.Tensor


class Sinkhorn(torch.autograd.Function):
    """Entropic transport with uniform marginals; the backward solves for the duals with a few iterations."""

    @staticmethod
    def forward(ctx, cost: torch.Tensor, epsilon: float, iterations: int) -> Transport:
        rows, columns = cost.shape[-2:]
        log_kernel = -cost / epsilon
        u = cost.new_zeros(*cost.shape[:-2], rows, 1)
        v = cost.new_zeros(*cost.shape[:-2], 1, columns)
        log_rows = -torch.log(torch.tensor(float(rows)))
        log_columns = -torch.log(torch.tensor(float(columns)))
        for _ in range(iterations):
            u = log_rows.item() - torch.logsumexp(log_kernel + v, dim=-1, keepdim=True)
            v = log_columns.item() - torch.logsumexp(log_kernel + u, dim=-2, keepdim=True)
        plan = torch.exp(log_kernel + u + v)
        ctx.transport = Transport(plan, (plan * cost).sum((-1, -2)))
        ctx.epsilon = epsilon
        ctx.solver_iterations = max(4, iterations // 8)
        return ctx.transport

    @staticmethod
    def backward(ctx, grad_plan: torch.Tensor, grad_distance: torch.Tensor):
        plan = ctx.transport.plan
        weighted = plan * grad_plan
        row_mass = plan.sum(-1, keepdim=True)
        column_mass = plan.sum(-2, keepdim=True)
        row_rhs = weighted.sum(-1, keepdim=True)
        column_rhs = weighted.sum(-2, keepdim=True)
        a = row_rhs / row_mass
        b = torch.zeros_like(column_rhs)
        for _ in range(ctx.solver_iterations):
            b = (column_rhs - plan.transpose(-1, -2).matmul(a).transpose(-1, -2)) / column_mass
            a = (row_rhs - plan.matmul(b.transpose(-1, -2))) / row_mass
        grad_cost = plan * grad_distance.view(-1, 1, 1) - (weighted - plan * (a + b)) / ctx.epsilon
        return grad_cost, None, None


class CellEncoder(nn.Module):
    def __init__(self, config: LineageConfig) -> None:
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(config.genes, config.hidden),
            nn.LayerNorm(config.hidden),
            nn.GELU(),
            nn.Linear(config.hidden, config.hidden),
            nn.GELU(),
            nn.Linear(config.hidden, config.latent),
        )

    def forward(self, counts: torch.Tensor) -> torch.Tensor:
        return F.normalize(self.net(torch.log1p(counts)), dim=-1)


class LineageModel(nn.Module):
    def __init__(self, config: LineageConfig) -> None:
        super().__init__()
        self.config = config
        self.encoder = CellEncoder(config)

    def forward(self, early: torch.Tensor, late: torch.Tensor) -> Transport:
        cost = 1.0 - self.encoder(early) @ self.encoder(late).transpose(-1, -2)
        return Transport(*Sinkhorn.apply(cost, self.config.epsilon, self.config.sinkhorn_iterations))


class SnapshotSampler:
    """Draws pairs of early and late snapshots with clone labels; counts are Poisson around clone programmes."""

    def __init__(self, config: LineageConfig, seed: int) -> None:
        self.config = config
        self.generator = torch.Generator(device=DEVICE).manual_seed(seed)
        self.programmes = 2.0 * torch.rand(config.clones, config.genes, generator=self.generator, device=DEVICE)
        self.drift = 0.3 * torch.rand(config.genes, generator=self.generator, device=DEVICE)

    def _snapshot(self, shift: float) -> tuple[torch.Tensor, torch.Tensor]:
        shape = (self.config.pairs_per_step, self.config.cells)
        clones = torch.randint(0, self.config.clones, shape, generator=self.generator, device=DEVICE)
        counts = torch.poisson(self.programmes[clones] + shift * self.drift, generator=self.generator)
        return counts, clones

    def sample(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        early, early_clones = self._snapshot(0.0)
        late, late_clones = self._snapshot(1.0)
        same_clone = (early_clones.unsqueeze(-1) == late_clones.unsqueeze(-2)).float()
        return early, late, same_clone


def lineage_loss(transport: Transport, same_clone: torch.Tensor, distance_weight: float) -> torch.Tensor:
    on_target = (transport.plan * same_clone).sum((-1, -2)).clamp_min(1e-8)
    return distance_weight * transport.distance.mean() - on_target.log().mean()


class WeightAverage:
    """Exponential average of the weights, used for validation."""

    def __init__(self, model: nn.Module, decay: float) -> None:
        self.decay = decay
        self.values = {name: value.detach().clone() for name, value in model.state_dict().items()}

    @torch.no_grad()
    def update(self, model: nn.Module) -> None:
        for name, value in model.state_dict().items():
            self.values[name].lerp_(value, 1.0 - self.decay)


def validate(model: LineageModel, average: WeightAverage, sampler: SnapshotSampler) -> float:
    own = {name: value.clone() for name, value in model.state_dict().items()}
    model.load_state_dict(average.values)
    model.eval()
    with torch.no_grad():
        early, late, same_clone = sampler.sample()
        score = (model(early, late).plan * same_clone).sum((-1, -2)).mean().item()
    model.load_state_dict(own)
    model.train()
    return score


def train(config: LineageConfig, allocated: list[int]) -> None:
    model = LineageModel(config).to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters(), lr=config.lr, weight_decay=config.weight_decay)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, config.epochs * config.steps_per_epoch)
    average = WeightAverage(model, config.ema_decay)
    train_sampler, valid_sampler = SnapshotSampler(config, 1), SnapshotSampler(config, 2)
    mean_loss = MeanMetric().to(DEVICE)
    for epoch in range(config.epochs):
        for _ in range(config.steps_per_epoch):
            early, late, same_clone = train_sampler.sample()
            loss = lineage_loss(model(early, late), same_clone, config.distance_weight)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
            average.update(model)
            mean_loss.update(loss.detach())
            allocated.append(torch.cuda.memory_allocated() if DEVICE.type == "cuda" else 0)
        score = validate(model, average, valid_sampler)
        print(f"epoch {epoch}: loss {mean_loss.compute().item():.4f}, mass on own clone {score:.4f}")
        mean_loss.reset()


def main() -> None:
    torch.manual_seed(3)
    allocated: list[int] = []
    try:
        train(LineageConfig(), allocated)
    finally:
        print("TRUTH " + json.dumps({"allocated": allocated, "rounds": len(allocated)}), file=sys.stderr)


if __name__ == "__main__":
    main()
