# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Next-item model for shopping baskets: a causal encoder with tied item vectors, tuned with a Kronecker optimizer."""

import json
import os
import sys
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class BasketConfig:
    items: int = 120 if SMALL else 52_000
    width: int = 16 if SMALL else 96
    heads: int = 2 if SMALL else 4
    layers: int = 1 if SMALL else 3
    basket: int = 8 if SMALL else 40
    batch: int = 4 if SMALL else 128
    warmup_steps: int = 4 if SMALL else 900
    main_steps: int = 6 if SMALL else 400
    memory_budget_gib: float = 7.0
    warmup_lr: float = 1e-3
    main_lr: float = 2e-2


class KroneckerSGD(torch.optim.Optimizer):
    """Shampoo-style optimizer: one second-moment matrix per tensor dimension, roots refreshed now and then."""

    def __init__(self, params, lr=1e-2, momentum=0.9, epsilon=1e-4, refresh=20, dim_limit=2048):
        defaults = dict(lr=lr, momentum=momentum, epsilon=epsilon, refresh=refresh, dim_limit=dim_limit)
        super().__init__(params, defaults)

    @staticmethod
    def inverse_root(matrix: torch.Tensor, order: int) -> torch.Tensor:
        values, vectors = torch.linalg.eigh(matrix)
        return (vectors * values.clamp_min(1e-10).pow(-1.0 / order)) @ vectors.T

    @staticmethod
    def eligible(parameter: torch.Tensor, limit: int) -> bool:
        return parameter.dim() >= 2 and min(parameter.shape) <= limit

    def init_state(self, parameter: torch.Tensor, group: dict) -> dict:
        state = self.state[parameter]
        state["step"] = 0
        state["momentum"] = torch.zeros_like(parameter)
        state["moments"] = []
        state["roots"] = []
        if self.eligible(parameter, group["dim_limit"]):
            for size in parameter.shape:
                identity = torch.eye(size, device=parameter.device, dtype=parameter.dtype)
                state["moments"].append(identity.mul(group["epsilon"]))
                state["roots"].append(identity)
        return state

    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is None:
                    continue
                state = self.state[parameter] if parameter in self.state else self.init_state(parameter, group)
                update = self.precondition(parameter.grad, state, group)
                state["momentum"].mul_(group["momentum"]).add_(update)
                parameter.add_(state["momentum"], alpha=-group["lr"])
                state["step"] += 1
        return loss

    def precondition(self, gradient: torch.Tensor, state: dict, group: dict) -> torch.Tensor:
        update = gradient
        order = 2 * max(1, len(state["moments"]))
        for dim, moment in enumerate(state["moments"]):
            unfolded = gradient.transpose(0, dim).reshape(gradient.shape[dim], -1)
            moment.addmm_(unfolded, unfolded.T)
            if state["step"] % group["refresh"] == 0:
                state["roots"][dim] = self.inverse_root(moment, order)
            moved = update.transpose(0, dim)
            update = (state["roots"][dim] @ moved.reshape(moved.shape[0], -1)).view(moved.shape).transpose(0, dim)
        return update * (gradient.norm() / update.norm().clamp_min(1e-12))


class BasketEncoder(nn.Module):
    """Causal transformer; scores of the next item are products with the item vectors."""

    def __init__(self, config: BasketConfig) -> None:
        super().__init__()
        self.items = nn.Embedding(config.items, config.width)
        self.place = nn.Parameter(0.02 * torch.randn(config.basket, config.width))
        layer = nn.TransformerEncoderLayer(
            config.width, config.heads, 4 * config.width, dropout=0.1, batch_first=True, norm_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, config.layers, enable_nested_tensor=False)
        nn.init.normal_(self.items.weight, std=0.05)

    def forward(self, basket: torch.Tensor) -> torch.Tensor:
        length = basket.shape[1]
        causal = nn.Transformer.generate_square_subsequent_mask(length, device=basket.device)
        hidden = self.encoder(self.items(basket) + self.place[:length], mask=causal, is_causal=True)
        return hidden[:, -1] @ self.items.weight.T


class BasketStream:
    """Baskets around random departments, with popular items drawn more often."""

    def __init__(self, config: BasketConfig, seed: int) -> None:
        self.config = config
        self.generator = torch.Generator(device=DEVICE).manual_seed(seed)
        self.departments = max(2, config.items // 60)

    def batch(self) -> tuple[torch.Tensor, torch.Tensor]:
        shape = (self.config.batch, self.config.basket + 1)
        department = torch.randint(0, self.departments, (shape[0], 1), generator=self.generator, device=DEVICE)
        popularity = torch.rand(shape, generator=self.generator, device=DEVICE).pow(3.0)
        offset = (popularity * (self.config.items // self.departments)).long()
        rows = (department * (self.config.items // self.departments) + offset).clamp_max(self.config.items - 1)
        return rows[:, :-1], rows[:, -1]


class Session:
    def __init__(self, config: BasketConfig) -> None:
        self.config = config
        self.model = BasketEncoder(config).to(DEVICE)
        self.stream = BasketStream(config, seed=4)
        self.allocated: list[int] = []

    def run(self, optimizer: torch.optim.Optimizer, steps: int, name: str) -> None:
        for step in range(steps):
            basket, target = self.stream.batch()
            loss = F.cross_entropy(self.model(basket), target, label_smoothing=0.05)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            self.allocated.append(torch.cuda.memory_allocated() if DEVICE.type == "cuda" else 0)
            if step % 40 == 0:
                print(f"{name} step {step}: loss {loss.item():.4f}")


def main() -> None:
    torch.manual_seed(0)
    config = BasketConfig()
    if DEVICE.type == "cuda":
        total = torch.cuda.get_device_properties(0).total_memory
        torch.cuda.set_per_process_memory_fraction(min(1.0, config.memory_budget_gib * 2**30 / total))
    session = Session(config)
    try:
        session.run(torch.optim.AdamW(session.model.parameters(), lr=config.warmup_lr), config.warmup_steps, "warm-up")
        session.run(KroneckerSGD(session.model.parameters(), lr=config.main_lr), config.main_steps, "main")
    finally:
        truth = {"allocated": session.allocated, "rounds": len(session.allocated)}
        print("TRUTH " + json.dumps(truth), file=sys.stderr)


if __name__ == "__main__":
    main()
