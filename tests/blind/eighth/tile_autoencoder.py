# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Convolutional autoencoder for satellite tiles; a background thread writes reconstruction sheets to disk."""
import argparse
import logging
import os
import queue
import tempfile
import threading
import time

import torch
import torch.nn as nn
import torch.nn.functional as F
from torchvision.utils import make_grid, save_image

DEVICE = os.environ.get("DEVICE", "cuda")
TINY = DEVICE == "cpu"
logging.basicConfig(level=logging.INFO, format="%(asctime)s [%(threadName)s] %(message)s")
log = logging.getLogger("tiles")


def options():
    p = argparse.ArgumentParser()
    p.add_argument("--size", type=int, default=32 if TINY else 256)
    p.add_argument("--batch", type=int, default=4 if TINY else 32)
    p.add_argument("--width", type=int, default=8 if TINY else 64)
    p.add_argument("--steps", type=int, default=80 if TINY else 200)
    p.add_argument("--lr", type=float, default=1e-3)
    p.add_argument("--sheet-images", type=int, default=4 if TINY else 16)
    p.add_argument("--max-seconds", type=float, default=16)
    return p.parse_args()


class SheetWriter(threading.Thread):
    """PNG encoding takes long, so it is kept out of the training loop."""

    def __init__(self, folder, n_images):
        super().__init__(name="sheets", daemon=True)
        self.folder, self.n_images = folder, n_images
        self.jobs = queue.Queue()
        self.written = 0
        self.closing = False
        self.last_psnr = float("nan")

    def submit(self, step, target, recon):
        self.jobs.put((step, target, recon))

    def run(self):
        while True:
            job = self.jobs.get()
            if job is None or self.closing:
                return
            step, target, recon = job
            mse = F.mse_loss(recon.float(), target.float())
            self.last_psnr = float(-10 * torch.log10(mse))
            pairs = torch.cat([target[: self.n_images], recon[: self.n_images]]).float().cpu().clamp(0, 1)
            sheet = make_grid(pairs, nrow=self.n_images, padding=2)
            save_image(sheet, os.path.join(self.folder, f"sheet_{step % 20:03d}.png"))
            time.sleep(0.02 if TINY else 0.2)  # network share
            self.written += 1
            del job, target, recon, pairs

    def close(self):
        self.closing = True
        self.jobs.put(None)
        self.join(timeout=10.0)


def conv(cin, cout, stride=1):
    return nn.Sequential(nn.Conv2d(cin, cout, 3, stride, 1), nn.GroupNorm(4, cout), nn.SiLU())


class TileAutoencoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        w = width
        self.encoder = nn.Sequential(conv(3, w), conv(w, 2 * w, 2), conv(2 * w, 4 * w, 2), conv(4 * w, 4 * w, 2))
        self.bottleneck = nn.Conv2d(4 * w, 16, 1)
        self.decoder = nn.Sequential(
            conv(16, 4 * w), nn.Upsample(scale_factor=2), conv(4 * w, 2 * w), nn.Upsample(scale_factor=2),
            conv(2 * w, w), nn.Upsample(scale_factor=2), conv(w, w), nn.Conv2d(w, 3, 3, 1, 1))

    def forward(self, x):
        return torch.sigmoid(self.decoder(self.bottleneck(self.encoder(x))))


def tiles(opt, seed=31):
    g = torch.Generator().manual_seed(seed)
    base = F.interpolate(torch.rand(opt.batch, 3, opt.size // 8, opt.size // 8, generator=g), size=opt.size,
                         mode="bilinear")
    for i in range(opt.steps):
        time.sleep(0.005 if TINY else 0.03)
        yield (base.roll(i, 0) + 0.02 * torch.rand(1, generator=g)).clamp(0, 1)


def train(opt, folder):
    torch.manual_seed(31)
    model = TileAutoencoder(opt.width).to(DEVICE)
    optimizer = torch.optim.Adam(model.parameters(), lr=opt.lr)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, 4 * opt.lr, total_steps=opt.steps + 1)
    sheets = SheetWriter(folder, opt.sheet_images)
    sheets.start()
    t0 = time.time()
    for step, batch in enumerate(tiles(opt)):
        x = batch.to(DEVICE, non_blocking=True)
        with torch.autocast(DEVICE, dtype=torch.bfloat16):
            recon = model(x)
        loss = F.l1_loss(recon.float(), x) + 0.1 * F.mse_loss(recon.float(), x)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        scheduler.step()
        sheets.submit(step, x, recon.detach())
        if step % 20 == 0:
            log.info("step %d loss %.4f psnr %.2f sheets written %d %.1fs", step, loss.item(), sheets.last_psnr,
                     sheets.written, time.time() - t0)
        if time.time() - t0 > opt.max_seconds:
            break
    torch.save(model.state_dict(), os.path.join(folder, "autoencoder.pt"))
    log.info("training finished at step %d, %d sheets written", step, sheets.written)
    sheets.close()


def main():
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        train(options(), folder)


if __name__ == "__main__":
    main()
