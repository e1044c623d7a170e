"""W25: a list retains the errors of bad batches; each error's traceback retains the frames of its iteration and all
tensors in them."""

import torch
from torch import nn

import scenario
import truth
from noise import Noise


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up, self.down = nn.Linear(256, width), nn.Linear(width, 256)

    def forward(self, x, target):
        hidden = torch.relu(self.up(x))
        output = self.down(hidden)
        return (output - target).square().mean()


def make_batch(number, batch_size):
    """Every third target has the wrong width."""
    target_width = 255 if number % 3 == 2 else 256
    return torch.randn(batch_size, 256, device="cuda"), torch.randn(batch_size, target_width, device="cuda")


def train_step(model, optimizer, batch, target):
    optimizer.zero_grad()
    loss = model(batch, target)
    loss.backward()
    optimizer.step()


def train(model, batch_size, noise):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    bad_batches, ends = [], []
    for number in range(37):
        batch, target = make_batch(number, batch_size)
        try:
            train_step(model, optimizer, batch, target)
        except RuntimeError as error:
            bad_batches.append((number, error))
        del batch, target
        noise.iteration()
        ends.append(torch.cuda.memory_allocated())
    of_one = (ends[35] - ends[5]) // 10
    truth.write(bytes=len(bad_batches) * of_one, bytes_per_iteration=of_one // 3, iterations=36)
    return bad_batches


@torch.no_grad()
def evaluate(model, batch_size):
    return min(model(*make_batch(0, batch_size)).item() for _ in range(20))


def main():
    options = scenario.options(__doc__)
    noise = Noise(options.noise)
    model = Model(1024).cuda()
    bad_batches = train(model, options.many(512), noise)
    loss = evaluate(model, options.many(512))
    print(f"loss {loss:.4f}, {len(bad_batches)} bad batches, {torch.cuda.memory_allocated():,} bytes allocated")


main()
