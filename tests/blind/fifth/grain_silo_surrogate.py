# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Resumable training of a surrogate for the temperature field in a grain silo, preempted once on the way."""

import gc
import io
import json
import math
import os
import sys
from dataclasses import asdict, dataclass

import torch
import torch.nn.functional as F
from torch import nn
from torch.optim.lr_scheduler import LambdaLR

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass(frozen=True)
class SurrogateConfig:
    sensors: int = 32 if SMALL else 1024
    width: int = 64 if SMALL else 3072
    blocks: int = 2 if SMALL else 10
    cells: int = 64 if SMALL else 4096
    batch: int = 8 if SMALL else 1024
    lr: float = 2e-4
    warmup: int = 4
    steps_before_preemption: int = 4 if SMALL else 12
    steps_total: int = 12 if SMALL else 60
    ema_decay: float = 0.98
    log_every: int = 12


class Block(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, width)
        self.down = nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.down(F.gelu(self.up(self.norm(x))))


class SiloSurrogate(nn.Module):
    def __init__(self, config: SurrogateConfig):
        super().__init__()
        self.embed = nn.Linear(config.sensors, config.width)
        self.blocks = nn.Sequential(*[Block(config.width) for _ in range(config.blocks)])
        self.out = nn.Linear(config.width, config.cells)

    def forward(self, readings: torch.Tensor) -> torch.Tensor:
        return self.out(self.blocks(self.embed(readings)))


class SiloSimulator:
    """Random cable readings and the field of a fixed linear heat kernel."""

    def __init__(self, config: SurrogateConfig):
        self.config = config
        self.generator = torch.Generator(device=DEVICE).manual_seed(23)
        shape = (config.sensors, config.cells)
        self.kernel = torch.randn(shape, generator=self.generator, device=DEVICE) / math.sqrt(config.sensors)

    def batch(self) -> tuple[torch.Tensor, torch.Tensor]:
        shape = (self.config.batch, self.config.sensors)
        readings = torch.randn(shape, generator=self.generator, device=DEVICE)
        return readings, readings @ self.kernel


def make_schedule(optimizer: torch.optim.Optimizer, config: SurrogateConfig, start: dict) -> LambdaLR:
    """Cosine decay over what is left of the run, with a short warm-up after every start."""

    def factor(step: int) -> float:
        done = start.get("step", 0)
        if step < config.warmup:
            return (step + 1) / config.warmup
        progress = (done + step) / config.steps_total
        return 0.5 * (1.0 + math.cos(math.pi * min(1.0, progress)))

    return LambdaLR(optimizer, factor)


class SurrogateJob:
    def __init__(self, config: SurrogateConfig, simulator: SiloSimulator):
        self.config = config
        self.simulator = simulator
        torch.manual_seed(1)
        with DEVICE:
            self.model = SiloSurrogate(config)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=config.lr, momentum=0.9)
        self.step = 0
        self.loss_average = 0.0
        self.schedule: LambdaLR | None = None

    def start(self, stored: io.BytesIO | None) -> None:
        state = {}
        if stored is not None:
            state = torch.load(stored, map_location=DEVICE, weights_only=True)
            self.model.load_state_dict(state["model"])
            self.optimizer.load_state_dict(state["optimizer"])
            self.step = state["step"]
            self.loss_average = state["loss_average"]
            print(f"continues at step {self.step} with loss {self.loss_average:.4f}")
        for group in self.optimizer.param_groups:
            group["lr"] = group["initial_lr"] = self.config.lr
        self.schedule = make_schedule(self.optimizer, self.config, state)

    def save(self, target: io.BytesIO) -> None:
        torch.save(
            {
                "model": self.model.state_dict(),
                "optimizer": self.optimizer.state_dict(),
                "step": self.step,
                "loss_average": self.loss_average,
                "config": asdict(self.config),
            },
            target,
        )

    def train_until(self, last: int, allocated: list[int]) -> None:
        self.model.train()
        while self.step < last:
            readings, field = self.simulator.batch()
            with torch.autocast(DEVICE.type, dtype=torch.bfloat16):
                predicted = self.model(readings)
            loss = F.mse_loss(predicted.float(), field)
            loss.backward()
            self.optimizer.step()
            self.schedule.step()
            self.optimizer.zero_grad(set_to_none=True)
            self.step += 1
            self.loss_average = self.config.ema_decay * self.loss_average + (1 - self.config.ema_decay) * loss.item()
            if self.step % self.config.log_every == 0:
                print(f"step {self.step:3d}: loss {loss.item():.4f}, lr {self.schedule.get_last_lr()[0]:.2e}")
            del readings, field, predicted, loss
            allocated.append(torch.cuda.memory_allocated())


def first_part(config: SurrogateConfig, simulator: SiloSimulator, allocated: list[int]) -> io.BytesIO:
    job = SurrogateJob(config, simulator)
    job.start(None)
    job.train_until(config.steps_before_preemption, allocated)
    storage = io.BytesIO()
    job.save(storage)
    storage.seek(0)
    return storage


def second_part(config: SurrogateConfig, simulator: SiloSimulator, storage: io.BytesIO, allocated: list[int]) -> None:
    job = SurrogateJob(config, simulator)
    job.start(storage)
    storage.close()
    job.train_until(config.steps_total, allocated)
    print(f"finished after {job.step} steps, loss {job.loss_average:.4f}")


def main() -> None:
    config = SurrogateConfig()
    allocated: list[int] = []
    try:
        simulator = SiloSimulator(config)
        storage = first_part(config, simulator, allocated)
        gc.collect()
        second_part(config, simulator, storage, allocated)
    finally:
        print("TRUTH " + json.dumps({"allocated": allocated, "rounds": len(allocated)}), file=sys.stderr)


if __name__ == "__main__":
    main()
