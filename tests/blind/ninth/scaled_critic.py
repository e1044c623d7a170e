# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""PPO on a batched pendulum-like control problem.

Returns are normalised by a slowly moving scale that is learned from the spread
of the target critic's values.
"""
import copy
import logging
import os
import tempfile
import time
from dataclasses import dataclass

import torch
import torch.nn as nn
from torch.distributions import Normal

DEVICE = os.environ.get("DEVICE", "cuda")
SMOKE = DEVICE == "cpu"
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
log = logging.getLogger("ppo")


@dataclass
class Config:
    envs: int = 4 if SMOKE else 64
    horizon: int = 8 if SMOKE else 32
    obs: int = 24
    act: int = 6
    hidden: int = 32 if SMOKE else 384
    epochs: int = 2 if SMOKE else 4
    minibatches: int = 4
    updates: int = 70 if SMOKE else 420
    gamma: float = 0.99
    lam: float = 0.95
    clip: float = 0.2
    seconds: float = 17.0


def mlp(i, hidden, o):
    return nn.Sequential(nn.Linear(i, hidden), nn.ELU(), nn.Linear(hidden, hidden), nn.ELU(),
                         nn.Linear(hidden, hidden), nn.ELU(), nn.Linear(hidden, o))


class Plant:
    """Random stable linear system with a sine term; reward is minus the energy."""

    def __init__(self, cfg):
        gen = torch.Generator().manual_seed(4)
        a = torch.randn(cfg.obs, cfg.obs, generator=gen) / cfg.obs ** 0.5
        self.a = (0.9 * a / torch.linalg.matrix_norm(a, 2)).to(DEVICE)
        self.b = (torch.randn(cfg.act, cfg.obs, generator=gen) * 0.3).to(DEVICE)
        self.state = torch.randn(cfg.envs, cfg.obs, device=DEVICE)

    def step(self, action):
        noise = 0.2 * torch.randn_like(self.state)
        self.state = self.state @ self.a + action.tanh() @ self.b + 0.1 * self.state.sin() + noise
        return self.state, -(self.state ** 2).mean(-1) - 0.01 * (action ** 2).mean(-1)


class ScaledCritic:
    def __init__(self, cfg):
        self.net = mlp(cfg.obs, cfg.hidden, 1).to(DEVICE)
        self.target = copy.deepcopy(self.net)
        self.scale = torch.ones((), device=DEVICE)

    def bootstrap(self, obs):
        values = self.target(obs).squeeze(-1)
        self.scale = 0.98 * self.scale + 0.02 * values.std()
        return values.detach() * self.scale.item()

    @torch.no_grad()
    def track(self, tau=0.02):
        for t, p in zip(self.target.parameters(), self.net.parameters()):
            t.lerp_(p, tau)


class PPO:
    def __init__(self, cfg):
        self.cfg = cfg
        self.plant = Plant(cfg)
        self.actor = mlp(cfg.obs, cfg.hidden, cfg.act).to(DEVICE)
        self.log_std = nn.Parameter(torch.zeros(cfg.act, device=DEVICE))
        self.critic = ScaledCritic(cfg)
        params = [*self.actor.parameters(), self.log_std, *self.critic.net.parameters()]
        self.opt = torch.optim.Adam(params, lr=3e-4)
        self.params = params

    def policy(self, obs):
        return Normal(self.actor(obs), self.log_std.exp())

    @torch.no_grad()
    def rollout(self):
        c = self.cfg
        obs = torch.empty(c.horizon + 1, c.envs, c.obs, device=DEVICE)
        act = torch.empty(c.horizon, c.envs, c.act, device=DEVICE)
        rew, logp = (torch.empty(c.horizon, c.envs, device=DEVICE) for _ in range(2))
        obs[0] = self.plant.state
        for t in range(c.horizon):
            dist = self.policy(obs[t])
            act[t] = dist.sample()
            logp[t] = dist.log_prob(act[t]).sum(-1)
            obs[t + 1], rew[t] = self.plant.step(act[t])
        return obs, act, rew, logp

    def advantages(self, obs, rew):
        c = self.cfg
        values = self.critic.bootstrap(obs)
        adv, run = torch.empty_like(rew), torch.zeros(c.envs, device=DEVICE)
        for t in reversed(range(c.horizon)):
            delta = rew[t] + c.gamma * values[t + 1] - values[t]
            run = delta + c.gamma * c.lam * run
            adv[t] = run
        return adv, adv + values[:-1]

    def update(self):
        c = self.cfg
        obs, act, rew, logp = self.rollout()
        adv, ret = self.advantages(obs, rew)
        o, a, lp = obs[:-1].flatten(0, 1), act.flatten(0, 1), logp.flatten()
        adv, ret = adv.flatten(), ret.flatten() / max(1e-3, self.critic.scale.item())
        adv = (adv - adv.mean()) / (adv.std() + 1e-6)
        for _ in range(c.epochs):
            for idx in torch.randperm(len(o), device=DEVICE).chunk(c.minibatches):
                dist = self.policy(o[idx])
                ratio = (dist.log_prob(a[idx]).sum(-1) - lp[idx]).exp()
                gain = torch.min(ratio * adv[idx], ratio.clamp(1 - c.clip, 1 + c.clip) * adv[idx]).mean()
                miss = (self.critic.net(o[idx]).squeeze(-1) - ret[idx]).pow(2).mean()
                loss = -gain + 0.5 * miss - 1e-3 * dist.entropy().mean()
                self.opt.zero_grad(set_to_none=True)
                loss.backward()
                nn.utils.clip_grad_norm_(self.params, 0.5)
                self.opt.step()
        self.critic.track()
        return rew.mean().item(), loss.item()


def main():
    torch.manual_seed(0)
    cfg = Config()
    ppo = PPO(cfg)
    began = time.time()
    for n in range(cfg.updates):
        reward, loss = ppo.update()
        if n % 30 == 0:
            log.info("update %d reward %.4f loss %.4f scale %.4f", n, reward, loss, ppo.critic.scale.item())
        if n >= 60 and time.time() - began > cfg.seconds:
            break
    with tempfile.TemporaryDirectory() as folder:
        torch.save({"actor": ppo.actor.state_dict(), "critic": ppo.critic.net.state_dict()},
                   os.path.join(folder, "ppo.pt"))


if __name__ == "__main__":
    main()
