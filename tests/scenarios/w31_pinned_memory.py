"""W31: a list retains the pinned copy of each batch: host memory grows, GPU memory does not."""

import torch
from torch import nn

import scenario
import truth
from noise import Noise


@torch.no_grad()
def run(model, elements, noise):
    staged, width = [], 256
    for _ in range(24):
        staged.append(torch.randn(elements // width, width).pin_memory())
        model(staged[-1].to("cuda", non_blocking=True)).sum().item()
        noise.iteration()
    truth.write(bytes=24 * 4 * elements, bytes_per_iteration=4 * elements, iterations=24)
    return staged


def main():
    options = scenario.options(__doc__)
    noise = Noise(options.noise)
    staged = run(nn.Linear(256, 16).cuda(), options.many(1 << 20), noise)
    print(f"{len(staged)} staged batches, {torch.cuda.memory_allocated():,} bytes allocated on the GPU")


main()
