# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Trains a hover controller with policy gradients in a batched simulator on the GPU.

After each policy update the controller flies through a gust front as a stress test; flights that leave the envelope are
written down, and a summary of them is printed at the end.
"""

import collections
import json
import os
import sys
from dataclasses import dataclass

import torch
from torch import nn

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
SMALL = os.environ.get("SMALL") == "1"


@dataclass
class HoverConfig:
    vehicles: int = 8192
    horizon: int = 128
    axes: int = 8
    sensors: int = 32
    hidden: int = 256
    iterations: int = 40
    update_passes: int = 4
    minibatches: int = 4
    gamma: float = 0.98
    clip: float = 0.2
    learning_rate: float = 3e-4
    dt: float = 0.05
    gust: float = 8.0
    envelope: float = 50.0
    seed: int = 5


def make_config():
    if SMALL:
        return HoverConfig(vehicles=64, horizon=32, hidden=32, iterations=6, update_passes=1, gust=150.0)
    return HoverConfig()


class EnvelopeExceeded(RuntimeError):
    def __init__(self, scenario, step, share):
        super().__init__(f"{scenario}: {share:.0%} of the vehicles outside the envelope at step {step}")
        self.step = step


class HoverSimulator:
    """Point masses with drag that are to stay at the origin; observations come from a fixed sensor mix."""

    def __init__(self, cfg):
        self.cfg = cfg
        self.mix = torch.randn(2 * cfg.axes, cfg.sensors, device=DEVICE) / (2 * cfg.axes) ** 0.5
        self.reset("calm")

    def reset(self, scenario):
        cfg = self.cfg
        self.scenario = scenario
        self.wind = cfg.gust if scenario == "gust front" else 0.0
        self.clock = 0
        self.position = torch.randn(cfg.vehicles, cfg.axes, device=DEVICE)
        self.velocity = 0.1 * torch.randn(cfg.vehicles, cfg.axes, device=DEVICE)
        return self.observe()

    def observe(self):
        return torch.cat([self.position, self.velocity], dim=1) @ self.mix

    def step(self, action):
        cfg = self.cfg
        self.clock += 1
        push = 4.0 * action.tanh() + self.wind * self.clock * cfg.dt
        self.velocity = 0.98 * self.velocity + cfg.dt * push
        self.position = self.position + cfg.dt * self.velocity
        reward = -self.position.square().mean(dim=1) - 0.05 * action.square().mean(dim=1)
        if self.clock % 8 == 0:
            if (share := (self.position.abs().amax(dim=1) > cfg.envelope).float().mean().item()) > 0.5:
                raise EnvelopeExceeded(self.scenario, self.clock, share)
        return self.observe(), reward.clamp(min=-20.0)


class HoverPolicy(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        layers = [nn.Linear(cfg.sensors, cfg.hidden), nn.Tanh(), nn.Linear(cfg.hidden, cfg.hidden), nn.Tanh()]
        self.trunk = nn.Sequential(*layers)
        self.mean, self.value = nn.Linear(cfg.hidden, cfg.axes), nn.Linear(cfg.hidden, 1)
        self.log_std = nn.Parameter(torch.full((cfg.axes,), -0.5))

    def forward(self, observation):
        features = self.trunk(observation)
        return torch.distributions.Normal(self.mean(features), self.log_std.exp()), self.value(features).squeeze(-1)


Flight = collections.namedtuple("Flight", "observations actions log_probs values rewards")


class FlightRecorder:
    """Flies all vehicles for one horizon and returns what the policy update needs."""

    def __init__(self, simulator, policy, cfg):
        self.simulator = simulator
        self.policy, self.cfg = policy, cfg

    @torch.no_grad()
    def fly(self, scenario):
        cfg = self.cfg
        shape = (cfg.horizon, cfg.vehicles)
        observations = torch.zeros(*shape, cfg.sensors, device=DEVICE)
        actions = torch.zeros(*shape, cfg.axes, device=DEVICE)
        log_probs, values, rewards = torch.zeros(3, *shape, device=DEVICE)
        observation = self.simulator.reset(scenario)
        for t in range(cfg.horizon):
            normal, value = self.policy(observation)
            action = normal.sample()
            observations[t], actions[t], values[t] = observation, action, value
            log_probs[t] = normal.log_prob(action).sum(dim=-1)
            observation, rewards[t] = self.simulator.step(action)
        return Flight(observations, actions, log_probs, values, rewards)


Incident = collections.namedtuple("Incident", "iteration cause")


class SafetyReport:
    """What went wrong in the stress tests, for the certification table."""

    def __init__(self):
        self.incidents = []

    def add(self, iteration, cause):
        self.incidents.append(Incident(iteration, cause))

    def table(self):
        steps = [incident.cause.step for incident in self.incidents] or [0]
        kinds = collections.Counter(type(incident.cause).__name__ for incident in self.incidents)
        return f"{dict(kinds)}, first exit after {min(steps)} to {max(steps)} steps"


class PolicyUpdater:
    def __init__(self, policy, cfg):
        self.policy, self.cfg = policy, cfg
        self.optimizer = torch.optim.Adam(policy.parameters(), lr=cfg.learning_rate)

    def returns(self, rewards):
        discounted = rewards.clone()
        for t in reversed(range(len(rewards) - 1)):
            discounted[t] += self.cfg.gamma * discounted[t + 1]
        return discounted

    def update(self, flight):
        targets = self.returns(flight.rewards)
        advantage = targets - flight.values
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-6)
        for _ in range(self.cfg.update_passes):
            for rows in torch.randperm(len(targets), device=DEVICE).chunk(self.cfg.minibatches):
                normal, value = self.policy(flight.observations[rows])
                log_prob = normal.log_prob(flight.actions[rows]).sum(dim=-1)
                ratio = (log_prob - flight.log_probs[rows]).exp()
                clipped = ratio.clamp(1 - self.cfg.clip, 1 + self.cfg.clip) * advantage[rows]
                gain = torch.minimum(ratio * advantage[rows], clipped).mean()
                loss = 0.01 * (value - targets[rows]).square().mean() - gain
                self.optimizer.zero_grad(set_to_none=True)
                loss.backward()
                self.optimizer.step()
        return flight.rewards.mean().item()


def stress_test(recorder, report, iteration):
    try:
        return recorder.fly("gust front").rewards.mean().item()
    except EnvelopeExceeded as exceeded:
        report.add(iteration, exceeded)


def main():
    cfg = make_config()
    torch.manual_seed(cfg.seed)
    allocated = []
    try:
        policy = HoverPolicy(cfg).to(DEVICE)
        recorder = FlightRecorder(HoverSimulator(cfg), policy, cfg)
        updater = PolicyUpdater(policy, cfg)
        report = SafetyReport()
        for iteration in range(cfg.iterations):
            reward = updater.update(recorder.fly("calm"))
            gust_reward = stress_test(recorder, report, iteration)
            allocated.append(torch.cuda.memory_allocated() if DEVICE == "cuda" else 0)
            print(f"iteration {iteration}: calm {reward:.3f}, gust front {gust_reward}")
        print(report.table())
    finally:
        print("TRUTH " + json.dumps({"allocated": allocated, "rounds": len(allocated)}), file=sys.stderr)


if __name__ == "__main__":
    main()
