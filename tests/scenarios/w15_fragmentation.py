"""W15: small bias tables, allocated right after large temporaries, each pin a segment; a longer batch then fails
although most memory is free, because every free gap is too small."""

import torch

import scenario
import truth
from noise import Noise

TABLE = 5 << 16  # elements: 1.25 MiB


def build_tables(unit):
    """Builds one table per length bucket, each from large temporaries."""
    distances = [torch.ones(unit * (25 + 2 * bucket) // 4, device="cuda") for bucket in range(12)]
    tables = []
    while distances:
        longest = distances.pop()
        reach = longest.mean().item()
        del longest
        tables.append(torch.full((TABLE,), reach, device="cuda"))
    return tables


def encode(tables, length_bytes):
    hidden = torch.ones(length_bytes // 4, device="cuda")
    hidden[:TABLE] += tables[0]
    return hidden.sum().item()


def run(unit, noise):
    tables = build_tables(unit)
    for round_number in range(24):
        encode(tables, unit * (12 + round_number % 12 * 2))
        noise.iteration()
    for length in (60, 75, 90, 110):
        truth.write(allocated=torch.cuda.memory_allocated(), reserved=torch.cuda.memory_reserved(), asked=unit * length)
        encode(tables, unit * length)
        noise.iteration()


def main():
    options = scenario.options(__doc__)
    unit = 4 * options.many(1 << 20)
    total = torch.cuda.get_device_properties(0).total_memory
    torch.cuda.set_per_process_memory_fraction(520 * unit / total)
    noise = Noise(options.noise)
    run(unit, noise)


main()
