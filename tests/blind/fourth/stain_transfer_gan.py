# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Translates frozen-section histology tiles to the look of paraffin sections with a paired adversarial network."""

import json
import os
import sys
from dataclasses import dataclass

import lightning as L
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset
from torchmetrics import MeanMetric, MetricCollection
from torchmetrics.image import ErrorRelativeGlobalDimensionlessSynthesis, PeakSignalNoiseRatio

SMALL = os.environ.get("SMALL") == "1"
ALLOCATED: list[int] = []


@dataclass
class StainConfig:
    tile: int = 32 if SMALL else 256
    batch_size: int = 2 if SMALL else 16
    batches_per_epoch: int = 3 if SMALL else 15
    epochs: int = 2 if SMALL else 6
    width: int = 8 if SMALL else 48
    blocks: int = 1 if SMALL else 6
    pixel_weight: float = 100.0
    lr: float = 2e-4
    betas: tuple[float, float] = (0.5, 0.999)
    sheet_every: int = 2


class PairedTiles(Dataset):
    """Registered tile pairs; a small pool of slides is enough here, tiles are rolled to differ."""

    def __init__(self, cfg: StainConfig, pool: int = 6) -> None:
        self.length = cfg.batch_size * cfg.batches_per_epoch
        rng = torch.Generator().manual_seed(21)
        self.frozen = torch.rand(pool, 3, cfg.tile, cfg.tile, generator=rng)
        self.paraffin = self.frozen.roll(1, dims=1).mul(0.8).add(0.1)

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        slide, shift = index % len(self.frozen), (index * 7) % 32
        return self.frozen[slide].roll(shift, dims=-1), self.paraffin[slide].roll(shift, dims=-1)


class ResidualBlock(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(width, width, 3, padding=1, padding_mode="reflect"),
            nn.InstanceNorm2d(width),
            nn.ReLU(),
            nn.Conv2d(width, width, 3, padding=1, padding_mode="reflect"),
            nn.InstanceNorm2d(width),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.body(x)


class StainGenerator(nn.Module):
    def __init__(self, width: int, blocks: int) -> None:
        super().__init__()
        self.encode = nn.Sequential(
            nn.Conv2d(3, width, 7, padding=3),
            nn.ReLU(),
            nn.Conv2d(width, 2 * width, 3, stride=2, padding=1),
            nn.ReLU(),
        )
        self.blocks = nn.Sequential(*(ResidualBlock(2 * width) for _ in range(blocks)))
        self.decode = nn.Sequential(
            nn.ConvTranspose2d(2 * width, width, 4, stride=2, padding=1),
            nn.ReLU(),
            nn.Conv2d(width, 3, 7, padding=3),
            nn.Sigmoid(),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.decode(self.blocks(self.encode(x)))


class PatchCritic(nn.Sequential):
    def __init__(self, width: int) -> None:
        super().__init__(
            nn.Conv2d(6, width, 4, stride=2, padding=1),
            nn.LeakyReLU(0.2),
            nn.Conv2d(width, 2 * width, 4, stride=2, padding=1),
            nn.LeakyReLU(0.2),
            nn.Conv2d(2 * width, 1, 3, padding=1),
        )


class StainTransfer(L.LightningModule):
    def __init__(self, cfg: StainConfig) -> None:
        super().__init__()
        self.automatic_optimization = False
        self.cfg = cfg
        self.generator = StainGenerator(cfg.width, cfg.blocks)
        self.critic = PatchCritic(cfg.width)
        self.critic_loss = MeanMetric()
        self.train_quality = MetricCollection(
            {
                "psnr": PeakSignalNoiseRatio(data_range=1.0),
                "ergas": ErrorRelativeGlobalDimensionlessSynthesis(),
            },
            prefix="train/",
        )

    def configure_optimizers(self):
        generator = torch.optim.Adam(self.generator.parameters(), lr=self.cfg.lr, betas=self.cfg.betas)
        critic = torch.optim.Adam(self.critic.parameters(), lr=self.cfg.lr, betas=self.cfg.betas)
        return [generator, critic], []

    def _adversarial(self, source: torch.Tensor, image: torch.Tensor, real: bool) -> torch.Tensor:
        verdict = self.critic(torch.cat([source, image], dim=1))
        return F.mse_loss(verdict, torch.full_like(verdict, float(real)))

    def training_step(self, batch: tuple[torch.Tensor, torch.Tensor], batch_idx: int) -> None:
        source, target = batch
        optimizer_g, optimizer_c = self.optimizers()

        fake = self.generator(source)
        self.toggle_optimizer(optimizer_g)
        loss_pixel = F.l1_loss(fake, target)
        loss_g = self._adversarial(source, fake, True) + self.cfg.pixel_weight * loss_pixel
        optimizer_g.zero_grad()
        self.manual_backward(loss_g)
        optimizer_g.step()
        self.untoggle_optimizer(optimizer_g)

        self.toggle_optimizer(optimizer_c)
        loss_c = self._adversarial(source, target, True) + self._adversarial(source, fake.detach(), False)
        optimizer_c.zero_grad()
        self.manual_backward(0.5 * loss_c)
        optimizer_c.step()
        self.untoggle_optimizer(optimizer_c)

        self.train_quality.update(fake.detach(), target)
        self.critic_loss.update(loss_c.detach())
        self.log("train/critic", self.critic_loss, on_step=False, on_epoch=True)
        self.log_dict({"train/generator": loss_g.detach(), "train/l1": loss_pixel.detach()})

    def on_train_epoch_end(self) -> None:
        self.log_dict(self.train_quality.compute())


class QualitySheet(L.Callback):
    """Prints the logged numbers every few epochs, for the laboratory notebook."""

    def on_train_epoch_end(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        if (trainer.current_epoch + 1) % pl_module.cfg.sheet_every:
            return
        row = {name.split("/")[-1]: round(float(value), 4) for name, value in trainer.callback_metrics.items()}
        print(f"epoch {trainer.current_epoch + 1}: {row}")


class StepCounter(L.Callback):
    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx) -> None:
        ALLOCATED.append(torch.cuda.memory_allocated())


def main() -> None:
    L.seed_everything(5)
    cfg = StainConfig()
    loader = DataLoader(PairedTiles(cfg), batch_size=cfg.batch_size, shuffle=True, drop_last=True)
    trainer = L.Trainer(
        max_epochs=cfg.epochs,
        accelerator="auto",
        devices=1,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        callbacks=[QualitySheet(), StepCounter()],
    )
    try:
        trainer.fit(StainTransfer(cfg), loader)
    finally:
        print("TRUTH " + json.dumps({"allocated": ALLOCATED, "rounds": len(ALLOCATED)}), file=sys.stderr)


if __name__ == "__main__":
    main()
