# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Class-incremental learning of voice intents: rehearsal of earlier clips and distillation from the previous model."""

from __future__ import annotations

import copy
import json
import os
import random
import sys
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from transformers import ASTConfig, ASTModel

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass(frozen=True)
class StreamConfig:
    mel_bands: int = 32 if SMALL else 64
    frames: int = 64 if SMALL else 500
    hidden: int = 32 if SMALL else 384
    layers: int = 1 if SMALL else 4
    heads: int = 2 if SMALL else 6
    stride: int = 16 if SMALL else 12
    domains: int = 3 if SMALL else 14
    intents_per_domain: int = 4
    steps_per_domain: int = 3 if SMALL else 30
    batch: int = 4 if SMALL else 64
    rehearsal_batch: int = 4 if SMALL else 48
    rehearsal_clips: int = 16 if SMALL else 12_000
    temperature: float = 2.0
    distill_weight: float = 0.5
    lr: float = 2e-4
    seed: int = 3


class IntentNet(nn.Module):
    """Audio spectrogram transformer with one linear head per domain of intents."""

    def __init__(self, cfg: StreamConfig) -> None:
        super().__init__()
        self.cfg = cfg
        self.encoder = ASTModel(
            ASTConfig(
                hidden_size=cfg.hidden,
                num_hidden_layers=cfg.layers,
                num_attention_heads=cfg.heads,
                intermediate_size=4 * cfg.hidden,
                frequency_stride=cfg.stride,
                time_stride=cfg.stride,
                max_length=cfg.frames,
                num_mel_bins=cfg.mel_bands,
            )
        )
        self.heads = nn.ModuleList()

    def add_domain(self) -> None:
        self.heads.append(nn.Linear(self.cfg.hidden, self.cfg.intents_per_domain, device=DEVICE))

    def forward(self, mel: Tensor) -> Tensor:
        pooled = self.encoder(input_values=mel).pooler_output
        return torch.cat([head(pooled) for head in self.heads], dim=-1)


class ClipStream:
    """Recordings of one domain of intents after the other, as they come in from the assistants."""

    def __init__(self, cfg: StreamConfig) -> None:
        self.cfg = cfg
        self.generator = torch.Generator(device=DEVICE).manual_seed(cfg.seed)

    def batch(self, domain: int) -> tuple[Tensor, Tensor]:
        cfg = self.cfg
        mel = torch.randn(cfg.batch, cfg.frames, cfg.mel_bands, generator=self.generator, device=DEVICE)
        intents = torch.randint(cfg.intents_per_domain, (cfg.batch,), generator=self.generator, device=DEVICE)
        mel += 0.1 * intents[:, None, None]
        return mel, intents + domain * cfg.intents_per_domain


class Rehearsal:
    """Reservoir sample of everything heard so far."""

    def __init__(self, capacity: int, seed: int) -> None:
        self.capacity = capacity
        self.random = random.Random(seed)
        self.clips: list[tuple[Tensor, int]] = []
        self.heard = 0

    def __len__(self) -> int:
        return len(self.clips)

    def listen(self, mel: Tensor, labels: Tensor) -> None:
        for clip, label in zip(mel, labels.tolist(), strict=True):
            self.heard += 1
            if len(self.clips) < self.capacity:
                self.clips.append((clip.clone(), label))
                continue
            slot = self.random.randrange(self.heard)
            if slot < self.capacity:
                self.clips[slot] = (clip.clone(), label)

    def draw(self, count: int) -> tuple[Tensor, Tensor]:
        picked = self.random.sample(self.clips, min(count, len(self.clips)))
        mel = torch.stack([clip for clip, _ in picked])
        return mel, torch.tensor([label for _, label in picked], device=mel.device)


class IncrementalTrainer:
    def __init__(self, cfg: StreamConfig) -> None:
        self.cfg = cfg
        self.stream = ClipStream(cfg)
        self.rehearsal = Rehearsal(cfg.rehearsal_clips, cfg.seed)
        self.model = IntentNet(cfg).to(DEVICE)
        self.previous: IntentNet | None = None
        self.optimizer: torch.optim.Optimizer | None = None

    def begin_domain(self) -> None:
        if len(self.model.heads) > 0:
            self.previous = copy.deepcopy(self.model).eval().requires_grad_(False)
        self.model.add_domain()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=self.cfg.lr)

    def _distill(self, mel: Tensor, logits: Tensor) -> Tensor:
        with torch.no_grad():
            known = self.previous(mel) / self.cfg.temperature
        current = logits[:, : known.shape[-1]] / self.cfg.temperature
        return F.kl_div(current.log_softmax(-1), known.log_softmax(-1), log_target=True, reduction="batchmean")

    def step(self, domain: int) -> dict[str, float]:
        fresh_mel, fresh_labels = self.stream.batch(domain)
        mel, labels = fresh_mel, fresh_labels
        if len(self.rehearsal) > 0:
            old_mel, old_labels = self.rehearsal.draw(self.cfg.rehearsal_batch)
            mel, labels = torch.cat([mel, old_mel]), torch.cat([labels, old_labels])
        logits = self.model(mel)
        loss = F.cross_entropy(logits, labels)
        if self.previous is not None:
            loss = loss + self.cfg.distill_weight * self._distill(mel, logits)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        self.rehearsal.listen(fresh_mel, fresh_labels)
        accuracy = (logits.argmax(dim=-1) == labels).float().mean()
        return {"loss": loss.item(), "accuracy": accuracy.item()}


def main() -> None:
    cfg = StreamConfig()
    torch.manual_seed(cfg.seed)
    allocated: list[int] = []
    try:
        trainer = IncrementalTrainer(cfg)
        for domain in range(cfg.domains):
            trainer.begin_domain()
            trainer.model.train()
            report: dict[str, float] = {}
            for _ in range(cfg.steps_per_domain):
                report = trainer.step(domain)
                allocated.append(torch.cuda.memory_allocated())
            summary = "  ".join(f"{name} {value:.3f}" for name, value in report.items())
            print(f"domain {domain:2d}  {summary}  rehearsal {len(trainer.rehearsal)}", flush=True)
    finally:
        print("TRUTH " + json.dumps({"allocated": allocated, "rounds": len(allocated)}), file=sys.stderr)


if __name__ == "__main__":
    main()
