# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Unpaired translation between phone pictures and analogue film scans: a CycleGAN in Lightning with manual
optimisation, image pools for both critics and averaged generator weights for the contact sheet."""

import json
import logging
import os
import random
import sys
import warnings
from dataclasses import dataclass
from itertools import chain

import lightning as L
import torch
import torch.nn.functional as F
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
from torch.utils.data import DataLoader, IterableDataset
from torchvision.utils import make_grid

SMALL = os.environ.get("SMALL") == "1"
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
warnings.filterwarnings("ignore")


@dataclass
class FilmConfig:
    side: int = 32 if SMALL else 384
    batch_size: int = 1 if SMALL else 4
    width: int = 8 if SMALL else 32
    blocks: int = 2 if SMALL else 6
    steps: int = 10 if SMALL else 96
    pool_size: int = 6 if SMALL else 256
    lr: float = 2e-4
    cycle_weight: float = 10.0
    identity_weight: float = 5.0
    seed: int = 5


class PictureStream(IterableDataset):
    """Pairs of unrelated pictures: cool phone pictures and warm, faded film scans with grain."""

    def __init__(self, config: FilmConfig):
        self.config = config

    def _batch(self, tint: tuple[float, float, float], generator: torch.Generator) -> torch.Tensor:
        size = (self.config.batch_size, 3, 16, 16)
        colours = torch.tensor(tint).view(1, 3, 1, 1)
        return (torch.rand(size, generator=generator) * colours).mul(2.0).sub(1.0)

    def __iter__(self):
        generator = torch.Generator().manual_seed(self.config.seed)
        for _ in range(self.config.steps):
            yield self._batch((0.7, 0.8, 1.0), generator), self._batch((1.0, 0.8, 0.6), generator)


class ResidualBlock(nn.Module):
    def __init__(self, channels: int):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(channels, channels, 3, padding=1, padding_mode="reflect"),
            nn.InstanceNorm2d(channels),
            nn.ReLU(inplace=True),
            nn.Conv2d(channels, channels, 3, padding=1, padding_mode="reflect"),
            nn.InstanceNorm2d(channels),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.body(x)


def make_generator(width: int, blocks: int) -> nn.Sequential:
    layers: list[nn.Module] = [nn.Conv2d(3, width, 7, padding=3), nn.InstanceNorm2d(width), nn.ReLU(inplace=True)]
    for factor in (1, 2):
        layers += [
            nn.Conv2d(width * factor, width * factor * 2, 3, stride=2, padding=1),
            nn.InstanceNorm2d(width * factor * 2),
            nn.ReLU(inplace=True),
        ]
    layers += [ResidualBlock(width * 4) for _ in range(blocks)]
    for factor in (4, 2):
        layers += [
            nn.ConvTranspose2d(width * factor, width * factor // 2, 3, stride=2, padding=1, output_padding=1),
            nn.InstanceNorm2d(width * factor // 2),
            nn.ReLU(inplace=True),
        ]
    return nn.Sequential(*layers, nn.Conv2d(width, 3, 7, padding=3), nn.Tanh())


def make_critic(width: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(3, width, 4, stride=2, padding=1),
        nn.LeakyReLU(0.2),
        nn.Conv2d(width, width * 2, 4, stride=2, padding=1),
        nn.InstanceNorm2d(width * 2),
        nn.LeakyReLU(0.2),
        nn.Conv2d(width * 2, 1, 4, padding=1),
    )


class ImagePool:
    """Hands the critic a mixture of new pictures and pictures that the generator made some time ago."""

    def __init__(self, size: int, seed: int):
        self.size = size
        self.images: list[torch.Tensor] = []
        self.rng = random.Random(seed)

    def query(self, batch: torch.Tensor) -> torch.Tensor:
        chosen = []
        for image in batch.detach():
            if len(self.images) < self.size:
                self.images.append(image.clone())
                chosen.append(image)
            elif self.rng.random() < 0.5:
                slot = self.rng.randrange(self.size)
                chosen.append(self.images[slot])
                self.images[slot] = image.clone()
            else:
                chosen.append(image)
        return torch.stack(chosen)


class FilmToning(L.LightningModule):
    def __init__(self, config: FilmConfig):
        super().__init__()
        self.automatic_optimization = False
        self.config = config
        self.to_film = make_generator(config.width, config.blocks)
        self.to_phone = make_generator(config.width, config.blocks)
        self.film_critic = make_critic(config.width * 2)
        self.phone_critic = make_critic(config.width * 2)
        self.to_film_ema = AveragedModel(self.to_film, multi_avg_fn=get_ema_multi_avg_fn(0.99))
        self.film_pool = ImagePool(config.pool_size, config.seed)
        self.phone_pool = ImagePool(config.pool_size, config.seed + 1)
        self.allocated: list[int] = []

    def _pictures(self, coarse: torch.Tensor) -> torch.Tensor:
        fine = F.interpolate(coarse, size=(self.config.side, self.config.side), mode="bicubic", align_corners=False)
        return (fine + 0.05 * torch.randn_like(fine)).clamp(-1.0, 1.0)

    @staticmethod
    def _critic_loss(critic: nn.Module, real: torch.Tensor, fake: torch.Tensor) -> torch.Tensor:
        return 0.5 * ((critic(real) - 1.0).square().mean() + critic(fake).square().mean())

    def _cycle(self, phone: torch.Tensor, film: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        fake_film, fake_phone = self.to_film(phone), self.to_phone(film)
        adversarial = (self.film_critic(fake_film) - 1.0).square().mean()
        adversarial = adversarial + (self.phone_critic(fake_phone) - 1.0).square().mean()
        cycle = F.l1_loss(self.to_phone(fake_film), phone) + F.l1_loss(self.to_film(fake_phone), film)
        identity = F.l1_loss(self.to_film(film), film) + F.l1_loss(self.to_phone(phone), phone)
        loss = adversarial + self.config.cycle_weight * cycle + self.config.identity_weight * identity
        return loss, fake_film, fake_phone

    def training_step(self, batch, batch_idx: int) -> None:
        phone, film = (self._pictures(coarse) for coarse in batch)
        generators, critics = self.optimizers()

        self.toggle_optimizer(generators)
        loss, fake_film, fake_phone = self._cycle(phone, film)
        generators.zero_grad()
        self.manual_backward(loss)
        generators.step()
        self.untoggle_optimizer(generators)
        self.to_film_ema.update_parameters(self.to_film)

        self.toggle_optimizer(critics)
        old_film, old_phone = self.film_pool.query(fake_film), self.phone_pool.query(fake_phone)
        critic_loss = self._critic_loss(self.film_critic, film, old_film)
        critic_loss = critic_loss + self._critic_loss(self.phone_critic, phone, old_phone)
        critics.zero_grad()
        self.manual_backward(critic_loss)
        critics.step()
        self.untoggle_optimizer(critics)

        self.log("generator_loss", loss.detach(), on_step=False, on_epoch=True)

    def on_train_batch_end(self, outputs, batch, batch_idx: int) -> None:
        self.allocated.append(torch.cuda.memory_allocated() if torch.cuda.is_available() else 0)

    @torch.no_grad()
    def on_train_end(self) -> None:
        coarse = next(iter(PictureStream(self.config)))[0].to(self.device)
        pictures = self._pictures(coarse)
        pairs = torch.cat([pictures, self.to_film_ema(pictures)]).add(1.0).div(2.0)
        self.contact_sheet = make_grid(pairs, nrow=len(coarse)).cpu()

    def configure_optimizers(self):
        generators = chain(self.to_film.parameters(), self.to_phone.parameters())
        critics = chain(self.film_critic.parameters(), self.phone_critic.parameters())
        return [torch.optim.Adam(group, lr=self.config.lr, betas=(0.5, 0.999)) for group in (generators, critics)]


def main() -> None:
    config = FilmConfig()
    L.seed_everything(config.seed, verbose=False)
    model = FilmToning(config)
    trainer = L.Trainer(
        max_epochs=1,
        accelerator="gpu" if torch.cuda.is_available() else "cpu",
        devices=1,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    try:
        trainer.fit(model, DataLoader(PictureStream(config), batch_size=None))
        sheet = model.contact_sheet
        print(f"generator loss {float(trainer.callback_metrics['generator_loss']):.3f}")
        print(f"contact sheet {tuple(sheet.shape)}, brightness {float(sheet.mean()):.3f}")
    finally:
        truth = {"allocated": model.allocated, "rounds": len(model.allocated)}
        print("TRUTH " + json.dumps(truth), file=sys.stderr)


if __name__ == "__main__":
    main()
