"""W9: a forward hook appends every output to a list on the module, which is never cleared."""

import torch
from torch import nn

import scenario
import truth
from noise import Noise


def remember_activation(module, inputs, output):
    module.activations.append(output)


def watch(model):
    for module in model:
        if isinstance(module, nn.ReLU):
            module.activations = []
            module.register_forward_hook(remember_activation)


def train(model, width, batch_size, noise):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    growth = truth.Growth()
    for _ in range(25):
        optimizer.zero_grad()
        model(torch.randn(batch_size, width, device="cuda")).square().mean().backward()
        optimizer.step()
        noise.iteration()
        growth.iteration()
    growth.write()


def main():
    options = scenario.options(__doc__)
    noise = Noise(options.noise)
    model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 1)).cuda()
    watch(model)
    train(model, 256, options.many(512), noise)
    print(f"{torch.cuda.memory_allocated():,} bytes allocated")


main()
