# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Physics-informed reconstruction of the temperature in a rotary kiln lining from a few thermocouples.

Stage one uses Adam with residual-based point refinement, stage two polishes with L-BFGS, stage three maps the lining.
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
class InversionConfig:
    width: int = 16 if SMALL else 2048
    hidden: int = 3
    first_points: int = 32 if SMALL else 1024
    added_points: int = 8 if SMALL else 256
    max_points: int = 64 if SMALL else 3072
    candidates: int = 64 if SMALL else 4096
    refine_every: int = 2 if SMALL else 8
    adam_rounds: int = 10 if SMALL else 80
    polish_rounds: int = 12 if SMALL else 50
    polish_memory: int = 6 if SMALL else 30
    map_slices: int = 4 if SMALL else 24
    map_size: int = 16 if SMALL else 256
    sensors: int = 48
    lr: float = 4e-4


@dataclass
class Journal:
    residual: list[float] = field(default_factory=list)
    sensor: list[float] = field(default_factory=list)
    curve: list[int] = field(default_factory=list)

    def note(self, residual: float, sensor: float) -> None:
        self.residual.append(residual)
        self.sensor.append(sensor)
        self.close_round()

    def close_round(self) -> None:
        self.curve.append(allocated())


def allocated() -> int:
    return torch.cuda.memory_allocated() if DEVICE.type == "cuda" else 0


class LiningNet(nn.Module):
    """Temperature as a function of depth, angle and time, all scaled to the unit interval."""

    def __init__(self, width: int, hidden: int):
        super().__init__()
        self.enter = nn.Linear(4, width)
        self.body = nn.ModuleList([nn.Linear(width, width) for _ in range(hidden)])
        self.leave = nn.Linear(width, 1)

    def forward(self, points: torch.Tensor) -> torch.Tensor:
        depth, angle, time = points.unbind(dim=1)
        turn = 6.283185307 * angle
        hidden = torch.tanh(self.enter(torch.stack([depth, torch.cos(turn), torch.sin(turn), time], dim=1)))
        for layer in self.body:
            hidden = torch.tanh(layer(hidden))
        return self.leave(hidden)


class HeatEquation:
    """Residual of heat conduction with a conductivity that depends on the temperature."""

    def __init__(self, diffusivity: float = 0.12, slope: float = 0.2):
        self.diffusivity = diffusivity
        self.slope = slope

    def residual(self, net: nn.Module, points: torch.Tensor, keep_graph: bool = True) -> torch.Tensor:
        points = points.detach().requires_grad_(True)
        temperature = net(points)
        (first,) = torch.autograd.grad(temperature.sum(), points, create_graph=True)
        flow = (1.0 + self.slope * temperature) * first[:, :2]
        (depth_row,) = torch.autograd.grad(flow[:, 0].sum(), points, create_graph=True)
        (angle_row,) = torch.autograd.grad(flow[:, 1].sum(), points, create_graph=keep_graph)
        return first[:, 2] - self.diffusivity * (depth_row[:, 0] + 0.05 * angle_row[:, 1])


class PointCloud:
    """Collocation points; the set is extended where the residual is large."""

    def __init__(self, cfg: InversionConfig):
        self.cfg = cfg
        self.points = torch.rand(cfg.first_points, 3, device=DEVICE)

    def refine(self, equation: HeatEquation, net: nn.Module) -> None:
        room = min(self.cfg.added_points, self.cfg.max_points - len(self.points))
        if room <= 0:
            return
        candidates = torch.rand(self.cfg.candidates, 3, device=DEVICE)
        sizes = torch.cat([equation.residual(net, part, False).detach().abs() for part in candidates.chunk(4)])
        self.points = torch.cat([self.points, candidates[sizes.topk(room).indices]])


class Thermocouples:
    def __init__(self, count: int):
        generator = torch.Generator().manual_seed(31)
        places = torch.rand(count, 3, generator=generator)
        values = torch.exp(-2.0 * places[:, 0]) * (1.0 + 0.2 * torch.cos(6.283185307 * places[:, 1]))
        values = values * (1.0 - torch.exp(-3.0 * places[:, 2]))
        self.places = places.to(DEVICE)
        self.values = values.unsqueeze(1).to(DEVICE)

    def misfit(self, net: nn.Module) -> torch.Tensor:
        return (net(self.places) - self.values).square().mean()


class Inversion:
    def __init__(self, cfg: InversionConfig):
        self.cfg = cfg
        self.net = LiningNet(cfg.width, cfg.hidden).to(DEVICE)
        self.equation = HeatEquation()
        self.cloud = PointCloud(cfg)
        self.sensors = Thermocouples(cfg.sensors)
        self.journal = Journal()

    def objective(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        residual = self.equation.residual(self.net, self.cloud.points).square().mean()
        misfit = self.sensors.misfit(self.net)
        return 0.1 * residual + 10.0 * misfit, residual.detach(), misfit.detach()

    def explore(self) -> None:
        optimizer = torch.optim.Adam(self.net.parameters(), lr=self.cfg.lr)
        for number in range(self.cfg.adam_rounds):
            optimizer.zero_grad()
            total, residual, misfit = self.objective()
            total.backward()
            nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)
            optimizer.step()
            del total
            if (number + 1) % self.cfg.refine_every == 0:
                self.cloud.refine(self.equation, self.net)
            self.journal.note(float(residual), float(misfit))
        self.net.zero_grad()

    def polish(self) -> None:
        optimizer = torch.optim.LBFGS(
            self.net.parameters(),
            lr=0.8,
            max_iter=1,
            max_eval=4,
            history_size=self.cfg.polish_memory,
            tolerance_grad=1e-12,
            tolerance_change=1e-15,
            line_search_fn="strong_wolfe",
        )
        latest: dict[str, float] = {}

        def closure() -> torch.Tensor:
            optimizer.zero_grad()
            total, residual, misfit = self.objective()
            total.backward()
            latest.update(residual=float(residual), misfit=float(misfit))
            return total.detach()

        for _ in range(self.cfg.polish_rounds):
            optimizer.step(closure)
            self.journal.note(latest["residual"], latest["misfit"])
        self.net.zero_grad()

    @torch.no_grad()
    def chart(self) -> dict[str, float]:
        """Temperature maps over depth and angle at several times, and what the operators read from them."""
        axis = torch.linspace(0.0, 1.0, self.cfg.map_size, device=DEVICE)
        depth, angle = torch.meshgrid(axis, axis, indexing="ij")
        maps = []
        for time in torch.linspace(0.0, 1.0, self.cfg.map_slices).tolist():
            points = torch.stack([depth.flatten(), angle.flatten(), torch.full_like(depth.flatten(), time)], dim=1)
            values = torch.cat([self.net(part) for part in points.split(8192)])
            maps.append(values.view_as(depth))
            self.journal.close_round()
        history = torch.stack(maps)
        return {
            "hottest": float(history.max()),
            "shell": float(history[:, -1].mean()),
            "unevenness": float(history.std(dim=2).mean()),
        }


def main() -> None:
    torch.manual_seed(12)
    inversion = Inversion(InversionConfig())
    journal = inversion.journal
    try:
        inversion.explore()
        print(f"after exploring  residual {journal.residual[-1]:.3e}  sensors {journal.sensor[-1]:.3e}")
        inversion.polish()
        print(f"after polishing  residual {journal.residual[-1]:.3e}  sensors {journal.sensor[-1]:.3e}")
        print(" ".join(f"{name} {value:.3f}" for name, value in inversion.chart().items()))
    finally:
        print("TRUTH " + json.dumps({"allocated": journal.curve, "rounds": len(journal.curve)}), file=sys.stderr)


if __name__ == "__main__":
    main()
