# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Train a tabular classifier with class weights: torchrun --nproc-per-node 2 stray_tensor.py"""

import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
FEATURES = 1024 if DEVICE == "cuda" else 16
HIDDEN = 4096 if DEVICE == "cuda" else 32
ROWS = 8192 if DEVICE == "cuda" else 32
STEPS = 60


class Focal(nn.Module):
    """Focal loss with one weight for each class."""

    def __init__(self, weights, gamma=2.0):
        super().__init__()
        self.gamma = gamma
        self.register_buffer("weights", weights)

    def forward(self, logits, target):
        logp = logits.log_softmax(dim=-1).gather(1, target[:, None]).squeeze(1)
        return -(self.weights[target] * (1 - logp.exp()) ** self.gamma * logp).mean()


def class_weights(counts):
    counts = torch.tensor(counts, dtype=torch.float32, device=DEVICE)
    weights = counts.sum() / (len(counts) * counts)
    return weights / weights.max()


def net():
    return nn.Sequential(
        nn.Linear(FEATURES, HIDDEN), nn.LayerNorm(HIDDEN), nn.GELU(), nn.Dropout(0.1),
        nn.Linear(HIDDEN, HIDDEN), nn.LayerNorm(HIDDEN), nn.GELU(), nn.Dropout(0.1),
        nn.Linear(HIDDEN, 4),
    )


def draw(device):
    x = torch.randn(ROWS, FEATURES, device=device)
    return x, (x[:, 0] > 0).long() + 2 * (x[:, 1] > 1).long()


def main():
    criterion = Focal(class_weights([5000, 1200, 300, 80]))

    local_rank = int(os.environ["LOCAL_RANK"])
    if DEVICE == "cuda":
        torch.cuda.set_device(local_rank)
    device = torch.device(DEVICE, local_rank if DEVICE == "cuda" else None)
    dist.init_process_group("nccl" if DEVICE == "cuda" else "gloo")
    rank = dist.get_rank()
    torch.manual_seed(rank)

    criterion.to(device)
    model = DDP(net().to(device), device_ids=[local_rank] if DEVICE == "cuda" else None)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for step in range(1, STEPS + 1):
        x, y = draw(device)
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 0 and rank == 0:
            print(f"step {step}: loss {loss.item():.4f}", flush=True)

    if DEVICE == "cuda":
        reserved = [torch.cuda.memory_reserved(i) >> 20 for i in range(torch.cuda.device_count())]
        print(f"rank {rank}: reserved MiB by GPU {reserved}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
