"""W2: a trainer appends the predictions of each iteration to its list `self.history` and never empties it."""

import torch
from torch import nn

import scenario
import truth
from noise import Noise


class Trainer:
    def __init__(self, width):
        self.model = nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.Linear(width, width)).cuda()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01)
        self.history = []

    def train_step(self, batch):
        self.optimizer.zero_grad()
        predictions = self.model(batch)
        (predictions - batch).square().mean().backward()
        self.optimizer.step()
        self.history.append(predictions.detach())


options = scenario.options(__doc__)
noise = Noise(options.noise)
trainer, growth = Trainer(512), truth.Growth()
for _ in range(40):
    trainer.train_step(torch.randn(options.many(1024), 512, device="cuda"))
    noise.iteration()
    growth.iteration()
growth.write()
print(f"{len(trainer.history)} predictions, {torch.cuda.memory_allocated():,} bytes allocated")
