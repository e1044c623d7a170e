# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Adapts a vision transformer to lichen cover on quadrat photographs, opening its blocks from the top down."""

import json
import os
import sys
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn
from torch.func import functional_call
from torchvision.models import VisionTransformer

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class QuadratConfig:
    image: int = 32 if SMALL else 224
    patch: int = 16
    width: int = 16 if SMALL else 1024
    heads: int = 2 if SMALL else 16
    blocks: int = 4 if SMALL else 24
    blocks_per_phase: int = 1 if SMALL else 2
    taxa: int = 12
    batch: int = 2 if SMALL else 24
    steps_per_phase: int = 2 if SMALL else 9
    head_lr: float = 1e-3
    block_lr: float = 2e-4
    lr_decay: float = 0.85
    shadow_decay: float = 0.995

    @property
    def phases(self) -> int:
        return 1 + self.blocks // self.blocks_per_phase


class QuadratPhotos:
    """Synthetic photographs: patches of colour per taxon; the target is the share of the area of each taxon."""

    def __init__(self, config: QuadratConfig, seed: int) -> None:
        self.config = config
        self.generator = torch.Generator(device=DEVICE).manual_seed(seed)
        self.palette = torch.rand(config.taxa, 3, generator=self.generator, device=DEVICE)

    def batch(self) -> tuple[torch.Tensor, torch.Tensor]:
        cells = self.config.image // 8
        shape = (self.config.batch, cells, cells)
        taxon = torch.randint(0, self.config.taxa, shape, generator=self.generator, device=DEVICE)
        dominant = torch.randint(0, self.config.taxa, (shape[0], 1, 1), generator=self.generator, device=DEVICE)
        covered = torch.rand(shape, generator=self.generator, device=DEVICE) < 0.4
        taxon = torch.where(covered, dominant.expand(shape), taxon)
        cover = F.one_hot(taxon, self.config.taxa).float().mean((1, 2))
        photos = self.palette[taxon].permute(0, 3, 1, 2).repeat_interleave(8, -1).repeat_interleave(8, -2)
        noise = torch.randn(photos.shape, generator=self.generator, device=DEVICE)
        return photos + 0.1 * noise, cover


class ShadowWeights:
    """Moving average of the weights that are being adapted."""

    def __init__(self, decay: float) -> None:
        self.decay = decay
        self.average: dict[str, torch.Tensor] = {}

    def track(self, named: list[tuple[str, nn.Parameter]]) -> None:
        for name, parameter in named:
            self.average[name] = parameter.detach().clone()

    @torch.no_grad()
    def update(self, model: nn.Module) -> None:
        for name, parameter in model.named_parameters():
            if name in self.average:
                self.average[name].lerp_(parameter, 1.0 - self.decay)


def cover_loss(logits: torch.Tensor, cover: torch.Tensor) -> torch.Tensor:
    return F.kl_div(F.log_softmax(logits.float(), dim=-1), cover.clamp_min(1e-6), reduction="batchmean")


class Adapter:
    def __init__(self, config: QuadratConfig) -> None:
        self.config = config
        self.model = VisionTransformer(
            image_size=config.image,
            patch_size=config.patch,
            num_layers=config.blocks,
            num_heads=config.heads,
            hidden_dim=config.width,
            mlp_dim=4 * config.width,
            num_classes=config.taxa,
        ).to(DEVICE)
        self.model.requires_grad_(False)
        nn.init.normal_(self.model.heads.head.weight, std=0.02)
        self.shadow = ShadowWeights(config.shadow_decay)
        self.photos = QuadratPhotos(config, seed=6)
        self.held_out = QuadratPhotos(config, seed=7)
        self.optimizer = torch.optim.AdamW([{"params": self._open("heads", "encoder.ln"), "lr": config.head_lr}])
        self.allocated: list[int] = []

    def _open(self, *prefixes: str) -> list[nn.Parameter]:
        named = [(name, p) for name, p in self.model.named_parameters() if name.startswith(prefixes)]
        for _, parameter in named:
            parameter.requires_grad_(True)
        self.shadow.track(named)
        return [parameter for _, parameter in named]

    def start_phase(self, phase: int) -> None:
        if phase == 0:
            return
        top = self.config.blocks - (phase - 1) * self.config.blocks_per_phase
        names = [f"encoder.layers.encoder_layer_{i}." for i in range(top - self.config.blocks_per_phase, top)]
        rate = self.config.block_lr * self.config.lr_decay ** (phase - 1)
        self.optimizer.add_param_group({"params": self._open(*names), "lr": rate})

    def train_step(self) -> float:
        photos, cover = self.photos.batch()
        with torch.autocast(DEVICE.type, dtype=torch.bfloat16):
            logits = self.model(photos)
        loss = cover_loss(logits, cover)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_((p for p in self.model.parameters() if p.grad is not None), 1.0)
        self.optimizer.step()
        self.shadow.update(self.model)
        return loss.item()

    @torch.no_grad()
    def evaluate(self) -> float:
        self.model.eval()
        photos, cover = self.held_out.batch()
        with torch.autocast(DEVICE.type, dtype=torch.bfloat16):
            logits = functional_call(self.model, self.shadow.average, (photos,))
        self.model.train()
        return cover_loss(logits, cover).item()

    def run(self) -> None:
        for phase in range(self.config.phases):
            self.start_phase(phase)
            losses = []
            for _ in range(self.config.steps_per_phase):
                losses.append(self.train_step())
                self.allocated.append(torch.cuda.memory_allocated() if DEVICE.type == "cuda" else 0)
            score = self.evaluate()
            print(f"phase {phase:2d}: training {sum(losses) / len(losses):.4f}, held out {score:.4f}")


def main() -> None:
    torch.manual_seed(0)
    adapter = Adapter(QuadratConfig())
    try:
        adapter.run()
    finally:
        truth = {"allocated": adapter.allocated, "rounds": len(adapter.allocated)}
        print("TRUTH " + json.dumps(truth), file=sys.stderr)


if __name__ == "__main__":
    main()
