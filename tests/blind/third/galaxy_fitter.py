# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Grid fit of galaxy light profiles, field by field; the number of galaxies per pass adapts to the GPU at hand."""
import json
import logging
import math
import os
import sys
import time
from dataclasses import dataclass

import torch

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
log = logging.getLogger("galfit")


@dataclass
class FitConfig:
    fields: int = 6 if SMALL else 32
    galaxies: tuple = (6, 12) if SMALL else (160, 320)
    stamp_sizes: tuple = (17,) if SMALL else (41, 65, 81)
    radii: int = 4 if SMALL else 24
    indices: int = 3 if SMALL else 10
    angles: int = 2
    first_chunk: int = 512
    smallest_chunk: int = 1
    gpu_budget_gb: float = 5.0
    frame_seconds: float = 0.0 if SMALL else 0.3
    seed: int = 1926


class ProfileGrid:
    """Sersic-like templates on a stamp, for all combinations of radius, index and position angle."""

    def __init__(self, cfg, size):
        axis = torch.arange(size, device=DEVICE).float() - size // 2
        y, x = torch.meshgrid(axis, axis, indexing="ij")
        radii = torch.linspace(1.5, size / 5, cfg.radii, device=DEVICE)
        indices = torch.linspace(0.6, 4.0, cfg.indices, device=DEVICE)
        angles = torch.arange(cfg.angles, device=DEVICE) * math.pi / cfg.angles
        self.params = torch.cartesian_prod(radii, indices, angles)
        r, n, a = (p.view(-1, 1, 1) for p in self.params.unbind(1))
        u = x * a.cos() + y * a.sin()
        v = (y * a.cos() - x * a.sin()) / 0.7
        template = torch.exp(-(((u ** 2 + v ** 2).sqrt() + 0.1) / r) ** (1 / n))
        self.templates = template / template.sum((1, 2), keepdim=True)


class FieldReader:
    """Stamps around the galaxies of one field; deep fields have larger stamps."""

    def __init__(self, cfg):
        self.cfg = cfg
        self.gen = torch.Generator().manual_seed(cfg.seed)
        self.grids = {size: ProfileGrid(cfg, size) for size in cfg.stamp_sizes}

    def __iter__(self):
        cfg = self.cfg
        for number in range(cfg.fields):
            time.sleep(cfg.frame_seconds)
            size = cfg.stamp_sizes[number % len(cfg.stamp_sizes)]
            grid = self.grids[size]
            count = int(torch.randint(cfg.galaxies[0], cfg.galaxies[1] + 1, (1,), generator=self.gen))
            truth = torch.randint(len(grid.templates), (count,), generator=self.gen).to(DEVICE)
            flux = (torch.rand(count, generator=self.gen) * 900 + 100).to(DEVICE)
            noise = torch.randn(count, size, size, generator=self.gen).to(DEVICE)
            yield number, grid, grid.templates[truth] * flux.view(-1, 1, 1) + 0.05 * noise, truth


def fit_chunk(stamps, templates):
    """Best template per stamp, with the flux solved in closed form."""
    flux = torch.einsum("gyx,tyx->gt", stamps, templates) / templates.pow(2).sum((1, 2))
    residual = stamps.unsqueeze(1) - flux[:, :, None, None] * templates
    chi2 = residual.pow(2).sum((2, 3))
    best = chi2.argmin(1)
    return best, flux.gather(1, best.unsqueeze(1)).squeeze(1)


class AdaptiveFitter:
    """Starts with large chunks and halves them whenever the device cannot hold one."""

    def __init__(self, cfg):
        self.cfg = cfg
        self.chunk = cfg.first_chunk
        self.retries = 0

    def attempt(self, stamps, templates):
        try:
            return fit_chunk(stamps, templates)
        except torch.OutOfMemoryError:
            return None

    def fit(self, stamps, templates):
        results, start = [], 0
        while start < len(stamps):
            result = self.attempt(stamps[start:start + self.chunk], templates)
            if result is None:
                if self.chunk <= self.cfg.smallest_chunk:
                    raise MemoryError("a single galaxy does not fit on this device")
                self.chunk //= 2
                self.retries += 1
                log.warning("chunk too large, continuing with %d galaxies per pass", self.chunk)
                torch.cuda.empty_cache()
                continue
            results.append(result)
            start += self.chunk
        best, flux = zip(*results)
        return torch.cat(best), torch.cat(flux)


@torch.inference_mode()
def main():
    logging.basicConfig(level=logging.WARNING, format="%(name)s: %(message)s")
    cfg = FitConfig()
    if DEVICE.type == "cuda":
        torch.cuda.set_per_process_memory_fraction(cfg.gpu_budget_gb * 2 ** 30 / torch.cuda.mem_get_info()[1])
    fitter, allocated, catalogue = AdaptiveFitter(cfg), [], []
    for number, grid, stamps, truth in FieldReader(cfg):
        best, flux = fitter.fit(stamps, grid.templates)
        error = (grid.params[best][:, 0] - grid.params[truth][:, 0]).abs().mean().item()
        catalogue.extend(zip(best.tolist(), flux.tolist()))
        print(f"field {number:3d}: {len(stamps):4d} galaxies, stamps {tuple(stamps.shape[1:])}, "
              f"chunk {fitter.chunk}, mean radius error {error:.3f}")
        allocated.append(torch.cuda.memory_allocated())
    print(f"{len(catalogue)} galaxies fitted, {fitter.retries} retries")
    print("TRUTH " + json.dumps({"allocated": allocated, "rounds": cfg.fields}), file=sys.stderr)


if __name__ == "__main__":
    main()
