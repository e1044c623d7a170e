# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Nowcast of water stage at ungauged reaches of a river network with an edge-conditioned message passing network.

Nodes are reaches, edges follow the flow (and back), edge features describe slope, length, roughness and structures. Every
step takes one hour of rainfall and of the gauges' readings; a tenth of the gauges is withheld for validation.
"""
import json
import os
import sys
import time
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn
from torch_geometric.data import Data
from torch_geometric.nn import GINEConv
from torch_geometric.utils import add_self_loops, to_undirected

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class Config:
    reaches: int = 200 if SMALL else 4000
    confluences: int = 60 if SMALL else 1500
    edge_features: int = 8 if SMALL else 24
    weather_features: int = 6
    width: int = 16 if SMALL else 32
    layers: int = 2
    hours: int = 30 if SMALL else 700
    lr: float = 3e-3
    log_every: int = 10 if SMALL else 40


class Progress:
    """Writes a line from time to time and keeps the allocator's readings of the hours."""

    def __init__(self, cfg: Config):
        self.cfg = cfg
        self.hour = 0
        self.stride = max(1, -(-cfg.hours // 200))
        self.allocated = []
        self.started = time.time()

    def mark(self):
        self.hour += 1
        if DEVICE.type == "cuda" and self.hour % self.stride == 0:
            self.allocated.append(torch.cuda.memory_allocated())

    def line(self, fit, withheld):
        if self.hour % self.cfg.log_every == 0:
            print(f"hour {self.hour:4d}  fit {fit.item():.4f}  withheld {withheld.item():.4f}  {time.time() - self.started:.1f} s")

    def close(self):
        print("TRUTH " + json.dumps({"allocated": self.allocated, "rounds": self.hour}), file=sys.stderr)


def build_network(cfg: Config) -> Data:
    """A random tree that drains to reach 0, with some bifurcations, and physical attributes of the links."""
    g = torch.Generator().manual_seed(11)
    child = torch.arange(1, cfg.reaches)
    parent = (torch.rand(cfg.reaches - 1, generator=g) * child).long()
    extra = torch.randint(0, cfg.reaches, (2, cfg.confluences), generator=g)
    edge_index = torch.cat([torch.stack([child, parent]), extra], dim=1)
    edge_attr = torch.rand(edge_index.shape[1], cfg.edge_features, generator=g)
    edge_index, edge_attr = to_undirected(edge_index, edge_attr, num_nodes=cfg.reaches)
    area = torch.rand(cfg.reaches, 1, generator=g).exp()
    gauged = torch.rand(cfg.reaches, generator=g) < 0.5
    withheld = gauged & (torch.rand(cfg.reaches, generator=g) < 0.1)
    return Data(edge_index=edge_index, edge_attr=edge_attr, area=area, gauged=gauged & ~withheld, withheld=withheld,
                num_nodes=cfg.reaches)


class Storm:
    """Rainfall that moves over the catchment; the stage answers with a lag and with the size of the catchment."""

    def __init__(self, cfg: Config, network: Data):
        self.cfg = cfg
        self.area = network.area
        self.place = torch.rand(cfg.reaches, 2, device=DEVICE)
        self.storage = torch.zeros(cfg.reaches, 1, device=DEVICE)

    def hour(self, t: int):
        centre = torch.tensor([0.5 + 0.4 * torch.sin(torch.tensor(t / 9.0)), (t % 48) / 48], device=DEVICE)
        rain = torch.exp(-8 * (self.place - centre).square().sum(1, keepdim=True))
        rain = rain * (1 + 0.3 * torch.randn_like(rain)).clamp(min=0)
        self.storage = 0.92 * self.storage + rain * self.area
        stage = self.storage.sqrt()
        noise = torch.randn(self.cfg.reaches, self.cfg.weather_features - 3, device=DEVICE)
        weather = torch.cat([rain, self.place, noise], dim=1)
        return weather, stage


class ReachBlock(nn.Module):
    def __init__(self, cfg: Config):
        super().__init__()
        mix = nn.Sequential(nn.Linear(cfg.width, 2 * cfg.width), nn.SiLU(), nn.Linear(2 * cfg.width, cfg.width))
        self.conv = GINEConv(mix, train_eps=True, edge_dim=cfg.edge_features)
        self.norm = nn.LayerNorm(cfg.width)

    def forward(self, h, edge_index, edge_attr):
        return h + F.silu(self.norm(self.conv(h, edge_index, edge_attr)))


class StageNet(nn.Module):
    def __init__(self, cfg: Config):
        super().__init__()
        self.embed = nn.Linear(cfg.weather_features + 3, cfg.width)
        self.blocks = nn.ModuleList(ReachBlock(cfg) for _ in range(cfg.layers))
        self.readout = nn.Sequential(nn.Linear(cfg.width, cfg.width), nn.SiLU(), nn.Linear(cfg.width, 1))

    def forward(self, network: Data, weather, reading):
        # the reach itself takes part in its own update, with neutral link attributes
        network.edge_index, network.edge_attr = add_self_loops(network.edge_index, network.edge_attr, fill_value=0.5,
                                                               num_nodes=network.num_nodes)
        known = network.gauged.float().unsqueeze(1)
        h = self.embed(torch.cat([weather, network.area, known, known * reading], dim=1))
        for block in self.blocks:
            h = block(h, network.edge_index, network.edge_attr)
        return self.readout(h)


class Nowcaster:
    def __init__(self, cfg: Config, network: Data):
        self.network = network
        self.model = StageNet(cfg).to(DEVICE)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=cfg.lr, weight_decay=1e-4)
        self.schedule = torch.optim.lr_scheduler.CosineAnnealingLR(self.optimizer, T_max=cfg.hours)

    def dropout_reading(self, stage):
        """Some gauges fail each hour, so that the network learns to do without."""
        return stage * (torch.rand_like(stage) > 0.15)

    def step(self, weather, stage):
        estimate = self.model(self.network, weather, self.dropout_reading(stage))
        error = F.smooth_l1_loss(estimate, stage, reduction="none").squeeze(1)
        loss = error[self.network.gauged].mean()
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.schedule.step()
        with torch.no_grad():
            withheld = error[self.network.withheld].mean()
        return loss.detach(), withheld


def main():
    torch.manual_seed(3)
    cfg = Config()
    network = build_network(cfg).to(DEVICE)
    storm = Storm(cfg, network)
    nowcaster = Nowcaster(cfg, network)
    progress = Progress(cfg)
    print(f"{cfg.reaches} reaches, {network.num_edges} links, {int(network.gauged.sum())} gauges in use")
    for t in range(cfg.hours):
        weather, stage = storm.hour(t)
        fit, withheld = nowcaster.step(weather, stage)
        progress.mark()
        progress.line(fit, withheld)
    progress.close()


if __name__ == "__main__":
    main()
