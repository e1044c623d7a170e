"""W35: a monitor joins the features of every batch to one tensor with torch.cat: each step makes a larger tensor."""

import torch
from torch import nn
from torch.nn import functional

import scenario
import truth
from noise import Noise


class FeatureMonitor:
    """Joins all features, for the spread of each over the training."""

    def __init__(self, width):
        self.features = torch.empty(0, width, device="cuda")

    def add(self, features):
        self.features = torch.cat([self.features, features.detach()])


class Encoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(256, width), nn.ReLU(), nn.Linear(width, width))
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        features = self.body(x)
        return self.head(features), features


def train(encoder, monitor, batch_size, noise):
    optimizer = torch.optim.SGD(encoder.parameters(), lr=0.01)
    growth = truth.Growth()
    for _ in range(40):
        images = torch.randn(batch_size, 256, device="cuda")
        labels = torch.randint(10, (batch_size,), device="cuda")
        optimizer.zero_grad()
        logits, features = encoder(images)
        functional.cross_entropy(logits, labels).backward()
        optimizer.step()
        monitor.add(features)
        noise.iteration()
        growth.iteration()
    per_iteration = (growth.ends[-1] - growth.ends[1]) // (len(growth.ends) - 2)
    # The last step ends before its features are added.
    truth.write(bytes=39 * per_iteration, bytes_per_iteration=per_iteration, iterations=40)


def main():
    options = scenario.options(__doc__)
    noise = Noise(options.noise)
    monitor = FeatureMonitor(512)
    train(Encoder(512).cuda(), monitor, options.many(1024), noise)
    print(f"{len(monitor.features)} features, {torch.cuda.memory_allocated():,} bytes allocated")


main()
