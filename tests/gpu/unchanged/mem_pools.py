# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Allocates in a MemPool, on two streams, with hooks on saved tensors, checkpointing and an autograd.Function."""

import torch
from digest import digest
from torch import nn
from torch.utils.checkpoint import checkpoint


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, value):
        ctx.save_for_backward(value)
        return value * value

    @staticmethod
    def backward(ctx, gradient):
        (value,) = ctx.saved_tensors
        return 2 * value * gradient


model = nn.Sequential(nn.Linear(128, 128), nn.Tanh(), nn.Linear(128, 128)).cuda()
optimizer = torch.optim.AdamW(model.parameters())
pool, side = torch.cuda.MemPool(), torch.cuda.Stream()
losses = []
for step in range(30):
    with torch.cuda.use_mem_pool(pool):
        data = torch.randn(64, 128, device="cuda")
    with torch.autograd.graph.save_on_cpu(pin_memory=True) if step % 3 == 0 else torch.enable_grad():
        loss = Square.apply(checkpoint(model, data, use_reentrant=False)).mean()
    loss.backward()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        losses.append((data * 2).sum().item())
    torch.cuda.current_stream().wait_stream(side)
    optimizer.step()
    optimizer.zero_grad()
    losses.append(loss.item())
print(digest(model, losses))
