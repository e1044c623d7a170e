"""W37: each task adds a head to the model, and no head is ever removed: its parameters and last gradients stay."""

import torch
from torch import nn

import scenario
import truth
from noise import Noise

TASKS = 20
STEPS = 2


class Learner(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Linear(256, width)
        self.heads = nn.ModuleDict()

    def forward(self, x, task):
        return self.heads[task](torch.relu(self.body(x)))


def learn_task(model, task, width, noise):
    model.heads[task] = nn.Linear(width, width).cuda()
    optimizer = torch.optim.SGD([*model.body.parameters(), *model.heads[task].parameters()], lr=0.01)
    for _ in range(STEPS):
        batch = torch.randn(64, 256, device="cuda")
        optimizer.zero_grad()
        model(batch, task).square().mean().backward()
        optimizer.step()
        noise.iteration()


def learn(model, width, noise):
    ends = []
    for number in range(TASKS):
        learn_task(model, f"task{number}", width, noise)
        ends.append(torch.cuda.memory_allocated())
    of_one = (ends[-1] - ends[0]) // (TASKS - 1)
    truth.write(bytes=TASKS * of_one, iterations=TASKS * STEPS)


def main():
    options = scenario.options(__doc__)
    noise = Noise(options.noise)
    width = options.wide(768)
    model = Learner(width).cuda()
    learn(model, width, noise)
    print(f"{len(model.heads)} heads, {torch.cuda.memory_allocated():,} bytes allocated")


main()
