# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Forks, spawns and executes other programs while it trains; a child uses torch on the CPU."""

import multiprocessing
import os
import subprocess
import sys

import torch
from digest import digest
from torch import nn


def on_cpu(seed):
    generator = torch.Generator().manual_seed(seed)
    layer = nn.Linear(8, 8)
    with torch.no_grad():
        layer.weight.copy_(torch.randn(8, 8, generator=generator))
        layer.bias.zero_()
    layer(torch.ones(4, 8)).sum().backward()
    return layer.weight.grad.sum().item()


def main():
    model = nn.Linear(64, 64).cuda()
    optimizer = torch.optim.Adam(model.parameters())
    losses = []
    for step in range(30):
        loss = model(torch.randn(16, 64, device="cuda")).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
        if step == 5:
            child = os.fork()
            if child == 0:
                os._exit(int(on_cpu(1) > 1e9))
            losses.append(os.waitpid(child, 0)[1])
        if step == 10:
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                losses.append(pool.apply(on_cpu, (2,)))
        if step == 15:
            done = subprocess.run([sys.executable, "-c", "import torch; print(torch.ones(3).sum().item())"],
                                  capture_output=True, text=True, check=True)  # fmt: skip
            losses.append(float(done.stdout))
    print(digest(model, losses))


if __name__ == "__main__":
    main()
