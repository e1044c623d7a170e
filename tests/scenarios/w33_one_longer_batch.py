"""W33: one batch of sentences is four times as long as the others: one higher peak, and nothing stays but cached
memory."""

import torch
from torch import nn

import scenario
from noise import Noise


class LanguageModel(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.embedding = nn.Embedding(1000, width)
        self.body = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
        self.head = nn.Linear(width, 1000)

    def forward(self, tokens):
        return self.head(self.body(self.embedding(tokens)))


def train(model, batch_size, noise):
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for step in range(24):
        length = 256 if step == 13 else 64
        tokens = torch.randint(1000, (batch_size, length), device="cuda")
        optimizer.zero_grad()
        model(tokens).logsumexp(-1).mean().backward()
        optimizer.step()
        noise.iteration()


def main():
    options = scenario.options(__doc__)
    noise = Noise(options.noise)
    train(LanguageModel(256).cuda(), options.many(64), noise)
    print(f"allocated {torch.cuda.memory_allocated():,}, peak {torch.cuda.max_memory_allocated():,} bytes")


main()
