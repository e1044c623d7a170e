# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Data-parallel training of a small vision transformer: torchrun --nproc-per-node 2 ddp_plain.py"""

import os

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

GPU = torch.cuda.is_available()
SIZE, PATCH = (64, 8) if GPU else (16, 8)
DIM, HEADS, LAYERS = (512, 8, 8) if GPU else (32, 2, 2)
BATCH, IMAGES, EPOCHS = (128, 4096, 4) if GPU else (4, 64, 2)
CLASSES = 100


class ViT(nn.Module):
    def __init__(self):
        super().__init__()
        self.patches = nn.Conv2d(3, DIM, PATCH, stride=PATCH)
        self.positions = nn.Parameter(torch.zeros(1, (SIZE // PATCH) ** 2, DIM))
        layer = nn.TransformerEncoderLayer(DIM, HEADS, 4 * DIM, dropout=0.1, batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False)
        self.head = nn.Linear(DIM, CLASSES)

    def forward(self, images):
        x = self.patches(images).flatten(2).transpose(1, 2) + self.positions
        return self.head(self.encoder(x).mean(dim=1))


def make_loader(rank, world):
    generator = torch.Generator().manual_seed(0)
    data = TensorDataset(
        torch.rand(IMAGES, 3, SIZE, SIZE, generator=generator),
        torch.randint(CLASSES, (IMAGES,), generator=generator),
    )
    sampler = DistributedSampler(data, num_replicas=world, rank=rank, shuffle=True)
    return DataLoader(data, BATCH, sampler=sampler, pin_memory=GPU, drop_last=True), sampler


def train_epoch(model, optimizer, scheduler, loader, device):
    total = torch.zeros((), device=device)
    for images, labels in loader:
        images, labels = images.to(device, non_blocking=True), labels.to(device, non_blocking=True)
        loss = F.cross_entropy(model(images), labels, label_smoothing=0.1)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        total += loss.detach()
    dist.all_reduce(total)
    return total.item() / len(loader) / dist.get_world_size()


def main(rank=None, world=None, local_rank=None):
    rank = int(os.environ["RANK"]) if rank is None else rank
    world = int(os.environ["WORLD_SIZE"]) if world is None else world
    local_rank = int(os.environ["LOCAL_RANK"]) if local_rank is None else local_rank
    device = torch.device("cuda", local_rank) if GPU else torch.device("cpu")
    if GPU:
        torch.cuda.set_device(device)
    dist.init_process_group("nccl" if GPU else "gloo", init_method="env://", rank=rank, world_size=world)
    torch.manual_seed(rank)

    model = DistributedDataParallel(ViT().to(device), device_ids=[local_rank] if GPU else None,
                                    bucket_cap_mb=10, gradient_as_bucket_view=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.05)
    loader, sampler = make_loader(rank, world)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, EPOCHS * len(loader))
    for epoch in range(EPOCHS):
        sampler.set_epoch(epoch)
        loss = train_epoch(model, optimizer, scheduler, loader, device)
        if rank == 0:
            print(f"epoch {epoch}: loss {loss:.4f}", flush=True)
    if GPU:
        print(f"rank {rank}: {torch.cuda.max_memory_allocated() >> 20} MiB at most", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
