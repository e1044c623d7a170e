# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""TD3 on a toy quadruped with periodic resets of the critics' upper layers against the primacy bias."""
import copy
import json
import os
import sys
import time
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class AgentConfig:
    obs: int = 48
    act: int = 12
    hidden: int = 32 if SMALL else 2048
    envs: int = 8 if SMALL else 256
    horizon: int = 20
    capacity: int = 2_000 if SMALL else 400_000
    batch: int = 16 if SMALL else 2048
    updates: int = 24 if SMALL else 960
    reset_every: int = 4 if SMALL else 30
    policy_delay: int = 2
    gamma: float = 0.98
    tau: float = 0.01
    noise: float = 0.2
    lr: float = 3e-4
    simulator_latency: float = 0.006
    seed: int = 13


class Walkers:
    """Coupled oscillators driven by the actions; the reward is forward speed minus effort."""

    def __init__(self, cfg):
        self.cfg = cfg
        gen = torch.Generator().manual_seed(cfg.seed)
        self.coupling = (0.15 * torch.randn(cfg.obs, cfg.obs, generator=gen) / cfg.obs ** 0.5).to(DEVICE)
        self.drive = (torch.randn(cfg.act, cfg.obs, generator=gen) / cfg.act ** 0.5).to(DEVICE)
        self.gait = torch.sin(torch.arange(cfg.obs, dtype=torch.float32)).to(DEVICE)
        self.reset()

    def reset(self):
        self.state = 0.1 * torch.randn(self.cfg.envs, self.cfg.obs, device=DEVICE)
        self.age = 0
        return self.state

    def step(self, action):
        time.sleep(self.cfg.simulator_latency)
        state = torch.tanh(0.9 * self.state + self.state @ self.coupling + 0.3 * action @ self.drive)
        reward = (state * self.gait).mean(dim=1) - 0.01 * action.pow(2).sum(dim=1)
        self.state, self.age = state, self.age + 1
        done = self.age >= self.cfg.horizon
        if done:
            self.reset()
        return state, reward, float(done)


class Replay:
    def __init__(self, cfg):
        self.cfg, self.size, self.head = cfg, 0, 0
        self.obs = torch.zeros(cfg.capacity, cfg.obs, device=DEVICE)
        self.next_obs = torch.zeros(cfg.capacity, cfg.obs, device=DEVICE)
        self.act = torch.zeros(cfg.capacity, cfg.act, device=DEVICE)
        self.extra = torch.zeros(cfg.capacity, 2, device=DEVICE)

    def add(self, obs, act, reward, next_obs, done):
        rows = (torch.arange(len(obs)) + self.head) % self.cfg.capacity
        rows = rows.to(DEVICE)
        self.obs[rows], self.act[rows], self.next_obs[rows] = obs, act, next_obs
        self.extra[rows] = torch.stack([reward, torch.full_like(reward, done)], dim=1)
        self.head = (self.head + len(obs)) % self.cfg.capacity
        self.size = min(self.size + len(obs), self.cfg.capacity)

    def sample(self):
        rows = torch.randint(0, self.size, (self.cfg.batch,), device=DEVICE)
        return self.obs[rows], self.act[rows], self.next_obs[rows], *self.extra[rows].unbind(dim=1)


class Critic(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.hidden = cfg.hidden
        self.trunk = nn.Sequential(nn.Linear(cfg.obs + cfg.act, cfg.hidden), nn.LayerNorm(cfg.hidden), nn.ReLU())
        self.top = self.fresh_top()

    def fresh_top(self):
        return nn.Sequential(nn.Linear(self.hidden, self.hidden), nn.ReLU(), nn.Linear(self.hidden, 1))

    def forward(self, obs, act):
        return self.top(self.trunk(torch.cat([obs, act], dim=1))).squeeze(-1)


class TD3:
    def __init__(self, cfg):
        self.cfg = cfg
        h = cfg.hidden // 4
        self.actor = nn.Sequential(nn.Linear(cfg.obs, h), nn.ReLU(), nn.Linear(h, h), nn.ReLU(),
                                   nn.Linear(h, cfg.act), nn.Tanh()).to(DEVICE)
        self.critics = nn.ModuleList(Critic(cfg) for _ in range(2)).to(DEVICE)
        self.actor_target, self.critics_target = copy.deepcopy(self.actor), copy.deepcopy(self.critics)
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=cfg.lr)
        self.critic_opt = torch.optim.Adam(self.critics.parameters(), lr=cfg.lr)
        self.updates = self.resets = 0

    @torch.no_grad()
    def act(self, obs):
        action = self.actor(obs)
        return (action + self.cfg.noise * torch.randn_like(action)).clamp(-1, 1)

    def reset_tops(self):
        """Fresh upper layers for critics and targets; the trunks and the replay data are kept."""
        for critic, target in zip(self.critics, self.critics_target):
            critic.top = critic.fresh_top().to(DEVICE)
            target.top = copy.deepcopy(critic.top)
            self.critic_opt.add_param_group({"params": critic.top.parameters()})
        self.resets += 1

    def update(self, batch):
        obs, act, next_obs, reward, done = batch
        with torch.no_grad():
            jitter = (0.1 * torch.randn_like(act)).clamp(-0.25, 0.25)
            next_act = (self.actor_target(next_obs) + jitter).clamp(-1, 1)
            value = torch.minimum(*[critic(next_obs, next_act) for critic in self.critics_target])
            target = reward + self.cfg.gamma * (1 - done) * value
        critic_loss = sum(F.mse_loss(critic(obs, act), target) for critic in self.critics)
        self.critic_opt.zero_grad(set_to_none=True)
        critic_loss.backward()
        self.critic_opt.step()

        self.updates += 1
        if self.updates % self.cfg.policy_delay == 0:
            actor_loss = -self.critics[0](obs, self.actor(obs)).mean()
            self.actor_opt.zero_grad(set_to_none=True)
            actor_loss.backward()
            self.actor_opt.step()
            with torch.no_grad():
                for net, slow in ((self.actor, self.actor_target), (self.critics, self.critics_target)):
                    for p, q in zip(net.parameters(), slow.parameters()):
                        q.lerp_(p, self.cfg.tau)
        return critic_loss.item()


def main():
    cfg = AgentConfig()
    torch.manual_seed(cfg.seed)
    walkers, replay, agent = Walkers(cfg), Replay(cfg), TD3(cfg)
    obs, allocated, losses, rewards = walkers.reset(), [], [], []
    for update in range(1, cfg.updates + 1):
        action = agent.act(obs)
        next_obs, reward, done = walkers.step(action)
        replay.add(obs, action, reward, next_obs, done)
        obs = walkers.state
        losses.append(agent.update(replay.sample()))
        rewards.append(reward.mean().item())
        if update % cfg.reset_every == 0:
            n = cfg.reset_every
            print(f"update {update:4d} resets {agent.resets:2d} reward {sum(rewards[-n:]) / n:+.3f} "
                  f"critic {sum(losses[-n:]) / n:.4f} replay {replay.size}")
            allocated.append(torch.cuda.memory_allocated())
            if update < cfg.updates:
                agent.reset_tops()

    print(f"best mean reward {max(rewards):+.3f} after {agent.resets} resets")
    print("TRUTH " + json.dumps({"allocated": allocated, "rounds": agent.resets,
                                 "peak": torch.cuda.max_memory_allocated()}), file=sys.stderr)


if __name__ == "__main__":
    main()
