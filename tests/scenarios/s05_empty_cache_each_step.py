"""S5: empty_cache() after each step, to leave memory to other processes: the next step requests what was released
again.

    python s05_empty_cache_each_step.py [--no-empty-cache] [--size small|medium|large] [--noise]
"""

import torch
from torch import nn

import scenario
from noise import Noise


def train(model, width, batch_size, empty_cache, noise):
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for _ in range(20):
        batch = torch.randn(batch_size, width, device="cuda")
        optimizer.zero_grad()
        loss = model(batch).square().mean()
        loss.backward()
        optimizer.step()
        del batch, loss
        noise.iteration()
        if empty_cache:
            torch.cuda.empty_cache()


def main():
    parser = scenario.parser(__doc__)
    parser.add_argument("--no-empty-cache", action="store_true")
    options = scenario.parse(parser)
    noise = Noise(options.noise)
    model = nn.Sequential(nn.Linear(512, 2048), nn.ReLU(), nn.Linear(2048, 512)).cuda()
    train(model, 512, options.many(4096), not options.no_empty_cache, noise)
    print(f"allocated {torch.cuda.memory_allocated():,}, reserved {torch.cuda.memory_reserved():,} bytes")


main()
