# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Straight-ray travel-time tomography of a 3-D velocity block, inverted with L-BFGS and a smoothness prior."""
import json
import os
import sys
import time
from dataclasses import dataclass

import torch
import torch.nn.functional as F

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class Tomography:
    nz: int = 12 if SMALL else 128
    ny: int = 16 if SMALL else 224
    nx: int = 16 if SMALL else 224
    events: int = 6 if SMALL else 160
    rays_per_event: int = 12 if SMALL else 240
    points: int = 24 if SMALL else 320
    iterations: int = 30 if SMALL else 90
    history: int = 8 if SMALL else 32
    smooth: float = 2e-2
    damp: float = 1e-3
    pick_noise: float = 2e-3
    bulletin_wait: float = 0.0 if SMALL else 0.1
    seed: int = 8


def true_model(cfg, gen):
    """Slowness perturbation: two anomalies and a weak random texture."""
    coarse = torch.randn(1, 1, 6, 8, 8, generator=gen)
    field = F.interpolate(coarse, size=(cfg.nz, cfg.ny, cfg.nx), mode="trilinear", align_corners=True)[0, 0] * 0.02
    z, y, x = torch.meshgrid(*(torch.linspace(-1, 1, n) for n in (cfg.nz, cfg.ny, cfg.nx)), indexing="ij")
    field = field + 0.08 * torch.exp(-((x - 0.3) ** 2 + (y + 0.2) ** 2 + z ** 2) / 0.05)
    return field - 0.06 * torch.exp(-((x + 0.4) ** 2 + (y - 0.4) ** 2 + (z - 0.3) ** 2) / 0.08)


class RayNetwork:
    """End points of the rays; sources at depth, stations at the surface (z = -1)."""

    def __init__(self, cfg, gen):
        sources = torch.rand(cfg.events, 1, 3, generator=gen) * 1.8 - 0.9
        sources[..., 2] = sources[..., 2] * 0.5 + 0.4
        stations = torch.rand(cfg.events, cfg.rays_per_event, 3, generator=gen) * 1.9 - 0.95
        stations[..., 2] = -1.0
        along = torch.linspace(0, 1, cfg.points)[None, None, :, None]
        self.path = sources.unsqueeze(2) + along * (stations - sources).unsqueeze(2)
        self.length = (stations - sources).norm(dim=-1)

    def to(self, device):
        self.path, self.length = self.path.to(device), self.length.to(device)
        return self


def travel_times(model, network):
    path = network.path.unsqueeze(0)
    sampled = F.grid_sample(model[None, None], path.flatten(1, 2).unsqueeze(1), mode="bilinear",
                            padding_mode="border", align_corners=True)
    return sampled.view(network.length.shape + (-1,)).mean(dim=-1) * network.length


def roughness(model):
    total = model.new_zeros(())
    for dim in range(3):
        total = total + model.diff(dim=dim).square().mean()
    return total


class Inversion:
    def __init__(self, cfg, network, picks):
        self.cfg, self.network, self.picks = cfg, network, picks
        self.model = torch.zeros(cfg.nz, cfg.ny, cfg.nx, device=DEVICE, requires_grad=True)
        self.optimizer = torch.optim.LBFGS([self.model], lr=0.8, max_iter=1, history_size=cfg.history,
                                           tolerance_grad=0, tolerance_change=0)
        self.misfit = float("nan")

    def objective(self):
        residual = travel_times(self.model, self.network) - self.picks
        misfit = residual.square().mean()
        self.misfit = misfit.item()
        return misfit + self.cfg.smooth * roughness(self.model) + self.cfg.damp * self.model.square().mean()

    def closure(self):
        self.optimizer.zero_grad()
        value = self.objective() * 1e6
        value.backward()
        return value

    def iterate(self):
        self.optimizer.step(self.closure)
        return self.misfit


def depth_slices(model, truth):
    """Correlation with the true block in a few depth slices, for the log."""
    rows = []
    for k in torch.linspace(0, len(truth) - 1, 4).long().tolist():
        a, b = model[k].flatten(), truth[k].flatten()
        rows.append(round(F.cosine_similarity(a - a.mean(), b - b.mean(), dim=0).item(), 3))
    return rows


def main():
    cfg = Tomography()
    gen = torch.Generator().manual_seed(cfg.seed)
    truth = true_model(cfg, gen).to(DEVICE)
    network = RayNetwork(cfg, gen).to(DEVICE)
    with torch.no_grad():
        picks = travel_times(truth, network)
        picks += cfg.pick_noise * torch.randn(picks.shape, generator=gen).to(DEVICE)
    truth = truth.cpu()

    inversion, allocated = Inversion(cfg, network, picks), []
    for iteration in range(1, cfg.iterations + 1):
        time.sleep(cfg.bulletin_wait)
        misfit = inversion.iterate()
        allocated.append(torch.cuda.memory_allocated())
        if iteration % 10 == 0:
            similarity = depth_slices(inversion.model.detach().cpu(), truth)
            print(f"iteration {iteration:3d}  rms {misfit ** 0.5:.5f} s  slices {similarity}", flush=True)
    print("TRUTH " + json.dumps({"allocated": allocated, "rounds": cfg.iterations}), file=sys.stderr)


if __name__ == "__main__":
    main()
