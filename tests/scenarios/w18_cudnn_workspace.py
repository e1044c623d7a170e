"""W18: with cudnn.benchmark, the first convolution briefly tries algorithms with very large workspaces; their
segments stay cached."""

import torch
from torch import nn

import scenario
from noise import Noise


def train(model, images, noise):
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for _ in range(10):
        optimizer.zero_grad()
        model(images).square().mean().backward()
        optimizer.step()
        noise.iteration()


def main():
    options = scenario.options(__doc__)
    torch.backends.cudnn.benchmark = True
    noise = Noise(options.noise)
    model = nn.Sequential(nn.Conv2d(32, 64, 7, padding=3), nn.ReLU(), nn.Conv2d(64, 32, 7, padding=3)).cuda()
    train(model, torch.randn(options.many(16), 32, 128, 128, device="cuda"), noise)
    print(f"allocated {torch.cuda.memory_allocated():,}, reserved {torch.cuda.memory_reserved():,} bytes")


main()
