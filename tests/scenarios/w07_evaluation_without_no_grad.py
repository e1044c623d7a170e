"""W7: evaluation after each epoch collects logits without no_grad: each retains its graph and the saved
activations."""

import torch
from torch import nn
from torch.nn import functional

import scenario
import truth
from noise import Noise


class Net(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.first = nn.Conv2d(3, channels, 3, padding=1)
        self.second = nn.Conv2d(channels, channels, 3, padding=1)
        self.head = nn.Linear(channels, 10)

    def forward(self, images):
        return self.head(torch.relu(self.second(torch.relu(self.first(images)))).mean((2, 3)))


def make_batch(batch_size):
    return torch.randn(batch_size, 3, 32, 32, device="cuda"), torch.randint(10, (batch_size,), device="cuda")


def train_epoch(model, optimizer, batch_size, noise):
    model.train()
    for _ in range(8):
        images, labels = make_batch(batch_size)
        optimizer.zero_grad()
        functional.cross_entropy(model(images), labels).backward()
        optimizer.step()
        noise.iteration()


def evaluate(model, batch_size, noise, growth):
    model.eval()
    all_logits = []
    for _ in range(20):
        images, _ = make_batch(batch_size)
        all_logits.append(model(images))
        noise.iteration()
        growth.iteration()
    growth.write()
    return all_logits


def main():
    options = scenario.options(__doc__)
    noise = Noise(options.noise)
    model = Net(16).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    train_epoch(model, optimizer, options.many(64), noise)
    all_logits = evaluate(model, options.many(64), noise, truth.Growth())
    print(f"{len(all_logits)} batches of logits, peak {torch.cuda.max_memory_allocated():,} bytes allocated")


main()
