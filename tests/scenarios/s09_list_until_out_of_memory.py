"""S9: a list gets a new GPU tensor each iteration until nothing is left of 6 GiB."""

import torch

limit_gib = 6
total = torch.cuda.get_device_properties(0).total_memory
torch.cuda.set_per_process_memory_fraction(limit_gib * 2**30 / total)
kept = []
while True:
    kept.append(torch.ones(32, 1024, 1024, device="cuda"))
