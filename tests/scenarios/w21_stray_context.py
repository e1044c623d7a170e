"""W21: all work is on cuda:0, but one counter is on cuda:1, which costs a whole CUDA context there."""

import torch
from torch import nn

import scenario
import truth
from noise import Noise


def train(model, width, noise):
    seen = torch.zeros(1, device="cuda:1")
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for _ in range(20):
        batch = torch.randn(256, width, device="cuda:0")
        optimizer.zero_grad()
        model(batch).square().mean().backward()
        optimizer.step()
        seen += len(batch)
        noise.iteration()
    torch.cuda.synchronize(1)
    return int(seen)


def main():
    options = scenario.options(__doc__)
    if torch.cuda.device_count() < 2:
        truth.write(skipped="needs two GPUs")
        print("skipped: needs two GPUs")
        return
    noise = Noise(options.noise)
    width = options.wide(512)
    seen = train(nn.Linear(width, width).to("cuda:0"), width, noise)
    print(f"{seen} samples, {torch.cuda.memory_allocated(1):,} bytes allocated on cuda:1")


main()
