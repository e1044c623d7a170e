# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Trains a language model on braille cells on a preemptible machine: a first job writes a checkpoint and is
preempted, a second one resumes from it and trains to the end."""

import gc
import io
import json
import os
import sys
import time
from dataclasses import dataclass

import torch
from torch import nn
from transformers import GPT2Config, GPT2LMHeadModel

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class JobConfig:
    vocab: int = 256 if SMALL else 8192
    width: int = 32 if SMALL else 1024
    layers: int = 2 if SMALL else 12
    heads: int = 4 if SMALL else 16
    context: int = 32 if SMALL else 512
    batch: int = 2 if SMALL else 8
    preempted_at: int = 6 if SMALL else 12
    total_steps: int = 40 if SMALL else 56
    warmup_steps: int = 8
    lr: float = 3e-4
    ema_decay: float = 0.99
    report_every: int = 8


def build_model(config: JobConfig) -> GPT2LMHeadModel:
    gpt = GPT2Config(
        vocab_size=config.vocab,
        n_positions=config.context,
        n_embd=config.width,
        n_layer=config.layers,
        n_head=config.heads,
        bos_token_id=0,
        eos_token_id=0,
        use_cache=False,
    )
    return GPT2LMHeadModel(gpt).to(DEVICE)


class CellStream:
    """Braille cells: a Markov-like sequence, different for every step but repeatable."""

    def __init__(self, config: JobConfig):
        self.config = config

    def batch(self, step: int) -> torch.Tensor:
        generator = torch.Generator().manual_seed(1000 + step)
        jumps = torch.randint(1, 9, (self.config.batch, self.config.context), generator=generator)
        return (jumps.cumsum(dim=1) % self.config.vocab).to(DEVICE)


class ShadowWeights:
    """Exponential moving average of the parameters; it is what gets published in the end."""

    def __init__(self, model: nn.Module, decay: float):
        self.decay = decay
        self.values = {name: p.detach().clone() for name, p in model.named_parameters()}

    @torch.no_grad()
    def update(self, model: nn.Module) -> None:
        for name, p in model.named_parameters():
            self.values[name].lerp_(p, 1.0 - self.decay)

    @torch.no_grad()
    def restore(self, values: dict[str, torch.Tensor]) -> None:
        for name, value in values.items():
            self.values[name].copy_(value)


class Trainer:
    def __init__(self, config: JobConfig):
        self.config = config
        self.model = build_model(config)
        self.shadow = ShadowWeights(self.model, config.ema_decay)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=config.lr, weight_decay=0.01)
        self.stream = CellStream(config)
        self.step = 0
        self.best = float("inf")
        self.restored: dict | None = None

    def save(self, target: io.BytesIO) -> None:
        torch.save(
            {
                "model": self.model.state_dict(),
                "shadow": self.shadow.values,
                "optimizer": self.optimizer.state_dict(),
                "step": self.step,
                "best": self.best,
            },
            target,
        )

    def resume(self, source: io.BytesIO) -> None:
        source.seek(0)
        self.restored = torch.load(source, map_location=DEVICE, weights_only=True)
        self.model.load_state_dict(self.restored["model"])
        self.shadow.restore(self.restored["shadow"])
        self.optimizer.load_state_dict(self.restored["optimizer"])
        self.step = self.restored["step"]
        self.best = self.restored["best"]

    def set_lr(self) -> None:
        scale = min(1.0, (self.step + 1) / self.config.warmup_steps)
        for group in self.optimizer.param_groups:
            group["lr"] = self.config.lr * scale

    def train_step(self) -> float:
        cells = self.stream.batch(self.step)
        self.set_lr()
        with torch.autocast(DEVICE.type, dtype=torch.bfloat16, enabled=DEVICE.type == "cuda"):
            loss = self.model(input_ids=cells, labels=cells).loss
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.shadow.update(self.model)
        self.optimizer.zero_grad(set_to_none=True)
        self.step += 1
        return loss.item()

    def fit(self, until: int, truth: list[int]) -> None:
        while self.step < until:
            started = time.perf_counter()
            loss = self.train_step()
            self.best = min(self.best, loss)
            truth.append(allocated())
            if self.step % self.config.report_every == 0:
                origin = "scratch" if self.restored is None else f"step {self.restored['step']}"
                spent = time.perf_counter() - started
                print(f"step {self.step} (from {origin}): loss {loss:.3f}, {spent:.2f} s", flush=True)


def allocated() -> int:
    return torch.cuda.memory_allocated() if DEVICE.type == "cuda" else 0


def first_job(config: JobConfig, truth: list[int]) -> io.BytesIO:
    checkpoint = io.BytesIO()
    trainer = Trainer(config)
    trainer.fit(config.preempted_at, truth)
    trainer.save(checkpoint)
    print(f"preempted at step {trainer.step}, checkpoint of {checkpoint.tell() / 2**20:.0f} MiB")
    return checkpoint


def second_job(config: JobConfig, checkpoint: io.BytesIO, truth: list[int]) -> None:
    trainer = Trainer(config)
    trainer.resume(checkpoint)
    checkpoint.close()
    trainer.fit(config.total_steps, truth)
    print(f"done after step {trainer.step}, best loss {trainer.best:.3f}")


def main() -> None:
    config = JobConfig()
    torch.manual_seed(8)
    truth: list[int] = []
    try:
        checkpoint = first_job(config, truth)
        gc.collect()
        second_job(config, checkpoint, truth)
    finally:
        print("TRUTH " + json.dumps({"allocated": truth, "rounds": len(truth)}), file=sys.stderr)


if __name__ == "__main__":
    main()
