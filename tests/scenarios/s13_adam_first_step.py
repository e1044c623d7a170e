"""S13: Adam on a small model: memory grows at the first step, and stays."""

import torch
from torch import nn
from torch.nn import functional

torch.manual_seed(1)
model = nn.Sequential(nn.Linear(512, 2048), nn.ReLU(), nn.Linear(2048, 512)).cuda()
optimizer = torch.optim.Adam(model.parameters())
for _ in range(10):
    batch = torch.randn(256, 512, device="cuda")
    optimizer.zero_grad()
    loss = functional.mse_loss(model(batch), batch)
    loss.backward()
    optimizer.step()
print(f"allocated {torch.cuda.memory_allocated():,} bytes")
