"""W32: a block squares its input in fp32 and multiplies it in fp16 under autocast: both copies of the same values
are saved for backward."""

import torch
from torch import nn

import scenario
from noise import Noise


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.projection = nn.Linear(width, width)

    def forward(self, x):
        scale = x.float().pow(2).mean(-1, keepdim=True)
        return self.projection(x).float() + scale


def train(model, width, batch_size, noise):
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for _ in range(12):
        batch = torch.randn(batch_size, width, device="cuda")
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16):
            loss = model(batch).square().mean()
        loss.backward()
        optimizer.step()
        noise.iteration()


def main():
    options = scenario.options(__doc__)
    noise = Noise(options.noise)
    train(nn.Sequential(*[Block(512) for _ in range(6)]).cuda(), 512, options.many(4096), noise)
    print(f"peak {torch.cuda.max_memory_allocated():,} bytes allocated")


main()
