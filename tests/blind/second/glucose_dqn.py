# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Insulin dosing as a control problem: recurrent double DQN over virtual patients."""
import copy
import json
import os
import random
import sys
import time
from collections import deque
from dataclasses import dataclass
from typing import NamedTuple

import torch
import torch.nn as nn
import torch.nn.functional as F

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class DosingConfig:
    patients: int = 4 if SMALL else 256
    minutes: int = 16 if SMALL else 288
    features: int = 6
    doses: int = 7
    hidden: int = 16 if SMALL else 512
    capacity: int = 6 if SMALL else 20
    warmup: int = 2 if SMALL else 4
    iterations: int = 20 if SMALL else 60
    updates: int = 2 if SMALL else 4
    batch: int = 4 if SMALL else 128
    window: int = 8 if SMALL else 48
    gamma: float = 0.98
    sync_every: int = 5
    lr: float = 3e-4
    sensor_latency: float = 0.05
    seed: int = 37


class Day(NamedTuple):
    """One simulated day of the whole cohort, kept on the device together with the network's state."""
    observation: torch.Tensor
    dose: torch.Tensor
    reward: torch.Tensor
    hidden: torch.Tensor


class Cohort:
    """A three-compartment glucose model with random meals; cheap enough to vectorise over patients."""

    def __init__(self, cfg):
        self.cfg = cfg
        gen = torch.Generator().manual_seed(cfg.seed)
        self.sensitivity = (0.6 + 0.8 * torch.rand(cfg.patients, generator=gen)).to(DEVICE)

    def reset(self):
        n = self.cfg.patients
        self.glucose = 5.5 + torch.rand(n, device=DEVICE)
        self.insulin, self.gut = torch.zeros(n, device=DEVICE), torch.zeros(n, device=DEVICE)
        self.trend = torch.zeros(n, device=DEVICE)
        return self.observe(0)

    def observe(self, minute):
        phase = torch.full_like(self.glucose, minute / self.cfg.minutes)
        noisy = self.glucose + 0.1 * torch.randn_like(self.glucose)
        return torch.stack([noisy / 10, self.insulin, self.gut, self.trend, phase, self.sensitivity], dim=1)

    def step(self, dose, minute):
        meal = (torch.rand_like(self.gut) < 0.015).float() * (1 + torch.rand_like(self.gut))
        self.gut = 0.94 * self.gut + meal
        self.insulin = 0.96 * self.insulin + 0.05 * dose
        before = self.glucose
        self.glucose = (before + 0.25 * self.gut - 0.3 * self.sensitivity * self.insulin + 0.02).clamp(1.5, 30)
        self.trend = self.glucose - before
        reward = 1 - (self.glucose - 6).abs().clamp(max=8) / 4 - (self.glucose < 3.9).float()
        return self.observe(minute + 1), reward


class RecurrentQ(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cell = nn.GRUCell(cfg.features, cfg.hidden)
        self.value = nn.Linear(cfg.hidden, 1)
        self.advantage = nn.Sequential(nn.Linear(cfg.hidden, cfg.hidden), nn.ReLU(), nn.Linear(cfg.hidden, cfg.doses))

    def forward(self, observation, hidden):
        hidden = self.cell(observation, hidden)
        advantage = self.advantage(hidden)
        return self.value(hidden) + advantage - advantage.mean(dim=1, keepdim=True), hidden

    def unroll(self, observations, hidden):
        values = []
        for observation in observations.unbind(0):
            q, hidden = self(observation, hidden)
            values.append(q)
        return torch.stack(values)


@torch.no_grad()
def simulate_day(cohort, net, epsilon, cfg):
    time.sleep(cfg.sensor_latency)
    observation = cohort.reset()
    hidden = torch.zeros(cfg.patients, cfg.hidden, device=DEVICE)
    observations, doses, rewards, hiddens = [observation], [], [], [hidden]
    for minute in range(cfg.minutes):
        q, hidden = net(observation, hidden)
        explore = torch.rand(cfg.patients, device=DEVICE) < epsilon
        dose = torch.where(explore, torch.randint(0, cfg.doses, (cfg.patients,), device=DEVICE), q.argmax(dim=1))
        observation, reward = cohort.step(dose.float(), minute)
        observations.append(observation)
        doses.append(dose)
        rewards.append(reward)
        hiddens.append(hidden)
    return Day(torch.stack(observations), torch.stack(doses), torch.stack(rewards), torch.stack(hiddens))


def draw(days, cfg):
    """Windows from one stored day, started from the hidden state recorded at the time."""
    day = random.choice(days)
    start = random.randrange(cfg.minutes - cfg.window + 1)
    rows = torch.randint(0, cfg.patients, (cfg.batch,), device=DEVICE)
    stop = start + cfg.window
    return (day.observation[start: stop + 1, rows], day.dose[start:stop, rows], day.reward[start:stop, rows],
            day.hidden[start, rows])


def update(net, target, optimizer, days, cfg):
    observation, dose, reward, hidden = draw(days, cfg)
    q = net.unroll(observation, hidden)
    with torch.no_grad():
        best = q[1:].argmax(dim=2, keepdim=True)
        future = target.unroll(observation, hidden)[1:].gather(2, best).squeeze(2)
    taken = q[:-1].gather(2, dose.unsqueeze(2)).squeeze(2)
    loss = F.smooth_l1_loss(taken, reward + cfg.gamma * future)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 5.0)
    optimizer.step()
    return loss.item()


def main():
    cfg = DosingConfig()
    torch.manual_seed(cfg.seed)
    random.seed(cfg.seed)
    cohort, net = Cohort(cfg), RecurrentQ(cfg).to(DEVICE)
    target = copy.deepcopy(net).requires_grad_(False)
    optimizer = torch.optim.Adam(net.parameters(), lr=cfg.lr)
    days, in_range, allocated = deque(maxlen=cfg.capacity), [], []

    for iteration in range(cfg.iterations):
        epsilon = max(0.05, 1.0 - iteration / (0.5 * cfg.iterations))
        day = simulate_day(cohort, net, epsilon, cfg)
        days.append(day)
        glucose = day.observation[..., 0] * 10
        in_range.append(((glucose > 3.9) & (glucose < 10)).float().mean().item())
        if iteration >= cfg.warmup:
            losses = [update(net, target, optimizer, days, cfg) for _ in range(cfg.updates)]
            if iteration % cfg.sync_every == 0:
                target.load_state_dict(net.state_dict())
                print(f"day {iteration:3d} epsilon {epsilon:.2f} in range {in_range[-1]:.3f} "
                      f"loss {sum(losses) / len(losses):.4f} stored {len(days)}")
        allocated.append(torch.cuda.memory_allocated())

    print(f"time in range: first {in_range[0]:.3f}, last {in_range[-1]:.3f}, best {max(in_range):.3f}")
    print("TRUTH " + json.dumps({"allocated": allocated, "rounds": cfg.iterations,
                                 "peak": torch.cuda.max_memory_allocated()}), file=sys.stderr)


if __name__ == "__main__":
    main()
