# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Pushover analysis of steel frame designs: how far can each design be loaded before it yields?"""
import json
import os
import sys
import time
from dataclasses import dataclass

import torch

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class CampaignConfig:
    storeys: int = 6 if SMALL else 64
    bays: int = 5 if SMALL else 40
    designs: int = 5 if SMALL else 28
    load_factors: tuple = (0.35, 0.75, 1.5)
    max_iterations: int = 16
    tolerance: float = 1e-7
    trust: float = 4.0
    input_latency: float = 0.1
    seed: int = 12


class NotConverged(RuntimeError):
    def __init__(self, iterations, residual):
        super().__init__(f"no equilibrium after {iterations} iterations (residual {residual:.2e})")
        self.residual = residual


class Frame:
    """Sway frame with one horizontal freedom per joint; members yield smoothly (tanh law)."""

    def __init__(self, number, cfg):
        gen = torch.Generator().manual_seed(cfg.seed + number)
        joint = torch.arange(cfg.storeys * cfg.bays).view(cfg.storeys, cfg.bays)
        columns = torch.stack([joint[:-1].reshape(-1), joint[1:].reshape(-1)], dim=1)
        beams = torch.stack([joint[:, :-1].reshape(-1), joint[:, 1:].reshape(-1)], dim=1)
        self.name = f"F{number:03d}"
        self.joints = joint.numel()
        self.members = torch.cat([columns, beams]).to(DEVICE)
        count = len(self.members)
        self.rigidity = (40 + 20 * torch.rand(count, generator=gen, dtype=torch.float64)).to(DEVICE)
        self.yield_slip = (0.04 + 0.02 * torch.rand(count, generator=gen, dtype=torch.float64)).to(DEVICE)
        self.ground = joint[0].to(DEVICE)
        self.ground_rigidity = 60.0
        self.ground_slip = 0.05
        self.wind = torch.ones(self.joints, dtype=torch.float64, device=DEVICE)
        self.capacity = self.ground_rigidity * self.ground_slip * cfg.bays / self.joints

    def member_forces(self, sway):
        slip = sway[self.members[:, 1]] - sway[self.members[:, 0]]
        bend = torch.tanh(slip / self.yield_slip)
        return self.rigidity * self.yield_slip * bend, self.rigidity * (1 - bend.square())

    def internal_forces(self, sway):
        force, tangent = self.member_forces(sway)
        total = torch.zeros_like(sway)
        total.index_add_(0, self.members[:, 1], force)
        total.index_add_(0, self.members[:, 0], -force)
        base = torch.tanh(sway[self.ground] / self.ground_slip)
        total.index_add_(0, self.ground, self.ground_rigidity * self.ground_slip * base)
        return total, tangent, self.ground_rigidity * (1 - base.square())

    def stiffness(self, tangent, ground_tangent):
        a, b = self.members[:, 0], self.members[:, 1]
        matrix = torch.zeros(self.joints, self.joints, dtype=torch.float64, device=DEVICE)
        matrix.index_put_((a, b), -tangent, accumulate=True)
        matrix.index_put_((b, a), -tangent, accumulate=True)
        diagonal = torch.full((self.joints,), 1e-4, dtype=torch.float64, device=DEVICE)
        diagonal.index_add_(0, a, tangent)
        diagonal.index_add_(0, b, tangent)
        diagonal.index_add_(0, self.ground, ground_tangent)
        return matrix + torch.diag(diagonal)


class NewtonSolver:
    def __init__(self, cfg):
        self.cfg = cfg

    def equilibrium(self, frame, factor, start):
        load = frame.wind * (factor * frame.capacity)
        sway, scale = start.clone(), load.norm()
        for iteration in range(self.cfg.max_iterations):
            internal, tangent, ground_tangent = frame.internal_forces(sway)
            imbalance = load - internal
            error = (imbalance.norm() / scale).item()
            if error < self.cfg.tolerance:
                return sway, iteration
            matrix = frame.stiffness(tangent, ground_tangent)
            lower, _ = torch.linalg.cholesky_ex(matrix)
            step = torch.cholesky_solve(imbalance.unsqueeze(1), lower).squeeze(1)
            sway = sway + step * (self.cfg.trust / step.abs().max()).clamp(max=1.0)
        raise NotConverged(self.cfg.max_iterations, error)


class Campaign:
    def __init__(self, cfg):
        self.cfg = cfg
        self.solver = NewtonSolver(cfg)
        self.passed = []
        self.rejected = []

    def assess(self, number):
        frame = Frame(number, self.cfg)
        sway = torch.zeros(frame.joints, dtype=torch.float64, device=DEVICE)
        for factor in self.cfg.load_factors:
            time.sleep(self.cfg.input_latency)
            try:
                sway, iterations = self.solver.equilibrium(frame, factor, sway)
                drift = sway.view(self.cfg.storeys, self.cfg.bays).mean(dim=1).diff().abs().max().item()
                self.passed.append((frame.name, factor, iterations, drift))
            except NotConverged as problem:
                self.rejected.append((frame.name, factor, problem))

    def summary(self):
        worst = max(drift for *_, drift in self.passed)
        lines = [f"{len(self.passed)} load cases in equilibrium, largest storey drift {worst:.4f}"]
        for name, factor, problem in self.rejected[:4]:
            lines.append(f"  {name} at {factor:.2f}: {problem}")
        if len(self.rejected) > 4:
            worst_residual = max(problem.residual for *_, problem in self.rejected)
            lines.append(f"  ... and {len(self.rejected) - 4} more, residuals up to {worst_residual:.2e}")
        return "\n".join(lines)


def main():
    cfg = CampaignConfig()
    campaign = Campaign(cfg)
    allocated = []
    for number in range(cfg.designs):
        campaign.assess(number)
        if number % 5 == 4:
            print(f"{number + 1} designs, {len(campaign.passed)} cases passed, {len(campaign.rejected)} rejected")
        allocated.append(torch.cuda.memory_allocated())
    print(campaign.summary())
    print("TRUTH " + json.dumps({"allocated": allocated, "rounds": cfg.designs}), file=sys.stderr)


if __name__ == "__main__":
    main()
