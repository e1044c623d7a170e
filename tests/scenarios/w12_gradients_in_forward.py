"""W12: zero_grad(set_to_none=False) right before backward: the last gradients, as large as the model, exist during
the forward."""

import torch
from torch import nn

import scenario
import truth
from noise import Noise


def train(model, width, batch_size, noise):
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for _ in range(15):
        batch = torch.randn(batch_size, width, device="cuda")
        loss = model(batch).square().mean()
        optimizer.zero_grad(set_to_none=False)
        loss.backward()
        optimizer.step()
        noise.iteration()
    truth.write(bytes=truth.bytes_of(parameter.grad for parameter in model.parameters()), iterations=15)


def main():
    options = scenario.options(__doc__)
    noise = Noise(options.noise)
    width = options.wide(2048)
    layers = [nn.Sequential(nn.Linear(width, width), nn.ReLU()) for _ in range(4)]
    train(nn.Sequential(*layers).cuda(), width, options.many(512), noise)
    print(f"peak {torch.cuda.max_memory_allocated():,} bytes allocated")


main()
