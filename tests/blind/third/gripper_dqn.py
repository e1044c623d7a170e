# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Pixel-based DQN for a gripper on a table: vectorised toy environment, device-side replay, target network."""
import collections
import copy
import json
import os
import random
import sys
import time
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class DQNConfig:
    envs: int = 4 if SMALL else 384
    side: int = 36 if SMALL else 84
    stack: int = 4
    iterations: int = 40 if SMALL else 400
    replay_chunks: int = 24 if SMALL else 260
    warmup: int = 6 if SMALL else 30
    batch: int = 8 if SMALL else 256
    gamma: float = 0.97
    lr: float = 1e-4
    sync_every: int = 10 if SMALL else 40
    eps_start: float = 1.0
    eps_end: float = 0.05
    sim_seconds: float = 0.0 if SMALL else 0.036
    seed: int = 606


class TableTop:
    """A gripper chases a cup on a square table; observations are stacks of grey frames."""

    moves = ((0, 1), (0, -1), (1, 0), (-1, 0), (0, 0))

    def __init__(self, cfg):
        self.cfg = cfg
        self.delta = torch.tensor(self.moves, device=DEVICE).float() * 3
        axis = torch.arange(cfg.side, device=DEVICE).float()
        self.rows, self.cols = axis.view(1, -1, 1), axis.view(1, 1, -1)
        self.gripper = torch.rand(cfg.envs, 2, device=DEVICE) * cfg.side
        self.cup = torch.rand(cfg.envs, 2, device=DEVICE) * cfg.side
        self.frames = torch.zeros(cfg.envs, cfg.stack, cfg.side, cfg.side, dtype=torch.uint8, device=DEVICE)

    def blob(self, where, radius):
        dist = (self.rows - where[:, :1, None]) ** 2 + (self.cols - where[:, 1:, None]) ** 2
        return (dist < radius ** 2).float()

    def render(self):
        picture = 90 * self.blob(self.cup, 5) + 160 * self.blob(self.gripper, 3)
        self.frames = torch.cat([self.frames[:, 1:], picture.unsqueeze(1).to(torch.uint8)], dim=1)
        return self.frames

    def step(self, action):
        time.sleep(self.cfg.sim_seconds)
        before = (self.gripper - self.cup).norm(dim=1)
        self.gripper = (self.gripper + self.delta[action]).clamp(0, self.cfg.side - 1)
        after = (self.gripper - self.cup).norm(dim=1)
        done = after < 4
        reward = 0.1 * (before - after) + done.float()
        fresh = torch.rand_like(self.cup) * self.cfg.side
        self.cup = torch.where(done.unsqueeze(1), fresh, self.cup)
        return self.render(), reward, done


class QNetwork(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(cfg.stack, 32, 8, stride=4), nn.ReLU(),
                                      nn.Conv2d(32, 64, 4, stride=2), nn.ReLU(), nn.Flatten())
        with torch.no_grad():
            width = self.features(torch.zeros(1, cfg.stack, cfg.side, cfg.side)).shape[1]
        self.head = nn.Sequential(nn.Linear(width, 512), nn.ReLU(), nn.Linear(512, len(TableTop.moves)))

    def forward(self, frames):
        return self.head(self.features(frames.float() / 255))


class Replay:
    """Keeps the latest chunks; one chunk is one step of all environments."""

    def __init__(self, capacity):
        self.chunks = collections.deque(maxlen=capacity)

    def add(self, frames, action, reward, frames_next, done):
        self.chunks.append((frames, action, reward, frames_next, done))

    def sample(self, batch):
        picks = [random.choice(self.chunks) for _ in range(4)]
        rows = torch.randint(len(picks[0][1]), (batch // 4,), device=DEVICE)
        return [torch.cat([chunk[i][rows] for chunk in picks]) for i in range(5)]

    def __len__(self):
        return len(self.chunks)


class Agent:
    def __init__(self, cfg):
        self.cfg = cfg
        self.online = QNetwork(cfg).to(DEVICE)
        self.target = copy.deepcopy(self.online).requires_grad_(False)
        self.optimizer = torch.optim.Adam(self.online.parameters(), lr=cfg.lr)

    @torch.no_grad()
    def act(self, frames, eps):
        greedy = self.online(frames).argmax(1)
        explore = torch.rand(len(frames), device=DEVICE) < eps
        return torch.where(explore, torch.randint_like(greedy, len(TableTop.moves)), greedy)

    def learn(self, batch):
        frames, action, reward, frames_next, done = batch
        with torch.no_grad():
            future = self.target(frames_next).amax(1)
            goal = reward + self.cfg.gamma * future * (~done).float()
        value = self.online(frames).gather(1, action.unsqueeze(1)).squeeze(1)
        loss = F.smooth_l1_loss(value, goal)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.detach()


def run(cfg):
    torch.manual_seed(cfg.seed)
    random.seed(cfg.seed)
    env, agent, replay = TableTop(cfg), Agent(cfg), Replay(cfg.replay_chunks)
    frames, allocated = env.render(), []
    recent = collections.deque(maxlen=50)
    for it in range(cfg.iterations):
        eps = max(cfg.eps_end, cfg.eps_start - it / (0.6 * cfg.iterations))
        action = agent.act(frames, eps)
        frames_next, reward, done = env.step(action)
        replay.add(frames, action, reward, frames_next, done)
        frames = frames_next
        recent.append(reward.mean().item())
        loss = agent.learn(replay.sample(cfg.batch)) if len(replay) >= cfg.warmup else None
        if it % cfg.sync_every == 0:
            agent.target.load_state_dict(agent.online.state_dict())
            shown = "warm-up" if loss is None else f"loss {loss.item():.4f}"
            print(f"iteration {it:4d}  eps {eps:.2f}  reward {sum(recent) / len(recent):+.4f}  {shown}")
        allocated.append(torch.cuda.memory_allocated())
    print("TRUTH " + json.dumps({"allocated": allocated, "rounds": cfg.iterations}), file=sys.stderr)


if __name__ == "__main__":
    run(DQNConfig())
