# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Self-play for a tag-and-ball field game: a policy learns against earlier versions of itself drawn from a league."""

import copy
import json
import os
import random
import sys
from collections import deque
from dataclasses import dataclass

import torch
from torch import nn
from torch.distributions import Categorical

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class LeagueConfig:
    rounds: int = 16 if SMALL else 72
    fields: int = 8 if SMALL else 1024
    horizon: int = 6 if SMALL else 48
    state_dim: int = 12 if SMALL else 256
    actions: int = 5 if SMALL else 24
    width: int = 16 if SMALL else 2560
    snapshot_every: int = 2
    league_size: int = 5 if SMALL else 24
    recent_share: float = 0.5
    epochs: int = 2
    minibatches: int = 4
    clip: float = 0.2
    gamma: float = 0.97
    lam: float = 0.9
    lr: float = 2e-4
    seed: int = 33


class FieldGame:
    """Both sides push the same latent state; the reward is what side one gains from the ball."""

    def __init__(self, cfg: LeagueConfig):
        gen = torch.Generator().manual_seed(cfg.seed)
        scale = cfg.state_dim**-0.5
        self.drift = (torch.randn(cfg.state_dim, cfg.state_dim, generator=gen) * scale).to(DEVICE)
        self.own = torch.randn(cfg.actions, cfg.state_dim, generator=gen).to(DEVICE) * 0.2
        self.theirs = torch.randn(cfg.actions, cfg.state_dim, generator=gen).to(DEVICE) * 0.2
        self.ball = torch.randn(cfg.state_dim, generator=gen).to(DEVICE) * scale
        self.cfg = cfg

    def kick_off(self):
        return torch.randn(self.cfg.fields, self.cfg.state_dim, device=DEVICE)

    def play(self, state, mine, yours):
        nxt = torch.tanh(state @ self.drift + self.own[mine] - self.theirs[yours])
        return nxt, (nxt - state) @ self.ball


class TeamPolicy(nn.Module):
    def __init__(self, cfg: LeagueConfig):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Linear(cfg.state_dim, cfg.width), nn.GELU(), nn.Linear(cfg.width, cfg.width), nn.GELU()
        )
        self.mixer = nn.Sequential(nn.LayerNorm(cfg.width), nn.Linear(cfg.width, cfg.width), nn.GELU())
        self.actor = nn.Linear(cfg.width, cfg.actions)
        self.critic = nn.Linear(cfg.width, 1)

    def forward(self, state):
        h = self.encoder(state)
        h = h + self.mixer(h)
        return self.actor(h), self.critic(h).squeeze(-1)


@dataclass
class Member:
    policy: TeamPolicy
    born: int
    rating: float = 1000.0


class League:
    """Earlier versions of the learner, with ratings; the oldest one retires when the league is full."""

    def __init__(self, cfg: LeagueConfig):
        self.cfg = cfg
        self.members = deque(maxlen=cfg.league_size)

    def admit(self, policy: TeamPolicy, born: int, rating: float):
        frozen = copy.deepcopy(policy).requires_grad_(False).eval()
        self.members.append(Member(frozen, born, rating))

    def draw(self, rating: float) -> Member:
        members = list(self.members)
        if random.random() < self.cfg.recent_share:
            return members[-1]
        weights = [1.0 / (1.0 + abs(m.rating - rating) / 100.0) for m in members]
        return random.choices(members, weights)[0]

    def record(self, member: Member, rating: float, score: float):
        expected = 1.0 / (1.0 + 10 ** ((member.rating - rating) / 400.0))
        change = 24.0 * (score - expected)
        member.rating -= change
        return rating + change


@torch.no_grad()
def play_match(game: FieldGame, learner: TeamPolicy, rival: TeamPolicy, cfg: LeagueConfig):
    state = game.kick_off()
    steps = []
    for _ in range(cfg.horizon):
        logits, value = learner(state)
        mine = Categorical(logits=logits).sample()
        yours = Categorical(logits=rival(state)[0]).sample()
        nxt, reward = game.play(state, mine, yours)
        logp = logits.log_softmax(-1).gather(-1, mine.unsqueeze(-1)).squeeze(-1)
        steps.append((state, mine, logp, value, reward))
        state = nxt
    final = learner(state)[1]
    states, moves, logps, values, rewards = (torch.stack(part) for part in zip(*steps, strict=True))
    advantages = torch.zeros_like(rewards)
    running, following = torch.zeros_like(final), final
    for t in reversed(range(cfg.horizon)):
        delta = rewards[t] + cfg.gamma * following - values[t]
        running = delta + cfg.gamma * cfg.lam * running
        advantages[t], following = running, values[t]
    won = (rewards.sum(0) > 0).float().mean().item()
    batch = {"state": states, "move": moves, "logp": logps, "advantage": advantages, "target": advantages + values}
    return {name: part.flatten(0, 1) for name, part in batch.items()}, won


def ppo_update(learner: TeamPolicy, opt, batch, cfg: LeagueConfig):
    count = batch["move"].numel()
    total = 0.0
    for _ in range(cfg.epochs):
        for pick in torch.randperm(count, device=DEVICE).chunk(cfg.minibatches):
            logits, value = learner(batch["state"][pick])
            dist = Categorical(logits=logits)
            ratio = (dist.log_prob(batch["move"][pick]) - batch["logp"][pick]).exp()
            advantage = batch["advantage"][pick]
            advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-6)
            gain = torch.min(ratio * advantage, ratio.clamp(1 - cfg.clip, 1 + cfg.clip) * advantage).mean()
            loss = (value - batch["target"][pick]).square().mean() - gain - 0.01 * dist.entropy().mean()
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(learner.parameters(), 0.5)
            opt.step()
            total += loss.item()
    return total / (cfg.epochs * cfg.minibatches)


def main():
    cfg = LeagueConfig()
    torch.manual_seed(cfg.seed)
    random.seed(cfg.seed)
    game = FieldGame(cfg)
    learner = TeamPolicy(cfg).to(DEVICE)
    opt = torch.optim.Adam(learner.parameters(), lr=cfg.lr)
    league = League(cfg)
    rating = 1000.0
    allocated = []
    try:
        for number in range(cfg.rounds):
            if number % cfg.snapshot_every == 0:
                league.admit(learner, number, rating)
            rival = league.draw(rating)
            batch, won = play_match(game, learner, rival.policy, cfg)
            loss = ppo_update(learner, opt, batch, cfg)
            rating = league.record(rival, rating, won)
            del batch
            allocated.append(torch.cuda.memory_allocated() if DEVICE.type == "cuda" else 0)
            if number % 12 == 0:
                print(f"round {number}: rival of {rival.born}, won {won:.2f}, rating {rating:.0f}, loss {loss:.3f}")
    finally:
        print("TRUTH " + json.dumps({"allocated": allocated, "rounds": len(allocated)}), file=sys.stderr)


if __name__ == "__main__":
    main()
