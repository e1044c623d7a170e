"""W36: functools.lru_cache on a method has the module as a key of its cache, so the model of every fold stays."""

import functools
import math

import torch
from torch import nn

import scenario
import truth
from noise import Noise

FOLDS = 16
STEPS = 3


class Regressor(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up, self.down = nn.Linear(256, width), nn.Linear(width, 256)

    @functools.lru_cache
    def scale(self, width):
        return 1 / math.sqrt(width)

    def forward(self, x):
        return self.down(torch.relu(self.up(x))) * self.scale(x.shape[-1])


def train_fold(width, noise):
    model = Regressor(width).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(STEPS):
        batch = torch.randn(64, 256, device="cuda")
        optimizer.zero_grad()
        loss = (model(batch) - batch).square().mean()
        loss.backward()
        optimizer.step()
        noise.iteration()
    return loss.item()


def cross_validate(width, noise):
    losses, ends = [], []
    for _ in range(FOLDS):
        losses.append(train_fold(width, noise))
        ends.append(torch.cuda.memory_allocated())
    of_one = (ends[-1] - ends[0]) // (FOLDS - 1)
    truth.write(bytes=FOLDS * of_one, iterations=FOLDS * STEPS)
    return sum(losses) / FOLDS


def main():
    options = scenario.options(__doc__)
    noise = Noise(options.noise)
    loss = cross_validate(options.many(2048), noise)
    print(f"mean loss {loss:.4f} of {FOLDS} folds, {torch.cuda.memory_allocated():,} bytes allocated")


main()
