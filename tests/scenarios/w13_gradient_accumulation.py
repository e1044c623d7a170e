"""W13: gradients accumulate over four small batches before each optimizer step, so they stay between backward
passes."""

import torch
from torch import nn

import scenario
import truth
from noise import Noise

ACCUMULATE = 4


def train(model, width, noise):
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for micro_step in range(10 * ACCUMULATE):
        batch = torch.randn(128, width, device="cuda")
        loss = model(batch).square().mean() / ACCUMULATE
        loss.backward()
        if (micro_step + 1) % ACCUMULATE == 0:
            truth.write(gradients=truth.bytes_of(parameter.grad for parameter in model.parameters()))
            optimizer.step()
            optimizer.zero_grad()
        noise.iteration()


def main():
    options = scenario.options(__doc__)
    noise = Noise(options.noise)
    width = options.wide(1024)
    train(nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width)).cuda(), width, noise)
    print(f"{torch.cuda.memory_allocated():,} bytes allocated")


main()
