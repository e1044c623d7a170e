"""S8: a small tensor after a big one splits the big one's freed block; a larger one after a big one needs a new
segment."""

import torch

import scenario
from noise import Noise


def small_after_big(mib):
    big = torch.empty(mib, 2**18, device="cuda")
    del big
    small = torch.empty(mib // 8, 2**18, device="cuda")
    return small


def bigger_after_big(mib):
    big = torch.empty(2 * mib, 2**18, device="cuda")
    del big
    bigger = torch.empty(3 * mib, 2**18, device="cuda")
    return bigger


options = scenario.options(__doc__)
noise = Noise(options.noise)
small = small_after_big(options.many(256))
noise.iteration()
bigger = bigger_after_big(options.many(256))
noise.iteration()
print(f"allocated {torch.cuda.memory_allocated():,}, reserved {torch.cuda.memory_reserved():,} bytes")
