"""W39: a trainer stores the exception of the one step that failed; its traceback retains that step's forward pass for
the rest of the run."""

import torch
from torch import nn

import scenario
import truth
from noise import Noise

FAILING_STEP = 8


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up, self.down = nn.Linear(256, width), nn.Linear(width, 256)

    def forward(self, x):
        return self.down(torch.relu(self.up(x)))


def make_batch(number, batch_size):
    """One batch has a value that half precision cannot represent."""
    batch = torch.randn(batch_size, 256, device="cuda")
    if number == FAILING_STEP:
        batch[0] = 1e6
    return batch


class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        self.first_error = None

    def step(self, batch):
        self.optimizer.zero_grad()
        output = self.model(batch)
        loss = (output - batch).square().mean()
        if not torch.isfinite(loss.half()):
            raise FloatingPointError(f"loss {loss.item()} in half precision")
        loss.backward()
        self.optimizer.step()

    def try_step(self, batch):
        try:
            self.step(batch)
        except FloatingPointError as error:
            self.first_error = self.first_error or error


def train(trainer, batch_size, noise):
    ends = []
    for number in range(40):
        trainer.try_step(make_batch(number, batch_size))
        noise.iteration()
        ends.append(torch.cuda.memory_allocated())
    truth.write(bytes=ends[-1] - ends[FAILING_STEP - 1], iterations=39)


def main():
    options = scenario.options(__doc__)
    noise = Noise(options.noise)
    trainer = Trainer(Model(1024).cuda())
    train(trainer, options.many(2048), noise)
    print(f"first error: {trainer.first_error}; {torch.cuda.memory_allocated():,} bytes allocated")


main()
