# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Accelerated MRI reconstruction with a deep equilibrium prior and implicit gradients."""
import json
import os
import sys
import time
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class MriConfig:
    size: int = 32 if SMALL else 256
    width: int = 8 if SMALL else 32
    batch: int = 2 if SMALL else 4
    epochs: int = 2 if SMALL else 6
    slices_per_epoch: int = 3 if SMALL else 14
    val_batches: int = 1 if SMALL else 2
    acceleration: int = 4
    centre_lines: float = 0.08
    forward_iters: int = 12
    backward_iters: int = 10
    tolerance: float = 1e-4
    eta: float = 0.8
    lr: float = 1e-3
    scanner_latency: float = 0.1
    seed: int = 41


class Phantoms:
    """Random sums of ellipses, with the k-space seen through one Cartesian mask."""

    def __init__(self, cfg):
        self.cfg = cfg
        gen = torch.Generator().manual_seed(cfg.seed)
        lines = torch.rand(cfg.size, generator=gen) < 1.0 / cfg.acceleration
        keep = max(2, int(cfg.centre_lines * cfg.size))
        lines[cfg.size // 2 - keep // 2: cfg.size // 2 + keep // 2] = True
        self.mask = lines.float().expand(cfg.size, cfg.size).contiguous().to(DEVICE)
        axis = torch.linspace(-1, 1, cfg.size)
        self.grid_y, self.grid_x = torch.meshgrid(axis, axis, indexing="ij")

    def draw(self, gen):
        image = torch.zeros(self.cfg.size, self.cfg.size)
        for _ in range(6):
            cx, cy, rx, ry, level = torch.rand(5, generator=gen).tolist()
            inside = ((self.grid_x - cx + 0.5) / (0.1 + 0.5 * rx)) ** 2 + ((self.grid_y - cy + 0.5) / (0.1 + 0.5 * ry)) ** 2
            image += (0.2 + 0.6 * level) * (inside < 1)
        return image / image.max().clamp(min=1e-3)

    def batches(self, seed, count):
        gen = torch.Generator().manual_seed(seed)
        for _ in range(count):
            time.sleep(self.cfg.scanner_latency)
            image = torch.stack([self.draw(gen) for _ in range(self.cfg.batch)]).to(DEVICE)
            image = torch.stack([image, torch.zeros_like(image)], dim=1)
            yield image, self.mask * to_kspace(image)


def to_kspace(image):
    spectrum = torch.fft.fft2(torch.complex(image[:, 0], image[:, 1]), norm="ortho")
    spectrum = torch.fft.fftshift(spectrum, dim=(-2, -1))
    return torch.stack([spectrum.real, spectrum.imag], dim=1)


def to_image(kspace):
    spectrum = torch.fft.ifftshift(torch.complex(kspace[:, 0], kspace[:, 1]), dim=(-2, -1))
    image = torch.fft.ifft2(spectrum, norm="ortho")
    return torch.stack([image.real, image.imag], dim=1)


class ProximalCell(nn.Module):
    """One data-consistency step followed by a learned residual proximal map."""

    def __init__(self, cfg, mask):
        super().__init__()
        self.eta = cfg.eta
        self.register_buffer("mask", mask)
        self.conv_in = nn.Conv2d(2, cfg.width, 3, padding=1)
        self.conv_mid = nn.Conv2d(cfg.width, cfg.width, 3, padding=1)
        self.conv_out = nn.Conv2d(cfg.width, 2, 3, padding=1)
        nn.init.normal_(self.conv_out.weight, std=1e-3)

    def forward(self, z, kspace):
        residual = self.mask * to_kspace(z) - kspace
        z = z - self.eta * to_image(self.mask * residual)
        h = F.softplus(self.conv_in(z))
        h = F.softplus(self.conv_mid(h))
        return 0.95 * (z + self.conv_out(h))


def picard(step, start, iters, tolerance):
    state = start
    for count in range(1, iters + 1):
        new = step(state)
        change = (new - state).norm() / new.norm().clamp(min=1e-8)
        state = new
        if count % 4 == 0 and change.item() < tolerance:
            break
    return state, count


class EquilibriumLayer(nn.Module):
    def __init__(self, cell, cfg):
        super().__init__()
        self.cell, self.cfg = cell, cfg
        self.forward_count = self.backward_count = 0

    def forward(self, kspace):
        cfg = self.cfg
        with torch.no_grad():
            start = to_image(kspace)
            z, self.forward_count = picard(lambda s: self.cell(s, kspace), start, cfg.forward_iters, cfg.tolerance)
        if not torch.is_grad_enabled():
            return z

        z = self.cell(z, kspace)
        anchor = z.detach().clone().requires_grad_()
        image_at_anchor = self.cell(anchor, kspace)

        def implicit_gradient(grad):
            def step(v):
                return torch.autograd.grad(image_at_anchor, anchor, v, retain_graph=True)[0] + grad

            tolerance = cfg.tolerance * max(1.0, z.detach().norm().item() / grad.numel() ** 0.5)
            solved, self.backward_count = picard(step, grad, cfg.backward_iters, tolerance)
            return solved

        z.register_hook(implicit_gradient)
        return z


def psnr(estimate, target):
    return -10 * torch.log10(F.mse_loss(estimate, target)).item()


def train(cfg):
    torch.manual_seed(cfg.seed)
    phantoms = Phantoms(cfg)
    layer = EquilibriumLayer(ProximalCell(cfg, phantoms.mask), cfg).to(DEVICE)
    optimizer = torch.optim.Adam(layer.parameters(), lr=cfg.lr)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, cfg.epochs)
    allocated = []

    for epoch in range(cfg.epochs):
        layer.train()
        running = 0.0
        for image, kspace in phantoms.batches(1000 + epoch, cfg.slices_per_epoch):
            optimizer.zero_grad(set_to_none=True)
            loss = F.l1_loss(layer(kspace), image)
            loss.backward()
            nn.utils.clip_grad_norm_(layer.parameters(), 1.0)
            optimizer.step()
            running += loss.item()
            allocated.append(torch.cuda.memory_allocated())
        scheduler.step()

        layer.eval()
        with torch.no_grad():
            scores = [psnr(layer(kspace), image) for image, kspace in phantoms.batches(7, cfg.val_batches)]
        print(f"epoch {epoch} l1 {running / cfg.slices_per_epoch:.4f} psnr {sum(scores) / len(scores):.2f} dB "
              f"solver {layer.forward_count}/{layer.backward_count}")

    print("TRUTH " + json.dumps({"allocated": allocated, "rounds": len(allocated),
                                 "peak": torch.cuda.max_memory_allocated()}), file=sys.stderr)


if __name__ == "__main__":
    train(MriConfig())
