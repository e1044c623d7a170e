# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Programs with known allocator counters at 50 marks, which a recording must reproduce.

    python counters.py PROGRAM TRUTH.json      PROGRAM: eager, amp, shapes, streams, graphs, expandable

Writes [{"mark": name, "stats": torch.cuda.memory_stats()}] to TRUTH.json. Run under `tidemark record`.
"""

import json
import os
import sys

if sys.argv[1] == "expandable":
    os.environ["PYTORCH_CUDA_ALLOC_CONF"] = "expandable_segments:True"

import torch
from torch import nn
from torch.nn import functional

import tidemark

MARKS = 50


class Truth:
    def __init__(self):
        self.marks = []

    def mark(self):
        name = f"m{len(self.marks)}"
        tidemark.mark(name)
        self.marks.append({"mark": name, "stats": torch.cuda.memory_stats()})


def network(width=256):
    return nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)).cuda()


def train(truth, amp=False, batch_size=lambda step: 64):
    model = network()
    optimizer = torch.optim.AdamW(model.parameters())
    for step in range(MARKS):
        batch = torch.randn(batch_size(step), 256, device="cuda")
        with torch.autocast("cuda", enabled=amp, dtype=torch.bfloat16):
            loss = functional.mse_loss(model(batch), batch)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        truth.mark()


def streams(truth):
    side = torch.cuda.Stream()
    kept = []
    for step in range(MARKS):
        block = torch.randn(1 << (14 + step % 8), device="cuda")
        with torch.cuda.stream(side):
            other = block * 2
            block.record_stream(side)
            kept.append(torch.empty(step * 3000 + 7, device="cuda"))
        del block, other
        if step % 7 == 0:
            kept = kept[len(kept) // 2 :]
        truth.mark()


def graphs(truth):
    model = network()
    still = torch.randn(64, 256, device="cuda")
    for _ in range(3):
        model(still)
    captured = []
    for step in range(MARKS):
        if step % 10 == 0:
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                result = model(still)
            captured.append((graph, result))
        if step == 35:
            captured = captured[2:]
        captured[-1][0].replay()
        extra = captured[-1][1] + 1
        truth.mark()
        del extra


PROGRAMS = {
    "eager": train,
    "amp": lambda truth: train(truth, amp=True),
    "shapes": lambda truth: train(truth, batch_size=lambda step: 16 + (step * 7919) % 4000),
    "streams": streams,
    "graphs": graphs,
    "expandable": lambda truth: train(truth, batch_size=lambda step: 16 + (step * 104729) % 60000),
}


def main():
    program, path = sys.argv[1:]
    truth = Truth()
    PROGRAMS[program](truth)
    with open(path, "w") as file:
        json.dump(truth.marks, file)


if __name__ == "__main__":
    main()
