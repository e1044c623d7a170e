# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Trains a dynamics ensemble for a legged manipulator and plans with it.

A simulated fleet walks over a curriculum of terrains. In every iteration earlier and current policies collect an
episode, dynamics models are fitted to the stored episodes, and the policy imitates the cross-entropy planner.
"""
import copy
import json
import os
import random
import sys
from collections import deque, namedtuple
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class FleetConfig:
    iterations: int = 48
    robots: int = 2048
    horizon: int = 50
    observation: int = 64
    action: int = 12
    hidden: int = 512
    members: int = 5
    episodes: int = 20
    past_policies: int = 5
    keep_policy_every: int = 3
    terrains: int = 12
    terrain_side: int = 2048
    fits: int = 30
    fit_batch: int = 16384
    candidates: int = 4096
    plan: tuple = (12, 4)
    device: str = "cuda" if torch.cuda.is_available() else "cpu"

    @classmethod
    def from_environment(cls):
        if os.environ.get("SMALL") == "1":
            return cls(16, 16, 6, 16, 4, 32, members=2, episodes=6, past_policies=3, keep_policy_every=2, terrains=4,
                       terrain_side=64, fits=2, fit_batch=64, candidates=32, plan=(3, 2))
        return cls()


Episode = namedtuple("Episode", "observations actions rewards")


class TerrainLibrary:
    """Height fields of the curriculum; building one takes long, and every terrain comes back."""

    def __init__(self, config):
        self.config = config
        self.heights = {}

    def get(self, number):
        if number not in self.heights:
            generator = torch.Generator(device=self.config.device).manual_seed(number)
            field = torch.zeros(1, 1, self.config.terrain_side, self.config.terrain_side, device=self.config.device)
            for octave in range(1, 5):
                size = (1, 1, 2 ** (octave + 1), 2 ** (octave + 1))
                coarse = torch.randn(size, device=self.config.device, generator=generator)
                field += F.interpolate(coarse, size=field.shape[-2:], mode="bicubic") / 2 ** octave
            self.heights[number] = field[0, 0]
        return self.heights[number]


class FleetSimulator:
    def __init__(self, config):
        self.config = config
        self.terrains = TerrainLibrary(config)
        self.drift = torch.randn(config.observation, config.observation, device=config.device) / config.observation
        self.push = torch.randn(config.action, config.observation, device=config.device) / config.action

    def reset(self, terrain):
        self.height = self.terrains.get(terrain)
        self.position = torch.rand(self.config.robots, 2, device=self.config.device)
        self.state = torch.randn(self.config.robots, self.config.observation, device=self.config.device)

    def step(self, action):
        self.position = (self.position + 0.01 * action[:, :2]) % 1.0
        cell = (self.position * (len(self.height) - 1)).long()
        self.state = torch.tanh(self.state + self.state @ self.drift + action @ self.push
                                + 0.05 * self.height[cell[:, 0], cell[:, 1]].unsqueeze(1))
        return self.state[:, 0] - 0.01 * action.square().sum(dim=1)


class EpisodeStore:
    def __init__(self, config):
        self.config = config
        self.episodes = deque(maxlen=config.episodes)

    def transitions(self, count):
        share = count // len(self.episodes) + 1
        parts = []
        for episode in self.episodes:
            steps, robots = (torch.randint(limit, (share,), device=self.config.device)
                             for limit in (self.config.horizon - 1, self.config.robots))
            parts.append((episode.observations[steps, robots], episode.actions[steps, robots],
                          episode.observations[steps + 1, robots], episode.rewards[steps, robots]))
        return [torch.cat(column)[:count] for column in zip(*parts)]


def perceptron(inputs, hidden, outputs):
    layers = [nn.Linear(inputs, hidden), nn.ELU(), nn.Linear(hidden, hidden), nn.ELU(), nn.Linear(hidden, outputs)]
    return nn.Sequential(*layers)


class DynamicsEnsemble(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.members = nn.ModuleList(perceptron(config.observation + config.action, config.hidden,
                                                config.observation + 1) for _ in range(config.members))

    def forward(self, observation, action):
        return torch.stack([member(torch.cat([observation, action], dim=-1)) for member in self.members])


class Trainer:
    def __init__(self, config):
        self.config, self.simulator = config, FleetSimulator(config)
        self.store = EpisodeStore(config)
        self.ensemble = DynamicsEnsemble(config).to(config.device)
        self.policy = perceptron(config.observation, config.hidden, config.action).to(config.device)
        self.past = deque(maxlen=config.past_policies)
        self.dynamics_optimizer = torch.optim.Adam(self.ensemble.parameters(), lr=1e-3)
        self.policy_optimizer = torch.optim.Adam(self.policy.parameters(), lr=3e-4)
        self.fit_curve, self.random = [], random.Random(5)

    @torch.no_grad()
    def collect(self, iteration):
        policies = [self.policy, *self.past]
        self.simulator.reset(iteration % self.config.terrains)
        observations, actions, rewards = [], [], []
        for _ in range(self.config.horizon):
            observations.append(self.simulator.state)
            action = torch.tanh(self.random.choice(policies)(self.simulator.state))
            actions.append(action + 0.1 * torch.randn_like(action))
            rewards.append(self.simulator.step(actions[-1]))
        self.store.episodes.append(Episode(torch.stack(observations), torch.stack(actions), torch.stack(rewards)))

    def fit(self):
        for _ in range(self.config.fits):
            observation, action, following, reward = self.store.transitions(self.config.fit_batch)
            target = torch.cat([following - observation, reward.unsqueeze(1)], dim=1)
            loss = F.mse_loss(self.ensemble(observation, action), target.expand(self.config.members, -1, -1))
            self.dynamics_optimizer.zero_grad()
            loss.backward()
            self.dynamics_optimizer.step()
        self.fit_curve.append(loss.item())

    @torch.no_grad()
    def plan(self, start):
        config, (steps, rounds) = self.config, self.config.plan
        mean, spread = torch.zeros(steps, config.action, device=config.device), 1.0
        for _ in range(rounds):
            plans = mean + spread * torch.randn(config.candidates, *mean.shape, device=config.device)
            state, total = start.expand(config.candidates, -1), 0.0
            for step in range(steps):
                prediction = self.ensemble(state, plans[:, step].tanh()).mean(dim=0)
                state, total = state + prediction[:, :-1], total + prediction[:, -1]
            spread, mean = torch.std_mean(plans[total.topk(config.candidates // 16).indices], dim=0)
        return mean[0].tanh(), total.max().item()

    def improve_policy(self):
        starts = self.store.episodes[-1].observations[0, :4]
        planned = [self.plan(start) for start in starts]
        loss = F.mse_loss(torch.tanh(self.policy(starts)), torch.stack([action for action, _ in planned]))
        self.policy_optimizer.zero_grad()
        loss.backward()
        self.policy_optimizer.step()
        return sum(value for _, value in planned) / len(planned)

    def iterate(self, iteration):
        self.collect(iteration)
        self.fit()
        if iteration % self.config.keep_policy_every == 0:
            self.past.append(copy.deepcopy(self.policy).requires_grad_(False))
        return self.improve_policy()


def main():
    torch.manual_seed(5)
    config = FleetConfig.from_environment()
    trainer, allocated = Trainer(config), []
    try:
        for iteration in range(config.iterations):
            planned_return = trainer.iterate(iteration)
            allocated.append(torch.cuda.memory_allocated() if torch.cuda.is_available() else 0)
            if iteration % 8 == 7:
                print(f"{iteration + 1}: fit {trainer.fit_curve[-1]:.5f} planned return {planned_return:.3f}")
    finally:
        print("TRUTH " + json.dumps({"allocated": allocated, "rounds": len(allocated)}), file=sys.stderr)


if __name__ == "__main__":
    main()
