# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Double DQN from pixels on a batched toy environment.

Transitions are kept on the device in a replay buffer which is allocated chunk
by chunk until `capacity` is reached; afterwards the oldest ones are replaced.
"""
import copy
import logging
import os
import tempfile
import time
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F

DEVICE = os.environ.get("DEVICE", "cuda")
SMOKE = DEVICE == "cpu"
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
log = logging.getLogger("dqn")


@dataclass
class Config:
    envs: int = 4 if SMOKE else 256
    capacity: int = 160 if SMOKE else 98304
    chunk: int = 32 if SMOKE else 4096
    batch: int = 8 if SMOKE else 512
    warmup: int = 4 if SMOKE else 20
    steps: int = 120 if SMOKE else 1600
    target_every: int = 50
    gamma: float = 0.98
    seconds: float = 17.0


class CatchEnv:
    """A ball falls, a paddle moves; 84x84 grey frames, stack of two."""

    def __init__(self, n):
        self.n, self.grid = n, torch.arange(84, device=DEVICE)
        self.ball = torch.randint(4, 80, (n, 2), device=DEVICE)
        self.ball[:, 1] = torch.randint(0, 40, (n,), device=DEVICE)
        self.paddle = torch.full((n,), 42, device=DEVICE)
        self.last = self.frame()

    def frame(self):
        bx, by = self.ball[:, :1], self.ball[:, 1:]
        cols, rows = (self.grid - bx).abs() < 3, (self.grid - by).abs() < 3
        img = (rows[:, :, None] & cols[:, None, :]).to(torch.uint8) * 255
        pad = ((self.grid - self.paddle[:, None]).abs() < 7).to(torch.uint8) * 160
        img[:, 80:] = torch.maximum(img[:, 80:], pad[:, None, :])
        return img

    def step(self, action):
        self.paddle = (self.paddle + (action - 1) * 4).clamp(6, 77)
        self.ball[:, 1] += 4
        done = self.ball[:, 1] >= 80
        hit = (self.ball[:, 0] - self.paddle).abs() < 8
        reward = torch.where(done, torch.where(hit, 1.0, -1.0), 0.0)
        fresh = torch.randint(4, 80, (self.n,), device=DEVICE)
        self.ball[:, 0] = torch.where(done, fresh, self.ball[:, 0])
        self.ball[:, 1] = torch.where(done, 0, self.ball[:, 1])
        now = self.frame()
        obs = torch.stack([self.last, now], 1)
        self.last = now
        return obs, reward, done


class ReplayBuffer:
    def __init__(self, cfg):
        self.cfg = cfg
        self.chunks = []
        self.size = self.cursor = 0

    def _new_chunk(self):
        n = self.cfg.chunk
        obs, nxt = torch.empty(2, n, 2, 84, 84, dtype=torch.uint8, device=DEVICE)
        action, done = torch.empty(n, dtype=torch.long, device=DEVICE), torch.empty(n, dtype=torch.bool, device=DEVICE)
        return {"obs": obs, "next": nxt, "action": action, "reward": torch.empty(n, device=DEVICE), "done": done}

    def add(self, **items):
        k = len(items["obs"])
        which, at = divmod(self.cursor, self.cfg.chunk)
        if which == len(self.chunks):
            self.chunks.append(self._new_chunk())
        for name, value in items.items():
            self.chunks[which][name][at:at + k] = value
        self.cursor = (self.cursor + k) % self.cfg.capacity
        self.size = min(self.size + k, self.cfg.capacity)

    def sample(self, n, parts=4):
        picks = torch.randint(0, max(1, self.size // self.cfg.chunk), (parts,)).tolist()
        out = []
        for c in picks:
            limit = min(self.size, self.cfg.chunk)
            idx = torch.randint(0, limit, (n // parts,), device=DEVICE)
            out.append({k: v[idx] for k, v in self.chunks[c].items()})
        return {k: torch.cat([o[k] for o in out]) for k in out[0]}


class QNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv2d(2, 64, 8, 4), nn.ReLU(), nn.Conv2d(64, 128, 4, 2), nn.ReLU(),
                                  nn.Conv2d(128, 128, 3, 1), nn.ReLU(), nn.Flatten())
        self.fc = nn.Sequential(nn.Linear(128 * 49, 512), nn.ReLU(), nn.Linear(512, 3))

    def forward(self, obs):
        return self.fc(self.conv(obs.float() / 255))


class Agent:
    def __init__(self, cfg):
        self.cfg = cfg
        self.net = QNet().to(DEVICE)
        self.target = copy.deepcopy(self.net).requires_grad_(False)
        self.opt = torch.optim.Adam(self.net.parameters(), lr=2e-4)

    @torch.no_grad()
    def act(self, obs, eps):
        best = self.net(obs).argmax(1)
        return torch.where(torch.rand(len(obs), device=DEVICE) < eps, torch.randint_like(best, 3), best)

    def learn(self, b):
        with torch.no_grad():
            choice = self.net(b["next"]).argmax(1, keepdim=True)
            value = self.target(b["next"]).gather(1, choice).squeeze(1)
            goal = b["reward"] + self.cfg.gamma * value * ~b["done"]
        q = self.net(b["obs"]).gather(1, b["action"][:, None]).squeeze(1)
        loss = F.smooth_l1_loss(q, goal)
        self.opt.zero_grad(set_to_none=True)
        loss.backward()
        self.opt.step()
        return loss.item()


def main():
    torch.manual_seed(0)
    cfg = Config()
    env, agent, buffer = CatchEnv(cfg.envs), Agent(cfg), ReplayBuffer(cfg)
    obs, loss, score, began = torch.stack([env.last, env.last], 1), 0.0, 0.0, time.time()
    for step in range(cfg.steps):
        action = agent.act(obs, max(0.05, 1 - step / 500))
        nxt, reward, done = env.step(action)
        buffer.add(obs=obs, next=nxt, action=action, reward=reward, done=done)
        obs = nxt
        score = 0.98 * score + 0.02 * reward.sum().item() / cfg.envs
        if step >= cfg.warmup:
            loss = agent.learn(buffer.sample(cfg.batch))
        if step % cfg.target_every == 0:
            agent.target.load_state_dict(agent.net.state_dict())
            log.info("step %d buffer %d loss %.4f score %.4f", step, buffer.size, loss, score)
        if step > 500 and time.time() - began > cfg.seconds:
            break
    with tempfile.TemporaryDirectory() as tmp:
        torch.save(agent.net.state_dict(), os.path.join(tmp, "qnet.pt"))


if __name__ == "__main__":
    main()
