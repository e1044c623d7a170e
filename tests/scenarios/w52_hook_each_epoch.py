"""W52: each epoch registers one more forward hook; each hook retains a copy of the last output."""

import torch
from torch import nn

import scenario
import truth
from noise import Noise

EPOCHS = 12
STEPS = 3


def watch(layer):
    seen = {}

    def record(module, inputs, output):
        seen["output"] = output.detach().clone()

    layer.register_forward_hook(record)
    return seen


def validate(model, batch):
    with torch.no_grad():
        return model(batch).mean().item()


def main():
    options = scenario.options(__doc__)
    noise = Noise(options.noise)
    width = options.many(512)
    model = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 10)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    batch = torch.randn(1024, width, device="cuda")
    for _ in range(EPOCHS):
        for _ in range(STEPS):
            model(batch).square().mean().backward()
            optimizer.step()
            optimizer.zero_grad()
            noise.iteration()
        seen = watch(model[0])
        validate(model, batch)
    # At the end of the last step, before the last hook.
    truth.write(bytes=(EPOCHS - 1) * truth.block(1024 * width * 4), iterations=EPOCHS * STEPS)
    print(f"{EPOCHS} epochs, {len(model[0]._forward_hooks)} hooks, {len(seen)} output")


main()
