# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Cluster features, then train a projection on the clusters: torchrun --nproc-per-node 2 slow_free.py"""

import os
import tempfile

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

ON_GPU = torch.cuda.is_available()
SAMPLES = 400_000 if ON_GPU else 512
FEATURES = 1024 if ON_GPU else 16
CLUSTERS = 256 if ON_GPU else 8
BATCH = 4096 if ON_GPU else 32
ROUNDS = 8
STEPS = 80


class BankWriter:
    """Writes a sample of the feature bank for later inspection."""

    def __init__(self, path):
        self.path = path
        self.pending = None

    def submit(self, bank):
        self.pending = bank

    def flush(self):
        torch.save(self.pending[::1000].cpu(), self.path)
        self.pending = None


def build_bank(device):
    bank = torch.empty(SAMPLES, FEATURES, device=device)
    encoder = nn.Linear(FEATURES, FEATURES, device=device)
    with torch.inference_mode():
        for start in range(0, SAMPLES, BATCH):
            rows = bank[start:start + BATCH]
            rows.copy_(F.normalize(encoder(torch.randn(len(rows), FEATURES, device=device)), dim=1))
    return bank


@torch.no_grad()
def cluster(bank):
    centers = bank[torch.randperm(len(bank), device=bank.device)[:CLUSTERS]].clone()
    for _ in range(ROUNDS):
        sums, counts = torch.zeros_like(centers), torch.zeros(CLUSTERS, device=bank.device)
        for part in bank.split(BATCH):
            nearest = (part @ centers.T).argmax(dim=1)
            sums.index_add_(0, nearest, part)
            counts += torch.bincount(nearest, minlength=CLUSTERS)
        dist.all_reduce(sums)
        dist.all_reduce(counts)
        centers = F.normalize(sums / counts.clamp(min=1)[:, None], dim=1)
    return centers


def train(model, centers, device):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for step in range(1, STEPS + 1):
        x = F.normalize(torch.randn(BATCH, FEATURES, device=device), dim=1)
        target = (x @ centers.T).argmax(dim=1)
        loss = F.cross_entropy(model(x), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 0 and dist.get_rank() == 0:
            print(f"step {step}: loss {loss.item():.4f}", flush=True)


def main():
    local_rank = int(os.environ["LOCAL_RANK"])
    device = torch.device("cuda", local_rank) if ON_GPU else torch.device("cpu")
    if ON_GPU:
        torch.cuda.set_device(device)
    dist.init_process_group("nccl" if ON_GPU else "gloo")
    rank = dist.get_rank()
    torch.manual_seed(rank)

    writer = BankWriter(os.path.join(tempfile.gettempdir(), "bank.pt")) if rank == 1 else None
    bank = build_bank(device)
    centers = cluster(bank)
    if writer is not None:
        writer.submit(bank)
    del bank
    hidden = 4 * FEATURES
    model = nn.Sequential(nn.Linear(FEATURES, hidden), nn.GELU(), nn.Linear(hidden, hidden), nn.GELU(),
                          nn.Linear(hidden, CLUSTERS)).to(device)
    train(DDP(model, device_ids=[local_rank] if ON_GPU else None), centers, device)
    if writer is not None:
        writer.flush()
    if ON_GPU:
        print(f"rank {rank}: {torch.cuda.max_memory_allocated() >> 20} MiB at most, "
              f"{torch.cuda.memory_allocated() >> 20} MiB now", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
