# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Edwards-Anderson spin glass: sample many replicas with Metropolis sweeps, then measure overlap correlations."""
import json
import os
import sys
import time
from dataclasses import dataclass

import torch

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class GlassConfig:
    replicas: int = 4 if SMALL else 96
    side: int = 6 if SMALL else 40
    warmup: int = 5 if SMALL else 60
    sweeps: int = 12 if SMALL else 900
    stride: int = 3
    beta: float = 0.95
    log_every: int = 4 if SMALL else 150
    resamples: int = 5 if SMALL else 30
    block: int = 2 if SMALL else 24
    sweep_pause: float = 0.0 if SMALL else 0.012
    resample_pause: float = 0.0 if SMALL else 0.1
    seed: int = 23


class SpinGlass:
    """Three-dimensional lattice with +-1 couplings, the same disorder in all replicas."""

    def __init__(self, cfg):
        self.cfg = cfg
        self.gen = torch.Generator(device=DEVICE).manual_seed(cfg.seed)
        n = cfg.side
        shape = (n, n, n)
        self.couplings = [self.random_signs((1,) + shape) for _ in range(3)]
        self.spins = self.random_signs((cfg.replicas,) + shape)
        index = torch.arange(n, device=DEVICE)
        parity = (index.view(n, 1, 1) + index.view(1, n, 1) + index) % 2
        self.sublattices = [parity.eq(0), parity.eq(1)]

    def random_signs(self, shape):
        return torch.randint(0, 2, shape, generator=self.gen, device=DEVICE, dtype=torch.int8) * 2 - 1

    def local_field(self):
        field = torch.zeros_like(self.spins)
        for axis, coupling in enumerate(self.couplings, start=1):
            field += coupling * self.spins.roll(-1, axis)
            field += (coupling * self.spins).roll(1, axis)
        return field

    def sweep(self):
        for sublattice in self.sublattices:
            cost = (self.spins * self.local_field()).float()
            accept = torch.rand(cost.shape, generator=self.gen, device=DEVICE) < torch.exp(-2 * self.cfg.beta * cost)
            self.spins = torch.where(accept & sublattice, -self.spins, self.spins)

    def energy(self):
        return -0.5 * (self.spins * self.local_field()).float().mean().item()


class Sampler:
    """Runs the chain, records configurations and thins them to reduce the correlation in time."""

    def __init__(self, glass, cfg):
        self.glass = glass
        self.cfg = cfg
        self.energies = []

    def warm_up(self):
        for _ in range(self.cfg.warmup):
            self.glass.sweep()
            time.sleep(self.cfg.sweep_pause)

    def record(self, allocated):
        frames = []
        for number in range(1, self.cfg.sweeps + 1):
            self.glass.sweep()
            frames.append(self.glass.spins.clone())
            time.sleep(self.cfg.sweep_pause)
            if number % self.cfg.log_every == 0:
                self.energies.append(self.glass.energy())
                print(f"sweep {number:4d}  energy per spin {self.energies[-1]:.4f}")
                allocated.append(torch.cuda.memory_allocated())
        return frames[::self.cfg.stride]


class OverlapAnalysis:
    """Spatial correlations of the overlap between pairs of replicas, with bootstrap errors."""

    def __init__(self, frames, cfg):
        self.frames = frames
        self.cfg = cfg
        self.gen = torch.Generator().manual_seed(cfg.seed + 1)

    def correlation(self):
        cfg = self.cfg
        chosen = torch.randint(0, len(self.frames), (cfg.block,), generator=self.gen).tolist()
        pairing = torch.randperm(cfg.replicas, generator=self.gen).to(DEVICE)
        stack = torch.stack([self.frames[i] for i in chosen])
        overlap = (stack * stack[:, pairing]).float()
        spectrum = torch.fft.rfftn(overlap, dim=(2, 3, 4))
        correlation = torch.fft.irfftn(spectrum.abs().square(), s=(cfg.side,) * 3, dim=(2, 3, 4))
        profile = correlation.mean(dim=(0, 1))[:cfg.side // 2, 0, 0] / cfg.side ** 3
        return (profile / profile[0]).cpu(), overlap.mean(dim=(2, 3, 4)).square().mean().item()


def main():
    cfg = GlassConfig()
    allocated = []
    glass = SpinGlass(cfg)
    sampler = Sampler(glass, cfg)
    sampler.warm_up()
    frames = sampler.record(allocated)
    print(f"{len(frames)} configurations of {cfg.replicas} replicas")

    analysis, profiles, squares = OverlapAnalysis(frames, cfg), [], []
    for _ in range(cfg.resamples):
        profile, q_squared = analysis.correlation()
        profiles.append(profile)
        squares.append(q_squared)
        time.sleep(cfg.resample_pause)
        allocated.append(torch.cuda.memory_allocated())
    profiles = torch.stack(profiles)
    for distance, (mean, error) in enumerate(zip(profiles.mean(dim=0).tolist(), profiles.std(dim=0).tolist())):
        if distance % 3 == 0:
            print(f"  r = {distance:2d}  C(r) = {mean:8.5f} +- {error:.5f}")
    print(f"q^2 = {sum(squares) / len(squares):.6f}")
    print("TRUTH " + json.dumps({"allocated": allocated, "rounds": len(allocated),
                                 "reserved": torch.cuda.memory_reserved()}), file=sys.stderr)


if __name__ == "__main__":
    main()
