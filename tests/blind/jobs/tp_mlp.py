# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Tensor parallel MLP blocks: torchrun --nproc-per-node 2 tp_mlp.py"""

import os

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

DEVICE_TYPE = "cuda" if torch.cuda.is_available() else "cpu"
BIG = DEVICE_TYPE == "cuda"
DIM = 2048 if BIG else 32
HIDDEN = 4 * DIM
DEPTH = 8 if BIG else 2
TOKENS = 4096 if BIG else 16
STEPS = 50


class FeedForward(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.w1 = nn.Linear(dim, hidden, bias=False)
        self.w2 = nn.Linear(hidden, dim, bias=False)
        self.w3 = nn.Linear(dim, hidden, bias=False)

    def forward(self, x):
        h = self.norm(x)
        return x + self.w2(F.silu(self.w1(h)) * self.w3(h))


class Stack(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(FeedForward(DIM, HIDDEN) for _ in range(DEPTH))
        self.out = nn.Linear(DIM, DIM)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.out(x)


def parallelize(model, mesh):
    for block in model.blocks:
        parallelize_module(block, mesh, {
            "w1": ColwiseParallel(),
            "w3": ColwiseParallel(),
            "w2": RowwiseParallel(),
        })
    return model


def main():
    rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    if BIG:
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    mesh = init_device_mesh(DEVICE_TYPE, (world,), mesh_dim_names=("tp",))
    device = torch.device(DEVICE_TYPE, torch.cuda.current_device()) if BIG else torch.device("cpu")

    torch.manual_seed(0)
    with device:
        model = Stack()
    parallelize(model, mesh["tp"])
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, foreach=False)

    for step in range(1, STEPS + 1):
        x = torch.randn(TOKENS, DIM, device=device)
        target = x.roll(1, dims=1)
        with torch.autocast(DEVICE_TYPE, dtype=torch.bfloat16, enabled=BIG):
            loss = F.mse_loss(model(x).float(), target)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if step % 10 == 0 and rank == 0:
            print(f"step {step}: loss {loss.item():.4f}", flush=True)

    if BIG:
        print(f"rank {rank}: {torch.cuda.memory_allocated() >> 20} MiB now, "
              f"{torch.cuda.max_memory_allocated() >> 20} MiB at most", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
