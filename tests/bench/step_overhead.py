# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Measures what recording costs on training steps that keep the CPU busy.

    PYTHONPATH=PREFIX/lib/tidemark/python TIDEMARK_HOME=PREFIX/lib/tidemark step_overhead.py [gpt2|mlp|lstm|bert...]

Blocks of steps alternate in one process: not recorded, recorded with adaptive and with full detail, and recorded by
PyTorch's own memory history with Python stacks. Prints JSON per workload: medians of wall time per step, and of their
ratios to the block before that was not recorded. Only such pairs hold on a machine that others use.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
import time

import torch
from torch import nn

import tidemark

DEVICE = "cuda"
STEPS_UNTIL_LIGHT = 60


def gpt2():
    from transformers import GPT2Config, GPT2LMHeadModel

    model = GPT2LMHeadModel(GPT2Config()).to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    tokens = torch.randint(0, 50257, (4, 512), device=DEVICE)

    def step():
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = model(input_ids=tokens, labels=tokens).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    return step, 15


def bert():
    from transformers import BertConfig, BertForSequenceClassification

    config = BertConfig(hidden_size=256, num_hidden_layers=6, num_attention_heads=4, intermediate_size=1024)
    model = BertForSequenceClassification(config).to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    tokens = torch.randint(0, 30000, (16, 128), device=DEVICE)
    labels = torch.randint(0, 2, (16,), device=DEVICE)

    def step():
        model(input_ids=tokens, labels=labels).loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    return step, 30


def mlp():
    layers = [nn.Sequential(nn.Linear(64, 64), nn.LayerNorm(64), nn.GELU()) for _ in range(20)]
    model = nn.Sequential(*layers).to(DEVICE)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, foreach=True)
    data = torch.randn(32, 64, device=DEVICE)

    def step():
        model(data).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()

    return step, 80


def lstm():
    cell, head = nn.LSTMCell(128, 128).to(DEVICE), nn.Linear(128, 10).to(DEVICE)
    optimizer = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.01)
    data = torch.randn(100, 32, 128, device=DEVICE)

    def step():
        h = c = torch.zeros(32, 128, device=DEVICE)
        for x in data:
            h, c = cell(x, (h, c))
        head(h).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()

    return step, 20


WORKLOADS = {"gpt2": gpt2, "bert": bert, "mlp": mlp, "lstm": lstm}


def block(step, count):
    """Returns the median wall time of a step in us."""
    times = []
    for _ in range(count):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        step()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - begin)
    return statistics.median(times) * 1e6


def recorded(step, count, detail, trace):
    tidemark.record(trace, force=True, detail=detail)
    block(step, STEPS_UNTIL_LIGHT if detail == "adaptive" else 5)
    found = block(step, count)
    tidemark.stop()
    return found


def with_history(step, count):
    torch.cuda.memory._record_memory_history(stacks="python", max_entries=1_000_000)
    block(step, 3)
    found = block(step, count)
    torch.cuda.memory._record_memory_history(enabled=None)
    return found


def measure(name, folder, rounds):
    step, count = WORKLOADS[name]()
    block(step, 100)
    trace = os.path.join(folder, f"{name}.tide")
    kinds = {
        "adaptive": lambda: recorded(step, count, "adaptive", trace),
        "full": lambda: recorded(step, count, "full", trace),
        "history": lambda: with_history(step, count),
    }
    bare: list[float] = []
    ratios: dict[str, list[float]] = {kind: [] for kind in kinds}
    for _ in range(rounds):
        for kind, run in kinds.items():
            bare.append(block(step, count))
            ratios[kind].append(run() / bare[-1])
    result = {"workload": name, "bare_us": round(statistics.median(bare))}
    for kind, found in ratios.items():
        result[kind] = round(statistics.median(found), 3)
        result[f"{kind}_pairs"] = [round(ratio, 2) for ratio in found]
    print(json.dumps(result), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("workloads", nargs="*", default=list(WORKLOADS), metavar="gpt2|mlp|lstm|bert")
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args(sys.argv[1:])
    with tempfile.TemporaryDirectory() as folder:
        for workload in options.workloads:
            measure(workload, folder, options.rounds)


if __name__ == "__main__":
    main()
