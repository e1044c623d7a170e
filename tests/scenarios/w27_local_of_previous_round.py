"""W27: the variable `volume` retains the last result until the next one is assigned, so two exist at the peak."""

import torch
from torch import nn

import scenario
import truth
from noise import Noise


@torch.no_grad()
def reconstruct(decoder, elements, noise):
    energies = []
    for _ in range(20):
        codes = torch.randn(elements, 8, device="cuda")
        volume = decoder(codes)
        energies.append(volume.norm().item())
        noise.iteration()
    truth.write(bytes=truth.bytes_of([volume]), iterations=20)
    return energies


def main():
    options = scenario.options(__doc__)
    noise = Noise(options.noise)
    energies = reconstruct(nn.Linear(8, 1024).cuda(), options.many(16 << 10), noise)
    print(f"{len(energies)} volumes, peak {torch.cuda.max_memory_allocated():,} bytes allocated")


main()
