"""W20: few tensors, yet hundreds of MiB: the CUDA context, and kernels that the driver loads at their first
use."""

import torch
from torch.nn import functional

import scenario
from noise import Noise


def use_new_kernels(x):
    x.sort()
    x.cumsum(0)
    x.topk(4)
    torch.fft.rfft(x)
    functional.softmax(x, 0)
    functional.conv2d(x.view(1, 1, 32, -1), x[:9].view(1, 1, 3, 3))
    torch.linalg.norm(x.view(32, -1))
    torch.unique(x)


def main():
    options = scenario.options(__doc__)
    noise = Noise(options.noise)
    x = torch.randn(options.many(4096), device="cuda")
    for _ in range(8):
        use_new_kernels(x)
        noise.iteration()
    torch.cuda.synchronize()
    print(f"{torch.cuda.memory_allocated():,} bytes allocated")


main()
