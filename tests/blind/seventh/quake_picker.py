# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""P/S phase picker for a dense geophone array (U-shaped 1-D network, synthetic catalogue).

Windows are rendered and normalised on the device by a reader thread while the network trains. The catalogue is
far larger than an epoch, so epochs have a fixed number of batches and each one starts at another shuffle.
"""
import argparse
import json
import os
import queue
import sys
import threading
import time

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")


def parse():
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--epochs", type=int, default=6 if SMALL else 48)
    ap.add_argument("--batches-per-epoch", type=int, default=4 if SMALL else 20)
    ap.add_argument("--batch", type=int, default=2 if SMALL else 64)
    ap.add_argument("--samples", type=int, default=512 if SMALL else 6144)
    ap.add_argument("--events", type=int, default=400 if SMALL else 20000)
    ap.add_argument("--prefetch", type=int, default=3)
    ap.add_argument("--width", type=int, default=8 if SMALL else 32)
    ap.add_argument("--lr", type=float, default=1e-3)
    return ap.parse_args()


class Catalogue:
    """Travel times and magnitudes; waveforms are rendered on the device when asked for."""

    def __init__(self, args, seed=0):
        rng = np.random.default_rng(seed)
        self.samples = args.samples
        self.p = rng.uniform(0.1, 0.5, args.events).astype(np.float32)
        self.delay = rng.uniform(0.05, 0.4, args.events).astype(np.float32)
        self.magnitude = rng.gamma(2.0, 0.5, args.events).astype(np.float32)
        self.clock = torch.arange(args.samples, device=DEVICE, dtype=torch.float32)
        self.polarity = torch.tensor([[1.0, 0.3, 0.3], [0.4, 1.2, 1.1]], device=DEVICE)

    def __len__(self):
        return len(self.p)

    def render(self, index):
        n = self.samples
        onsets = np.stack([self.p[index], self.p[index] + self.delay[index]], axis=1) * n
        onsets = torch.from_numpy(onsets).to(DEVICE)[..., None]
        size = torch.from_numpy(self.magnitude[index]).to(DEVICE)[:, None, None]
        age = self.clock - onsets
        freq = torch.tensor([0.35, 0.18], device=DEVICE)[:, None]
        bursts = torch.sin(freq * age) * torch.exp(-age.clamp(min=0) / (0.08 * n)) * (age >= 0)
        waves = size * torch.einsum("bpt,pc->bct", bursts, self.polarity)
        waves += 0.3 * torch.randn_like(waves)
        waves /= waves.std(dim=-1, keepdim=True).clamp(min=1e-4)
        truth = torch.exp(-0.5 * (age / 12.0) ** 2)
        return waves, torch.cat([truth, (1.0 - truth.sum(1, keepdim=True)).clamp(0, 1)], dim=1)


class DeviceReader:
    """Iterate over batches which a thread renders ahead."""

    def __init__(self, catalogue, args, epoch):
        self.catalogue, self.args = catalogue, args
        self.rng = np.random.default_rng(1000 + epoch)
        self.order = self.rng.permutation(len(catalogue))
        self.ready = queue.Queue(maxsize=args.prefetch)
        self.thread = threading.Thread(target=self._work, name=f"reader-{epoch}", daemon=True)
        self.thread.start()

    def _work(self):
        size = self.args.batch
        for first in range(0, len(self.order) - size + 1, size):
            self.ready.put(self.catalogue.render(self.order[first:first + size]))
        self.ready.put(None)

    def __iter__(self):
        while (item := self.ready.get()) is not None:
            yield item


class Block(nn.Sequential):
    def __init__(self, cin, cout):
        super().__init__(nn.Conv1d(cin, cout, 7, padding=3), nn.BatchNorm1d(cout), nn.ReLU(inplace=True),
                         nn.Conv1d(cout, cout, 7, padding=3), nn.BatchNorm1d(cout), nn.ReLU(inplace=True))


class PhaseNet(nn.Module):
    def __init__(self, width, depth=4):
        super().__init__()
        widths = [width * 2 ** k for k in range(depth)]
        self.down = nn.ModuleList(Block(a, b) for a, b in zip([3] + widths[:-1], widths))
        self.up = nn.ModuleList(Block(a + b, b) for a, b in zip(widths[:0:-1], widths[-2::-1]))
        self.out = nn.Conv1d(width, 3, 1)

    def forward(self, x):
        skips = []
        for block in self.down:
            x = block(x)
            skips.append(x)
            x = F.max_pool1d(x, 4)
        x = skips.pop()
        for block in self.up:
            x = F.interpolate(x, scale_factor=4.0, mode="linear")
            x = block(torch.cat([x, skips.pop()], dim=1))
        return self.out(x)


def picks(logits, threshold=0.3):
    prob = logits.softmax(1)[:, :2]
    peak, where = prob.max(-1)
    return where, peak > threshold


def run_epoch(net, ema, optimizer, reader, limit):
    net.train()
    total = torch.zeros((), device=DEVICE)
    error = torch.zeros((), device=DEVICE)
    for number, (waves, masks) in enumerate(reader, start=1):
        logits = net(waves)
        loss = -(masks * logits.log_softmax(1)).sum(1).mean()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        ema.update_parameters(net)
        with torch.no_grad():
            where, _ = picks(logits)
            error += (where - masks[:, :2].argmax(-1)).abs().float().mean()
            total += loss
        if number == limit:
            break
    return total.item() / limit, error.item() / limit


def record(memory):
    if DEVICE.type == "cuda":
        memory.append(torch.cuda.memory_allocated(DEVICE))


def main():
    args = parse()
    torch.manual_seed(0)
    catalogue = Catalogue(args)
    net = PhaseNet(args.width).to(DEVICE)
    ema = torch.optim.swa_utils.AveragedModel(net, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.99))
    optimizer = torch.optim.Adam(net.parameters(), lr=args.lr)
    plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=4)
    memory = []
    for epoch in range(1, args.epochs + 1):
        begin = time.time()
        reader = DeviceReader(catalogue, args, epoch)
        loss, error = run_epoch(net, ema, optimizer, reader, args.batches_per_epoch)
        plateau.step(loss)
        record(memory)
        print(f"epoch {epoch:3d}  loss {loss:.4f}  pick error {error:8.1f} samples  {time.time() - begin:.2f} s", flush=True)
    print("TRUTH " + json.dumps({"allocated": memory, "rounds": args.epochs}), file=sys.stderr)


if __name__ == "__main__":
    main()
