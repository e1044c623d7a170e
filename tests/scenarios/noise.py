"""Unrelated work beside a scenario, once per iteration. Its memory does not grow after the first call.

Even if disabled, iteration() takes as long as a real iteration, so that periodic work of the recorder gets to run.
"""

import random
import time

import torch
from torch import nn


ROUND_SECONDS = 0.04


class Noise:
    def __init__(self, enabled, seconds=ROUND_SECONDS):
        self.enabled, self.seconds = enabled, seconds
        if not enabled:
            return
        self.random = random.Random(5)
        self.side = torch.cuda.Stream()
        self.critic = nn.Sequential(nn.Linear(128, 256), nn.Tanh(), nn.Linear(256, 1)).cuda()
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=1e-4)
        self.iteration()
        self.iteration()

    def iteration(self):
        time.sleep(self.seconds)
        if self.enabled:
            self.scratch()
            self.work_on_the_side()
            self.train_critic()

    def scratch(self):
        sizes = [self.random.choice([300, 9_000, 200_000, 1_500_000]) + self.random.randrange(9_000) for _ in range(6)]
        buffers = [torch.empty(size, dtype=torch.uint8, device="cuda") for size in sizes]
        self.random.shuffle(buffers)
        while buffers:
            buffers.pop()

    def work_on_the_side(self):
        with torch.cuda.stream(self.side):
            table = torch.rand(64, self.random.randrange(64, 1024), device="cuda")
            table.mul_(2).sum()

    def train_critic(self):
        self.critic_optimizer.zero_grad()
        states = torch.randn(self.random.randrange(16, 64), 128, device="cuda")
        with torch.enable_grad(), torch.autocast("cuda", enabled=False):
            self.critic(states).square().mean().backward()
        self.critic_optimizer.step()
