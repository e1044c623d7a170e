# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Spoken-digit recognition with a spiking network on cochleagrams.

A convolutional front end turns the cochleagram into currents, a layer of leaky integrate-and-fire cells with a
surrogate gradient integrates them over time, and a linear readout counts spikes.  Data are synthetic.
"""
import argparse
import gc
import json
import os
import random
import sys
import time
from collections import deque

import torch
import torch.nn as nn
import torch.nn.functional as F

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class SpikeStep(torch.autograd.Function):
    """One time step of a LIF cell: (current, membrane) -> (spikes, membrane after reset)."""

    @staticmethod
    def forward(ctx, current, membrane, decay, threshold, slope):
        potential = decay * membrane + current
        spikes = (potential >= threshold).to(potential.dtype)
        after = potential - threshold * spikes
        ctx.spikes, ctx.after = spikes, after
        ctx.decay, ctx.threshold, ctx.slope = decay, threshold, slope
        return spikes, after

    @staticmethod
    def backward(ctx, grad_spikes, grad_after):
        distance = ctx.after + ctx.threshold * (ctx.spikes - 1.0)
        surrogate = ctx.slope / (1.0 + (torch.pi * ctx.slope * distance) ** 2)
        grad = grad_after + surrogate * (grad_spikes - ctx.threshold * grad_after)
        return grad, ctx.decay * grad, None, None, None


class SpikingLayer(nn.Module):
    def __init__(self, features, decay=0.9, threshold=1.0, slope=2.0):
        super().__init__()
        self.features, self.decay, self.threshold, self.slope = features, decay, threshold, slope
        self.register_buffer("rate", torch.zeros(features), persistent=False)

    def forward(self, currents):
        membrane = currents.new_zeros(currents.shape[1], self.features)
        spikes = []
        for current in currents.unbind(0):
            fired, membrane = SpikeStep.apply(current, membrane, self.decay, self.threshold, self.slope)
            spikes.append(fired)
        spikes = torch.stack(spikes)
        with torch.no_grad():
            self.rate.lerp_(spikes.mean((0, 1)), 0.05)
        return spikes


class CochleaNet(nn.Module):
    def __init__(self, bands, channels, cells, classes):
        super().__init__()
        self.front = nn.Sequential(
            nn.Conv2d(1, channels, 5, padding=2), nn.GroupNorm(8, channels), nn.GELU(),
            nn.Conv2d(channels, channels, 5, padding=2), nn.GroupNorm(8, channels), nn.GELU(),
            nn.AvgPool2d((4, 1)))
        self.to_current = nn.Linear(channels * (bands // 4), cells)
        self.cells = SpikingLayer(cells)
        self.readout = nn.Linear(cells, classes)

    def forward(self, gram):
        x = self.front(gram.unsqueeze(1))
        x = x.permute(3, 0, 1, 2).flatten(2)
        spikes = self.cells(self.to_current(x))
        return self.readout(spikes.mean(0)), spikes


class Cochleagrams:
    def __init__(self, count, bands, steps, classes):
        generator = torch.Generator().manual_seed(5)
        self.gram = torch.randn(count, bands, steps, generator=generator).to(DEVICE)
        self.label = torch.randint(classes, (count,), generator=generator).to(DEVICE)

    def batches(self, size, rng):
        order = list(range(len(self.label)))
        rng.shuffle(order)
        for k in range(0, len(order) - size + 1, size):
            pick = torch.tensor(order[k:k + size], device=DEVICE)
            yield self.gram[pick], self.label[pick]


def accuracy(net, data, size, rng):
    net.eval()
    right = total = 0
    with torch.no_grad():
        for gram, label in data.batches(size, rng):
            right += int((net(gram)[0].argmax(1) == label).sum())
            total += len(label)
    net.train()
    return right / max(total, 1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--batch", type=int, default=4 if SMALL else 64)
    parser.add_argument("--bands", type=int, default=16 if SMALL else 64)
    parser.add_argument("--steps", type=int, default=8 if SMALL else 100)
    parser.add_argument("--channels", type=int, default=8 if SMALL else 160)
    parser.add_argument("--cells", type=int, default=64 if SMALL else 256)
    parser.add_argument("--utterances", type=int, default=60 if SMALL else 1280)
    parser.add_argument("--rate-cost", type=float, default=0.02)
    args = parser.parse_args()
    torch.manual_seed(0)
    rng = random.Random(0)
    train = Cochleagrams(args.utterances, args.bands, args.steps, 10)
    held = Cochleagrams(args.batch * 2, args.bands, args.steps, 10)
    net = CochleaNet(args.bands, args.channels, args.cells, 10).to(DEVICE)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
    recent, seen, step = deque(maxlen=50), [], 0
    total = args.epochs * (args.utterances // args.batch)
    for epoch in range(args.epochs):
        for gram, label in train.batches(args.batch, rng):
            logits, spikes = net(gram)
            loss = F.cross_entropy(logits, label) + args.rate_cost * spikes.mean()
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            optimizer.step()
            recent.append(loss.item())
            del logits, spikes, loss
            step += 1
            if step % max(total // 10, 1) == 0:
                seen.append(torch.cuda.memory_allocated())
            time.sleep(0.0 if SMALL else 0.02)
        score = accuracy(net, held, args.batch, rng)
        gc.collect()
        print(f"epoch {epoch}: loss {sum(recent) / len(recent):.4f} held-out {score:.3f} "
              f"rate {net.cells.rate.mean().item():.4f}", flush=True)
    print("TRUTH " + json.dumps({"allocated": seen, "rounds": step}), file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
