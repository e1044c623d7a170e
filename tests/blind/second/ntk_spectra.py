# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Photometric redshifts with a small network: training, then the spectrum of its empirical tangent kernel."""
import json
import os
import sys
import time
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.func import functional_call, jacrev, vmap

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
ALLOCATED = []


@dataclass
class RedshiftConfig:
    bands: int = 12
    width: int = 16 if SMALL else 640
    depth: int = 2 if SMALL else 3
    quantiles: int = 3
    galaxies: int = 512 if SMALL else 40_000
    batch: int = 32 if SMALL else 1024
    epochs: int = 2 if SMALL else 6
    kernel_points: int = 24 if SMALL else 768
    kernel_chunk: int = 8 if SMALL else 32
    lr: float = 1e-3
    disk_latency: float = 0.04
    memory_gb: float = 7.0
    seed: int = 61


def limit_memory(gigabytes):
    """The workstation is shared: stay inside this job's slice."""
    if DEVICE.type == "cuda":
        total = torch.cuda.mem_get_info()[1]
        torch.cuda.set_per_process_memory_fraction(min(1.0, gigabytes * 2 ** 30 / total))


class Photometry:
    def __init__(self, cfg):
        gen = torch.Generator().manual_seed(cfg.seed)
        self.cfg = cfg
        self.redshift = 2.5 * torch.rand(cfg.galaxies, generator=gen)
        kind = torch.rand(cfg.galaxies, 1, generator=gen)
        wavelength = torch.linspace(0.3, 2.2, cfg.bands)
        rest = wavelength / (1 + self.redshift[:, None])
        flux = torch.sigmoid(18 * (rest - 0.4)) * (0.5 + kind) + 0.3 * torch.exp(-80 * (rest - 0.66) ** 2)
        self.colours = (flux + 0.03 * torch.randn(flux.shape, generator=gen)).log1p()
        self.colours = (self.colours - self.colours.mean(0)) / self.colours.std(0)

    def batches(self, epoch):
        order = torch.randperm(self.cfg.galaxies, generator=torch.Generator().manual_seed(epoch))
        for index in order.split(self.cfg.batch):
            time.sleep(self.cfg.disk_latency)
            yield self.colours[index].to(DEVICE), self.redshift[index].to(DEVICE)

    def subset(self, count):
        return self.colours[:count].to(DEVICE)


class QuantileNet(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        sizes = [cfg.bands] + [cfg.width] * cfg.depth
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in zip(sizes, sizes[1:]))
        self.out = nn.Linear(cfg.width, cfg.quantiles)

    def forward(self, x):
        for layer in self.layers:
            x = F.gelu(layer(x))
        return self.out(x)


def pinball(prediction, target, levels):
    error = target[:, None] - prediction
    return torch.maximum(levels * error, (levels - 1) * error).mean()


def train(model, data, cfg):
    levels = torch.tensor([0.16, 0.5, 0.84], device=DEVICE)
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr)
    for epoch in range(cfg.epochs):
        running, count = 0.0, 0
        for colours, redshift in data.batches(epoch):
            loss = pinball(model(colours), redshift, levels)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            running, count = running + loss.item(), count + 1
        print(f"epoch {epoch} pinball {running / count:.4f}")
        ALLOCATED.append(torch.cuda.memory_allocated())


def tangent_features(model, points, cfg):
    """Rows of the Jacobian of the outputs with respect to all parameters, chunk by chunk."""
    params = {name: p.detach() for name, p in model.named_parameters()}

    def outputs(params, x):
        return functional_call(model, params, (x.unsqueeze(0),)).squeeze(0)

    per_sample = vmap(jacrev(outputs), in_dims=(None, 0))
    rows = []
    for chunk in points.split(cfg.kernel_chunk):
        jacobian = per_sample(params, chunk)
        rows.append(torch.cat([block.flatten(2) for block in jacobian.values()], dim=2).flatten(0, 1))
        ALLOCATED.append(torch.cuda.memory_allocated())
        time.sleep(cfg.disk_latency)
    return rows


def tangent_kernel(model, points, cfg):
    rows = tangent_features(model, points, cfg)
    size = len(points) * cfg.quantiles
    kernel = torch.zeros(size, size, device=points.device)
    height = cfg.kernel_chunk * cfg.quantiles
    for i, left in enumerate(rows):
        for j, right in enumerate(rows[: i + 1]):
            value = left @ right.T
            kernel[i * height: i * height + len(left), j * height: j * height + len(right)] = value
            kernel[j * height: j * height + len(right), i * height: i * height + len(left)] = value.T
    return kernel


def spectrum_report(kernel):
    eigenvalues = torch.linalg.eigvalsh(kernel.double()).flip(0).clamp(min=0)
    share = eigenvalues.cumsum(0) / eigenvalues.sum()
    rank90 = int((share < 0.9).sum()) + 1
    effective = (eigenvalues.sum() ** 2 / eigenvalues.pow(2).sum()).item()
    print(f"kernel {tuple(kernel.shape)} largest {eigenvalues[0].item():.3e} rank(90%) {rank90} effective {effective:.1f}")


def main():
    cfg = RedshiftConfig()
    limit_memory(cfg.memory_gb)
    torch.manual_seed(cfg.seed)
    data = Photometry(cfg)
    model = QuantileNet(cfg).to(DEVICE)
    print(f"{sum(p.numel() for p in model.parameters())} parameters")
    try:
        spectrum_report(tangent_kernel(model, data.subset(min(64, cfg.kernel_points)), cfg))
        train(model, data, cfg)
        spectrum_report(tangent_kernel(model, data.subset(cfg.kernel_points), cfg))
    finally:
        print("TRUTH " + json.dumps({"allocated": ALLOCATED, "rounds": len(ALLOCATED),
                                     "peak": torch.cuda.max_memory_allocated()}), file=sys.stderr)


if __name__ == "__main__":
    main()
