"""W47: each evaluation registers a function that will draw its features, and nobody removes the last one."""

import functools

import torch
from torch import nn

import scenario
import truth
from noise import Noise

STEPS = 120
EVERY = 4

listeners = []


def draw(features, canvas):
    """Draws the distribution of the features."""
    return canvas, features.histc(bins=64).tolist()


def evaluate(model, batch_size):
    batch = torch.randn(batch_size, 256, device="cuda")
    with torch.inference_mode():
        features = model[:2](batch)
    listeners.append(functools.partial(draw, features))


def train(model, batch_size, noise):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for step in range(STEPS):
        batch = torch.randn(batch_size, 256, device="cuda")
        optimizer.zero_grad()
        (model(batch) - batch).square().mean().backward()
        optimizer.step()
        if step % EVERY == EVERY - 1:
            evaluate(model, batch_size)
        noise.iteration()
    truth.write(iterations=STEPS)  # the last listener comes after the end of the last step


def main():
    options = scenario.options(__doc__)
    noise = Noise(options.noise)
    model = nn.Sequential(nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 256)).cuda()
    train(model, options.many(512), noise)
    print(f"{len(listeners)} listeners, {torch.cuda.memory_allocated():,} bytes allocated")


main()
