"""H12, harmless: every fourth step runs an evaluation under no_grad, whose metric is a number."""

import torch
from torch import nn
from torch.nn import functional

import scenario
from noise import Noise


def make_batch(batch_size):
    return torch.randn(batch_size, 256, device="cuda"), torch.randint(10, (batch_size,), device="cuda")


@torch.no_grad()
def evaluate(model, batch_size):
    model.eval()
    correct = 0
    for _ in range(4):
        images, labels = make_batch(2 * batch_size)
        correct += (model(images).argmax(1) == labels).sum().item()
    model.train()
    return correct / (8 * batch_size)


def train(model, batch_size, noise):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    accuracies = []
    for step in range(24):
        images, labels = make_batch(batch_size)
        optimizer.zero_grad()
        functional.cross_entropy(model(images), labels).backward()
        optimizer.step()
        if step % 4 == 3:
            accuracies.append(evaluate(model, batch_size))
        noise.iteration()
    return accuracies


def main():
    options = scenario.options(__doc__)
    noise = Noise(options.noise)
    model = nn.Sequential(nn.Linear(256, 1024), nn.ReLU(), nn.Dropout(0.1), nn.Linear(1024, 10)).cuda()
    accuracies = train(model, options.many(1024), noise)
    print(f"accuracy {accuracies[-1]:.3f}, {torch.cuda.memory_allocated():,} bytes allocated")


main()
