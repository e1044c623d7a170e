"""W38: a list retains the learning-rate scheduler of every cycle; each refers to its Adam optimizer with the state of
all parameters."""

import torch
from torch import nn

import scenario
import truth
from noise import Noise

CYCLES = 14
STEPS = 3


def train_cycle(model, schedulers, width, noise):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=STEPS)
    schedulers.append(scheduler)
    for _ in range(STEPS):
        batch = torch.randn(64, width, device="cuda")
        optimizer.zero_grad()
        (model(batch) - batch).square().mean().backward()
        optimizer.step()
        scheduler.step()
        noise.iteration()


def train(model, width, noise):
    schedulers, ends = [], []
    for _ in range(CYCLES):
        train_cycle(model, schedulers, width, noise)
        ends.append(torch.cuda.memory_allocated())
    of_one = (ends[-1] - ends[0]) // (CYCLES - 1)
    truth.write(bytes=CYCLES * of_one, iterations=CYCLES * STEPS)
    return [rate for scheduler in schedulers for rate in scheduler.get_last_lr()]


def main():
    options = scenario.options(__doc__)
    noise = Noise(options.noise)
    width = options.wide(768)
    model = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width)).cuda()
    rates = train(model, width, noise)
    print(f"{len(rates)} cycles, {torch.cuda.memory_allocated():,} bytes allocated")


main()
