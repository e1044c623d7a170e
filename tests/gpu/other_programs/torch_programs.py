# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""A training that keeps its losses with their graphs, or not, with PyTorch's other allocators.

torch_programs.py async|pluggable|mempool retains|steady [PLUGGABLE_LIBRARY]
"""

import os
import sys

allocator, conduct = sys.argv[1:3]
if allocator == "async":
    os.environ["PYTORCH_CUDA_ALLOC_CONF"] = "backend:cudaMallocAsync"

import torch

if allocator == "pluggable":
    torch.cuda.memory.change_current_allocator(
        torch.cuda.memory.CUDAPluggableAllocator(sys.argv[3], "take", "give_back")
    )

losses = []


def train():
    model = torch.nn.Sequential(torch.nn.Linear(1024, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 1024)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for _step in range(40):
        batch = torch.randn(512, 1024, device="cuda")
        loss = model(batch).square().mean(1)
        loss.mean().backward(retain_graph=conduct == "retains")
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss if conduct == "retains" else loss.detach().cpu())


if allocator == "mempool":
    with torch.cuda.use_mem_pool(torch.cuda.MemPool()):
        train()
else:
    train()
torch.cuda.synchronize()
print(len(losses))
