"""H1, harmless: AdamW's state is allocated at the first step and stays constant."""

import torch
from torch import nn

import scenario
from noise import Noise


def train(model, width, batch_size, noise):
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, weight_decay=0.1)
    for _ in range(20):
        batch = torch.randn(batch_size, width, device="cuda")
        optimizer.zero_grad()
        loss = (model(batch) - batch).square().mean()
        loss.backward()
        optimizer.step()
        noise.iteration()
    return loss.item()


def main():
    options = scenario.options(__doc__)
    noise = Noise(options.noise)
    width = options.wide(1024)
    model = nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.LayerNorm(width), nn.Linear(width, width)).cuda()
    print(f"loss {train(model, width, 256, noise):.3f}, {torch.cuda.memory_allocated():,} bytes allocated")


main()
