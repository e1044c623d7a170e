"""H7, harmless: the last batch of each epoch is twice as large as the others."""

import torch
from torch import nn

import scenario
from noise import Noise


def train(model, width, batch_size, noise):
    optimizer = torch.optim.Adam(model.parameters())
    for epoch in range(3):
        for size in [batch_size] * 7 + [2 * batch_size]:
            batch = torch.randn(size, width, device="cuda")
            optimizer.zero_grad()
            loss = model(batch).square().mean()
            loss.backward()
            optimizer.step()
            noise.iteration()
    return loss.item()


def main():
    options = scenario.options(__doc__)
    noise = Noise(options.noise)
    model = nn.Sequential(nn.Linear(512, 1024), nn.ReLU(), nn.Linear(1024, 512)).cuda()
    print(f"loss {train(model, 512, options.many(1024), noise):.3f}, peak {torch.cuda.max_memory_allocated():,} bytes")


main()
