"""S12: three bias-free Linears, three rounds of forward and backward: why does the peak come at the second forward?"""

import torch
from torch import nn

model = nn.Sequential(
    nn.Linear(1024, 1024, bias=False), nn.Linear(1024, 1024, bias=False), nn.Linear(1024, 1, bias=False)
).cuda()
inputs = torch.randn(1024, 1024, device="cuda")
for _ in range(3):
    loss = model(inputs).sum()
    loss.backward()
print(f"peak {torch.cuda.max_memory_allocated():,} bytes")
