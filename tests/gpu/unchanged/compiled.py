# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Trains a model under torch.compile, with two lengths, so that it is compiled again."""

import torch
from digest import digest
from torch import nn

model = nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.LayerNorm(256), nn.Linear(256, 64)).cuda()
compiled = torch.compile(model)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
losses = []
for step in range(40):
    data = torch.randn(32 if step % 3 else 48, 64, device="cuda")
    loss = (compiled(data) - data).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    losses.append(loss.item())
print(digest(model, losses))
