# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Recurrent graph network that forecasts weekly infections per county, trained season by season on a commuter graph."""

import json
import os
import sys
from dataclasses import dataclass

import torch
from torch import nn
from torch_geometric.nn import GCNConv
from torch_geometric.utils import to_undirected

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class EpidemicConfig:
    counties: int = 300 if SMALL else 40_000
    commutes: int = 900 if SMALL else 160_000
    covariates: int = 6 if SMALL else 24
    hidden: int = 8 if SMALL else 48
    season_weeks: tuple[int, ...] = (3, 5, 8) if SMALL else (16, 26, 40)
    warmup_weeks: int = 2
    replays: int = 4 if SMALL else 60
    validation_weeks: int = 3 if SMALL else 12
    learning_rate: float = 3e-3
    grad_clip: float = 1.0
    seed: int = 31


class CommuterGraph:
    """A random commuting network and an SIR-like process that runs on it."""

    def __init__(self, cfg: EpidemicConfig, device: torch.device):
        self.cfg = cfg
        source = torch.randint(cfg.counties, (cfg.commutes,))
        target = (source + torch.randint(1, 200, (cfg.commutes,))) % cfg.counties
        edges = to_undirected(torch.stack([source, target]), num_nodes=cfg.counties)
        self.edge_index = edges.to(device)
        self.profile = torch.randn(cfg.counties, cfg.covariates - 2, device=device)
        self.susceptibility = torch.sigmoid(self.profile[:, 0])
        self.reset()

    def reset(self) -> None:
        device = self.profile.device
        self.week = 0
        self.infected = torch.rand(self.cfg.counties, device=device) * 0.02

    def features(self) -> torch.Tensor:
        season = torch.full_like(self.infected, self.week / 52.0)
        return torch.cat([self.infected.unsqueeze(-1), season.unsqueeze(-1), self.profile], dim=-1)

    def advance(self) -> torch.Tensor:
        """Moves the process on by a week and returns the new infection rates."""
        source, target = self.edge_index
        pressure = torch.zeros_like(self.infected).index_add_(0, target, self.infected[source])
        spread = 0.08 * pressure * self.susceptibility
        self.infected = (0.7 * self.infected + spread * (1.0 - self.infected)).clamp(0.0, 1.0)
        self.week += 1
        return self.infected


class GraphGRU(nn.Module):
    """GRU cell whose gates see the neighborhood through graph convolutions."""

    def __init__(self, inputs: int, hidden: int):
        super().__init__()
        self.gates = GCNConv(inputs + hidden, 2 * hidden)
        self.candidate = GCNConv(inputs + hidden, hidden)

    def forward(self, x, state, edge_index):
        update, reset = torch.sigmoid(self.gates(torch.cat([x, state], dim=-1), edge_index)).chunk(2, dim=-1)
        proposal = torch.tanh(self.candidate(torch.cat([x, reset * state], dim=-1), edge_index))
        return update * state + (1.0 - update) * proposal


class InfectionForecaster(nn.Module):
    def __init__(self, cfg: EpidemicConfig):
        super().__init__()
        self.hidden = cfg.hidden
        self.cell = GraphGRU(cfg.covariates, cfg.hidden)
        self.readout = nn.Sequential(nn.Linear(cfg.hidden, cfg.hidden), nn.ReLU(), nn.Linear(cfg.hidden, 1))

    def initial_state(self, x: torch.Tensor) -> torch.Tensor:
        return x.new_zeros(x.shape[0], self.hidden)

    def forward(self, x, state, edge_index):
        state = self.cell(x, state, edge_index)
        return torch.sigmoid(self.readout(state)).squeeze(-1), state


class SeasonTrainer:
    """Back-propagates through whole seasons; the seasons become longer as the curriculum goes on."""

    def __init__(self, cfg: EpidemicConfig, device: torch.device, allocated: list[int]):
        self.cfg = cfg
        self.graph = CommuterGraph(cfg, device)
        self.model = InfectionForecaster(cfg).to(device)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=cfg.learning_rate)
        self.week_losses: list[torch.Tensor] = []
        self.allocated = allocated

    def run_season(self, weeks: int) -> float:
        self.graph.reset()
        state = self.model.initial_state(self.graph.features())
        for week in range(weeks):
            forecast, state = self.model(self.graph.features(), state, self.graph.edge_index)
            observed = self.graph.advance()
            if week >= self.cfg.warmup_weeks:
                self.week_losses.append((forecast - observed).square().mean())
            self.allocated.append(torch.cuda.memory_allocated())
        return self.finish_season()

    def finish_season(self) -> float:
        loss = torch.stack(self.week_losses).mean()
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), self.cfg.grad_clip)
        self.optimizer.step()
        self.week_losses.clear()
        return loss.item()

    @torch.no_grad()
    def validate(self) -> float:
        self.graph.reset()
        state = self.model.initial_state(self.graph.features())
        total = torch.zeros((), device=state.device)
        for _ in range(self.cfg.validation_weeks):
            forecast, state = self.model(self.graph.features(), state, self.graph.edge_index)
            total += (forecast - self.graph.advance()).abs().mean()
        return total.item() / self.cfg.validation_weeks


def curriculum(cfg: EpidemicConfig):
    """Yields the length of each season, short seasons first."""
    for replay in range(cfg.replays):
        stage = replay * len(cfg.season_weeks) // cfg.replays
        yield cfg.season_weeks[stage]


def main() -> None:
    cfg = EpidemicConfig()
    torch.manual_seed(cfg.seed)
    allocated: list[int] = []
    try:
        trainer = SeasonTrainer(cfg, DEVICE, allocated)
        for season, weeks in enumerate(curriculum(cfg)):
            loss = trainer.run_season(weeks)
            if season % 10 == 0 or SMALL:
                print(f"season {season}: {weeks} weeks, loss {loss:.6f}, validation {trainer.validate():.5f}")
    finally:
        print("TRUTH " + json.dumps({"allocated": allocated, "rounds": len(allocated)}), file=sys.stderr)


if __name__ == "__main__":
    main()
