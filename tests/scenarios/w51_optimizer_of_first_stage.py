"""W51: a model is pretrained, then a head is trained on it; the first stage's optimizer stays with its state."""

import torch
from torch import nn

import scenario
import truth
from noise import Noise

PRETRAINING = 8
TRAINING = 30


class Pretraining:
    def __init__(self, encoder, width):
        self.encoder = encoder
        self.decoder = nn.Linear(width, width).cuda()
        self.optimizer = torch.optim.Adam([*encoder.parameters(), *self.decoder.parameters()])

    def step(self, data):
        (self.decoder(self.encoder(data)) - data).square().mean().backward()
        self.optimizer.step()
        self.optimizer.zero_grad()


def train_head(encoder, width, noise):
    head = nn.Linear(width, 10).cuda()
    optimizer = torch.optim.SGD(head.parameters(), lr=0.01)
    for _ in range(TRAINING):
        with torch.no_grad():
            features = encoder(torch.randn(64, width, device="cuda"))
        nn.functional.cross_entropy(head(features), torch.randint(10, (64,), device="cuda")).backward()
        optimizer.step()
        optimizer.zero_grad()
        noise.iteration()


def main():
    options = scenario.options(__doc__)
    noise = Noise(options.noise)
    width = options.wide(2048)
    encoder = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width)).cuda()
    pretraining = Pretraining(encoder, width)
    for _ in range(PRETRAINING):
        pretraining.step(torch.randn(64, width, device="cuda"))
        noise.iteration()
    train_head(encoder, width, noise)
    state = [t for one in pretraining.optimizer.state.values() for t in one.values() if t.is_cuda]
    truth.write(bytes=truth.bytes_of(state), iterations=PRETRAINING + TRAINING)
    print(f"{torch.cuda.memory_allocated():,} bytes at the end")


main()
