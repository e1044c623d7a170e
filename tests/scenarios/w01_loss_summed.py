"""W1: `total += loss` adds losses with their graphs, so the graph of additions covers all iterations.

    python w01_loss_summed.py [--only-loss | --evaluate] [--size small|medium|large] [--noise]

In training each iteration retains one block of 512 B, the result that exp() saved; backward releases the rest.
With --only-loss no GPU memory is retained, only nodes. With --evaluate, which neither calls backward nor uses
no_grad, each iteration retains its activations.
"""

import torch
from torch import nn
from torch.nn import functional

import scenario
import truth
from noise import Noise


def build_model(width):
    body = [nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU()]
    return nn.Sequential(*body, nn.Linear(width, 10)).cuda()


def train(model, batch_size, width, only_loss, noise):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    growth = truth.Growth()
    total_loss, total_perplexity = 0, 0
    for _ in range(60):
        images = torch.randn(batch_size, width, device="cuda")
        labels = torch.randint(10, (batch_size,), device="cuda")
        optimizer.zero_grad()
        loss = functional.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        total_loss += loss
        if not only_loss:
            total_perplexity += loss.exp()
        noise.iteration()
        growth.iteration()
    growth.write()
    return (total_loss / 60).item()


def evaluate(model, batch_size, width, noise):
    growth = truth.Growth()
    model.eval()
    total_loss = 0
    for _ in range(30):
        images = torch.randn(batch_size, width, device="cuda")
        labels = torch.randint(10, (batch_size,), device="cuda")
        total_loss += functional.cross_entropy(model(images), labels)
        noise.iteration()
        growth.iteration()
    growth.write()
    return (total_loss / 30).item()


def main():
    parser = scenario.parser(__doc__)
    parser.add_argument("--evaluate", action="store_true")
    parser.add_argument("--only-loss", action="store_true")
    options = scenario.parse(parser)
    noise = Noise(options.noise)
    model, batch_size = build_model(512), options.many(512)
    if options.evaluate:
        average = evaluate(model, batch_size, 512, noise)
    else:
        average = train(model, batch_size, 512, options.only_loss, noise)
    print(f"average loss {average:.3f}, {torch.cuda.memory_allocated():,} bytes allocated")


main()
