# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Population based training of locomotion policies: each generation breeds and evaluates fresh learners."""
import argparse
import gc
import json
import os
import random
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def parse_args(argv=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--generations", type=int, default=8 if SMALL else 16)
    parser.add_argument("--population", type=int, default=4)
    parser.add_argument("--survivors", type=int, default=2)
    parser.add_argument("--updates", type=int, default=2)
    parser.add_argument("--envs", type=int, default=16 if SMALL else 1024)
    parser.add_argument("--horizon", type=int, default=4 if SMALL else 8)
    parser.add_argument("--obs", type=int, default=48)
    parser.add_argument("--actions", type=int, default=12)
    parser.add_argument("--hidden", type=int, default=32 if SMALL else 1536)
    parser.add_argument("--physics-seconds", type=float, default=0.0 if SMALL else 0.014)
    parser.add_argument("--seed", type=int, default=5)
    return parser.parse_args(argv)


class PointQuadruped:
    """A damped linear body that is rewarded for forward speed and punished for effort."""

    def __init__(self, args):
        gen = torch.Generator().manual_seed(args.seed)
        self.args = args
        self.damping = 0.9
        self.drive = (0.2 * torch.randn(args.actions, args.obs, generator=gen)).to(DEVICE)
        self.state = torch.zeros(args.envs, args.obs, device=DEVICE)

    def reset(self):
        self.state = 0.1 * torch.randn(self.args.envs, self.args.obs, device=DEVICE)
        return self.state

    def step(self, action):
        self.state = self.damping * self.state + torch.tanh(action) @ self.drive
        return self.state, self.state[:, 0] - 0.01 * action.pow(2).sum(-1)


class ActorCritic(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(args.obs, args.hidden), nn.ELU(),
                                   nn.Linear(args.hidden, args.hidden), nn.ELU(),
                                   nn.Linear(args.hidden, args.hidden), nn.ELU())
        self.mean = nn.Linear(args.hidden, args.actions)
        self.value = nn.Linear(args.hidden, 1)
        self.log_std = nn.Parameter(torch.full((args.actions,), -0.5))

    def forward(self, obs):
        h = self.trunk(obs)
        return torch.distributions.Normal(self.mean(h), self.log_std.exp()), self.value(h).squeeze(-1)


class Learner:
    """One member of the population: a policy, its optimizer and its hyperparameters."""

    def __init__(self, args, genes, parent=None):
        self.args = args
        self.genes = genes
        self.policy = ActorCritic(args).to(DEVICE)
        if parent is not None:
            self.policy.load_state_dict(parent.policy.state_dict())
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=genes["lr"])
        self.schedule = torch.optim.lr_scheduler.LambdaLR(self.optimizer, self.warmup)
        self.fitness = float("-inf")

    def warmup(self, update):
        return min(1.0, (update + 1) / 3) * self.genes["anneal"] ** update

    def collect(self, env):
        obs, steps = env.reset(), []
        with torch.no_grad():
            for _ in range(self.args.horizon):
                time.sleep(self.args.physics_seconds)
                dist, _ = self.policy(obs)
                action = dist.sample()
                nxt, reward = env.step(action)
                steps.append((obs, action, reward))
                obs = nxt
        obs, action, reward = (torch.stack(part) for part in zip(*steps))
        returns = torch.zeros_like(reward)
        running = torch.zeros_like(reward[0])
        for t in reversed(range(len(reward))):
            running = reward[t] + self.genes["gamma"] * running
            returns[t] = running
        return obs, action, returns, reward.mean().item()

    def train(self, env):
        for _ in range(self.args.updates):
            obs, action, returns, score = self.collect(env)
            dist, value = self.policy(obs)
            advantage = (returns - value).detach()
            log_prob = dist.log_prob(action).sum(-1)
            entropy = dist.entropy().sum(-1).mean()
            loss = -(log_prob * advantage).mean() + 0.5 * F.mse_loss(value, returns) - self.genes["entropy"] * entropy
            self.optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(self.policy.parameters(), 1.0)
            self.optimizer.step()
            self.schedule.step()
        self.fitness = score
        return self


def mutate(genes):
    return {name: value * random.choice((0.9, 1.0, 1.1)) if name in ("lr", "entropy") else value
            for name, value in genes.items()}


def evolve(args):
    random.seed(args.seed)
    torch.manual_seed(args.seed)
    env = PointQuadruped(args)
    base = {"lr": 3e-4, "entropy": 1e-3, "gamma": 0.97, "anneal": 0.98}
    population = [Learner(args, mutate(base)) for _ in range(args.population)]
    gc.collect()
    gc.disable()    # collector pauses disturb the simulator's real-time clock
    allocated = []
    for generation in range(args.generations):
        for learner in population:
            learner.train(env)
        population.sort(key=lambda learner: learner.fitness, reverse=True)
        parents = population[:args.survivors]
        best = parents[0]
        print(f"generation {generation:3d}  best {best.fitness:+.4f}  lr {best.genes['lr']:.2e}")
        population = [Learner(args, mutate(parents[i % len(parents)].genes), parents[i % len(parents)])
                      for i in range(args.population)]
        del parents, best, learner
        allocated.append(torch.cuda.memory_allocated())
    print("TRUTH " + json.dumps({"allocated": allocated, "rounds": args.generations}), file=sys.stderr)


if __name__ == "__main__":
    evolve(parse_args())
