# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Two-stage river runoff model: masked pre-training on gauge records, then regional heads on top of the encoder."""

import json
import math
import os
import sys
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn
from transformers import BertConfig, BertModel

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class RunoffConfig:
    variables: int = 14
    days: int = 16 if SMALL else 128
    width: int = 16 if SMALL else 1024
    layers: int = 2 if SMALL else 20
    heads: int = 2 if SMALL else 16
    regions: int = 3 if SMALL else 8
    mask_ratio: float = 0.4
    batch: int = 2 if SMALL else 24
    accumulation: int = 2 if SMALL else 4
    pretrain_updates: int = 3 if SMALL else 15
    head_steps: int = 6 if SMALL else 120
    pretrain_lr: float = 1e-4
    head_lr: float = 1e-3


class GaugeRecords:
    """Synthetic daily forcing with a seasonal cycle; runoff is a lagged response to rain and melt."""

    def __init__(self, config: RunoffConfig, seed: int) -> None:
        self.config = config
        self.generator = torch.Generator(device=DEVICE).manual_seed(seed)
        day = torch.arange(config.days, device=DEVICE)
        self.season = torch.sin(2 * math.pi * day / 365.0).view(1, -1, 1)
        self.loading = torch.rand(config.variables, generator=self.generator, device=DEVICE)
        self.response = torch.randn(config.regions, config.variables, generator=self.generator, device=DEVICE)

    def forcing(self) -> torch.Tensor:
        shape = (self.config.batch, self.config.days, self.config.variables)
        noise = torch.randn(shape, generator=self.generator, device=DEVICE)
        return self.season * self.loading + 0.5 * noise

    def labelled(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        forcing = self.forcing()
        region = torch.randint(0, self.config.regions, (self.config.batch,), generator=self.generator, device=DEVICE)
        recent = forcing[:, -7:].mean(1)
        runoff = F.softplus((recent * self.response[region]).sum(-1))
        return forcing, region, runoff


class ForcingEncoder(nn.Module):
    """Transformer over days with a learned token for hidden days."""

    def __init__(self, config: RunoffConfig) -> None:
        super().__init__()
        bert = BertConfig(
            vocab_size=2,
            hidden_size=config.width,
            num_hidden_layers=config.layers,
            num_attention_heads=config.heads,
            intermediate_size=4 * config.width,
            max_position_embeddings=config.days,
            type_vocab_size=1,
        )
        self.embed = nn.Linear(config.variables, config.width)
        self.hidden_day = nn.Parameter(torch.zeros(config.width))
        self.backbone = BertModel(bert, add_pooling_layer=False)

    def forward(self, forcing: torch.Tensor, hidden: torch.Tensor | None = None) -> torch.Tensor:
        tokens = self.embed(forcing)
        if hidden is not None:
            tokens = torch.where(hidden.unsqueeze(-1), self.hidden_day, tokens)
        return self.backbone(inputs_embeds=tokens).last_hidden_state


class RegionalHeads(nn.Module):
    def __init__(self, config: RunoffConfig) -> None:
        super().__init__()
        self.trunk = nn.Sequential(nn.LayerNorm(config.width), nn.Linear(config.width, 256), nn.GELU())
        self.weight = nn.Parameter(0.02 * torch.randn(config.regions, 256))
        self.bias = nn.Parameter(torch.zeros(config.regions))

    def forward(self, summary: torch.Tensor, region: torch.Tensor) -> torch.Tensor:
        return F.softplus((self.trunk(summary) * self.weight[region]).sum(-1) + self.bias[region])


def nash_sutcliffe(predicted: torch.Tensor, observed: torch.Tensor) -> float:
    residual = (predicted - observed).pow(2).sum()
    spread = (observed - observed.mean()).pow(2).sum().clamp_min(1e-6)
    return (1.0 - residual / spread).item()


def warmup_cosine(total: int, warmup: int):
    def factor(step: int) -> float:
        if step < warmup:
            return (step + 1) / warmup
        return 0.5 * (1.0 + math.cos(math.pi * (step - warmup) / max(1, total - warmup)))

    return factor


class RunoffTrainer:
    def __init__(self, config: RunoffConfig) -> None:
        self.config = config
        self.encoder = ForcingEncoder(config).to(DEVICE)
        self.heads = RegionalHeads(config).to(DEVICE)
        self.records = GaugeRecords(config, seed=1)
        self.allocated: list[int] = []

    def _measure(self) -> None:
        self.allocated.append(torch.cuda.memory_allocated() if DEVICE.type == "cuda" else 0)

    def pretrain(self) -> None:
        config = self.config
        decoder = nn.Linear(config.width, config.variables).to(DEVICE)
        parameters = [*self.encoder.parameters(), *decoder.parameters()]
        optimizer = torch.optim.AdamW(parameters, lr=config.pretrain_lr, weight_decay=0.05)
        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, warmup_cosine(config.pretrain_updates, 3))
        self.encoder.train()
        for update in range(config.pretrain_updates):
            optimizer.zero_grad(set_to_none=True)
            total = 0.0
            for _ in range(config.accumulation):
                forcing = self.records.forcing()
                hidden = torch.rand(forcing.shape[:2], device=DEVICE) < config.mask_ratio
                restored = decoder(self.encoder(forcing, hidden))
                loss = F.mse_loss(restored[hidden], forcing[hidden])
                (loss / config.accumulation).backward()
                total += loss.item() / config.accumulation
            nn.utils.clip_grad_norm_(parameters, 1.0)
            optimizer.step()
            schedule.step()
            self._measure()
            if update % 5 == 0:
                print(f"pre-training update {update}: reconstruction {total:.4f}")

    def freeze_encoder(self) -> None:
        self.encoder.eval()
        for parameter in self.encoder.parameters():
            parameter.requires_grad_(False)

    def fit_heads(self) -> None:
        config = self.config
        self.freeze_encoder()
        optimizer = torch.optim.AdamW(self.heads.parameters(), lr=config.head_lr)
        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, warmup_cosine(config.head_steps, 5))
        for step in range(config.head_steps):
            forcing, region, runoff = self.records.labelled()
            with torch.no_grad():
                summary = self.encoder(forcing)[:, -30:].mean(1)
            predicted = self.heads(summary, region)
            loss = F.huber_loss(predicted, runoff)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            self._measure()
            if step % 30 == 0:
                score = nash_sutcliffe(predicted.detach(), runoff)
                print(f"heads step {step}: loss {loss.item():.4f}, efficiency {score:.3f}")


def main() -> None:
    torch.manual_seed(0)
    trainer = RunoffTrainer(RunoffConfig())
    try:
        trainer.pretrain()
        trainer.fit_heads()
    finally:
        truth = {"allocated": trainer.allocated, "rounds": len(trainer.allocated)}
        print("TRUTH " + json.dumps(truth), file=sys.stderr)


if __name__ == "__main__":
    main()
