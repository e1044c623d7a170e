"""W19: matrix products on several streams: cuBLAS allocates one workspace per stream and retains it."""

import torch

import scenario
from noise import Noise


def multiply_on(stream, weights, inputs):
    with torch.cuda.stream(stream):
        return torch.mm(inputs, weights)


def main():
    options = scenario.options(__doc__)
    noise = Noise(options.noise)
    weights = torch.randn(256, 256, device="cuda")
    inputs = torch.randn(64, 256, device="cuda")
    streams = [torch.cuda.Stream() for _ in range(options.many(8))]
    for _ in range(10):
        for stream in streams:
            multiply_on(stream, weights, inputs)
        torch.cuda.synchronize()
        noise.iteration()
    print(f"allocated {torch.cuda.memory_allocated():,}, reserved {torch.cuda.memory_reserved():,} bytes")


main()
