"""H10, harmless: an exponential moving average of the weights is a second copy of the model, updated in place."""

import torch
from torch import nn

import scenario
from noise import Noise


class MovingAverage:
    def __init__(self, model, decay):
        self.decay = decay
        self.shadow = {name: value.detach().clone() for name, value in model.named_parameters()}

    @torch.no_grad()
    def update(self, model):
        for name, value in model.named_parameters():
            self.shadow[name].lerp_(value, 1 - self.decay)


def train(model, width, noise):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    average = MovingAverage(model, 0.99)
    for _ in range(20):
        optimizer.zero_grad()
        model(torch.randn(128, width, device="cuda")).square().mean().backward()
        optimizer.step()
        average.update(model)
        noise.iteration()
    return average


def main():
    options = scenario.options(__doc__)
    noise = Noise(options.noise)
    width = options.wide(1024)
    average = train(nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width)).cuda(), width, noise)
    print(f"{len(average.shadow)} averages, {torch.cuda.memory_allocated():,} bytes allocated")


main()
