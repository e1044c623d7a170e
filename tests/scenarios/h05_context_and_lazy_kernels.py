"""H5, harmless: each iteration uses a new op, whose kernels the driver loads lazily; tensors are small."""

import torch

import scenario
from noise import Noise


OPS = [torch.sin, torch.erfinv, torch.sort, torch.fft.fft, torch.unique, torch.median, torch.lgamma]


def main():
    options = scenario.options(__doc__)
    noise = Noise(options.noise)
    x = torch.rand(options.many(4096), device="cuda")
    for op in OPS:
        for _ in range(3):
            op(x)
        torch.cuda.synchronize()
        noise.iteration()
    print(f"{torch.cuda.memory_allocated():,} bytes allocated")


main()
