"""W53: each layer keeps its attention weights as an attribute for a log line; only the last layer's are read."""

import torch
from torch import nn

import scenario
import truth
from noise import Noise

LAYERS = 6
STEPS = 12


class Layer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.attention = None

    def forward(self, x):
        query, key, value = self.qkv(x).chunk(3, dim=-1)
        weights = (query @ key.transpose(-1, -2) / query.shape[-1] ** 0.5).softmax(dim=-1)
        self.attention = weights.detach().half()
        return x + self.out(weights @ value)


def main():
    options = scenario.options(__doc__)
    noise = Noise(options.noise)
    length = options.many(1024)
    model = nn.Sequential(*[Layer(64) for _ in range(LAYERS)]).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for step in range(STEPS):
        x = torch.randn(8, length, 64, device="cuda")
        model(x).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
        if step % 4 == 0:
            print(f"step {step}: attention to itself {model[-1].attention.diagonal(dim1=-2, dim2=-1).mean():.4f}")
        noise.iteration()
    truth.write(bytes=LAYERS * truth.block(8 * length * length * 2), iterations=STEPS)


main()
