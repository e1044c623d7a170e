"""W3: the hidden state of one chunk is the input of the next without detach(), so each graph continues the last
one.

    python w03_hidden_state_carried.py [--detach] [--size small|medium|large] [--noise]

It only runs because backward(retain_graph=True) avoids the error "backward through the graph a second time".
"""

import torch
from torch import nn

import scenario
import truth
from noise import Noise


class Tagger(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.cell = nn.GRUCell(64, width)
        self.head = nn.Linear(width, 1)
        self.hidden = None

    def forward(self, chunk):
        for x in chunk:
            self.hidden = self.cell(x, self.hidden)
        return self.head(self.hidden)


def train_on_sequence(model, sequence, detach, noise, growth):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    optimizer.zero_grad()
    for chunk in sequence:
        if detach and model.hidden is not None:
            model.hidden = model.hidden.detach()
        loss = model(chunk).square().mean()
        loss.backward(retain_graph=not detach)
        noise.iteration()
        growth.iteration()
    optimizer.step()
    return loss.item()


def main():
    parser = scenario.parser(__doc__)
    parser.add_argument("--detach", action="store_true")
    options = scenario.parse(parser)
    noise = Noise(options.noise)
    model = Tagger(512).cuda()
    growth = truth.Growth()
    sequence = torch.randn(16, 2, options.many(512), 64, device="cuda")
    train_on_sequence(model, sequence, options.detach, noise, growth)
    growth.write()
    print(f"peak {torch.cuda.max_memory_allocated():,} bytes allocated")


main()
