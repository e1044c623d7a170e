# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0
"""Trains a leaf disease classifier from photographs that are preloaded onto the accelerator.

The photographs are decoded once by a few worker threads and cut to the region around the leaf, which is all the model
ever looks at; every epoch then draws its batches from device memory, so that the loader never waits for the disk.
"""

import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torchvision import transforms
from torchvision.models import resnet18

SMALL = os.environ.get("SMALL") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


@dataclass
class PreloadConfig:
    photographs: int = 12 if SMALL else 400
    diseases: int = 3 if SMALL else 8
    photo_size: int = 128 if SMALL else 2048
    leaf_size: int = 48 if SMALL else 448
    input_size: int = 32 if SMALL else 224
    decode_threads: int = 2
    batch_size: int = 6 if SMALL else 40
    epochs: int = 3 if SMALL else 50
    lr: float = 0.02
    momentum: float = 0.9


def device_memory() -> int:
    return torch.cuda.memory_allocated() if torch.cuda.is_available() else 0


class PhotoDecoder:
    """Stands for the hardware JPEG decoder: turns a photograph's number into an 8 bit image on the device."""

    def __init__(self, config: PreloadConfig):
        self.config = config

    def label(self, number: int) -> int:
        return number % self.config.diseases

    def decode(self, number: int) -> torch.Tensor:
        generator = torch.Generator(device=DEVICE).manual_seed(number)
        spots = torch.rand(1, 3, 24, 24, generator=generator, device=DEVICE)
        spots[:, self.label(number) % 3] *= 0.3 + 0.1 * self.label(number)
        size = self.config.photo_size
        enlarged = F.interpolate(spots, size=(size, size), mode="bilinear", align_corners=False)
        return enlarged.squeeze(0).mul_(255).to(torch.uint8)


class PreloadedLeaves:
    """All leaf regions of the collection, held on the device."""

    def __init__(self, config: PreloadConfig, decoder: PhotoDecoder):
        self.config = config
        self.decoder = decoder
        self.to_leaf = transforms.CenterCrop(config.leaf_size)
        self.leaves = []
        self.labels = None

    def _load(self, number: int):
        photograph = self.decoder.decode(number)
        return self.to_leaf(photograph), self.decoder.label(number)

    def preload(self):
        with ThreadPoolExecutor(max_workers=self.config.decode_threads) as pool:
            loaded = list(pool.map(self._load, range(self.config.photographs)))
        self.leaves = [leaf for leaf, _ in loaded]
        self.labels = torch.tensor([label for _, label in loaded], device=DEVICE)
        return self

    def __len__(self):
        return len(self.leaves)

    def megabytes(self) -> float:
        return sum(leaf.numel() * leaf.element_size() for leaf in self.leaves) / 1e6

    def batches(self, epoch: int):
        order = torch.randperm(len(self), generator=torch.Generator().manual_seed(epoch)).tolist()
        for start in range(0, len(order), self.config.batch_size):
            chosen = order[start:start + self.config.batch_size]
            images = torch.stack([self.leaves[index] for index in chosen])
            yield images, self.labels[torch.tensor(chosen, device=DEVICE)]


class LeafTrainer:
    def __init__(self, config: PreloadConfig):
        self.config = config
        self.model = resnet18(weights=None, num_classes=config.diseases).to(DEVICE)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=config.lr, momentum=config.momentum)
        self.schedule = torch.optim.lr_scheduler.CosineAnnealingLR(self.optimizer, T_max=config.epochs)

    def prepare(self, images):
        images = images.float().div_(255).sub_(0.5)
        if torch.rand(()).item() < 0.5:
            images = images.flip(-1)
        size = (self.config.input_size, self.config.input_size)
        return F.interpolate(images, size=size, mode="bilinear", align_corners=False)

    def train_epoch(self, leaves: PreloadedLeaves, epoch: int):
        self.model.train()
        losses, correct = [], 0
        for images, labels in leaves.batches(epoch):
            logits = self.model(self.prepare(images))
            loss = F.cross_entropy(logits, labels)
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()
            self.optimizer.step()
            losses.append(loss.item())
            correct += (logits.argmax(dim=1) == labels).sum().item()
        self.schedule.step()
        return sum(losses) / len(losses), correct / len(leaves)


def main():
    config = PreloadConfig()
    torch.manual_seed(0)
    allocated = []
    try:
        started = time.perf_counter()
        leaves = PreloadedLeaves(config, PhotoDecoder(config)).preload()
        took = time.perf_counter() - started
        print(f"preloaded {len(leaves)} leaves, {leaves.megabytes():.0f} MB, in {took:.1f} s", flush=True)
        trainer = LeafTrainer(config)
        for epoch in range(config.epochs):
            loss, accuracy = trainer.train_epoch(leaves, epoch)
            allocated.append(device_memory())
            print(f"epoch {epoch:2d} loss {loss:.4f} accuracy {accuracy:.3f}", flush=True)
    finally:
        print("TRUTH " + json.dumps({"allocated": allocated, "rounds": len(allocated)}), file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
