# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Lightning training of a radar precipitation nowcaster with a drift report on its latent maps."""
import json
import os
import sys
import time
from dataclasses import dataclass

import lightning as L
import torch
import torch.nn as nn
import torch.nn.functional as F
from lightning.pytorch.callbacks import Callback
from torch.utils.data import DataLoader, Dataset

SMALL = os.environ.get("SMALL") == "1"
ON_GPU = torch.cuda.is_available()
torch.set_float32_matmul_precision("high")


@dataclass
class NowcastConfig:
    history: int = 8
    horizon: int = 4
    grid: int = 24 if SMALL else 192
    width: int = 8 if SMALL else 64
    latent: int = 12 if SMALL else 192
    batch: int = 2 if SMALL else 16
    batches_per_epoch: int = 3 if SMALL else 6
    epochs: int = 5 if SMALL else 45
    lr: float = 6e-4
    radar_latency: float = 0.001
    report_scale: int = 3
    seed: int = 13


class RadarSequences(Dataset):
    def __init__(self, cfg):
        self.cfg = cfg

    def __len__(self):
        return self.cfg.batch * self.cfg.batches_per_epoch

    def __getitem__(self, i):
        cfg = self.cfg
        time.sleep(cfg.radar_latency)
        gen = torch.Generator().manual_seed(cfg.seed * 1000 + i)
        coarse = torch.rand(1, cfg.history + cfg.horizon, cfg.grid // 8, cfg.grid // 8, generator=gen)
        frames = F.interpolate(coarse, size=(cfg.grid, cfg.grid), mode="bilinear")[0]
        return frames[:cfg.history], frames[cfg.history:]


def conv(c_in, c_out, stride=1):
    return nn.Sequential(nn.Conv2d(c_in, c_out, 3, stride=stride, padding=1), nn.GroupNorm(4, c_out), nn.SiLU())


class Nowcaster(L.LightningModule):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        w = cfg.width
        self.encoder = nn.Sequential(conv(cfg.history, w), conv(w, w), conv(w, 2 * w, 2), conv(2 * w, cfg.latent, 2))
        self.decoder = nn.Sequential(conv(cfg.latent, 2 * w), nn.Upsample(scale_factor=2), conv(2 * w, w),
                                     nn.Upsample(scale_factor=2), conv(w, w), nn.Conv2d(w, cfg.horizon, 1))
        self.train_loss = []

    def forward(self, frames):
        return self.decoder(self.encoder(frames)) + frames[:, -1:]

    def training_step(self, batch, batch_idx):
        past, future = batch
        forecast = self(past)
        weight = 1.0 + 4.0 * (future > 0.6)
        loss = (weight * (forecast - future).abs()).mean()
        self.log("train_mae", loss, on_step=False, on_epoch=True)
        self.train_loss.append(loss.detach())
        return loss

    def on_train_epoch_end(self):
        if self.current_epoch % 5 == 4:
            mean = torch.stack(self.train_loss).mean().item()
            print(f"epoch {self.current_epoch:3d} mae {mean:.4f}")
        self.train_loss.clear()

    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters(), lr=self.cfg.lr)
        scheduler = torch.optim.lr_scheduler.OneCycleLR(
            optimizer, max_lr=self.cfg.lr, total_steps=self.cfg.epochs * self.cfg.batches_per_epoch)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": scheduler, "interval": "step"}}


class EpochLedger(Callback):
    def __init__(self):
        self.allocated = []

    def on_train_epoch_end(self, trainer, pl_module):
        self.allocated.append(torch.cuda.memory_allocated())


class LatentDrift(Callback):
    """Compares the mean latent map of each epoch with the one before."""

    def __init__(self, scale):
        self.scale = scale
        self.maps = []
        self.previous = None
        self.drift = []

    def on_train_epoch_start(self, trainer, pl_module):
        self.handle = pl_module.encoder.register_forward_hook(self.observe)

    def observe(self, module, inputs, latent):
        self.maps.append(F.avg_pool2d(latent.detach(), self.scale))

    def on_train_epoch_end(self, trainer, pl_module):
        mean = sum(m.mean(dim=0) for m in self.maps) / len(self.maps)
        if self.previous is not None:
            self.drift.append(F.mse_loss(mean, self.previous).item())
        self.previous = mean
        self.maps.clear()
        self.handle = None


def main():
    cfg = NowcastConfig()
    L.seed_everything(cfg.seed, verbose=False)
    model = Nowcaster(cfg)
    ledger, drift = EpochLedger(), LatentDrift(cfg.report_scale)
    trainer = L.Trainer(max_epochs=cfg.epochs, accelerator="gpu" if ON_GPU else "cpu", devices=1,
                        callbacks=[ledger, drift], logger=False, enable_checkpointing=False,
                        enable_progress_bar=False, enable_model_summary=False, gradient_clip_val=1.0)
    trainer.fit(model, DataLoader(RadarSequences(cfg), batch_size=cfg.batch, shuffle=True, num_workers=0))
    print(f"latent drift first {drift.drift[0]:.5f} last {drift.drift[-1]:.5f}")
    print("TRUTH " + json.dumps({"allocated": ledger.allocated[::max(1, cfg.epochs // 10)], "rounds": cfg.epochs,
                                 "peak": torch.cuda.max_memory_allocated()}), file=sys.stderr)


if __name__ == "__main__":
    main()
