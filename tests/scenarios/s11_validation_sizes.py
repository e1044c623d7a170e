"""S11: validation inputs are small, larger, small again: reserved memory rises and never falls."""

import torch
from torch import nn

import scenario
import truth
from noise import Noise

options = scenario.options(__doc__)
noise = Noise(options.noise)
model = nn.Sequential(*[nn.Sequential(nn.Conv2d(16, 16, 3, padding=1), nn.ReLU()) for _ in range(6)]).cuda().eval()
with torch.no_grad():
    for size in [64, 64, 128, 128, 256, 512, 768, 512, 256, 128, 64, 64]:
        batch = torch.randn(options.many(8), 16, size, size, device="cuda")
        score = model(batch).mean().item()
        del batch
        noise.iteration()
truth.write(allocated=torch.cuda.memory_allocated(), reserved=torch.cuda.memory_reserved())
print(f"allocated {torch.cuda.memory_allocated():,}, reserved {torch.cuda.memory_reserved():,} bytes")
