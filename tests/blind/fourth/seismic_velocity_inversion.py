# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Linearised seismic inversion of a 3-D velocity perturbation from several shots with L-BFGS."""

import json
import math
import os
import sys
from dataclasses import dataclass

import torch
from torch import nn

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class InversionConfig:
    depth: int = 8 if SMALL else 128
    inline: int = 8 if SMALL else 320
    crossline: int = 8 if SMALL else 320
    shots: int = 2 if SMALL else 6
    peak_frequency: float = 0.18
    noise: float = 0.02
    smoothness: float = 1e-4
    history: int = 4 if SMALL else 40
    outer_steps: int = 12 if SMALL else 110
    report_every: int = 15


def wavenumbers(config: InversionConfig) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    vertical = torch.fft.fftfreq(config.depth, device=DEVICE).view(-1, 1, 1)
    inline = torch.fft.fftfreq(config.inline, device=DEVICE).view(1, -1, 1)
    crossline = torch.fft.rfftfreq(config.crossline, device=DEVICE).view(1, 1, -1)
    return vertical, inline, crossline


class BornModelling(nn.Module):
    """Single scattering in the wavenumber domain: an oblique Ricker response and an illumination map per shot."""

    def __init__(self, config: InversionConfig) -> None:
        super().__init__()
        self.config = config
        vertical, inline, crossline = wavenumbers(config)
        angles = torch.linspace(0.0, math.pi, config.shots + 1, device=DEVICE)[:-1]
        self.tilts = [(0.4 * math.cos(angle), 0.4 * math.sin(angle)) for angle in angles.tolist()]
        self.grid = (vertical, inline, crossline)
        line = torch.linspace(-1.0, 1.0, config.inline, device=DEVICE)
        self.register_buffer("illumination", torch.exp(-((line.view(1, -1, 1) - angles.cos().view(-1, 1, 1)) ** 2)))

    def response(self, shot: int) -> torch.Tensor:
        vertical, inline, crossline = self.grid
        dx, dy = self.tilts[shot]
        along = vertical + dx * inline + dy * crossline
        scaled = (along / self.config.peak_frequency) ** 2
        return scaled * torch.exp(1.0 - scaled)

    def forward(self, velocity: torch.Tensor, shot: int) -> torch.Tensor:
        lit = velocity * self.illumination[shot].unsqueeze(0)
        spectrum = torch.fft.rfftn(lit) * self.response(shot)
        return torch.fft.irfftn(spectrum, s=velocity.shape)


def layered_velocity(config: InversionConfig) -> torch.Tensor:
    """Folded layers with a fault, relative to the background."""
    generator = torch.Generator().manual_seed(21)
    depth = torch.arange(config.depth, device=DEVICE, dtype=torch.float32).view(-1, 1, 1)
    inline = torch.arange(config.inline, device=DEVICE, dtype=torch.float32).view(1, -1, 1)
    crossline = torch.arange(config.crossline, device=DEVICE, dtype=torch.float32).view(1, 1, -1)
    fold = 0.06 * config.depth * torch.sin(2 * math.pi * (inline / config.inline + 0.5 * crossline / config.crossline))
    throw = 0.1 * config.depth * (inline > 0.55 * config.inline)
    velocity = torch.zeros(config.depth, config.inline, config.crossline, device=DEVICE)
    for boundary in torch.rand(6, generator=generator).sort().values.tolist():
        velocity += 0.05 * torch.tanh(0.5 * (depth + fold + throw - boundary * config.depth))
    return velocity - velocity.mean()


def roughness(velocity: torch.Tensor) -> torch.Tensor:
    return sum(velocity.diff(dim=axis).pow(2).mean() for axis in range(3))


class VelocityInversion:
    def __init__(self, config: InversionConfig) -> None:
        self.config = config
        self.modelling = BornModelling(config)
        self.target = layered_velocity(config)
        with torch.no_grad():
            self.recordings = [self._record(shot) for shot in range(config.shots)]
        self.velocity = nn.Parameter(torch.zeros_like(self.target))
        self.optimizer = torch.optim.LBFGS(
            [self.velocity], lr=0.8, max_iter=1, history_size=config.history, tolerance_grad=0.0, tolerance_change=0.0
        )
        self.misfits: list[float] = []
        self.allocated: list[int] = []

    def _record(self, shot: int) -> torch.Tensor:
        clean = self.modelling(self.target, shot)
        return clean + self.config.noise * clean.std() * torch.randn_like(clean)

    def closure(self) -> torch.Tensor:
        self.optimizer.zero_grad(set_to_none=True)
        total = torch.zeros((), device=DEVICE)
        for shot, recorded in enumerate(self.recordings):
            residual = self.modelling(self.velocity, shot) - recorded
            misfit = residual.pow(2).sum() / recorded.pow(2).sum()
            misfit.backward()
            total += misfit.detach()
        penalty = self.config.smoothness * roughness(self.velocity)
        penalty.backward()
        return total + penalty.detach()

    @torch.no_grad()
    def model_error(self) -> float:
        return ((self.velocity - self.target).norm() / self.target.norm()).item()

    def run(self) -> None:
        for step in range(self.config.outer_steps):
            misfit = self.optimizer.step(self.closure)
            self.misfits.append(misfit.item())
            self.allocated.append(torch.cuda.memory_allocated() if DEVICE.type == "cuda" else 0)
            if step % self.config.report_every == 0:
                print(f"iteration {step:3d}: misfit {self.misfits[-1]:.5f}, model error {self.model_error():.3f}")


def main() -> None:
    torch.manual_seed(0)
    inversion = VelocityInversion(InversionConfig())
    try:
        inversion.run()
        print(f"misfit reduced to {inversion.misfits[-1] / inversion.misfits[0]:.4f} of the start")
    finally:
        truth = {"allocated": inversion.allocated, "rounds": len(inversion.allocated)}
        print("TRUTH " + json.dumps(truth), file=sys.stderr)


if __name__ == "__main__":
    main()
