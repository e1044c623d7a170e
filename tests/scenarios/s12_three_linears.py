"""S12: three bias-free Linears, three iterations of forward and backward: why is the peak in the second forward?"""

import torch
from torch import nn

import scenario
from noise import Noise

options = scenario.options(__doc__)
noise, width = Noise(options.noise), options.wide(1024)
model = nn.Sequential(
    nn.Linear(width, width, bias=False), nn.Linear(width, width, bias=False), nn.Linear(width, 1, bias=False)
).cuda()
inputs = torch.randn(width, width, device="cuda")
for _ in range(3):
    loss = model(inputs).sum()
    loss.backward()
    noise.iteration()
print(f"peak {torch.cuda.max_memory_allocated():,} bytes")
