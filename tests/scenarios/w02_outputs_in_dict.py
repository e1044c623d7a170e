"""W2: a dict retains the features of every batch on the GPU, for an analysis after training."""

import torch
from torch import nn
from torch.nn import functional

import scenario
import truth
from noise import Noise


class Encoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(256, width), nn.ReLU(), nn.Linear(width, width))
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        features = self.body(x)
        return self.head(features), features


def train(encoder, batch_size, noise):
    optimizer = torch.optim.SGD(encoder.parameters(), lr=0.01)
    growth = truth.Growth()
    features_of_batch = {}
    for batch in range(40):
        images = torch.randn(batch_size, 256, device="cuda")
        labels = torch.randint(10, (batch_size,), device="cuda")
        optimizer.zero_grad()
        logits, features = encoder(images)
        functional.cross_entropy(logits, labels).backward()
        optimizer.step()
        features_of_batch[batch] = features
        noise.iteration()
        growth.iteration()
    growth.write()
    return features_of_batch


def main():
    options = scenario.options(__doc__)
    noise = Noise(options.noise)
    features_of_batch = train(Encoder(512).cuda(), options.many(1024), noise)
    print(f"features of {len(features_of_batch)} batches, {torch.cuda.memory_allocated():,} bytes allocated")


main()
