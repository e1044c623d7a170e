"""W17: a slow side stream uses batches marked by record_stream: their memory is freed at once but not reusable until
that stream completes, so memory grows although nothing is retained."""

import torch

import scenario
from noise import Noise


def measure(batch, weights, scratch, side):
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(6):
            torch.mm(weights, weights, out=scratch)
        batch.mul_(2)
    batch.record_stream(side)


def run(elements, noise):
    side = torch.cuda.Stream()
    weights = torch.randn(4096, 4096, device="cuda")
    scratch = torch.empty_like(weights)
    for _ in range(30):
        batch = torch.ones(elements, device="cuda")
        measure(batch, weights, scratch, side)
        del batch
        noise.iteration()
    torch.cuda.synchronize()


def main():
    options = scenario.options(__doc__)
    noise = Noise(options.noise, seconds=0)
    run(options.many(4 << 20), noise)
    print(f"allocated {torch.cuda.memory_allocated():,}, reserved {torch.cuda.memory_reserved():,} bytes")


main()
