# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Climate control of a tomato greenhouse with a distributional Q-learner.

The plant model is a batched surrogate (temperature, humidity, CO2, canopy states). At a high replay ratio the value head
overfits to early seasons, hence the head is drawn afresh at the end of every cycle ("primacy bias" resets).
"""
import copy
import json
import os
import sys
import time
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class Config:
    plots: int = 16 if SMALL else 512
    sensors: int = 24 if SMALL else 96
    actions: int = 5 if SMALL else 20
    atoms: int = 11 if SMALL else 51
    width: int = 32 if SMALL else 512
    head_width: int = 64 if SMALL else 1024
    capacity: int = 2_000 if SMALL else 150_000
    batch: int = 32 if SMALL else 1024
    cycles: int = 6 if SMALL else 40
    updates_per_cycle: int = 8 if SMALL else 60
    gamma: float = 0.97
    lr: float = 2e-4
    v_min: float = -10.0
    v_max: float = 10.0


class Telemetry:
    def __init__(self, total: int):
        self.stride = max(1, -(-total // 200))
        self.rounds = 0
        self.allocated = []

    def mark(self):
        self.rounds += 1
        if DEVICE.type == "cuda" and self.rounds % self.stride == 0:
            self.allocated.append(torch.cuda.memory_allocated())

    def report(self):
        print("TRUTH " + json.dumps({"allocated": self.allocated, "rounds": self.rounds}), file=sys.stderr)


class Greenhouse:
    """Linear-Gaussian climate with a saturating growth reward, one row for each plot."""

    def __init__(self, cfg: Config):
        self.cfg = cfg
        g = torch.Generator().manual_seed(7)
        self.drift = (0.97 * torch.eye(cfg.sensors) + 0.01 * torch.randn(cfg.sensors, cfg.sensors, generator=g)).to(DEVICE)
        self.effect = (0.3 * torch.randn(cfg.actions, cfg.sensors, generator=g)).to(DEVICE)
        self.comfort = torch.randn(cfg.sensors, generator=g).to(DEVICE)
        self.state = torch.zeros(cfg.plots, cfg.sensors, device=DEVICE)

    @torch.no_grad()
    def step(self, action: torch.Tensor):
        previous = self.state
        weather = 0.1 * torch.randn_like(previous)
        self.state = (previous @ self.drift + self.effect[action] + weather).clamp(-5, 5)
        reward = torch.exp(-0.05 * (self.state - self.comfort).square().mean(dim=1)) - 0.01 * action.float()
        return previous, reward, self.state


class Replay:
    def __init__(self, cfg: Config):
        self.capacity = cfg.capacity
        self.state = torch.zeros(cfg.capacity, cfg.sensors, device=DEVICE)
        self.following = torch.zeros(cfg.capacity, cfg.sensors, device=DEVICE)
        self.action = torch.zeros(cfg.capacity, dtype=torch.long, device=DEVICE)
        self.reward = torch.zeros(cfg.capacity, device=DEVICE)
        self.position, self.size = 0, 0

    def add(self, state, action, reward, following):
        slots = (self.position + torch.arange(len(state), device=DEVICE)) % self.capacity
        self.state[slots], self.following[slots] = state, following
        self.action[slots], self.reward[slots] = action, reward
        self.position = (self.position + len(state)) % self.capacity
        self.size = min(self.size + len(state), self.capacity)

    def draw(self, n: int):
        rows = torch.randint(0, self.size, (n,), device=DEVICE)
        return self.state[rows], self.action[rows], self.reward[rows], self.following[rows]


class QNetwork(nn.Module):
    def __init__(self, cfg: Config):
        super().__init__()
        self.cfg = cfg
        self.encoder = nn.Sequential(nn.Linear(cfg.sensors, cfg.width), nn.LayerNorm(cfg.width), nn.SiLU(),
                                     nn.Linear(cfg.width, cfg.width), nn.SiLU())
        self.head = self.fresh_head()

    def fresh_head(self) -> nn.Module:
        c = self.cfg
        return nn.Sequential(nn.Linear(c.width, c.head_width), nn.SiLU(), nn.Linear(c.head_width, c.head_width), nn.SiLU(),
                             nn.Linear(c.head_width, c.actions * c.atoms))

    def forward(self, x):
        return self.head(self.encoder(x)).view(-1, self.cfg.actions, self.cfg.atoms)


class Grower:
    def __init__(self, cfg: Config):
        self.cfg = cfg
        self.online = QNetwork(cfg).to(DEVICE)
        self.target = copy.deepcopy(self.online).requires_grad_(False)
        self.optimizer = torch.optim.Adam(self.online.parameters(), lr=cfg.lr)
        self.support = torch.linspace(cfg.v_min, cfg.v_max, cfg.atoms, device=DEVICE)

    @torch.no_grad()
    def act(self, state, epsilon: float):
        values = (self.online(state).softmax(-1) * self.support).sum(-1)
        random = torch.randint(0, self.cfg.actions, (len(state),), device=DEVICE)
        return torch.where(torch.rand(len(state), device=DEVICE) < epsilon, random, values.argmax(1))

    @torch.no_grad()
    def project(self, reward, following):
        c = self.cfg
        probs = self.target(following).softmax(-1)
        best = (probs * self.support).sum(-1).argmax(1)
        probs = probs[torch.arange(len(best), device=DEVICE), best]
        shifted = (reward.unsqueeze(1) + c.gamma * self.support).clamp(c.v_min, c.v_max)
        position = (shifted - c.v_min) / (c.v_max - c.v_min) * (c.atoms - 1)
        weights = (1 - (position.unsqueeze(2) - torch.arange(c.atoms, device=DEVICE)).abs()).clamp(min=0)
        return (probs.unsqueeze(2) * weights).sum(1)

    def update(self, state, action, reward, following):
        wanted = self.project(reward, following)
        logits = self.online(state)[torch.arange(len(action), device=DEVICE), action]
        loss = F.cross_entropy(logits, wanted)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(self.online.parameters(), 10.0)
        self.optimizer.step()
        with torch.no_grad():
            for slow, fast in zip(self.target.parameters(), self.online.parameters()):
                slow.lerp_(fast, 0.01)
        return loss.detach()

    def reset_head(self):
        """Keep the encoder (and its moments), draw the head again and let the optimizer see the new weights."""
        self.online.head = self.online.fresh_head().to(DEVICE)
        self.target.head.load_state_dict(self.online.head.state_dict())
        self.optimizer.param_groups[0]["params"] = list(self.online.parameters())


def run_cycle(cfg: Config, house: Greenhouse, replay: Replay, grower: Grower, epsilon: float):
    total_loss = torch.zeros((), device=DEVICE)
    total_reward = torch.zeros((), device=DEVICE)
    for _ in range(cfg.updates_per_cycle):
        action = grower.act(house.state, epsilon)
        state, reward, following = house.step(action)
        replay.add(state, action, reward, following)
        total_reward += reward.mean()
        for _ in range(2):
            total_loss += grower.update(*replay.draw(cfg.batch))
    return total_loss.item() / (2 * cfg.updates_per_cycle), total_reward.item() / cfg.updates_per_cycle


def main():
    torch.manual_seed(0)
    cfg = Config()
    telemetry = Telemetry(cfg.cycles)
    house, replay, grower = Greenhouse(cfg), Replay(cfg), Grower(cfg)
    started = time.time()
    for cycle in range(cfg.cycles):
        epsilon = max(0.05, 1.0 - cycle / (0.5 * cfg.cycles))
        loss, reward = run_cycle(cfg, house, replay, grower, epsilon)
        if cycle % 4 == 0:
            print(f"cycle {cycle:3d}  loss {loss:.3f}  growth {reward:.3f}  epsilon {epsilon:.2f}  {time.time() - started:.1f} s")
        grower.reset_head()
        telemetry.mark()
    telemetry.report()


if __name__ == "__main__":
    main()
