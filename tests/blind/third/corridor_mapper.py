# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Online dense mapping for a corridor robot: a sliding window of local feature grids fitted to depth scans."""
import collections
import json
import math
import os
import sys
import time
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F

SMALL = os.environ.get("SMALL") == "1"


@dataclass
class MapperConfig:
    submap_cells: int = 16 if SMALL else 192
    submap_height: int = 4 if SMALL else 32
    channels: int = 8
    window: int = 3
    submaps: int = 10 if SMALL else 36
    fit_steps: int = 4 if SMALL else 10
    rays: int = 256 if SMALL else 8192
    samples: int = 12
    extent: float = 4.0
    lr_grid: float = 5e-3
    lr_decoder: float = 1e-3
    scan_period: float = 0.0 if SMALL else 0.03
    seed: int = 88
    device: str = "cuda" if torch.cuda.is_available() else "cpu"


class Submap(nn.Module):
    """A block of space around an anchor pose, with a trilinear feature grid."""

    def __init__(self, index, anchor, cfg):
        super().__init__()
        self.index = index
        self.extent = cfg.extent
        self.register_buffer("anchor", anchor)
        self.grid = nn.Parameter(1e-2 * torch.randn(1, cfg.channels, cfg.submap_height, cfg.submap_cells,
                                                    cfg.submap_cells, device=cfg.device))

    def forward(self, points):
        local = (points - self.anchor) / self.extent
        inside = (local.abs().amax(-1) < 1).float()
        feats = F.grid_sample(self.grid, local.view(1, -1, 1, 1, 3), align_corners=True)
        return feats.view(self.grid.shape[1], -1).t() * inside.unsqueeze(-1)


class Decoder(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(channels, 64), nn.Softplus(), nn.Linear(64, 64), nn.Softplus(),
                                 nn.Linear(64, 1))

    def forward(self, feats):
        return self.net(feats).squeeze(-1)


class DepthScanner:
    """Rays from a robot that drives along x, with walls on both sides."""

    def __init__(self, cfg):
        self.cfg = cfg
        self.gen = torch.Generator().manual_seed(cfg.seed)

    def scan(self, x):
        cfg = self.cfg
        time.sleep(cfg.scan_period)
        angle = torch.rand(cfg.rays, generator=self.gen) * 2 * math.pi
        tilt = (torch.rand(cfg.rays, generator=self.gen) - 0.5) * 0.6
        rays = torch.stack([angle.cos() * tilt.cos(), angle.sin() * tilt.cos(), tilt.sin()], -1)
        wall = (1.5 / rays[:, 1].abs().clamp(min=0.3)).clamp(max=3.5)
        t = torch.rand(cfg.rays, cfg.samples, generator=self.gen) * (wall + 0.3).unsqueeze(-1)
        origin = torch.tensor([x, 0.0, 0.0])
        points = origin + rays.unsqueeze(1) * t.unsqueeze(-1)
        distance = (wall.unsqueeze(-1) - t).clamp(-0.3, 0.3)
        return points.view(-1, 3).to(cfg.device), distance.flatten().to(cfg.device)


class Mapper:
    def __init__(self, cfg):
        self.cfg = cfg
        self.decoder = Decoder(cfg.channels).to(cfg.device)
        self.active = collections.deque(maxlen=cfg.window)
        self.optimizer = torch.optim.Adam(self.decoder.parameters(), lr=cfg.lr_decoder)
        self.occupied = {}

    def open_submap(self, index, x):
        if len(self.active) == self.cfg.window:
            self.close_submap(self.active.popleft())
        submap = Submap(index, torch.tensor([x, 0.0, 0.0], device=self.cfg.device), self.cfg)
        self.active.append(submap)
        self.optimizer.add_param_group({"params": [submap.grid], "lr": self.cfg.lr_grid})

    @torch.no_grad()
    def close_submap(self, submap):
        """Reduce a submap that has left the window to its occupancy statistics."""
        cells = submap.grid.flatten(2)[0].t()
        solid = sum(int((self.decoder(chunk) < 0).sum()) for chunk in cells.split(65536))
        self.occupied[submap.index] = round(solid / len(cells), 4)

    def predict(self, points):
        return self.decoder(torch.stack([submap(points) for submap in self.active]).sum(0))

    def fit(self, points, distance):
        loss = F.smooth_l1_loss(self.predict(points), distance, beta=0.05)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


def drive(cfg):
    torch.manual_seed(cfg.seed)
    mapper, scanner, allocated = Mapper(cfg), DepthScanner(cfg), []
    for index in range(cfg.submaps):
        x = index * cfg.extent * 0.5
        mapper.open_submap(index, x)
        losses = []
        for step in range(cfg.fit_steps):
            points, distance = scanner.scan(x + 0.5 * cfg.extent * step / cfg.fit_steps)
            losses.append(mapper.fit(points, distance))
        print(f"submap {index:3d}  window {[s.index for s in mapper.active]}  loss {losses[0]:.4f} -> {losses[-1]:.4f}")
        allocated.append(torch.cuda.memory_allocated())

    print(f"closed submaps: {len(mapper.occupied)}")
    print("TRUTH " + json.dumps({"allocated": allocated, "rounds": cfg.submaps}), file=sys.stderr)


if __name__ == "__main__":
    drive(MapperConfig())
