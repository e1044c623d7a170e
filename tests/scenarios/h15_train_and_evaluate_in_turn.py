"""H15, harmless: epochs of training and evaluation alternate, with larger evaluation batches; sums are detached
tensors."""

import torch
from torch import nn
from torch.nn import functional

import scenario
from noise import Noise


def batches(count, batch_size):
    for _ in range(count):
        yield torch.randn(batch_size, 3, 32, 32, device="cuda"), torch.randint(10, (batch_size,), device="cuda")


def train_epoch(model, optimizer, batch_size, noise):
    model.train()
    running_loss = torch.zeros((), device="cuda")
    for images, labels in batches(8, batch_size):
        optimizer.zero_grad()
        loss = functional.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        running_loss += loss.detach()
        noise.iteration()
    return running_loss.item() / 8


@torch.no_grad()
def evaluate(model, batch_size, noise):
    model.eval()
    loss_sum = torch.zeros((), device="cuda")
    for images, labels in batches(4, 2 * batch_size):
        loss_sum += functional.cross_entropy(model(images), labels)
        noise.iteration()
    return loss_sum.item() / 4


def main():
    options = scenario.options(__doc__)
    noise = Noise(options.noise)
    body = [nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.Flatten(), nn.Linear(16 * 32 * 32, 10)]
    model = nn.Sequential(*body).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for _ in range(4):
        train_loss = train_epoch(model, optimizer, options.many(128), noise)
        test_loss = evaluate(model, options.many(128), noise)
    print(f"losses {train_loss:.3f} and {test_loss:.3f}, {torch.cuda.memory_allocated():,} bytes allocated")


main()
