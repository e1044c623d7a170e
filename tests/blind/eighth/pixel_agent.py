# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Vectorised DQN on a toy pixel world, everything on the GPU (environment, replay, network)."""
import collections
import os
import random
import tempfile
import time
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F

DEVICE = os.environ.get("DEVICE", "cuda")
TINY = DEVICE == "cpu"

Transition = collections.namedtuple("Transition", "obs action reward next_obs done")


@dataclass
class Config:
    n_envs: int = 8 if TINY else 256
    side: int = 36 if TINY else 84
    stack: int = 4
    n_actions: int = 6
    capacity: int = 40 if TINY else 220          # vector steps, i.e. capacity * n_envs transitions
    learn_start: int = 10 if TINY else 40
    total_steps: int = 90 if TINY else 420
    batch_size: int = 32 if TINY else 1024
    gamma: float = 0.99
    lr: float = 1e-4
    target_every: int = 50
    max_seconds: float = 17.0
    seed: int = 1


class PixelWorld:
    """Batched toy environment: a dot has to reach the goal; observations are stacked uint8 frames."""

    def __init__(self, cfg):
        self.cfg = cfg
        self.pos = torch.zeros(cfg.n_envs, 2, device=DEVICE, dtype=torch.long)
        self.goal = torch.zeros_like(self.pos)
        self.moves = torch.tensor([[0, 0], [0, 1], [0, -1], [1, 0], [-1, 0], [1, 1]], device=DEVICE)
        self.reset(torch.ones(cfg.n_envs, dtype=torch.bool, device=DEVICE))
        self.frames = torch.zeros(cfg.n_envs, cfg.stack, cfg.side, cfg.side, dtype=torch.uint8, device=DEVICE)

    def reset(self, mask):
        new = torch.randint(0, self.cfg.side, (self.cfg.n_envs, 4), device=DEVICE)
        self.pos = torch.where(mask[:, None], new[:, :2], self.pos)
        self.goal = torch.where(mask[:, None], new[:, 2:], self.goal)

    def render(self):
        frame = torch.zeros(self.cfg.n_envs, self.cfg.side, self.cfg.side, dtype=torch.uint8, device=DEVICE)
        idx = torch.arange(self.cfg.n_envs, device=DEVICE)
        frame[idx, self.goal[:, 0], self.goal[:, 1]] = 128
        frame[idx, self.pos[:, 0], self.pos[:, 1]] = 255
        return frame

    def observe(self):
        self.frames = torch.cat([self.frames[:, 1:], self.render()[:, None]], dim=1)
        return self.frames

    def step(self, action):
        self.pos = (self.pos + 2 * self.moves[action]).clamp_(0, self.cfg.side - 1)
        dist = (self.pos - self.goal).abs().sum(1)
        done = dist < 4
        reward = done.float() - 0.001 * dist.float()
        self.reset(done)
        return self.observe(), reward, done


class ReplayMemory:
    def __init__(self, capacity):
        self.memory = collections.deque(maxlen=capacity)

    def push(self, *args):
        self.memory.append(Transition(*args))

    def sample(self, blocks, size):
        picked = Transition(*(torch.cat(c) for c in zip(*random.sample(self.memory, blocks))))
        idx = torch.randint(0, len(picked.action), (size,), device=DEVICE)
        return Transition(*(f[idx] for f in picked))

    def __len__(self):
        return len(self.memory)


class QNet(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv2d(cfg.stack, 32, 8, 4), nn.ReLU(), nn.Conv2d(32, 64, 4, 2), nn.ReLU(), nn.Flatten())
        with torch.no_grad():
            n = self.conv(torch.zeros(1, cfg.stack, cfg.side, cfg.side)).shape[1]
        self.head = nn.Sequential(nn.Linear(n, 512), nn.ReLU(), nn.Linear(512, cfg.n_actions))

    def forward(self, obs):
        return self.head(self.conv(obs.float() / 255))


class Agent:
    def __init__(self, cfg):
        self.cfg = cfg
        self.q, self.target = QNet(cfg).to(DEVICE), QNet(cfg).to(DEVICE)
        self.target.load_state_dict(self.q.state_dict())
        self.opt = torch.optim.Adam(self.q.parameters(), lr=cfg.lr)
        self.memory = ReplayMemory(cfg.capacity)

    @torch.no_grad()
    def act(self, obs, step):
        eps = max(0.05, 1 - step / 300)
        greedy = self.q(obs).argmax(1)
        explore = torch.rand(len(greedy), device=DEVICE) < eps
        return torch.where(explore, torch.randint_like(greedy, self.cfg.n_actions), greedy)

    def learn(self):
        b = self.memory.sample(4, self.cfg.batch_size)
        q = self.q(b.obs).gather(1, b.action[:, None]).squeeze(1)
        with torch.no_grad():
            best = self.q(b.next_obs).argmax(1, keepdim=True)
            nxt = self.target(b.next_obs).gather(1, best).squeeze(1)
            y = b.reward + self.cfg.gamma * nxt * (~b.done)
        loss = F.smooth_l1_loss(q, y)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.item()


def main():
    cfg = Config()
    torch.manual_seed(cfg.seed)
    random.seed(cfg.seed)
    env, agent = PixelWorld(cfg), Agent(cfg)
    obs, t0 = env.observe(), time.time()
    with tempfile.TemporaryDirectory() as tmp:
        for step in range(cfg.total_steps):
            action = agent.act(obs, step)
            next_obs, reward, done = env.step(action)
            agent.memory.push(obs, action, reward, next_obs, done)
            obs = next_obs
            loss = agent.learn() if len(agent.memory) >= cfg.learn_start else float("nan")
            time.sleep(0 if TINY else 0.015)
            if step % cfg.target_every == 0:
                agent.target.load_state_dict(agent.q.state_dict())
                torch.save(agent.q.state_dict(), os.path.join(tmp, "q.pt"))
                print(f"step {step} memory {len(agent.memory)} loss {loss:.4f} {time.time() - t0:.1f}s", flush=True)
            if time.time() - t0 > cfg.max_seconds:
                break


if __name__ == "__main__":
    main()
