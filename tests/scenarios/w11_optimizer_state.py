"""W11: AdamW allocates two tensors per parameter at its first step; memory rises once by twice the model size."""

import torch
from torch import nn

import scenario
import truth
from noise import Noise


def train(model, width, noise):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for _ in range(12):
        batch = torch.randn(64, width, device="cuda")
        optimizer.zero_grad()
        loss = (model(batch) - batch).square().mean()
        loss.backward()
        optimizer.step()
        noise.iteration()
    state = [value for kept in optimizer.state.values() for value in kept.values() if value.is_cuda]
    truth.write(bytes=truth.bytes_of(state), iterations=12)


def main():
    options = scenario.options(__doc__)
    noise = Noise(options.noise)
    width = options.wide(1024)
    train(nn.Sequential(*[nn.Linear(width, width) for _ in range(4)]).cuda(), width, noise)
    print(f"{torch.cuda.memory_allocated():,} bytes allocated")


main()
