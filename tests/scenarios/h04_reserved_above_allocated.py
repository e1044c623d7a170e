"""H4, harmless: image sizes vary, so more memory is reserved than is ever in use at once; nothing is retained."""

import torch
from torch import nn

import scenario
from noise import Noise


def train(model, batch_size, noise):
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
    sizes = [96, 64, 160, 128, 224, 96, 192, 64, 128, 160]
    for side in sizes * 3:
        images = torch.randn(batch_size, 3, side, side, device="cuda")
        optimizer.zero_grad()
        loss = model(images).square().mean()
        loss.backward()
        optimizer.step()
        del images, loss
        noise.iteration()


def main():
    options = scenario.options(__doc__)
    noise = Noise(options.noise)
    layers = [nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 16, 3, padding=1), nn.ReLU()]
    train(nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1)).cuda(), options.many(16), noise)
    print(f"allocated {torch.cuda.memory_allocated():,}, reserved {torch.cuda.memory_reserved():,} bytes")


main()
