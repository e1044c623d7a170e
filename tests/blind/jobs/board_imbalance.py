# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Train a small segmentation network on all GPUs: torchrun --nproc-per-node 2 board_imbalance.py"""

import argparse
import os

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

CUDA = torch.cuda.is_available()


def parse_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--classes", type=int, default=8)
    parser.add_argument("--size", type=int, default=128 if CUDA else 16)
    parser.add_argument("--batch-size", type=int, default=16 if CUDA else 2)
    parser.add_argument("--width", type=int, default=48 if CUDA else 8)
    parser.add_argument("--steps", type=int, default=80)
    parser.add_argument("--log-every", type=int, default=20)
    return parser.parse_args()


def block(inputs, outputs):
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU(inplace=True))


class SmallUNet(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        self.enter = block(3, width)
        self.down = block(width, 2 * width)
        self.middle = block(2 * width, 2 * width)
        self.up = block(3 * width, width)
        self.classify = nn.Conv2d(width, classes, 1)

    def forward(self, images):
        first = self.enter(images)
        deep = self.middle(self.down(F.max_pool2d(first, 2)))
        deep = F.interpolate(deep, scale_factor=2, mode="nearest")
        return self.classify(self.up(torch.cat([first, deep], dim=1)))


class Board:
    """Collects what the dashboard shows: curves, and samples of the predictions."""

    def __init__(self, enabled):
        self.enabled = enabled
        self.curves = {}
        self.predictions = []

    def scalar(self, name, value, step):
        if self.enabled:
            self.curves.setdefault(name, []).append((step, value))

    def masks(self, probabilities):
        if self.enabled:
            self.predictions.append(probabilities)

    def summary(self):
        step, value = self.curves["loss"][-1]
        shares = self.predictions[-1].mean(dim=(0, 2, 3)).tolist()
        return f"step {step}: loss {value:.4f}, largest class share {max(shares):.3f}"


def synthetic_batch(args, device):
    images = torch.rand(args.batch_size, 3, args.size, args.size, device=device)
    masks = (images.mean(dim=1) * args.classes).long().clamp_(0, args.classes - 1)
    return images, masks


def main():
    args = parse_args()
    local_rank = int(os.environ["LOCAL_RANK"])
    device = torch.device("cuda", local_rank) if CUDA else torch.device("cpu")
    if CUDA:
        torch.cuda.set_device(device)
    dist.init_process_group("nccl" if CUDA else "gloo")
    torch.manual_seed(dist.get_rank())

    model = DDP(SmallUNet(args.width, args.classes).to(device), device_ids=[local_rank] if CUDA else None)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    board = Board(enabled=dist.get_rank() == 0)

    for step in range(1, args.steps + 1):
        images, masks = synthetic_batch(args, device)
        logits = model(images)
        loss = F.cross_entropy(logits, masks)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        board.scalar("loss", loss.item(), step)
        board.masks(logits.detach().softmax(dim=1))
        if step % args.log_every == 0 and board.enabled:
            print(board.summary(), flush=True)

    if CUDA:
        print(f"rank {dist.get_rank()}: {torch.cuda.memory_allocated() >> 20} MiB allocated", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
