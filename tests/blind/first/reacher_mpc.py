# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Model-based control: probabilistic ensemble + random-shooting planner.

An ensemble of dynamics models is trained with torch.func (stacked parameters, vmap), and every episode is started
with one large plan that is imagined with all members.  The simulator is a cheap analytic arm on the host.
"""
import gc
import json
import os
import sys
import time
from collections import deque
from dataclasses import dataclass

import torch
import torch.nn as nn
from torch.func import functional_call, stack_module_state, vmap

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class Config:
    members: int = 5
    obs: int = 40
    act: int = 8
    width: int = 32 if SMALL else 512
    horizon: int = 6 if SMALL else 20
    particles: int = 32 if SMALL else 8192
    episodes: int = 40 if SMALL else 90
    updates: int = 2 if SMALL else 6
    batch: int = 64 if SMALL else 16384
    memory: int = 512 if SMALL else 1_000_000
    per_episode: int = 16 if SMALL else 1000
    control_hz: float = 0 if SMALL else 20.0
    seed: int = 2


class Dynamics(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(cfg.obs + cfg.act, cfg.width), nn.SiLU(),
                                  nn.Linear(cfg.width, cfg.width), nn.SiLU(),
                                  nn.Linear(cfg.width, cfg.width), nn.SiLU(),
                                  nn.Linear(cfg.width, cfg.obs))

    def forward(self, x):
        return self.body(x)


class Ensemble:
    def __init__(self, cfg):
        nets = [Dynamics(cfg).to(DEVICE) for _ in range(cfg.members)]
        params, self.buffers = stack_module_state(nets)
        self.params = {k: v.detach().requires_grad_() for k, v in params.items()}
        self.template = nets[0].to("meta")
        self.optimizer = torch.optim.Adam(self.params.values(), lr=1e-3)
        self._run = vmap(self._single, in_dims=(0, 0, 0))

    def _single(self, params, buffers, x):
        return functional_call(self.template, (params, buffers), (x,))

    def __call__(self, x):
        return self._run(self.params, self.buffers, x)

    def fit(self, x, y):
        loss = (self(x) - y).square().mean()
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        return loss.item()


class TransitionMemory:
    def __init__(self, cfg):
        self.size, self.filled, self.head = cfg.memory, 0, 0
        self.inputs = torch.zeros(cfg.memory, cfg.obs + cfg.act, device=DEVICE)
        self.deltas = torch.zeros(cfg.memory, cfg.obs, device=DEVICE)

    def add(self, inputs, deltas):
        at = (self.head + torch.arange(len(inputs), device=DEVICE)) % self.size
        self.inputs[at], self.deltas[at] = inputs, deltas
        self.head = (self.head + len(inputs)) % self.size
        self.filled = min(self.size, self.filled + len(inputs))

    def draw(self, members, n):
        at = torch.randint(self.filled, (members, n), device=DEVICE)
        return self.inputs[at], self.deltas[at]


class Plan:
    """Imagined futures of all action sequences, with several ways of ranking them."""

    def __init__(self, states, actions):
        self.states, self.actions = states, actions
        self.rankers = {"mean": self.by_mean, "cautious": self.by_quantile}

    def reward(self):
        return -self.states[..., :3].norm(dim=-1) - 0.01 * self.actions.square().sum(-1)

    def by_mean(self):
        return self.reward().sum(0)

    def by_quantile(self):
        return self.reward().quantile(0.2, dim=0)

    def best(self, how):
        return self.actions[:, self.rankers[how]().argmax()]


class Planner:
    def __init__(self, cfg, ensemble):
        self.cfg, self.ensemble = cfg, ensemble

    @torch.no_grad()
    def imagine(self, start):
        cfg = self.cfg
        actions = torch.randn(cfg.horizon, cfg.particles, cfg.act, device=DEVICE)
        state = start.expand(cfg.particles, -1)
        states = torch.empty(cfg.horizon, cfg.particles, cfg.obs, device=DEVICE)
        for t in range(cfg.horizon):
            x = torch.cat([state, actions[t]], dim=1).expand(cfg.members, -1, -1)
            state = state + self.ensemble(x).mean(0)
            states[t] = state
        return Plan(states, actions)


def simulate(cfg, state, action, generator):
    """Rolls the arm and returns the transitions of one episode."""
    s = state + 0.3 * torch.randn(cfg.per_episode, cfg.obs, generator=generator)
    a = action.cpu().mean(0) + 0.1 * torch.randn(cfg.per_episode, cfg.act, generator=generator)
    delta = -0.05 * s
    delta[:, :cfg.act] += 0.1 * a
    return torch.cat([s, a], 1).to(DEVICE), delta.to(DEVICE)


def between_episodes():
    # the control loop itself must not be interrupted by the collector
    gc.freeze()
    gc.collect()


def main():
    cfg = Config()
    torch.manual_seed(cfg.seed)
    generator = torch.Generator().manual_seed(cfg.seed)
    ensemble, memory = Ensemble(cfg), TransitionMemory(cfg)
    planner = Planner(cfg, ensemble)
    losses, distance, seen = deque(maxlen=40), [], []
    gc.disable()
    for episode in range(cfg.episodes):
        start = torch.randn(cfg.obs, generator=generator)
        plan = planner.imagine(start.to(DEVICE))
        chosen = plan.best("cautious" if episode % 4 == 0 else "mean")
        memory.add(*simulate(cfg, start, chosen, generator))
        for _ in range(cfg.updates):
            losses.append(ensemble.fit(*memory.draw(cfg.members, cfg.batch)))
        distance.append(plan.states[-1, :, :3].norm(dim=-1).min().item())
        del plan, chosen
        between_episodes()
        if (episode + 1) % (cfg.episodes // 10) == 0:
            seen.append(torch.cuda.memory_allocated())
            print(f"episode {episode + 1:3d} model loss {sum(losses) / len(losses):.5f} "
                  f"reach {distance[-1]:.3f}", flush=True)
        if cfg.control_hz:
            time.sleep(1.0 / cfg.control_hz)
    gc.enable()
    print("TRUTH " + json.dumps({"allocated": seen, "rounds": cfg.episodes}), file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
