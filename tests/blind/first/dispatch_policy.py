# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Policy-gradient training of an ambulance dispatcher. The actor that plays episodes gets the new weights every round."""
import contextlib
import json
import os
import sys
import time
from dataclasses import dataclass

import torch
import torch.nn as nn

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
SMALL = os.environ.get("SMALL") == "1"
MIB = 2**20


@dataclass
class Options:
    state: int = 256
    actions: int = 96
    dim: int = 2048
    hidden: int = 8192
    depth: int = 4
    episodes: int = 1024
    rounds: int = 75
    chunk_mib: int = 192
    lr: float = 3e-5
    pace: float = 0.1


class PolicyBlock(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.up = nn.Linear(dim, hidden)
        self.down = nn.Linear(hidden, dim)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(self.norm(x))))


class Policy(nn.Module):
    def __init__(self, opt):
        super().__init__()
        self.enter = nn.Linear(opt.state, opt.dim)
        self.blocks = nn.Sequential(*[PolicyBlock(opt.dim, opt.hidden) for _ in range(opt.depth)])
        self.leave = nn.Linear(opt.dim, opt.actions)

    def forward(self, state):
        return self.leave(self.blocks(self.enter(state)))


def lane():
    return torch.cuda.Stream() if DEVICE.type == "cuda" else None


def on(stream):
    return torch.cuda.stream(stream) if stream is not None else contextlib.nullcontext()


class WeightExchange:
    """Hands the learner's weights to the actor in packed pieces, two pieces in flight."""

    def __init__(self, learner, actor, chunk_bytes):
        self.capacity = chunk_bytes // 2
        self.pieces = [[]]
        room = self.capacity
        for source, target in zip(learner.parameters(), actor.parameters()):
            if source.numel() > room:
                self.pieces.append([])
                room = self.capacity
            self.pieces[-1].append((source.detach(), target))
            room -= source.numel()

    @torch.no_grad()
    def send(self):
        lanes = [lane(), lane()]
        buffers = []
        for stream in lanes:
            if stream is not None:
                stream.wait_stream(torch.cuda.current_stream())
            with on(stream):
                buffers.append(torch.empty(self.capacity, dtype=torch.bfloat16, device=DEVICE))
        for number, piece in enumerate(self.pieces):
            packed = buffers[number % 2]
            with on(lanes[number % 2]):
                at = 0
                for source, _ in piece:
                    packed[at:at + source.numel()].view(source.shape).copy_(source)
                    at += source.numel()
                at = 0
                for _, target in piece:
                    target.copy_(packed[at:at + target.numel()].view(target.shape))
                    at += target.numel()
        for stream in lanes:
            if stream is not None:
                stream.synchronize()
        return len(self.pieces)


class Dispatcher:
    def __init__(self, opt):
        torch.manual_seed(6)
        self.opt = opt
        self.learner = Policy(opt).to(DEVICE)
        self.actor = Policy(opt).to(DEVICE, torch.bfloat16).requires_grad_(False)
        self.optimizer = torch.optim.Adam(self.learner.parameters(), lr=opt.lr)
        self.exchange = WeightExchange(self.learner, self.actor, opt.chunk_mib * MIB)
        self.generator = torch.Generator().manual_seed(31)

    @torch.no_grad()
    def play(self):
        state = torch.randn(self.opt.episodes, self.opt.state, generator=self.generator).to(DEVICE)
        logits = self.actor(state.bfloat16()).float()
        action = torch.distributions.Categorical(logits=logits).sample()
        reward = (state[:, 0] * (action % 5 - 2)).tanh()
        return state, action, reward

    def improve(self, state, action, reward):
        score = torch.log_softmax(self.learner(state), dim=-1).gather(1, action[:, None]).squeeze(1)
        loss = -(score * (reward - reward.mean())).mean()
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        return reward.mean().item()

    def round(self):
        mean = self.improve(*self.play())
        self.exchange.send()
        return mean


class Gauge:
    def __init__(self):
        self.allocated, self.reserved = [], []

    def read(self):
        cuda = DEVICE.type == "cuda"
        self.allocated.append(torch.cuda.memory_allocated() if cuda else 0)
        self.reserved.append(torch.cuda.memory_reserved() if cuda else 0)

    def emit(self):
        every = max(1, len(self.allocated) // 15)
        print("TRUTH " + json.dumps({"allocated": self.allocated[every - 1::every],
                                     "reserved": self.reserved[every - 1::every],
                                     "rounds": len(self.allocated)}), file=sys.stderr)


def main():
    opt = Options()
    if SMALL:
        opt = Options(dim=64, hidden=128, episodes=16, chunk_mib=1, pace=0.0)
    dispatcher, gauge = Dispatcher(opt), Gauge()
    for number in range(1, opt.rounds + 1):
        mean = dispatcher.round()
        gauge.read()
        if number % 15 == 0:
            print(f"round {number} reward {mean:+.4f}", flush=True)
        time.sleep(opt.pace)
    gauge.emit()


if __name__ == "__main__":
    main()
