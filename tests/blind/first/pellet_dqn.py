# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""DQN on a grid of many small mazes that all run on the accelerator.

Transitions go to a page of the replay memory per collection round; a round is followed by a handful of updates.
"""
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
class Config:
    mazes: int = 8 if SMALL else 128
    planes: int = 4
    side: int = 16 if SMALL else 84
    actions: int = 6
    steps_per_round: int = 4 if SMALL else 8
    rounds: int = 60 if SMALL else 150
    transitions: int = 8 * 4 * 40 if SMALL else 128 * 8 * 100
    batch: int = 16 if SMALL else 1024
    updates: int = 2 if SMALL else 3
    gamma: float = 0.99
    sync_every: int = 20
    lr: float = 1e-4
    frame_time: float = 0.0 if SMALL else 0.03
    seed: int = 6


class QNet(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        k = 4 if SMALL else 8
        self.trunk = nn.Sequential(
            nn.Conv2d(cfg.planes, 32, k, stride=k // 2), nn.ReLU(),
            nn.Conv2d(32, 64, 3, stride=2, padding=1), nn.ReLU(),
            nn.Conv2d(64, 64, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten())
        self.value = nn.Sequential(nn.Linear(1024, 512), nn.ReLU(), nn.Linear(512, 1))
        self.advantage = nn.Sequential(nn.Linear(1024, 512), nn.ReLU(), nn.Linear(512, cfg.actions))

    def forward(self, planes):
        h = self.trunk(planes.float() / 255)
        a = self.advantage(h)
        return self.value(h) + a - a.mean(1, keepdim=True)


@dataclass
class Page:
    planes: torch.Tensor  # one step longer than the others
    action: torch.Tensor
    reward: torch.Tensor
    done: torch.Tensor

    def draw(self, count, generator):
        steps, mazes = self.action.shape
        t = torch.randint(steps, (count,), generator=generator).to(self.planes.device)
        m = torch.randint(mazes, (count,), generator=generator).to(self.planes.device)
        return self.planes[t, m], self.action[t, m], self.reward[t, m], self.done[t, m], self.planes[t + 1, m]


class Memory:
    def __init__(self, pages):
        self.limit = pages
        self.pages: list[Page] = []
        self.oldest = 0

    def store(self, page):
        if len(self.pages) < self.limit:
            self.pages.append(page)
        else:
            self.pages[self.oldest] = page
            self.oldest = (self.oldest + 1) % self.limit

    def sample(self, size, generator):
        share = max(size // 8, 1)
        out = []
        for _ in range(8):
            page = self.pages[int(torch.randint(len(self.pages), (1,), generator=generator))]
            out.append(page.draw(share, generator))
        return [torch.cat(column) for column in zip(*out)]


class Mazes:
    def __init__(self, cfg):
        self.cfg = cfg
        self.generator = torch.Generator(device=DEVICE).manual_seed(cfg.seed)
        self.planes = self.random()

    def random(self):
        c = self.cfg
        return torch.randint(0, 256, (c.mazes, c.planes, c.side, c.side), generator=self.generator, device=DEVICE,
                             dtype=torch.uint8)

    def step(self, action):
        shown = torch.roll(self.planes, 1, dims=-1)
        shown[:, -1] = self.random()[:, 0]
        reward = torch.cos(action.float()) * shown[:, 0].float().mean((1, 2)).div(128)
        done = torch.rand(self.cfg.mazes, generator=self.generator, device=DEVICE) < 0.01
        self.planes = shown
        return reward, done


def collect(cfg, net, mazes, epsilon):
    views, rows = [mazes.planes], []
    with torch.no_grad():
        for _ in range(cfg.steps_per_round):
            greedy = net(views[-1]).argmax(1)
            explore = torch.rand(cfg.mazes, device=DEVICE) < epsilon
            action = torch.where(explore, torch.randint(cfg.actions, (cfg.mazes,), device=DEVICE), greedy)
            reward, done = mazes.step(action)
            rows.append((action, reward, done))
            views.append(mazes.planes)
    return Page(torch.stack(views), *[torch.stack(column) for column in zip(*rows)])


def update(cfg, net, target, optimizer, sample):
    planes, action, reward, done, following = sample
    with torch.no_grad():
        best = net(following).argmax(1, keepdim=True)
        goal = reward + cfg.gamma * (~done) * target(following).gather(1, best)[:, 0]
    loss = F.smooth_l1_loss(net(planes).gather(1, action[:, None])[:, 0], goal)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    return loss.item()


def main():
    cfg = Config()
    torch.manual_seed(cfg.seed)
    picker = torch.Generator().manual_seed(cfg.seed)
    net = QNet(cfg).to(DEVICE)
    target = copy.deepcopy(net).requires_grad_(False)
    optimizer = torch.optim.Adam(net.parameters(), lr=cfg.lr)
    mazes = Mazes(cfg)
    memory = Memory(cfg.transitions // (cfg.mazes * cfg.steps_per_round))
    seen, rewards = [], []
    for round_ in range(cfg.rounds):
        epsilon = max(0.05, 1.0 - round_ / (0.7 * cfg.rounds))
        page = collect(cfg, net, mazes, epsilon)
        rewards.append(page.reward.mean().item())
        memory.store(page)
        del page
        loss = sum(update(cfg, net, target, optimizer, memory.sample(cfg.batch, picker))
                   for _ in range(cfg.updates)) / cfg.updates
        if round_ % cfg.sync_every == 0:
            target.load_state_dict(net.state_dict())
        if (round_ + 1) % (cfg.rounds // 10) == 0:
            seen.append(torch.cuda.memory_allocated())
            print(f"round {round_ + 1:3d} loss {loss:.4f} reward {rewards[-1]:+.3f} pages {len(memory.pages)}", flush=True)
        time.sleep(cfg.frame_time)
    print("TRUTH " + json.dumps({"allocated": seen, "rounds": cfg.rounds}), file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
