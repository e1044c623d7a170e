"""H2, harmless: gradients of eight micro-batches accumulate before each step of AdamW."""

import torch
from torch import nn

import scenario
from noise import Noise


MICRO_BATCHES = 8


def train_step(model, optimizer, batches):
    for batch in batches:
        loss = (model(batch) - batch).square().mean() / len(batches)
        loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss.item()


def train(model, width, batch_size, noise):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for _ in range(8):
        batches = [torch.randn(batch_size, width, device="cuda") for _ in range(MICRO_BATCHES)]
        loss = train_step(model, optimizer, batches)
        noise.iteration()
    return loss


def main():
    options = scenario.options(__doc__)
    noise = Noise(options.noise)
    model = nn.Sequential(nn.Linear(512, 1024), nn.ReLU(), nn.Linear(1024, 512)).cuda()
    print(f"loss {train(model, 512, options.many(256), noise):.3f}, {torch.cuda.memory_allocated():,} bytes allocated")


main()
