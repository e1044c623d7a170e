"""One process per camera site, eight sites on two cards, gradients averaged with gloo.

    torchrun --nproc-per-node 8 eight_cameras.py
"""
import os
import time

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP

SITES = ["harbour", "station", "campus", "bridge", "mall", "tunnel", "stadium", "airport"]
CLASSES, IMAGE, BATCH, WIDTH, STEPS = 12, 64, 64, 64, 240
REVIEW_FRACTION = {"tunnel": 0.5}  # dark frames, flagged by the annotators for a second look


def conv(cin, cout, stride=1):
    return nn.Sequential(
        nn.Conv2d(cin, cout, 3, stride=stride, padding=1, bias=False), nn.GroupNorm(8, cout), nn.ReLU(inplace=True))


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.a, self.b = conv(width, width), conv(width, width)

    def forward(self, x):
        return x + self.b(self.a(x))


class SmallNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(conv(3, WIDTH, 2), Residual(WIDTH))
        self.stage = nn.Sequential(conv(WIDTH, 4 * WIDTH, 2), Residual(4 * WIDTH))
        self.fc = nn.Linear(4 * WIDTH, CLASSES)

    def forward(self, x):
        maps = self.stage(self.stem(x))
        return self.fc(maps.mean((2, 3))), maps


class SiteStream:
    def __init__(self, site, index, device):
        self.device = device
        self.gen = torch.Generator(device).manual_seed(31 * index + 1)
        shared = torch.Generator().manual_seed(2)
        self.patterns = torch.randn(CLASSES, 3, IMAGE, IMAGE, generator=shared).to(device)
        self.fraction = REVIEW_FRACTION.get(site, 0.0)

    def next(self):
        y = torch.randint(0, CLASSES, (BATCH,), generator=self.gen, device=self.device)
        x = self.patterns[y] + torch.randn(BATCH, 3, IMAGE, IMAGE, generator=self.gen, device=self.device)
        flagged = torch.rand(BATCH, generator=self.gen, device=self.device) < self.fraction
        x = torch.where(flagged[:, None, None, None], x * 0.1, x)
        return x, y, flagged


class ReviewSet:
    """Feature maps of the flagged frames, summarised for the report at the end."""

    def __init__(self, keep_worst=16):
        self.keep_worst = keep_worst
        self.entries = []
        self.seen = 0

    def add(self, step, maps, losses, flagged):
        if not flagged.any():
            return
        picked = maps[flagged]
        worst = losses[flagged].max().item()
        self.entries.append((worst, step, picked))
        self.entries.sort(key=lambda e: -e[0])
        self.seen += len(picked)

    def summary(self):
        top = self.entries[: self.keep_worst]
        if not top:
            return "nothing flagged"
        energy = sum(m.square().mean().item() for _, _, m in top) / len(top)
        return f"{self.seen} flagged frames, worst loss {top[0][0]:.2f} at step {top[0][1]}, energy {energy:.3f}"


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    device = torch.device("cpu")
    if torch.cuda.is_available():
        device = torch.device("cuda", rank % torch.cuda.device_count())
        torch.cuda.set_device(device)
    torch.manual_seed(0)
    site = SITES[rank % len(SITES)]
    net = DDP(SmallNet().to(device), device_ids=[device.index] if device.type == "cuda" else None)
    opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, nesterov=True)
    stream, review = SiteStream(site, rank, device), ReviewSet()
    correct = torch.zeros((), device=device)
    began = time.time()
    for step in range(1, STEPS + 1):
        x, y, flagged = stream.next()
        logits, maps = net(x)
        losses = F.cross_entropy(logits, y, reduction="none")
        opt.zero_grad(set_to_none=True)
        losses.mean().backward()
        opt.step()
        review.add(step, maps.detach(), losses.detach(), flagged)
        correct += (logits.argmax(1) == y).float().mean()
        if step % 40 == 0:
            stat = torch.tensor([losses.mean().item(), correct.item() / 40])
            dist.all_reduce(stat)
            correct.zero_()
            if rank == 0:
                n = dist.get_world_size()
                print(f"step {step} loss {stat[0] / n:.3f} acc {stat[1] / n:.3f} {time.time() - began:.1f}s", flush=True)
    print(f"[{site}] {review.summary()}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
