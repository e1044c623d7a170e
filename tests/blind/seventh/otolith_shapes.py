# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Implicit shape atlas of fish otoliths from micro-CT (auto-decoder: one latent grid per specimen).

Specimens are read in the order in which the scanner delivers them; a specimen gets its latent grid when it is seen
for the first time. The grids are the result: morphometrics are computed from them afterwards.
"""
import json
import os
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.nn.functional as F
from einops import rearrange
from torch import nn

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class Atlas:
    specimens: int = 8 if SMALL else 150
    passes: int = 3 if SMALL else 4
    channels: int = 4 if SMALL else 24
    grid: int = 6 if SMALL else 20
    points: int = 512 if SMALL else 60000
    width: int = 32 if SMALL else 192
    layers: int = 4
    lr_net: float = 5e-4
    lr_code: float = 2e-3
    spread: float = 1e-4
    report: int = 8 if SMALL else 75


class Scanner:
    """Signed distance of lobed ellipsoids in place of segmented CT volumes."""

    def __init__(self, cfg: Atlas):
        self.cfg = cfg
        gen = torch.Generator().manual_seed(21)
        self.axes = 0.35 + 0.4 * torch.rand(cfg.specimens, 3, generator=gen)
        self.lobes = torch.randint(2, 7, (cfg.specimens,), generator=gen)
        self.names = [f"GMO-{1000 + 7 * k}" for k in range(cfg.specimens)]

    def read(self, number):
        xyz = torch.rand(self.cfg.points, 3, device=DEVICE) * 2 - 1
        scaled = xyz / self.axes[number].to(DEVICE)
        angle = torch.atan2(scaled[:, 1], scaled[:, 0])
        radius = 1.0 + 0.12 * torch.cos(float(self.lobes[number]) * angle)
        distance = (scaled.norm(dim=1) - radius) * self.axes[number].min().item()
        return self.names[number], xyz, distance.clamp(-0.2, 0.2)


class ShapeDecoder(nn.Module):
    def __init__(self, cfg: Atlas):
        super().__init__()
        last, layers = cfg.channels + 3, []
        for _ in range(cfg.layers):
            layers += [nn.utils.parametrizations.weight_norm(nn.Linear(last, cfg.width)), nn.Softplus(beta=100)]
            last = cfg.width
        self.body = nn.Sequential(*layers, nn.Linear(last, 1))

    def forward(self, code, xyz):
        places = rearrange(xyz, "n c -> 1 n 1 1 c")
        local = F.grid_sample(code, places, mode="bilinear", padding_mode="border", align_corners=True)
        features = rearrange(local, "1 c n 1 1 -> n c")
        return self.body(torch.cat([features, xyz], dim=1))[:, 0]


class AutoDecoder:
    def __init__(self, cfg: Atlas):
        self.cfg = cfg
        self.decoder = ShapeDecoder(cfg).to(DEVICE)
        self.codes = {}
        self.optimizer = torch.optim.Adam(self.decoder.parameters(), lr=cfg.lr_net)
        self.errors = {}
        self.allocated, self.reads = [], 0

    def code_of(self, name):
        if name not in self.codes:
            g = self.cfg.grid
            code = nn.Parameter(0.01 * torch.randn(1, self.cfg.channels, g, g, g, device=DEVICE))
            self.codes[name] = code
            self.optimizer.add_param_group({"params": [code], "lr": self.cfg.lr_code})
        return self.codes[name]

    def fit(self, name, xyz, distance):
        code = self.code_of(name)
        predicted = self.decoder(code, xyz).clamp(-0.2, 0.2)
        loss = F.l1_loss(predicted, distance) + self.cfg.spread * code.square().mean()
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        self.errors[name] = loss.item()

    def sample(self):
        self.reads += 1
        if DEVICE.type == "cuda" and self.reads % 3 == 0:
            self.allocated.append(torch.cuda.memory_allocated())

    def summary(self):
        values = sorted(self.errors.values())
        return f"{len(self.codes)} specimens, median error {values[len(values) // 2]:.4f}, worst {values[-1]:.4f}"

    @torch.no_grad()
    def export(self, folder: Path):
        """Latent grids on disk and the volume of each otolith on a coarse lattice."""
        axis = torch.linspace(-1, 1, 24, device=DEVICE)
        lattice = torch.stack(torch.meshgrid(axis, axis, axis, indexing="ij"), dim=-1).view(-1, 3)
        volumes = {name: (self.decoder(code, lattice) < 0).float().mean().item() * 8.0 for name, code in self.codes.items()}
        torch.save({name: code.half().cpu() for name, code in self.codes.items()}, folder / "codes.pt")
        return volumes


def main():
    torch.manual_seed(9)
    cfg = Atlas()
    scanner, atlas = Scanner(cfg), AutoDecoder(cfg)
    begin = time.time()
    for lap in range(cfg.passes):
        for number in range(cfg.specimens):
            atlas.fit(*scanner.read(number))
            atlas.sample()
            if atlas.reads % cfg.report == 0:
                print(f"pass {lap + 1}, read {atlas.reads}: {atlas.summary()} ({time.time() - begin:.1f} s)", flush=True)
        for group in atlas.optimizer.param_groups:
            group["lr"] *= 0.7
    with tempfile.TemporaryDirectory(prefix="otolith_") as folder:
        volumes = atlas.export(Path(folder))
    print(f"mean volume {sum(volumes.values()) / len(volumes):.3f}")
    print("TRUTH " + json.dumps({"allocated": atlas.allocated, "rounds": atlas.reads}), file=sys.stderr)


if __name__ == "__main__":
    main()
