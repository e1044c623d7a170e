"""S10: a list retains the outputs of a validation loop without no_grad: each output retains its activations.

    python s10_validation_without_no_grad.py [--no-grad] [--batches 20] [--width 1024] [--size small|medium|large]
"""

import contextlib

import torch
from torch import nn

import scenario
import truth
from noise import Noise

parser = scenario.parser(__doc__)
parser.add_argument("--no-grad", action="store_true")
parser.add_argument("--batches", type=int, default=20)
parser.add_argument("--width", type=int, default=1024)
options = scenario.parse(parser)
noise, growth = Noise(options.noise), truth.Growth()


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        return self.head(self.body(x))


def validate(model, batches):
    model.eval()
    predictions = []
    for _ in range(batches):
        images = torch.randn(options.many(256), options.width, device="cuda")
        with torch.no_grad() if options.no_grad else contextlib.nullcontext():
            predictions.append(model(images))
        noise.iteration()
        growth.iteration()
    growth.write()
    return predictions


predictions = validate(Net(options.width).cuda(), options.batches)
print(f"{len(predictions)} predictions, {torch.cuda.memory_allocated():,} bytes allocated")
