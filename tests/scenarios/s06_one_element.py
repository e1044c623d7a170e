"""S6: the program has one tensor of one element, and nvidia-smi shows hundreds of MiB."""

import time

import torch

import scenario
from noise import Noise

options = scenario.options(__doc__)
noise = Noise(options.noise)
one = torch.ones(1, device="cuda")
noise.iteration()
torch.cuda.synchronize()
time.sleep(1.0)
print(f"{one.numel()} element, {torch.cuda.memory_allocated()} bytes allocated")
