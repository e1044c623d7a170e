"""W16: one calibration pass over a large batch makes the allocator reserve far more than the later, small batches
use."""

import torch
from torch import nn

import scenario
import truth
from noise import Noise


@torch.no_grad()
def calibrate(model, batch_size, width):
    return model(torch.randn(32 * batch_size, width, device="cuda")).std().item()


@torch.no_grad()
def serve(model, batch_size, width, noise):
    for _ in range(30):
        model(torch.randn(batch_size, width, device="cuda")).argmax(1).sum().item()
        noise.iteration()


def main():
    options = scenario.options(__doc__)
    noise = Noise(options.noise)
    width = 512
    model = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width)).cuda().eval()
    calibrate(model, options.many(1024), width)
    serve(model, options.many(1024), width, noise)
    allocated, reserved = torch.cuda.memory_allocated(), torch.cuda.memory_reserved()
    truth.write(allocated=allocated, reserved=reserved, cached=reserved - allocated)
    print(f"allocated {allocated:,}, reserved {reserved:,} bytes")


main()
