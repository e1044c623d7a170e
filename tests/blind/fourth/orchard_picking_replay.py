# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Learns a fruit picking arm in a vectorised orchard simulator: actor-critic updates on fresh rollouts, plus
self-imitation of the best episodes seen lately."""

import json
import os
import random
import sys
from collections import deque
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class Config:
    iterations: int = 10 if SMALL else 60
    horizon: int = 12 if SMALL else 300
    num_envs: int = 16 if SMALL else 512
    obs_dim: int = 24 if SMALL else 384
    act_dim: int = 4 if SMALL else 16
    hidden: int = 16 if SMALL else 512
    elite_per_rollout: int = 2
    elite_capacity: int = 8 if SMALL else 32
    updates: int = 2 if SMALL else 24
    minibatch: int = 32 if SMALL else 8192
    imitation_episodes: int = 4
    gamma: float = 0.98
    lr: float = 3e-4
    seed: int = 11


class OrchardSim:
    """Branches sway, the arm moves, and fruit is picked where the gripper comes close."""

    def __init__(self, cfg: Config):
        self.cfg = cfg
        gen = torch.Generator().manual_seed(cfg.seed)
        self.mix = (torch.randn(cfg.obs_dim, cfg.obs_dim, generator=gen) / cfg.obs_dim**0.5).to(DEVICE)
        self.push = (torch.randn(cfg.act_dim, cfg.obs_dim, generator=gen) / cfg.act_dim**0.5).to(DEVICE)
        self.goal = torch.randn(cfg.obs_dim, generator=gen).to(DEVICE)

    def reset(self):
        return torch.randn(self.cfg.num_envs, self.cfg.obs_dim, device=DEVICE)

    def step(self, obs, act):
        nxt = torch.tanh(0.9 * obs @ self.mix + 0.3 * act @ self.push)
        reward = -(nxt - self.goal).square().mean(-1) - 0.01 * act.square().mean(-1)
        return nxt, reward


class Policy(nn.Module):
    def __init__(self, cfg: Config):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(cfg.obs_dim, cfg.hidden), nn.ELU(), nn.Linear(cfg.hidden, cfg.hidden))
        self.mean = nn.Linear(cfg.hidden, cfg.act_dim)
        self.value = nn.Linear(cfg.hidden, 1)
        self.log_std = nn.Parameter(torch.full((cfg.act_dim,), -0.7))

    def forward(self, obs):
        h = F.elu(self.trunk(obs))
        return torch.distributions.Normal(self.mean(h), self.log_std.exp()), self.value(h).squeeze(-1)


@dataclass
class Rollout:
    obs: torch.Tensor
    act: torch.Tensor
    reward: torch.Tensor

    def returns(self, gamma):
        out = torch.zeros_like(self.reward)
        running = torch.zeros_like(self.reward[0])
        for t in reversed(range(self.reward.shape[0])):
            running = self.reward[t] + gamma * running
            out[t] = running
        return out


@dataclass
class Episode:
    obs: torch.Tensor
    act: torch.Tensor
    score: float


class EliteArchive:
    """The latest good episodes; the oldest one makes room for the newest."""

    def __init__(self, capacity: int):
        self.episodes = deque(maxlen=capacity)

    def add(self, rollout: Rollout, count: int):
        totals = rollout.reward.sum(0)
        best = totals.topk(count)
        for env, score in zip(best.indices.tolist(), best.values.tolist(), strict=True):
            self.episodes.append(Episode(rollout.obs[:, env], rollout.act[:, env], score))

    def sample(self, count: int):
        chosen = random.sample(list(self.episodes), min(count, len(self.episodes)))
        return torch.cat([e.obs for e in chosen]), torch.cat([e.act for e in chosen])

    def mean_score(self):
        return sum(e.score for e in self.episodes) / len(self.episodes)


@torch.no_grad()
def collect(sim: OrchardSim, policy: Policy, cfg: Config) -> Rollout:
    obs_buf = torch.empty(cfg.horizon, cfg.num_envs, cfg.obs_dim, device=DEVICE)
    act_buf = torch.empty(cfg.horizon, cfg.num_envs, cfg.act_dim, device=DEVICE)
    rew_buf = torch.empty(cfg.horizon, cfg.num_envs, device=DEVICE)
    obs = sim.reset()
    for t in range(cfg.horizon):
        dist, _ = policy(obs)
        act = dist.sample()
        obs_buf[t], act_buf[t] = obs, act
        obs, rew_buf[t] = sim.step(obs, act)
    return Rollout(obs_buf, act_buf, rew_buf)


def improve(policy: Policy, opt, rollout: Rollout, archive: EliteArchive, cfg: Config):
    returns = rollout.returns(cfg.gamma).flatten()
    flat_obs = rollout.obs.flatten(0, 1)
    flat_act = rollout.act.flatten(0, 1)
    total = 0.0
    for _ in range(cfg.updates):
        pick = torch.randint(0, returns.numel(), (cfg.minibatch,), device=DEVICE)
        dist, value = policy(flat_obs[pick])
        advantage = returns[pick] - value.detach()
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-6)
        actor = -(dist.log_prob(flat_act[pick]).sum(-1) * advantage).mean()
        critic = F.mse_loss(value, returns[pick])
        elite_obs, elite_act = archive.sample(cfg.imitation_episodes)
        elite_dist, _ = policy(elite_obs)
        imitation = -elite_dist.log_prob(elite_act).sum(-1).mean()
        loss = actor + 0.5 * critic + 0.05 * imitation
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
        opt.step()
        total += loss.item()
    opt.zero_grad()
    return total / cfg.updates


def main():
    cfg = Config()
    torch.manual_seed(cfg.seed)
    random.seed(cfg.seed)
    sim = OrchardSim(cfg)
    policy = Policy(cfg).to(DEVICE)
    opt = torch.optim.Adam(policy.parameters(), lr=cfg.lr)
    archive = EliteArchive(cfg.elite_capacity)
    allocated = []
    try:
        for iteration in range(cfg.iterations):
            rollout = collect(sim, policy, cfg)
            archive.add(rollout, cfg.elite_per_rollout)
            loss = improve(policy, opt, rollout, archive, cfg)
            del rollout
            allocated.append(torch.cuda.memory_allocated() if DEVICE.type == "cuda" else 0)
            if iteration % 10 == 0:
                print(f"iteration {iteration}: loss {loss:.3f}, archive score {archive.mean_score():.2f}")
    finally:
        print("TRUTH " + json.dumps({"allocated": allocated, "rounds": len(allocated)}), file=sys.stderr)


if __name__ == "__main__":
    main()
