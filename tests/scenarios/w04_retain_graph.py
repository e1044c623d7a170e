"""W4: backward(retain_graph=True) in a training loop that retains its losses: each retains its saved tensors."""

import torch
from torch import nn

import scenario
import truth
from noise import Noise


def train(model, width, batch_size, noise):
    optimizer = torch.optim.Adam(model.parameters())
    losses, growth = [], truth.Growth()
    for _ in range(30):
        batch = torch.randn(batch_size, width, device="cuda")
        optimizer.zero_grad()
        loss = (model(batch) - batch).abs().mean()
        loss.backward(retain_graph=True)
        optimizer.step()
        losses.append(loss)
        noise.iteration()
        growth.iteration()
    growth.write()
    return losses


def main():
    options = scenario.options(__doc__)
    noise = Noise(options.noise)
    model = nn.Sequential(nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 256)).cuda()
    losses = train(model, 256, options.many(512), noise)
    print(f"last loss {losses[-1].item():.3f}, {torch.cuda.memory_allocated():,} bytes allocated")


main()
