# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Trains a diffusion model that paints missing parts of pottery sherds, guided by a frozen image transformer."""

import json
import os
import sys
from dataclasses import asdict, dataclass

import lightning as L
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset
from torchmetrics import MeanMetric
from torchvision.models import VisionTransformer, vit_h_14

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
ALLOCATED: list[int] = []


@dataclass
class SherdConfig:
    image: int = 32 if SMALL else 224
    batch_size: int = 2 if SMALL else 12
    steps_per_epoch: int = 3 if SMALL else 30
    epochs: int = 2 if SMALL else 3
    wares: int = 3 if SMALL else 40
    width: int = 8 if SMALL else 64
    timesteps: int = 1000
    lr: float = 1e-4
    condition_dropout: float = 0.1


class SherdPhotos(Dataset):
    """Photographs with an irregular missing part and the ware they belong to."""

    def __init__(self, cfg: SherdConfig) -> None:
        self.cfg = cfg
        self.pool = torch.rand(10, 3, cfg.image, cfg.image, generator=torch.Generator().manual_seed(77))

    def __len__(self) -> int:
        return self.cfg.batch_size * self.cfg.steps_per_epoch

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor, int]:
        photo = self.pool[index % len(self.pool)].roll(3 * index, dims=-1)
        mask = torch.ones(1, self.cfg.image, self.cfg.image)
        edge = self.cfg.image // 4 + index % (self.cfg.image // 4)
        mask[:, :edge, self.cfg.image - edge :] = 0.0
        return photo, mask, index % self.cfg.wares


def build_encoder(cfg: SherdConfig) -> VisionTransformer:
    with DEVICE:
        if SMALL:
            encoder = VisionTransformer(cfg.image, 8, 2, 2, 32, 64)
        else:
            encoder = vit_h_14(weights=None)
    encoder.heads = nn.Identity()
    return encoder.requires_grad_(False).eval()


@torch.no_grad()
def ware_prototypes(encoder: VisionTransformer, cfg: SherdConfig) -> torch.Tensor:
    """One mean embedding for each ware of the reference catalogue."""
    rng = torch.Generator(device=DEVICE).manual_seed(4)
    rows = []
    for _ in range(cfg.wares):
        plates = torch.rand(4, 3, cfg.image, cfg.image, generator=rng, device=DEVICE)
        rows.append(encoder(plates).mean(dim=0))
    return torch.stack(rows)


class TimeEmbedding(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.register_buffer("rates", torch.exp(-torch.linspace(0.0, 9.0, width // 2)), persistent=False)
        self.project = nn.Sequential(nn.Linear(width, 4 * width), nn.SiLU(), nn.Linear(4 * width, 4 * width))

    def forward(self, t: torch.Tensor) -> torch.Tensor:
        angle = t.float()[:, None] * self.rates[None]
        return self.project(torch.cat([angle.sin(), angle.cos()], dim=1))


class ConditionedBlock(nn.Module):
    def __init__(self, c_in: int, c_out: int, emb: int, stride: int = 1) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(c_in, c_out, 3, stride=stride, padding=1)
        self.norm = nn.GroupNorm(4, c_out)
        self.shift = nn.Linear(emb, c_out)
        self.conv2 = nn.Conv2d(c_out, c_out, 3, padding=1)

    def forward(self, x: torch.Tensor, emb: torch.Tensor) -> torch.Tensor:
        h = self.norm(self.conv1(x)) + self.shift(emb)[:, :, None, None]
        return self.conv2(F.silu(h))


class Denoiser(nn.Module):
    def __init__(self, width: int, condition: int) -> None:
        super().__init__()
        emb = 4 * width
        self.time = TimeEmbedding(width)
        self.condition = nn.Linear(condition, emb)
        self.enter = ConditionedBlock(7, width, emb)
        self.down = ConditionedBlock(width, 2 * width, emb, stride=2)
        self.deep = ConditionedBlock(2 * width, 2 * width, emb, stride=2)
        self.up = ConditionedBlock(2 * width, width, emb)
        self.leave = nn.Conv2d(width, 3, 3, padding=1)

    def forward(self, x: torch.Tensor, t: torch.Tensor, condition: torch.Tensor) -> torch.Tensor:
        emb = self.time(t) + self.condition(condition)
        top = self.enter(x, emb)
        mid = self.down(top, emb)
        mid = mid + F.interpolate(self.deep(mid, emb), size=mid.shape[-2:])
        return self.leave(top + F.interpolate(self.up(mid, emb), size=top.shape[-2:]))


class SherdRestorer(L.LightningModule):
    def __init__(
        self,
        encoder: nn.Module,
        prototypes: torch.Tensor,
        width: int = 64,
        timesteps: int = 1000,
        lr: float = 1e-4,
        condition_dropout: float = 0.1,
    ) -> None:
        super().__init__()
        self.save_hyperparameters(ignore=["prototypes"])
        self.encoder = encoder
        self.register_buffer("prototypes", prototypes)
        self.denoiser = Denoiser(width, prototypes.shape[1])
        betas = torch.linspace(1e-4, 0.02, timesteps)
        self.register_buffer("signal", torch.cumprod(1.0 - betas, dim=0))
        self.mean_loss = MeanMetric()

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.AdamW(self.denoiser.parameters(), lr=self.hparams.lr)

    @torch.no_grad()
    def _guidance(self, visible: torch.Tensor, ware: torch.Tensor) -> torch.Tensor:
        guidance = 0.5 * (self.encoder(visible) + self.prototypes[ware])
        keep = torch.rand(len(ware), 1, device=visible.device) > self.hparams.condition_dropout
        return guidance * keep

    def training_step(self, batch: tuple[torch.Tensor, ...], batch_idx: int) -> torch.Tensor:
        photo, mask, ware = batch
        visible = photo * mask
        t = torch.randint(self.hparams.timesteps, (len(photo),), device=photo.device)
        level = self.signal[t].view(-1, 1, 1, 1)
        noise = torch.randn_like(photo)
        noisy = level.sqrt() * photo + (1.0 - level).sqrt() * noise
        predicted = self.denoiser(torch.cat([noisy, visible, mask], dim=1), t, self._guidance(visible, ware))
        loss = F.mse_loss(predicted, noise)
        self.mean_loss.update(loss.detach())
        return loss

    def on_train_epoch_start(self) -> None:
        self.encoder.eval()

    def on_train_epoch_end(self) -> None:
        self.print(f"epoch {self.current_epoch + 1}: noise error {float(self.mean_loss.compute()):.4f}")
        self.mean_loss.reset()


class StepCounter(L.Callback):
    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx) -> None:
        ALLOCATED.append(torch.cuda.memory_allocated())


def main() -> None:
    L.seed_everything(9)
    torch.set_float32_matmul_precision("high")
    cfg = SherdConfig()
    print(json.dumps(asdict(cfg)))
    encoder = build_encoder(cfg)
    model = SherdRestorer(
        encoder,
        ware_prototypes(encoder, cfg),
        width=cfg.width,
        timesteps=cfg.timesteps,
        lr=cfg.lr,
        condition_dropout=cfg.condition_dropout,
    )
    trainer = L.Trainer(
        max_epochs=cfg.epochs,
        accelerator="auto",
        devices=1,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        callbacks=[StepCounter()],
    )
    try:
        trainer.fit(model, DataLoader(SherdPhotos(cfg), batch_size=cfg.batch_size, shuffle=True))
    finally:
        print("TRUTH " + json.dumps({"allocated": ALLOCATED, "rounds": len(ALLOCATED)}), file=sys.stderr)


if __name__ == "__main__":
    main()
