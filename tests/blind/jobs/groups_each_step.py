# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Train a two-tower retrieval model; averaged recall every few steps: torchrun --nproc-per-node 2 groups_each_step.py"""

import os

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel

USE_CUDA = torch.cuda.is_available()
ITEMS = 50_000 if USE_CUDA else 200
DIM = 256 if USE_CUDA else 16
BATCH = 1024 if USE_CUDA else 16
STEPS = 72
METRIC_EVERY = 6


def average_over(ranks, tensor):
    group = dist.new_group(ranks=ranks)
    dist.all_reduce(tensor, group=group)
    return tensor / len(ranks)


class Tower(nn.Module):
    def __init__(self, count):
        super().__init__()
        self.embed = nn.Embedding(count, DIM)
        self.net = nn.Sequential(nn.Linear(DIM, 2 * DIM), nn.ReLU(), nn.Linear(2 * DIM, DIM))

    def forward(self, ids):
        return F.normalize(self.net(self.embed(ids)), dim=-1)


class TwoTower(nn.Module):
    def __init__(self):
        super().__init__()
        self.user, self.item = Tower(ITEMS), Tower(ITEMS)
        self.scale = nn.Parameter(torch.tensor(10.0))

    def forward(self, users, items):
        return self.scale * self.user(users) @ self.item(items).T


@torch.no_grad()
def recall_at(k, scores):
    target = torch.arange(len(scores), device=scores.device)
    hits = (scores.topk(k, dim=1).indices == target[:, None]).any(dim=1)
    return hits.float().mean()


def train(model, device):
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.05)
    ranks = list(range(dist.get_world_size()))
    for step in range(1, STEPS + 1):
        users = torch.randint(ITEMS, (BATCH,), device=device)
        items = (users * 7 + 3) % ITEMS
        scores = model(users, items)
        loss = F.cross_entropy(scores, torch.arange(BATCH, device=device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % METRIC_EVERY == 0:
            recall = average_over(ranks, recall_at(10, scores.detach()))
            if dist.get_rank() == 0:
                print(f"step {step}: loss {loss.item():.4f} recall@10 {recall.item():.4f}", flush=True)


def main():
    local_rank = int(os.environ["LOCAL_RANK"])
    if USE_CUDA:
        torch.cuda.set_device(local_rank)
    device = torch.device("cuda", local_rank) if USE_CUDA else torch.device("cpu")
    dist.init_process_group("nccl" if USE_CUDA else "gloo")
    torch.manual_seed(dist.get_rank())
    model = TwoTower().to(device)
    train(DistributedDataParallel(model, device_ids=[local_rank] if USE_CUDA else None), device)
    if USE_CUDA:
        free, total = torch.cuda.mem_get_info()
        print(f"rank {dist.get_rank()}: tensors {torch.cuda.memory_allocated() >> 20} MiB, "
              f"GPU {(total - free) >> 20} MiB in use", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
