# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Train an image classifier on a shared machine: torchrun --nproc-per-node 2 rank0_oom.py"""

import os

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

CUDA = torch.cuda.is_available()
IMAGE = 224 if CUDA else 16
BATCH = 128 if CUDA else 2
WIDTH = 32 if CUDA else 4
STEPS = 400 if CUDA else 20
MEMORY_SHARE = 0.08


def conv(inputs, outputs, stride):
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU())


def build_model():
    return nn.Sequential(
        conv(3, WIDTH, 2), conv(WIDTH, 2 * WIDTH, 2), conv(2 * WIDTH, 4 * WIDTH, 2), conv(4 * WIDTH, 8 * WIDTH, 2),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8 * WIDTH, 1000),
    )


class ImageSource:
    """Batches of decoded images; the first ones are made once and reused."""

    def __init__(self, rank, batches=8):
        generator = torch.Generator().manual_seed(rank)
        self.pool = [torch.rand(BATCH, 3, IMAGE, IMAGE, generator=generator) for _ in range(batches)]
        self.labels = torch.randint(1000, (BATCH,), generator=generator)

    def __getitem__(self, step):
        return self.pool[step % len(self.pool)], self.labels


class PreviewStore:
    """Images of each step, for the report that rank 0 writes."""

    def __init__(self, device):
        self.device = device
        self.batches = {}

    def get(self, step, images):
        if step not in self.batches:
            self.batches[step] = images.to(self.device)
        return self.batches[step]


def main():
    local_rank = int(os.environ["LOCAL_RANK"])
    device = torch.device("cuda", local_rank) if CUDA else torch.device("cpu")
    if CUDA:
        torch.cuda.set_device(device)
        torch.cuda.set_per_process_memory_fraction(MEMORY_SHARE, device)
    dist.init_process_group("nccl" if CUDA else "gloo")
    rank = dist.get_rank()
    torch.manual_seed(rank)

    source = ImageSource(rank)
    previews = PreviewStore(device) if rank == 0 else None
    model = DDP(build_model().to(device), device_ids=[local_rank] if CUDA else None)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True)
    for step in range(STEPS):
        images, labels = source[step]
        if previews is not None:
            images = previews.get(step, images)
        images, labels = images.to(device), labels.to(device)
        loss = F.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            used = torch.cuda.memory_allocated() >> 20 if CUDA else 0
            print(f"[rank {rank}] step {step}: loss {loss.item():.4f}, {used} MiB", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
