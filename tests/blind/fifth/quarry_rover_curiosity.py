# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Policy gradient training of survey rovers in a quarry, with an exploration bonus from random network distillation."""

import json
import os
import sys
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class Config:
    rovers: int = 64 if SMALL else 2048
    horizon: int = 4 if SMALL else 8
    obs_dim: int = 16 if SMALL else 96
    actions: int = 6
    policy_hidden: int = 32 if SMALL else 512
    novelty_hidden: int = 64 if SMALL else 1024
    novelty_features: int = 16 if SMALL else 128
    updates: int = 10 if SMALL else 60
    epochs: int = 1 if SMALL else 4
    minibatches: int = 2 if SMALL else 8
    gamma: float = 0.99
    bonus_weight: float = 0.5
    clip: float = 0.2
    entropy_weight: float = 0.01
    learning_rate: float = 3e-4
    seed: int = 5


class QuarryField:
    """A vectorized toy terrain: each rover has a state, an action moves it, the reward is mineral found."""

    def __init__(self, cfg: Config, device: torch.device):
        self.cfg = cfg
        self.state = torch.randn(cfg.rovers, cfg.obs_dim, device=device)
        self.moves = torch.randn(cfg.actions, cfg.obs_dim, device=device) * 0.3
        self.mineral = torch.randn(cfg.obs_dim, device=device) / cfg.obs_dim**0.5

    def step(self, action: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        drift = 0.05 * torch.randn_like(self.state)
        self.state = torch.tanh(0.95 * self.state + self.moves[action] + drift)
        return self.state, (self.state @ self.mineral).clamp(min=0.0)


class ActorCritic(nn.Module):
    def __init__(self, cfg: Config):
        super().__init__()
        self.trunk = nn.Sequential(
            nn.Linear(cfg.obs_dim, cfg.policy_hidden),
            nn.Tanh(),
            nn.Linear(cfg.policy_hidden, cfg.policy_hidden),
            nn.Tanh(),
        )
        self.actor = nn.Linear(cfg.policy_hidden, cfg.actions)
        self.critic = nn.Linear(cfg.policy_hidden, 1)

    def forward(self, obs):
        hidden = self.trunk(obs)
        return self.actor(hidden), self.critic(hidden).squeeze(-1)


def feature_net(cfg: Config) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(cfg.obs_dim, cfg.novelty_hidden),
        nn.ReLU(),
        nn.Linear(cfg.novelty_hidden, cfg.novelty_hidden),
        nn.ReLU(),
        nn.Linear(cfg.novelty_hidden, cfg.novelty_features),
    )


class RunningScale:
    """Parallel-variance estimate of a stream of values."""

    def __init__(self, device: torch.device):
        self.mean = torch.zeros((), device=device)
        self.var = torch.ones((), device=device)
        self.count = 1e-4

    def update(self, values: torch.Tensor) -> None:
        size = values.numel()
        delta = values.mean() - self.mean
        total = self.count + size
        spread = self.var * self.count + values.var(unbiased=False) * size
        self.var = (spread + delta.square() * self.count * size / total) / total
        self.mean = self.mean + delta * size / total
        self.count = total

    def normalize(self, values: torch.Tensor) -> torch.Tensor:
        return values / (self.var.sqrt() + 1e-8)


class NoveltyModule:
    """A predictor learns the output of a fixed random network; its error is the bonus."""

    def __init__(self, cfg: Config, device: torch.device):
        self.target = feature_net(cfg).to(device).requires_grad_(False)
        self.predictor = feature_net(cfg).to(device)
        self.optimizer = torch.optim.Adam(self.predictor.parameters(), lr=cfg.learning_rate)
        self.scale = RunningScale(device)

    def error(self, obs: torch.Tensor) -> torch.Tensor:
        return (self.predictor(obs) - self.target(obs)).square().mean(dim=-1)

    def bonus(self, obs: torch.Tensor) -> torch.Tensor:
        raw = self.error(obs)
        self.scale.update(raw)
        return self.scale.normalize(raw).detach()

    def fit(self, obs: torch.Tensor) -> None:
        loss = self.error(obs).mean()
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()


class Trainer:
    def __init__(self, cfg: Config, device: torch.device):
        self.cfg = cfg
        self.field = QuarryField(cfg, device)
        self.policy = ActorCritic(cfg).to(device)
        self.novelty = NoveltyModule(cfg, device)
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=cfg.learning_rate)
        shape = (cfg.horizon, cfg.rovers)
        self.obs = torch.zeros(*shape, cfg.obs_dim, device=device)
        self.actions = torch.zeros(shape, dtype=torch.long, device=device)
        self.log_probs = torch.zeros(shape, device=device)
        self.rewards = torch.zeros(shape, device=device)

    @torch.no_grad()
    def collect(self) -> None:
        for t in range(self.cfg.horizon):
            self.obs[t] = self.field.state
            logits, _ = self.policy(self.obs[t])
            dist = torch.distributions.Categorical(logits=logits)
            self.actions[t] = dist.sample()
            self.log_probs[t] = dist.log_prob(self.actions[t])
            _, self.rewards[t] = self.field.step(self.actions[t])

    @torch.no_grad()
    def returns(self, rewards: torch.Tensor) -> torch.Tensor:
        _, running = self.policy(self.field.state)
        out = torch.zeros_like(rewards)
        for t in reversed(range(self.cfg.horizon)):
            running = rewards[t] + self.cfg.gamma * running
            out[t] = running
        return out

    def update(self) -> dict[str, float]:
        cfg = self.cfg
        self.collect()
        obs = self.obs.flatten(0, 1)
        bonus = self.novelty.bonus(obs).view_as(self.rewards)
        returns = self.returns(self.rewards + cfg.bonus_weight * bonus).flatten()
        actions, old_log_probs = self.actions.flatten(), self.log_probs.flatten()
        for _ in range(cfg.epochs):
            for index in torch.randperm(obs.shape[0], device=obs.device).chunk(cfg.minibatches):
                logits, values = self.policy(obs[index])
                dist = torch.distributions.Categorical(logits=logits)
                advantage = returns[index] - values.detach()
                ratio = (dist.log_prob(actions[index]) - old_log_probs[index]).exp()
                surrogate = torch.min(ratio * advantage, ratio.clamp(1 - cfg.clip, 1 + cfg.clip) * advantage)
                loss = F.mse_loss(values, returns[index]) - surrogate.mean()
                loss = loss - cfg.entropy_weight * dist.entropy().mean()
                self.optimizer.zero_grad(set_to_none=True)
                loss.backward()
                self.optimizer.step()
                self.novelty.fit(obs[index])
        return {"mineral": self.rewards.mean().item(), "bonus": bonus.mean().item()}


def main() -> None:
    cfg = Config()
    torch.manual_seed(cfg.seed)
    allocated: list[int] = []
    try:
        trainer = Trainer(cfg, DEVICE)
        for update in range(cfg.updates):
            stats = trainer.update()
            allocated.append(torch.cuda.memory_allocated())
            if (update + 1) % 10 == 0:
                print(f"update {update + 1}: mineral {stats['mineral']:.4f}, bonus {stats['bonus']:.4f}")
    finally:
        print("TRUTH " + json.dumps({"allocated": allocated, "rounds": len(allocated)}), file=sys.stderr)


if __name__ == "__main__":
    main()
