# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Learns to dispatch elevators in simulated towers with double Q-learning from recent experience."""

import copy
import json
import os
import sys
from collections import deque
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class DispatchConfig:
    towers: int = 32 if SMALL else 4096
    floors: int = 8 if SMALL else 48
    cars: int = 2 if SMALL else 6
    segment_steps: int = 4 if SMALL else 16
    kept_segments: int = 8 if SMALL else 56
    rounds: int = 12 if SMALL else 80
    gradient_steps: int = 2 if SMALL else 24
    batch_size: int = 16 if SMALL else 4096
    segments_per_batch: int = 2 if SMALL else 4
    hidden: int = 32 if SMALL else 768
    gamma: float = 0.97
    target_rate: float = 0.01
    epsilon_start: float = 1.0
    epsilon_end: float = 0.05
    arrival_rate: float = 0.04
    learning_rate: float = 2e-4
    seed: int = 17

    @property
    def obs_dim(self) -> int:
        return self.floors * (2 + self.cars)


@dataclass
class Segment:
    """A stretch of play of all towers: observations have one step more than the actions."""

    obs: torch.Tensor
    actions: torch.Tensor
    rewards: torch.Tensor


class TowerSimulator:
    def __init__(self, cfg: DispatchConfig, device: torch.device):
        self.cfg = cfg
        self.waiting = torch.zeros(cfg.towers, 2, cfg.floors, device=device)
        self.position = torch.zeros(cfg.towers, cfg.cars, dtype=torch.long, device=device)
        self.next_car = 0

    def observe(self) -> torch.Tensor:
        cars = F.one_hot(self.position, self.cfg.floors).float()
        return torch.cat([self.waiting, cars], dim=1).flatten(1)

    def step(self, floor: torch.Tensor) -> torch.Tensor:
        """Sends the next car of each tower to a floor, where everybody boards."""
        cfg = self.cfg
        distance = (floor - self.position[:, self.next_car]).abs().float() / cfg.floors
        index = floor.view(-1, 1, 1).expand(-1, 2, 1)
        boarded = self.waiting.gather(2, index).sum(dim=(1, 2))
        self.waiting.scatter_(2, index, 0.0)
        self.waiting += (torch.rand_like(self.waiting) < cfg.arrival_rate).float()
        self.waiting.clamp_(max=4.0)
        self.position[:, self.next_car] = floor
        self.next_car = (self.next_car + 1) % cfg.cars
        return boarded - distance - 0.01 * self.waiting.sum(dim=(1, 2))


class DispatchNet(nn.Module):
    """Dueling value network over the floors a car may be sent to."""

    def __init__(self, cfg: DispatchConfig):
        super().__init__()
        self.trunk = nn.Sequential(
            nn.Linear(cfg.obs_dim, cfg.hidden), nn.ReLU(), nn.Linear(cfg.hidden, cfg.hidden), nn.ReLU()
        )
        self.value = nn.Linear(cfg.hidden, 1)
        self.advantage = nn.Linear(cfg.hidden, cfg.floors)

    def forward(self, obs):
        hidden = self.trunk(obs)
        advantage = self.advantage(hidden)
        return self.value(hidden) + advantage - advantage.mean(dim=-1, keepdim=True)


class Experience:
    def __init__(self, cfg: DispatchConfig):
        self.cfg = cfg
        self.segments: deque[Segment] = deque(maxlen=cfg.kept_segments)

    def add(self, segment: Segment) -> None:
        self.segments.append(segment)

    def sample(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
        cfg = self.cfg
        share = cfg.batch_size // cfg.segments_per_batch
        parts = []
        for pick in torch.randint(len(self.segments), (cfg.segments_per_batch,)).tolist():
            segment = self.segments[pick]
            device = segment.obs.device
            t = torch.randint(cfg.segment_steps, (share,), device=device)
            tower = torch.randint(cfg.towers, (share,), device=device)
            parts.append(
                (segment.obs[t, tower], segment.actions[t, tower], segment.rewards[t, tower], segment.obs[t + 1, tower])
            )
        obs, actions, rewards, following = (torch.cat(column) for column in zip(*parts))
        return obs, actions, rewards, following


class DispatchAgent:
    def __init__(self, cfg: DispatchConfig, device: torch.device):
        self.cfg = cfg
        self.simulator = TowerSimulator(cfg, device)
        self.online = DispatchNet(cfg).to(device)
        self.target = copy.deepcopy(self.online).requires_grad_(False)
        self.optimizer = torch.optim.Adam(self.online.parameters(), lr=cfg.learning_rate)
        self.experience = Experience(cfg)

    @torch.no_grad()
    def play(self, epsilon: float) -> Segment:
        cfg = self.cfg
        obs, actions, rewards = [self.simulator.observe()], [], []
        for _ in range(cfg.segment_steps):
            greedy = self.online(obs[-1]).argmax(dim=-1)
            explore = torch.rand(cfg.towers, device=greedy.device) < epsilon
            action = torch.where(explore, torch.randint_like(greedy, cfg.floors), greedy)
            actions.append(action)
            rewards.append(self.simulator.step(action))
            obs.append(self.simulator.observe())
        return Segment(torch.stack(obs), torch.stack(actions), torch.stack(rewards))

    @torch.no_grad()
    def follow_online(self) -> None:
        targets, sources = list(self.target.parameters()), list(self.online.parameters())
        torch._foreach_lerp_(targets, sources, self.cfg.target_rate)

    def learn(self) -> torch.Tensor:
        obs, actions, rewards, following = self.experience.sample()
        with torch.no_grad():
            best = self.online(following).argmax(dim=-1, keepdim=True)
            goal = rewards + self.cfg.gamma * self.target(following).gather(1, best).squeeze(1)
        chosen = self.online(obs).gather(1, actions.unsqueeze(1)).squeeze(1)
        loss = F.smooth_l1_loss(chosen, goal)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        self.follow_online()
        return loss.detach()

    def run_round(self, progress: float) -> tuple[float, float]:
        cfg = self.cfg
        epsilon = cfg.epsilon_start + (cfg.epsilon_end - cfg.epsilon_start) * progress
        segment = self.play(epsilon)
        self.experience.add(segment)
        losses = [self.learn() for _ in range(cfg.gradient_steps)]
        return segment.rewards.mean().item(), torch.stack(losses).mean().item()


def main() -> None:
    cfg = DispatchConfig()
    torch.manual_seed(cfg.seed)
    allocated: list[int] = []
    try:
        agent = DispatchAgent(cfg, DEVICE)
        for round_number in range(cfg.rounds):
            reward, loss = agent.run_round(round_number / cfg.rounds)
            allocated.append(torch.cuda.memory_allocated())
            if (round_number + 1) % 10 == 0:
                print(f"round {round_number + 1}: reward {reward:.3f}, loss {loss:.4f}")
    finally:
        print("TRUTH " + json.dumps({"allocated": allocated, "rounds": len(allocated)}), file=sys.stderr)


if __name__ == "__main__":
    main()
