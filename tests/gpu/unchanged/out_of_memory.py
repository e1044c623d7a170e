# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Runs out of memory, frees, and goes on with a smaller batch, as many programs do."""

import torch
from digest import digest
from torch import nn

torch.cuda.set_per_process_memory_fraction(0.05)
model = nn.Sequential(nn.Linear(1024, 4096), nn.GELU(), nn.Linear(4096, 1024)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
batch, tried, losses = 1 << 18, [], []
while len(losses) < 20:
    try:
        loss = model(torch.randn(batch, 1024, device="cuda")).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    except torch.OutOfMemoryError:
        tried.append(batch)
        batch //= 2
    optimizer.zero_grad()
    loss = None
print(digest(model, losses, tried))
