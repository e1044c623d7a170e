"""H3, harmless: the second forward runs beside the gradients of the first; later peaks are equal."""

import torch
from torch import nn

import scenario
from noise import Noise


def train(model, width, batch_size, noise):
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    peaks = []
    for _ in range(12):
        torch.cuda.reset_peak_memory_stats()
        loss = model(torch.randn(batch_size, width, device="cuda")).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        peaks.append(torch.cuda.max_memory_allocated())
        noise.iteration()
    return peaks


def main():
    options = scenario.options(__doc__)
    noise = Noise(options.noise)
    width = options.wide(1024)
    model = nn.Sequential(*[nn.Linear(width, width, bias=False) for _ in range(4)]).cuda()
    peaks = train(model, width, options.many(1024), noise)
    print(f"peaks {peaks[0]:,}, {peaks[1]:,}, {peaks[-1]:,} bytes")


main()
