"""W34: torch.profiler records GPU activities; its buffers use GPU memory while it runs."""

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile

import scenario
from noise import Noise


def train(model, optimizer, iterations, width, noise):
    for _ in range(iterations):
        optimizer.zero_grad()
        model(torch.randn(256, width, device="cuda")).square().mean().backward()
        optimizer.step()
        noise.iteration()


def main():
    options = scenario.options(__doc__)
    noise = Noise(options.noise)
    width = options.wide(512)
    model = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    train(model, optimizer, 8, width, noise)
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], profile_memory=True) as profiler:
        train(model, optimizer, 8, width, noise)
        torch.cuda.synchronize()
    train(model, optimizer, 8, width, noise)
    print(f"{len(profiler.events())} profiled events, {torch.cuda.memory_allocated():,} bytes allocated")


main()
