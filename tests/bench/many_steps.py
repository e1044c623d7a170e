#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Trains an LSTM cell, 100 calls per step: some 130,000 allocator events per second on an H200, with their graph.

tidemark record -o steps.tide -- python3 tests/bench/many_steps.py --seconds 75
"""

import argparse
import time

import torch
from torch import nn


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=75)
    options = parser.parse_args()
    cell, head = nn.LSTMCell(128, 128).cuda(), nn.Linear(128, 10).cuda()
    optimizer = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.01)
    data = torch.randn(100, 32, 128, device="cuda")
    kept = []
    end = time.monotonic() + options.seconds
    while time.monotonic() < end:
        h = c = torch.zeros(32, 128, device="cuda")
        for x in data:
            h, c = cell(x, (h, c))
        head(h).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
        kept.append(h[:1].detach().clone())
    torch.cuda.synchronize()
    print(f"{len(kept)} steps")


if __name__ == "__main__":
    main()
