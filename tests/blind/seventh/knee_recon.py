# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Accelerated knee MRI: an unrolled network with data consistency, trained with Lightning.

The reading room wants a strip of pictures (zero-filled, reconstruction, reference, error) for every update of
the network, so a callback renders and writes them in the background while training goes on.
"""
import json
import logging
import os
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import lightning as L
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset

SMALL = os.environ.get("SMALL") == "1"
log = logging.getLogger("knee")


@dataclass
class Protocol:
    matrix: int = 64 if SMALL else 320
    slices: int = 16 if SMALL else 600
    batch: int = 2 if SMALL else 4
    cascades: int = 2 if SMALL else 5
    channels: int = 8 if SMALL else 48
    epochs: int = 2
    acceleration: int = 4
    centre: float = 0.08
    strip_slices: int = 2


def fft2c(x):
    return torch.fft.fftshift(torch.fft.fft2(torch.fft.ifftshift(x, (-2, -1)), norm="ortho"), (-2, -1))


def ifft2c(k):
    return torch.fft.fftshift(torch.fft.ifft2(torch.fft.ifftshift(k, (-2, -1)), norm="ortho"), (-2, -1))


class Slices(Dataset):
    """Elliptical 'bones' with texture; complex image, undersampled columns of k-space."""

    def __init__(self, protocol: Protocol):
        self.p = protocol
        n = protocol.matrix
        self.y, self.x = np.mgrid[-1:1:n * 1j, -1:1:n * 1j].astype(np.float32)

    def __len__(self):
        return self.p.slices

    def __getitem__(self, index):
        rng = np.random.default_rng(index)
        image = np.zeros_like(self.x)
        for _ in range(6):
            cx, cy, a, b, value = rng.uniform([-0.5, -0.5, 0.1, 0.1, 0.2], [0.5, 0.5, 0.5, 0.5, 1.0])
            image[((self.x - cx) / a) ** 2 + ((self.y - cy) / b) ** 2 < 1] += value
        image *= 1.0 + 0.1 * np.sin(rng.uniform(10, 40) * self.x)
        phase = rng.uniform(-1, 1) * self.x + rng.uniform(-1, 1) * self.y
        keep = rng.random(self.p.matrix) < 1.0 / self.p.acceleration
        half = int(self.p.centre * self.p.matrix / 2)
        keep[self.p.matrix // 2 - half:self.p.matrix // 2 + half] = True
        return (image * np.exp(1j * phase)).astype(np.complex64), keep[None].astype(np.float32)


class Cascade(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.refine = nn.Sequential(
            nn.Conv2d(2, channels, 3, padding=1), nn.InstanceNorm2d(channels), nn.LeakyReLU(0.1, inplace=True),
            nn.Conv2d(channels, channels, 3, padding=1), nn.InstanceNorm2d(channels), nn.LeakyReLU(0.1, inplace=True),
            nn.Conv2d(channels, 2, 3, padding=1))
        self.weight = nn.Parameter(torch.tensor(0.8))

    def forward(self, image, measured, mask):
        step = self.refine(torch.view_as_real(image).permute(0, 3, 1, 2))
        image = image - torch.view_as_complex(step.permute(0, 2, 3, 1).contiguous())
        k = fft2c(image)
        return ifft2c(k - self.weight * mask * (k - measured))


class UnrolledRecon(L.LightningModule):
    def __init__(self, protocol: Protocol):
        super().__init__()
        self.cascades = nn.ModuleList(Cascade(protocol.channels) for _ in range(protocol.cascades))
        self.running = 0.0

    def forward(self, measured, mask):
        image = ifft2c(measured)
        for cascade in self.cascades:
            image = cascade(image, measured, mask)
        return image

    def training_step(self, batch, batch_idx):
        reference, mask = batch
        measured = fft2c(reference) * mask
        recon = self(measured, mask)
        loss = F.l1_loss(torch.view_as_real(recon), torch.view_as_real(reference))
        self.log("l1", loss, on_step=True, on_epoch=True)
        self.running = 0.95 * self.running + 0.05 * loss.item()
        return {"loss": loss, "recon": recon.detach().abs(), "zero_filled": ifft2c(measured).abs()}

    def configure_optimizers(self):
        optimizer = torch.optim.RAdam(self.parameters(), lr=5e-4)
        return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.5)]


class StripWriter(L.Callback):
    def __init__(self, folder: Path, slices: int):
        self.folder, self.slices = folder, slices
        self.pool = ThreadPoolExecutor(max_workers=2, thread_name_prefix="strips")
        self.jobs = []

    def render(self, name, zero_filled, recon, reference):
        top = reference.amax((-2, -1), keepdim=True)
        error = 5.0 * (recon - reference).abs()
        strip = torch.cat([zero_filled, recon, reference, error], dim=-1) / top
        strip = strip.clamp_(0, 1)
        thumb = F.avg_pool2d(strip[:, None], 4)
        np.save(self.folder / f"{name}.npy", (255 * thumb).byte().cpu().numpy())
        return strip

    def on_train_batch_end(self, trainer, module, outputs, batch, batch_idx):
        reference = batch[0][:self.slices].abs()
        job = self.pool.submit(self.render, f"update_{trainer.global_step:05d}", outputs["zero_filled"][:self.slices],
                               outputs["recon"][:self.slices], reference)
        self.jobs.append(job)

    def on_train_epoch_end(self, trainer, module):
        log.info("epoch %d: smoothed l1 %.4f", trainer.current_epoch, module.running)

    def on_fit_end(self, trainer, module):
        failed = sum(job.exception() is not None for job in self.jobs)
        self.pool.shutdown()
        log.info("%d strips written, %d failed", len(self.jobs) - failed, failed)


class Meter(L.Callback):
    def __init__(self):
        self.allocated, self.updates = [], 0

    def on_train_batch_end(self, trainer, module, outputs, batch, batch_idx):
        self.updates += 1
        if torch.cuda.is_available() and self.updates % 2 == 0:
            self.allocated.append(torch.cuda.memory_allocated())


def main():
    logging.basicConfig(level=logging.INFO, format="%(name)s: %(message)s")
    L.seed_everything(4, workers=True)
    protocol = Protocol()
    loader = DataLoader(Slices(protocol), batch_size=protocol.batch, shuffle=True, drop_last=True)
    meter = Meter()
    with tempfile.TemporaryDirectory(prefix="knee_") as folder:
        trainer = L.Trainer(accelerator="auto", devices=1, max_epochs=protocol.epochs, logger=False,
                            enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
                            default_root_dir=folder, callbacks=[StripWriter(Path(folder), protocol.strip_slices), meter])
        trainer.fit(UnrolledRecon(protocol), loader)
    print("TRUTH " + json.dumps({"allocated": meter.allocated, "rounds": meter.updates}), file=sys.stderr)


if __name__ == "__main__":
    main()
