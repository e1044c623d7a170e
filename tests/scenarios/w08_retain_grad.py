"""W8: retain_grad() on hidden activations, to print a norm, retains a gradient as large as each activation after
backward."""

import torch
from torch import nn

import scenario
import truth
from noise import Noise


class Deep(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(6))
        self.activations = []

    def forward(self, x):
        self.activations.clear()
        for layer in self.layers:
            x = torch.relu(layer(x))
            x.retain_grad()
            self.activations.append(x)
        return x


def train(model, width, batch_size, noise):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(20):
        optimizer.zero_grad()
        model(torch.randn(batch_size, width, device="cuda")).square().mean().backward()
        norms = [activation.grad.norm().item() for activation in model.activations]
        optimizer.step()
        noise.iteration()
    truth.write(bytes=truth.bytes_of(activation.grad for activation in model.activations), iterations=20)
    return norms


def main():
    options = scenario.options(__doc__)
    noise = Noise(options.noise)
    norms = train(Deep(512).cuda(), 512, options.many(2048), noise)
    print(f"{len(norms)} norms, {torch.cuda.memory_allocated():,} bytes allocated")


main()
