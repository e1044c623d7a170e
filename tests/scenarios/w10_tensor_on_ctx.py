"""W10: a custom Function stores its input as an attribute of ctx, without save_for_backward, and a list retains
losses with their graphs: backward does not release attributes of ctx."""

import torch
from torch import nn

import scenario
import truth
from noise import Noise


class Swish(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.x = x
        return x * torch.sigmoid(x)

    @staticmethod
    def backward(ctx, gradient):
        gate = torch.sigmoid(ctx.x)
        return gradient * gate * (1 + ctx.x * (1 - gate))


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x):
        return self.down(Swish.apply(self.up(x)))


def train(model, width, batch_size, noise):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    losses, growth = [], truth.Growth()
    for _ in range(30):
        optimizer.zero_grad()
        loss = model(torch.randn(batch_size, width, device="cuda")).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss)
        noise.iteration()
        growth.iteration()
    growth.write()
    return losses


def main():
    options = scenario.options(__doc__)
    noise = Noise(options.noise)
    losses = train(Block(256).cuda(), 256, options.many(1024), noise)
    print(f"{len(losses)} losses, {torch.cuda.memory_allocated():,} bytes allocated")


main()
