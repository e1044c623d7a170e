# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Leave-one-station-out study of a pollen classifier: a ViT backbone gets a LoRA adapter for each held-out station."""

import functools
import gc
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from peft import LoraConfig, PeftModel, get_peft_model
from torch import nn
from transformers import ViTConfig, ViTForImageClassification

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass(frozen=True)
class StudyConfig:
    stations: int = 4 if SMALL else 14
    taxa: int = 24
    image: int = 32 if SMALL else 224
    hidden: int = 32 if SMALL else 1024
    layers: int = 2 if SMALL else 12
    heads: int = 4 if SMALL else 16
    rank: int = 4 if SMALL else 16
    steps: int = 2 if SMALL else 10
    batch: int = 2 if SMALL else 32
    lr: float = 3e-4
    warmup: int = 3
    clip: float = 1.0


@dataclass
class StationResult:
    station: int
    trainable: int
    train_loss: float
    accuracy: float


class StationData:
    """Slides of all stations; the brightness offset stands for the microscope of the station."""

    def __init__(self, config: StudyConfig):
        self.config = config
        self.generator = torch.Generator(device=DEVICE).manual_seed(5)
        self.offsets = torch.linspace(-0.3, 0.3, config.stations).tolist()

    def batch(self, station: int) -> tuple[torch.Tensor, torch.Tensor]:
        c = self.config
        shape = (c.batch, 3, c.image, c.image)
        images = torch.randn(shape, generator=self.generator, device=DEVICE) + self.offsets[station]
        labels = torch.randint(c.taxa, (c.batch,), generator=self.generator, device=DEVICE)
        return images, labels

    def training_batches(self, held_out: int) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        others = [s for s in range(self.config.stations) if s != held_out]
        for step in range(self.config.steps):
            yield self.batch(others[step % len(others)])


def build_model(config: StudyConfig) -> PeftModel:
    torch.manual_seed(2)
    vit = ViTConfig(
        image_size=config.image,
        patch_size=16,
        hidden_size=config.hidden,
        intermediate_size=config.hidden * 4,
        num_hidden_layers=config.layers,
        num_attention_heads=config.heads,
        num_labels=config.taxa,
    )
    with DEVICE:
        backbone = ViTForImageClassification(vit)
        lora = LoraConfig(
            r=config.rank,
            lora_alpha=2 * config.rank,
            target_modules="all-linear",
            exclude_modules=["classifier"],
            modules_to_save=["classifier"],
        )
        return get_peft_model(backbone, lora)


@functools.cache
def adapter_parameters(model: nn.Module) -> dict[str, nn.Parameter]:
    """Names and parameters that are trained; walking all modules at every step is slow."""
    return {name: p for name, p in model.named_parameters() if p.requires_grad}


def clip_adapter(model: nn.Module, limit: float) -> torch.Tensor:
    return nn.utils.clip_grad_norm_(adapter_parameters(model).values(), limit)


class StationTrainer:
    def __init__(self, config: StudyConfig, data: StationData, station: int):
        self.config = config
        self.data = data
        self.station = station
        self.model = build_model(config)
        self.optimizer = torch.optim.AdamW(adapter_parameters(self.model).values(), lr=config.lr)
        self.schedule = torch.optim.lr_scheduler.LinearLR(self.optimizer, 0.1, total_iters=config.warmup)

    def autocast(self):
        return torch.autocast(DEVICE.type, dtype=torch.bfloat16)

    def fit(self) -> float:
        self.model.train()
        total = torch.zeros((), device=DEVICE)
        for images, labels in self.data.training_batches(self.station):
            with self.autocast():
                logits = self.model(pixel_values=images).logits
            loss = F.cross_entropy(logits.float(), labels)
            loss.backward()
            clip_adapter(self.model, self.config.clip)
            self.optimizer.step()
            self.schedule.step()
            self.optimizer.zero_grad(set_to_none=True)
            total += loss.detach()
        return total.item() / self.config.steps

    @torch.no_grad()
    def evaluate(self) -> float:
        self.model.eval()
        images, labels = self.data.batch(self.station)
        with self.autocast():
            predicted = self.model(pixel_values=images).logits.argmax(-1)
        return (predicted == labels).float().mean().item()

    def run(self) -> StationResult:
        loss = self.fit()
        trainable = sum(p.numel() for p in adapter_parameters(self.model).values())
        return StationResult(self.station, trainable, loss, self.evaluate())


def study(config: StudyConfig, allocated: list[int]) -> list[StationResult]:
    data = StationData(config)
    results = []
    for station in range(config.stations):
        trainer = StationTrainer(config, data, station)
        result = trainer.run()
        results.append(result)
        print(f"station {station:2d}: loss {result.train_loss:.4f}, accuracy {result.accuracy:.3f}")
        del trainer
        gc.collect()
        if DEVICE.type == "cuda":
            torch.cuda.empty_cache()
        allocated.append(torch.cuda.memory_allocated())
    return results


def main() -> None:
    allocated: list[int] = []
    try:
        results = study(StudyConfig(), allocated)
        mean = sum(r.accuracy for r in results) / len(results)
        print(f"mean accuracy over {len(results)} stations: {mean:.3f}, trainable {results[0].trainable:,}")
    finally:
        print("TRUTH " + json.dumps({"allocated": allocated, "rounds": len(allocated)}), file=sys.stderr)


if __name__ == "__main__":
    main()
