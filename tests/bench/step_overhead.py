# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Measures what recording costs on steps that keep the CPU busy: training, and inference that ends no step.

    PYTHONPATH=PREFIX/lib/tidemark/python TIDEMARK_HOME=PREFIX/lib/tidemark step_overhead.py [WORKLOAD...]

Short blocks of steps alternate in one process: not recorded, recorded with adaptive and with full detail, recorded by
PyTorch's own memory history with Python stacks, and not recorded again, which shows the noise. "start" is full detail
in the first steps of a recording, which cost more than later ones. Prints JSON per
workload: the median wall time of a step, and per kind the median of its ratios to the blocks before and after it,
which were not recorded, the 95 % confidence interval of this median, and the quartiles. Only such pairs hold on a
machine that others use. The order of the kinds is random in each round.
"""

import argparse
import json
import math
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable

import torch
from torch import nn

import tidemark

DEVICE = "cuda"
CALLS_BEFORE = 8  # until inference that repeats is not observed
STEPS_BEFORE = range(100, 250)  # steps are light; any number of them, since heap scans begin at certain times
FIRST_STEPS = range(8, 9)  # until repeated passes are not observed


inference: set[Callable[[], None]] = set()  # steps that train nothing


def gpt2():
    from transformers import GPT2Config, GPT2LMHeadModel

    model: nn.Module = GPT2LMHeadModel(GPT2Config())
    model.to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    tokens = torch.randint(0, 50257, (4, 512), device=DEVICE)

    def step():
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = model(input_ids=tokens, labels=tokens).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    return step


def bert():
    from transformers import BertConfig, BertForSequenceClassification

    config = BertConfig(hidden_size=256, num_hidden_layers=6, num_attention_heads=4, intermediate_size=1024)
    model: nn.Module = BertForSequenceClassification(config)
    model.to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    tokens = torch.randint(0, 30000, (16, 128), device=DEVICE)
    labels = torch.randint(0, 2, (16,), device=DEVICE)

    def step():
        model(input_ids=tokens, labels=labels).loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    return step


def mlp():
    layers = [nn.Sequential(nn.Linear(64, 64), nn.LayerNorm(64), nn.GELU()) for _ in range(20)]
    model = nn.Sequential(*layers).to(DEVICE)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, foreach=True)
    data = torch.randn(32, 64, device=DEVICE)

    def step():
        model(data).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()

    return step


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

    return step


def generate():
    """Inference without training steps: 16 tokens of a small GPT-2."""
    from transformers import GPT2Config, GPT2LMHeadModel

    model: nn.Module = GPT2LMHeadModel(GPT2Config(n_layer=6, n_embd=384, n_head=6))
    model.to(DEVICE).eval()
    prompt = torch.randint(0, 50257, (4, 32), device=DEVICE)

    @torch.no_grad()
    def step():
        tokens, cache = prompt, None
        for _ in range(16):
            output = model(input_ids=tokens, past_key_values=cache, use_cache=True)
            cache, tokens = output.past_key_values, output.logits[:, -1:].argmax(-1)

    inference.add(step)
    return step


WORKLOADS = {"gpt2": gpt2, "bert": bert, "mlp": mlp, "lstm": lstm, "generate": generate}


def block(step, seconds):
    """Returns the median wall time of a step in us."""
    times: list[float] = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 5:
        torch.cuda.synchronize()
        begin = time.perf_counter()
        step()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - begin)
    return statistics.median(times) * 1e6


def not_recorded(step, seconds, trace):
    return block(step, seconds)


def recorded(detail, steps_before=STEPS_BEFORE):
    def run(step, seconds, trace):
        tidemark.record(trace, force=True, detail=detail)
        for _ in range(CALLS_BEFORE if step in inference else random.choice(steps_before)):
            step()
        found = block(step, seconds)
        tidemark.stop()
        return found

    return run


def with_history(step, seconds, trace):
    torch.cuda.memory._record_memory_history(stacks="python", max_entries=1_000_000)
    for _ in range(3):
        step()
    found = block(step, seconds)
    torch.cuda.memory._record_memory_history(enabled=None)
    return found


KINDS = {
    "bare": not_recorded,
    "adaptive": recorded("adaptive"),
    "full": recorded("full"),
    "start": recorded("full", FIRST_STEPS),
    "history": with_history,
}


def interval_of_median(values):
    """Returns the 95 % confidence interval of the median, for any distribution; None below 6 values."""
    count = len(values)
    below, rank = 0.0, 0  # the probability that the median lies below the value of this rank
    while below + math.comb(count, rank) / 2**count <= 0.025:
        below += math.comb(count, rank) / 2**count
        rank += 1
    ordered = sorted(values)
    return None if rank == 0 else [round(ordered[rank - 1], 3), round(ordered[count - rank], 3)]


def measure(name, folder, options):
    step = WORKLOADS[name]()
    block(step, 2)
    trace = os.path.join(folder, f"{name}.tide")
    bare: list[float] = [block(step, options.seconds)]
    ratios: dict[str, list[float]] = {kind: [] for kind in options.kinds}
    end = time.monotonic() + options.limit
    for _ in range(options.rounds):
        if time.monotonic() > end:
            break
        for kind in random.sample(options.kinds, len(options.kinds)):
            found = KINDS[kind](step, options.seconds, trace)
            bare.append(block(step, options.seconds))
            ratios[kind].append(found / statistics.mean(bare[-2:]))
    result = {"workload": name, "bare_us": round(statistics.median(bare)), "rounds": len(bare) // len(ratios)}
    for kind, found in ratios.items():
        quartiles = statistics.quantiles(found)
        result[kind] = round(quartiles[1], 3)
        result[f"{kind}_interval"] = interval_of_median(found)
        result[f"{kind}_quartiles"] = [round(quartiles[0], 2), round(quartiles[2], 2)]
    print(json.dumps(result), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("workloads", nargs="*", default=list(WORKLOADS), metavar="gpt2|mlp|lstm|bert|generate")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--limit", type=float, default=600, help="seconds of a workload, after which no round begins")
    parser.add_argument("--seconds", type=float, default=0.4, help="of each block")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    options = parser.parse_args(sys.argv[1:])
    with tempfile.TemporaryDirectory() as folder:
        for workload in options.workloads:
            measure(workload, folder, options)


if __name__ == "__main__":
    main()
