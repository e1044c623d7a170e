"""W30: torch.load without map_location loads the checkpoint's weights onto the GPU a second time, and a variable
retains them."""

import os
import tempfile

import torch
from torch import nn

import scenario
import truth
from noise import Noise


def build_model(width):
    return nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width)).cuda()


def save_checkpoint(path, width):
    torch.save({"epoch": 3, "lr": 1e-3, "model": build_model(width).state_dict()}, path)


def train(model, optimizer, width, noise):
    for _ in range(15):
        optimizer.zero_grad()
        model(torch.randn(64, width, device="cuda")).square().mean().backward()
        optimizer.step()
        noise.iteration()


options = scenario.options(__doc__)
noise, width = Noise(options.noise), options.wide(2048)
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "last.pt")
    save_checkpoint(path, width)
    checkpoint = torch.load(path)

model = build_model(width)
model.load_state_dict(checkpoint["model"])
optimizer = torch.optim.SGD(model.parameters(), lr=checkpoint["lr"])
train(model, optimizer, width, noise)
truth.write(bytes=truth.bytes_of(checkpoint["model"].values()), iterations=15)
print(f"after epoch {checkpoint['epoch']}, {torch.cuda.memory_allocated():,} bytes allocated")
