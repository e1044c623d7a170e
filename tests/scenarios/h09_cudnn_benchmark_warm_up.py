"""H9, harmless: cudnn.benchmark tries algorithms during warm-up; later iterations are equal."""

import torch
from torch import nn

import scenario
from noise import Noise


def train(model, batch_size, noise):
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for _ in range(15):
        images = torch.randn(batch_size, 3, 96, 96, device="cuda")
        optimizer.zero_grad()
        model(images).square().mean().backward()
        optimizer.step()
        noise.iteration()


def main():
    options = scenario.options(__doc__)
    torch.backends.cudnn.benchmark = True
    noise = Noise(options.noise)
    model = nn.Sequential(nn.Conv2d(3, 32, 5, padding=2), nn.ReLU(), nn.Conv2d(32, 32, 3, padding=1)).cuda()
    train(model, options.many(16), noise)
    print(f"allocated {torch.cuda.memory_allocated():,}, reserved {torch.cuda.memory_reserved():,} bytes")


main()
