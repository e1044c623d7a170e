"""H11, harmless: a learning-rate schedule, losses as numbers, and best weights copied to the CPU every fifth step."""

import torch
from torch import nn

import scenario
from noise import Noise


def snapshot(model):
    return {name: value.detach().cpu() for name, value in model.state_dict().items()}


def train(model, width, batch_size, noise):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=30)
    losses, snapshots = [], []
    for step in range(30):
        batch = torch.randn(batch_size, width, device="cuda")
        optimizer.zero_grad()
        loss = (model(batch) - batch).square().mean()
        loss.backward()
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
        if step % 5 == 4:
            snapshots.append(snapshot(model))
        noise.iteration()
    return losses, snapshots


def main():
    options = scenario.options(__doc__)
    noise = Noise(options.noise)
    model = nn.Sequential(nn.Linear(512, 1024), nn.ReLU(), nn.Linear(1024, 512)).cuda()
    losses, snapshots = train(model, 512, options.many(512), noise)
    print(f"{len(losses)} losses, {len(snapshots)} snapshots, {torch.cuda.memory_allocated():,} bytes allocated")


main()
