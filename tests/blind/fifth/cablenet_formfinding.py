# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Form finding of a batch of prestressed cable nets with a limited-memory quasi-Newton solver.

The elastic model is a differentiable module; forces come from autograd, the solver is written here.
"""

import json
import os
import sys
from dataclasses import dataclass, field

import torch
from torch import nn

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class NetConfig:
    batch: int = 2 if SMALL else 12
    side: int = 8 if SMALL else 64
    span: float = 20.0
    cable_stiffness: float = 60.0
    shear_stiffness: float = 6.0
    self_weight: float = 0.015
    prestress: float = 0.92


@dataclass
class SolverConfig:
    steps: int = 10 if SMALL else 360
    window: int = 8
    trial_lengths: tuple[float, ...] = (0.0, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0)
    curvature_floor: float = 1e-9
    report_every: int = 40


@dataclass
class Report:
    energy: list[float] = field(default_factory=list)
    residual: list[float] = field(default_factory=list)


def allocated() -> int:
    return torch.cuda.memory_allocated() if DEVICE.type == "cuda" else 0


def flat_grid(cfg: NetConfig) -> torch.Tensor:
    axis = torch.linspace(0.0, cfg.span, cfg.side, dtype=torch.float64, device=DEVICE)
    x, y = torch.meshgrid(axis, axis, indexing="ij")
    grid = torch.stack([x, y, torch.zeros_like(x)], dim=-1)
    return grid.expand(cfg.batch, -1, -1, -1).clone()


def anchor_heights(cfg: NetConfig, generator: torch.Generator) -> torch.Tensor:
    """Heights of the four corner masts, different for each net of the batch."""
    heights = torch.rand(cfg.batch, 4, generator=generator, dtype=torch.float64) * 6.0
    return heights.to(DEVICE)


class CableNet(nn.Module):
    """Elastic energy of orthogonal cables with diagonal ties, plus self-weight."""

    def __init__(self, cfg: NetConfig):
        super().__init__()
        self.cfg = cfg
        pitch = cfg.span / (cfg.side - 1)
        self.rest = pitch * cfg.prestress
        self.rest_diagonal = pitch * 2.0**0.5
        free = torch.ones(cfg.side, cfg.side, 1, dtype=torch.float64)
        free[0] = free[-1] = 0.0
        free[:, 0] = free[:, -1] = 0.0
        self.register_buffer("free", free)

    def _stretch(self, a: torch.Tensor, b: torch.Tensor, rest: float) -> torch.Tensor:
        length = (a - b).square().sum(-1).add(1e-12).sqrt()
        return (length - rest).square().sum(dim=(1, 2))

    def energy(self, nodes: torch.Tensor) -> torch.Tensor:
        warp = self._stretch(nodes[:, 1:], nodes[:, :-1], self.rest)
        weft = self._stretch(nodes[:, :, 1:], nodes[:, :, :-1], self.rest)
        ties = self._stretch(nodes[:, 1:, 1:], nodes[:, :-1, :-1], self.rest_diagonal)
        ties = ties + self._stretch(nodes[:, 1:, :-1], nodes[:, :-1, 1:], self.rest_diagonal)
        load = nodes[..., 2].sum(dim=(1, 2)) * self.cfg.self_weight
        return 0.5 * self.cfg.cable_stiffness * (warp + weft) + 0.5 * self.cfg.shear_stiffness * ties + load

    def forward(self, nodes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        energy = self.energy(nodes)
        (gradient,) = torch.autograd.grad(energy.sum(), nodes)
        return energy.detach(), -gradient * self.free


def per_net(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return (a * b).sum(dim=(1, 2, 3), keepdim=True)


class QuasiNewtonSolver:
    """Two-loop recursion over the last `window` displacements and force changes."""

    def __init__(self, net: CableNet, nodes: torch.Tensor, cfg: SolverConfig):
        self.net = net
        self.cfg = cfg
        self.nodes = nodes.requires_grad_(True)
        self.energy, self.forces = net(self.nodes)
        self.s_window = nodes.new_zeros(0, *nodes.shape)
        self.y_window = nodes.new_zeros(0, *nodes.shape)

    def direction(self) -> torch.Tensor:
        count = self.s_window.shape[0]
        q = self.forces
        if count == 0:
            return q / self.net.cfg.cable_stiffness
        coefficients = []
        for i in reversed(range(count)):
            s_i, y_i = self.s_window[i], self.y_window[i]
            rho = 1.0 / per_net(s_i, y_i).clamp_min(self.cfg.curvature_floor)
            a = rho * per_net(s_i, q)
            q = q - a * y_i
            coefficients.append((i, rho, a))
        newest_s, newest_y = self.s_window[-1], self.y_window[-1]
        scale = per_net(newest_s, newest_y) / per_net(newest_y, newest_y).clamp_min(self.cfg.curvature_floor)
        z = q * scale.clamp(1e-4, 1.0)
        for i, rho, a in reversed(coefficients):
            b = rho * per_net(self.y_window[i], z)
            z = z + self.s_window[i] * (a - b)
        return z

    @torch.no_grad()
    def pick_length(self, direction: torch.Tensor) -> torch.Tensor:
        """The best of a fixed set of step lengths, for each net on its own."""
        lengths = torch.tensor(self.cfg.trial_lengths, dtype=direction.dtype, device=direction.device)
        table = torch.stack([self.net.energy(self.nodes + float(t) * direction) for t in self.cfg.trial_lengths])
        table = torch.nan_to_num(table, nan=float("inf"))
        return lengths[table.argmin(dim=0)].view(-1, 1, 1, 1)

    def update_window(self, s_new: torch.Tensor, y_new: torch.Tensor) -> None:
        self.s_window = torch.cat([self.s_window, s_new.unsqueeze(0)])[-self.cfg.window :]
        self.y_window = torch.cat([self.y_window, y_new.unsqueeze(0)])[-self.cfg.window :]

    def step(self) -> None:
        direction = self.direction()
        moved = self.nodes + self.pick_length(direction) * direction
        s_new = moved - self.nodes
        self.nodes = moved.detach().requires_grad_(True)
        previous = self.forces
        self.energy, self.forces = self.net(self.nodes)
        self.update_window(s_new, previous - self.forces)

    @torch.no_grad()
    def residual(self) -> torch.Tensor:
        return self.forces.square().mean().sqrt()


def raise_masts(nodes: torch.Tensor, heights: torch.Tensor) -> torch.Tensor:
    """Bilinear start shape between the four masts."""
    side = nodes.shape[1]
    t = torch.linspace(0.0, 1.0, side, dtype=nodes.dtype, device=nodes.device)
    u, v = t.view(-1, 1), t.view(1, -1)
    weights = torch.stack([(1 - u) * (1 - v), (1 - u) * v, u * (1 - v), u * v])
    nodes[..., 2] = torch.einsum("bk,kij->bij", heights, weights)
    return nodes


def main() -> None:
    generator = torch.Generator().manual_seed(11)
    net_cfg, solver_cfg = NetConfig(), SolverConfig()
    curve: list[int] = []
    report = Report()
    try:
        net = CableNet(net_cfg).to(DEVICE)
        nodes = raise_masts(flat_grid(net_cfg), anchor_heights(net_cfg, generator))
        nodes[:, 1:-1, 1:-1] += 0.05 * torch.randn_like(nodes[:, 1:-1, 1:-1])
        solver = QuasiNewtonSolver(net, nodes, solver_cfg)
        for step in range(solver_cfg.steps):
            solver.step()
            curve.append(allocated())
            if step % solver_cfg.report_every == 0:
                report.energy.append(float(solver.energy.mean()))
                report.residual.append(float(solver.residual()))
                print(f"step {step:4d}  energy {report.energy[-1]:.4f}  residual {report.residual[-1]:.5f}")
    finally:
        print("TRUTH " + json.dumps({"allocated": curve, "rounds": len(curve)}), file=sys.stderr)


if __name__ == "__main__":
    main()
