"""H13, harmless: a loader copies the next batch on its own stream while the model uses the current one; two
batches are alive."""

import torch
from torch import nn

import scenario
from noise import Noise


class Prefetcher:
    def __init__(self, batches):
        self.batches = iter(batches)
        self.stream = torch.cuda.Stream()
        self.next = None
        self.preload()

    def preload(self):
        batch = next(self.batches, None)
        if batch is None:
            self.next = None
            return
        with torch.cuda.stream(self.stream):
            self.next = batch.cuda(non_blocking=True)

    def __iter__(self):
        while self.next is not None:
            torch.cuda.current_stream().wait_stream(self.stream)
            batch = self.next
            batch.record_stream(torch.cuda.current_stream())
            self.preload()
            yield batch


def host_batches(count, batch_size, width):
    staging = torch.randn(batch_size, width).pin_memory()
    for _ in range(count):
        yield staging


def train(model, loader, noise):
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for batch in loader:
        optimizer.zero_grad()
        loss = model(batch).square().mean()
        loss.backward()
        optimizer.step()
        loss.item()
        noise.iteration()


def main():
    options = scenario.options(__doc__)
    noise = Noise(options.noise)
    loader = Prefetcher(host_batches(24, options.many(2048), 512))
    train(nn.Sequential(nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 512)).cuda(), loader, noise)
    print(f"allocated {torch.cuda.memory_allocated():,}, reserved {torch.cuda.memory_reserved():,} bytes")


main()
