"""S13: Adam on a small model: memory grows at the first step and then stays constant."""

import torch
from torch import nn
from torch.nn import functional

import scenario
import truth
from noise import Noise

torch.manual_seed(1)
options = scenario.options(__doc__)
noise, width = Noise(options.noise), options.many(2048)
model = nn.Sequential(nn.Linear(512, width), nn.ReLU(), nn.Linear(width, 512)).cuda()
optimizer = torch.optim.Adam(model.parameters())
for _ in range(10):
    batch = torch.randn(256, 512, device="cuda")
    optimizer.zero_grad()
    loss = functional.mse_loss(model(batch), batch)
    loss.backward()
    optimizer.step()
    noise.iteration()
state = [value for kept in optimizer.state.values() for value in kept.values() if value.is_cuda]
truth.write(bytes=truth.bytes_of(state), iterations=10)
print(f"allocated {torch.cuda.memory_allocated():,} bytes")
