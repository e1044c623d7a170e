# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Classifier of plankton images: small pictures first, larger ones later, averaged weights for the release."""
import json
import os
import sys
import time
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
SMALL = os.environ.get("SMALL") == "1"


@dataclass
class Recipe:
    width: int = 768
    depth: int = 14
    classes: int = 90
    batch: int = 32
    micro_batches: int = 132
    per_update: int = 12
    sizes: tuple = ((0, 64), (40, 80), (70, 96))
    average_from: int = 84
    decay: float = 0.95
    lr: float = 2e-4
    pace: float = 0.03


class PlanktonBlock(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.norm = nn.GroupNorm(16, width)

    def forward(self, x):
        return x + F.relu(self.norm(self.conv(x)))


class PlanktonNet(nn.Module):
    def __init__(self, recipe):
        super().__init__()
        self.stem = nn.Conv2d(1, recipe.width, 4, stride=4)
        self.blocks = nn.Sequential(*[PlanktonBlock(recipe.width) for _ in range(recipe.depth)])
        self.head = nn.Linear(recipe.width, recipe.classes)

    def forward(self, images):
        return self.head(self.blocks(self.stem(images)).mean(dim=(2, 3)))


class Cruise:
    """Images of one cruise at the size asked for."""

    def __init__(self, recipe):
        self.recipe = recipe
        self.generator = torch.Generator().manual_seed(21)

    def images(self, number):
        size = [s for start, s in self.recipe.sizes if start <= number][-1]
        x = torch.rand(self.recipe.batch, 1, size, size, generator=self.generator)
        y = torch.randint(0, self.recipe.classes, (self.recipe.batch,), generator=self.generator)
        return x.to(DEVICE), y.to(DEVICE)


class Training:
    def __init__(self, recipe):
        torch.manual_seed(10)
        self.recipe = recipe
        self.model = PlanktonNet(recipe).to(DEVICE)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=recipe.lr)
        self.released = None
        self.losses = []

    def micro_batch(self, number, images, labels):
        loss = F.cross_entropy(self.model(images), labels) / self.recipe.per_update
        loss.backward()
        self.losses.append(loss.item() * self.recipe.per_update)
        if (number + 1) % self.recipe.per_update == 0:
            self.update(number)

    def update(self, number):
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=False)
        if number >= self.recipe.average_from:
            if self.released is None:
                self.released = AveragedModel(self.model, multi_avg_fn=get_ema_multi_avg_fn(self.recipe.decay))
            self.released.update_parameters(self.model)

    @torch.no_grad()
    def compare(self, images, labels):
        self.released.eval()
        return F.cross_entropy(self.released(images), labels).item()


def main():
    recipe = Recipe()
    if SMALL:
        recipe = Recipe(width=16, depth=2, batch=2, pace=0.0)
    cruise, training = Cruise(recipe), Training(recipe)
    allocated, reserved = [], []
    for number in range(recipe.micro_batches):
        training.micro_batch(number, *cruise.images(number))
        allocated.append(torch.cuda.memory_allocated() if DEVICE.type == "cuda" else 0)
        reserved.append(torch.cuda.memory_reserved() if DEVICE.type == "cuda" else 0)
        if number % 33 == 32:
            print(f"micro batch {number + 1} loss {sum(training.losses[-12:]) / 12:.4f}", flush=True)
        time.sleep(recipe.pace)
    print(f"released model {training.compare(*cruise.images(recipe.micro_batches)):.4f}", flush=True)
    every = max(1, recipe.micro_batches // 12)
    print("TRUTH " + json.dumps({"allocated": allocated[every - 1::every], "reserved": reserved[every - 1::every],
                                 "rounds": recipe.micro_batches}), file=sys.stderr)


if __name__ == "__main__":
    main()
