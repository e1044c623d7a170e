# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Super-resolution of multispectral crop imagery. The batch is chosen for the card at hand, then training starts."""
import argparse
import gc
import json
import os
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def parse_args():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--bands", type=int, default=6)
    p.add_argument("--features", type=int, default=8 if SMALL else 64)
    p.add_argument("--blocks", type=int, default=2 if SMALL else 16)
    p.add_argument("--patch", type=int, default=16 if SMALL else 96)
    p.add_argument("--scale", type=int, default=2)
    p.add_argument("--first-batch", type=int, default=2 if SMALL else 8)
    p.add_argument("--largest-batch", type=int, default=8 if SMALL else 1024)
    p.add_argument("--headroom", type=float, default=0.75)
    p.add_argument("--steps", type=int, default=6 if SMALL else 60)
    p.add_argument("--lr", type=float, default=4e-4)
    p.add_argument("--share-gb", type=float, default=9.0, help="our share of the card")
    p.add_argument("--scene-delay", type=float, default=0.0 if SMALL else 0.1)
    return p.parse_args()


class ResidualBlock(nn.Module):
    def __init__(self, c, weight=0.1):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(c, c, 3, padding=1), nn.ReLU(), nn.Conv2d(c, c, 3, padding=1))
        self.weight = weight

    def forward(self, x):
        return x + self.weight * self.body(x)


class CropSR(nn.Module):
    def __init__(self, args):
        super().__init__()
        c = args.features
        self.scale = args.scale
        self.head = nn.Conv2d(args.bands, c, 3, padding=1)
        self.body = nn.Sequential(*[ResidualBlock(c) for _ in range(args.blocks)], nn.Conv2d(c, c, 3, padding=1))
        self.tail = nn.Sequential(nn.Conv2d(c, c * args.scale ** 2, 3, padding=1), nn.PixelShuffle(args.scale),
                                  nn.Conv2d(c, args.bands, 3, padding=1))

    def forward(self, low):
        x = self.head(low)
        up = F.interpolate(low, scale_factor=self.scale, mode="bicubic", align_corners=False)
        return up + self.tail(x + self.body(x))


class Scenes:
    """Cuts aligned high/low-resolution patches out of one synthetic field mosaic held in host memory."""

    def __init__(self, args, seed=13):
        self.args = args
        self.gen = torch.Generator().manual_seed(seed)
        side = args.patch * args.scale * 6
        coarse = torch.rand(1, args.bands, side // 16, side // 16, generator=self.gen)
        rows = torch.sin(torch.arange(side) * 0.9)
        self.mosaic = F.interpolate(coarse, size=(side, side), mode="bicubic")[0] + 0.1 * rows

    def batch(self, size):
        time.sleep(self.args.scene_delay)
        edge = self.args.patch * self.args.scale
        corner = torch.randint(0, self.mosaic.shape[-1] - edge, (size, 2), generator=self.gen).tolist()
        high = torch.stack([self.mosaic[:, y:y + edge, x:x + edge] for y, x in corner])
        low = F.avg_pool2d(high, self.args.scale)
        return low.to(DEVICE), high.to(DEVICE)


def charbonnier(prediction, target, eps=1e-3):
    return ((prediction - target).square() + eps ** 2).sqrt().mean()


def try_batch(model, args, size):
    edge = args.patch
    try:
        low = torch.rand(size, args.bands, edge, edge, device=DEVICE)
        high = torch.rand(size, args.bands, edge * args.scale, edge * args.scale, device=DEVICE)
        charbonnier(model(low), high).backward()
    except torch.OutOfMemoryError:
        return False
    return True


def find_batch(model, args):
    """Doubles the batch until it no longer fits and keeps a margin below the last one that did."""
    size, best = args.first_batch, None
    while size <= args.largest_batch:
        fits = try_batch(model, args, size)
        model.zero_grad(set_to_none=True)
        gc.collect()
        torch.cuda.empty_cache()
        print(f"batch {size}: {'fits' if fits else 'too large'}, "
              f"{torch.cuda.memory_allocated() / 2**20:.0f} MiB in use afterwards", flush=True)
        if not fits:
            break
        best, size = size, size * 2
    if best is None:
        raise SystemExit("not even the first batch fits")
    return max(1, int(best * args.headroom))


def train(model, args, batch):
    scenes, allocated = Scenes(args), []
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, args.steps)
    psnr = 0.0
    for step in range(1, args.steps + 1):
        low, high = scenes.batch(batch)
        prediction = model(low)
        loss = charbonnier(prediction, high)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        with torch.no_grad():
            psnr = -10 * F.mse_loss(prediction, high).log10().item()
        allocated.append(torch.cuda.memory_allocated())
        if step % 10 == 0:
            print(f"step {step:3d}  loss {loss.item():.4f}  psnr {psnr:.2f} dB", flush=True)
    return psnr, allocated


def main():
    args = parse_args()
    torch.manual_seed(13)
    if DEVICE.type == "cuda":
        torch.cuda.set_per_process_memory_fraction(args.share_gb * 2**30 / torch.cuda.mem_get_info()[1])
    model = CropSR(args).to(DEVICE)
    batch = find_batch(model, args)
    print(f"training with batch {batch}", flush=True)
    psnr, allocated = train(model, args, batch)
    print(f"final psnr {psnr:.2f} dB")
    print("TRUTH " + json.dumps({"allocated": allocated, "rounds": args.steps}), file=sys.stderr)


if __name__ == "__main__":
    main()
