"""W42: a callback creates a table in step 10 of 40, and a global variable refers to it for the rest of the run."""

import torch
from torch import nn

import scenario
import truth
from noise import Noise

STEPS = 40
TABLE_STEP = 10

table_of_distances = None


def on_step_end(step, rows):
    """Creates the table that a report after step 10 needs."""
    global table_of_distances
    if step == TABLE_STEP:
        points = torch.randn(rows, 64, device="cuda")
        table_of_distances = torch.cdist(points, points)


def train(model, batch_size, rows, noise):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for step in range(STEPS):
        batch = torch.randn(batch_size, 256, device="cuda")
        optimizer.zero_grad()
        (model(batch) - batch).square().mean().backward()
        optimizer.step()
        on_step_end(step, rows)
        noise.iteration()
    truth.write(bytes=truth.bytes_of([table_of_distances]), iterations=STEPS)


def main():
    options = scenario.options(__doc__)
    noise = Noise(options.noise)
    model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 256)).cuda()
    train(model, options.many(512), options.wide(4096), noise)
    print(f"table of {len(table_of_distances)} rows, {torch.cuda.memory_allocated():,} bytes allocated")


main()
