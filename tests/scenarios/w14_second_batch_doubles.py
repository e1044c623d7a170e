"""W14: the second batch needs more than the first, because loss, output and gradients of the first are alive;
then memory is flat."""

import torch
from torch import nn
from torch.nn import functional

import scenario
from noise import Noise


def train(model, batch_size, noise):
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
    for _ in range(15):
        images = torch.randn(batch_size, 3, 64, 64, device="cuda")
        output = model(images)
        loss = functional.cross_entropy(output, torch.randint(16, (batch_size,), device="cuda"))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        noise.iteration()


def main():
    options = scenario.options(__doc__)
    noise = Noise(options.noise)
    model = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(16 * 64 * 64, 16)).cuda()
    train(model, options.many(128), noise)
    print(f"allocated {torch.cuda.memory_allocated():,}, reserved {torch.cuda.memory_reserved():,} bytes")


main()
