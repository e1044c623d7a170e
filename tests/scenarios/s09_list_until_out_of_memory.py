"""S9: a list gets a new GPU tensor in each iteration until 6 GiB are used up."""

import torch

import scenario
import truth
from noise import Noise

options = scenario.options(__doc__)
limit_gib = 6 * options.scale
total = torch.cuda.get_device_properties(0).total_memory
torch.cuda.set_per_process_memory_fraction(limit_gib * 2**30 / total)
noise = Noise(options.noise)
kept = []
while True:
    kept.append(torch.ones(options.many(32), 1024, 1024, device="cuda"))
    truth.write(kept=truth.bytes_of(kept), asked=kept[0].nbytes)
    noise.iteration()
