# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Trains a surrogate for transient temperatures in heat sinks with ever longer rollouts and stored start states."""

import copy
import json
import os
import random
import sys
from collections import deque
from dataclasses import dataclass

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class PlanConfig:
    batch: int = 2 if SMALL else 16
    size: int = 16 if SMALL else 384
    width: int = 4 if SMALL else 32
    steps: int = 12 if SMALL else 88
    stage_length: int = 3 if SMALL else 20
    average_from: int = 6 if SMALL else 44
    average_decay: float = 0.98
    start_states: int = 8 if SMALL else 60
    own_share: float = 0.6
    substeps: int = 4
    audit_every: int = 11
    audit_rollout: int = 3 if SMALL else 12
    lr: float = 1.5e-3


def allocated() -> int:
    return torch.cuda.memory_allocated() if DEVICE.type == "cuda" else 0


def five_point(field: torch.Tensor) -> torch.Tensor:
    total = torch.roll(field, 1, dims=-1) + torch.roll(field, -1, dims=-1)
    total = total + torch.roll(field, 1, dims=-2) + torch.roll(field, -1, dims=-2)
    return total - 4.0 * field


class ScaledLaplacian(torch.autograd.Function):
    """Periodic five-point stencil times a learned scalar; the stencil is its own adjoint."""

    @staticmethod
    def forward(ctx, field: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
        curvature = five_point(field)
        ctx.save_for_backward(curvature, scale)
        return curvature * scale

    @staticmethod
    def backward(ctx, grad_output: torch.Tensor):
        curvature, scale = ctx.saved_tensors
        return five_point(grad_output) * scale, (grad_output * curvature).sum().view_as(scale)


class SinkSimulator:
    """Explicit conduction with fins, a chip that heats and a coolant that takes heat away.

    Channels of a state: temperature, conductivity, source, coolant coefficient.
    """

    def __init__(self, cfg: PlanConfig, seed: int):
        self.cfg = cfg
        self.generator = torch.Generator(device=DEVICE).manual_seed(seed)
        axis = torch.linspace(0.0, 1.0, cfg.size, device=DEVICE)
        self.y, self.x = torch.meshgrid(axis, axis, indexing="ij")

    def _uniform(self, low: float, high: float) -> torch.Tensor:
        values = torch.rand(self.cfg.batch, 1, 1, generator=self.generator, device=DEVICE)
        return low + (high - low) * values

    def initial(self) -> torch.Tensor:
        pitch, phase = self._uniform(20.0, 60.0), self._uniform(0.0, 6.28)
        fins = (torch.sin(pitch * self.x + phase) > 0).float() * (self.y > 0.3).float()
        cx, cy, radius = self._uniform(0.3, 0.7), self._uniform(0.05, 0.2), self._uniform(0.05, 0.15)
        chip = torch.exp(-((self.x - cx).square() + (self.y - cy).square()) / radius.square())
        solid = torch.maximum(fins, (self.y <= 0.3).float())
        warm = 0.1 * self._uniform(0.0, 1.0) + 0.3 * chip
        return torch.stack([warm, 0.05 + 0.15 * solid, 0.1 * chip, 0.08 * (1.0 - solid)], dim=1)

    @torch.no_grad()
    def advance(self, state: torch.Tensor) -> torch.Tensor:
        temperature, conductivity, source, coolant = state.unbind(dim=1)
        for _ in range(self.cfg.substeps):
            temperature = temperature + conductivity * five_point(temperature) + source - coolant * temperature
        return torch.stack([temperature, conductivity, source, coolant], dim=1)


class SurrogateStep(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.diffusion = nn.Parameter(torch.tensor([0.3]))
        self.lift = nn.Conv2d(5, width, 3, padding=1, padding_mode="circular")
        self.mix = nn.ModuleList([nn.Conv2d(width, width, 3, padding=1, padding_mode="circular") for _ in range(3)])
        self.project = nn.Conv2d(width, 1, 1)

    def forward(self, state: torch.Tensor) -> torch.Tensor:
        spread = ScaledLaplacian.apply(state[:, :1], self.diffusion)
        hidden = torch.tanh(self.lift(torch.cat([state, spread], dim=1)))
        for layer in self.mix:
            hidden = hidden + torch.tanh(layer(hidden))
        temperature = state[:, :1] + spread + 0.1 * self.project(hidden)
        return torch.cat([temperature, state[:, 1:]], dim=1)


class StartStates:
    """States that the surrogate reached by itself; later rollouts begin from them."""

    def __init__(self, slots: int, seed: int):
        self.states: deque[torch.Tensor] = deque(maxlen=slots)
        self.random = random.Random(seed)

    def __len__(self) -> int:
        return len(self.states)

    def put(self, state: torch.Tensor) -> None:
        self.states.append(state.detach().clone())

    def pick(self) -> torch.Tensor:
        return self.random.choice(self.states)


class AveragedStep:
    """Exponential average of the surrogate, begun in the middle of the training."""

    def __init__(self, net: nn.Module, decay: float):
        self.net = copy.deepcopy(net).requires_grad_(False)
        self.decay = decay

    @torch.no_grad()
    def update(self, net: nn.Module) -> None:
        for mean, current in zip(self.net.parameters(), net.parameters()):
            mean.lerp_(current, 1.0 - self.decay)


class RolloutTrainer:
    def __init__(self, cfg: PlanConfig):
        self.cfg = cfg
        self.simulator = SinkSimulator(cfg, seed=8)
        self.net = SurrogateStep(cfg.width).to(DEVICE)
        self.optimizer = torch.optim.AdamW(self.net.parameters(), lr=cfg.lr)
        self.starts = StartStates(cfg.start_states, seed=4)
        self.random = random.Random(17)
        self.average: AveragedStep | None = None

    def start(self) -> torch.Tensor:
        if len(self.starts) and self.random.random() < self.cfg.own_share:
            return self.starts.pick()
        return self.simulator.initial()

    def step(self, number: int) -> tuple[float, int]:
        length = 1 + number // self.cfg.stage_length
        state = truth = self.start()
        loss = state.new_zeros(())
        for _ in range(length):
            truth = self.simulator.advance(truth)
            state = checkpoint(self.net, state, use_reentrant=False)
            loss = loss + (state[:, 0] - truth[:, 0]).square().mean() / length
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)
        self.optimizer.step()
        self.starts.put(state.clamp(-5.0, 5.0))
        if number == self.cfg.average_from:
            self.average = AveragedStep(self.net, self.cfg.average_decay)
        elif self.average is not None:
            self.average.update(self.net)
        return float(loss.detach()), length

    @torch.no_grad()
    def audit(self) -> float:
        net = self.average.net if self.average is not None else self.net
        state = truth = self.simulator.initial()
        errors = []
        for _ in range(self.cfg.audit_rollout):
            state, truth = net(state), self.simulator.advance(truth)
            errors.append((state[:, 0] - truth[:, 0]).abs().mean())
        return float(torch.stack(errors).mean())


def main() -> None:
    torch.manual_seed(6)
    cfg = PlanConfig()
    curve: list[int] = []
    try:
        trainer = RolloutTrainer(cfg)
        for number in range(cfg.steps):
            loss, length = trainer.step(number)
            if (number + 1) % cfg.audit_every == 0:
                print(f"step {number:3d}  rollout {length}  loss {loss:.5f}  audit error {trainer.audit():.4f}")
            curve.append(allocated())
    finally:
        print("TRUTH " + json.dumps({"allocated": curve, "rounds": len(curve)}), file=sys.stderr)


if __name__ == "__main__":
    main()
