"""W41: after the last training step an evaluation collects its outputs with gradients enabled: each retains its
graph."""

import torch
from torch import nn
from torch.nn import functional

import scenario
import truth
from noise import Noise

STEPS = 15
BATCHES = 12


class Classifier(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(256, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        return self.head(self.body(x))


def make_batch(batch_size):
    return torch.randn(batch_size, 256, device="cuda"), torch.randint(10, (batch_size,), device="cuda")


def train(model, batch_size, noise):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(STEPS):
        images, labels = make_batch(batch_size)
        optimizer.zero_grad()
        functional.cross_entropy(model(images), labels).backward()
        optimizer.step()
        noise.iteration()


def evaluate(model, batch_size, noise):
    model.eval()
    growth = truth.Growth()
    outputs = []
    for _ in range(BATCHES):
        images, _ = make_batch(batch_size)
        logits = model(images)
        outputs.append(logits)
        noise.iteration()
        growth.iteration()
    growth.write()
    return outputs


def main():
    options = scenario.options(__doc__)
    noise = Noise(options.noise)
    model = Classifier(512).cuda()
    train(model, options.many(1024), noise)
    outputs = evaluate(model, options.many(1024), noise)
    print(f"outputs of {len(outputs)} batches, peak {torch.cuda.max_memory_allocated():,} bytes allocated")


main()
