# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Measures what the parts of a recording cost on the CPU, on training steps of tiny tensors. Needs no GPU.

    PYTHONPATH=PREFIX/lib/tidemark/python TIDEMARK_HOME=PREFIX/lib/tidemark cpu_overhead.py [mlp|lstm|gpt...]

Steps that are recorded alternate with steps that are not, in one process. Prints JSON per workload: the CPU time of the
training thread in a step that is not recorded, and, for recordings of more and more parts, the medians of the pairs'
ratios and of what recording adds per op. Without a GPU there are no allocator events, so their cost is not included.
"paused" is a recording whose details are paused (`tidemark pause`), "waiting" a program that waits for the request to
record (`tidemark record --paused`): steps with the waiting thread alternate with steps without it.
"""

import argparse
import json
import os
import socket
import statistics
import sys
import tempfile
import time
from typing import Any

import torch
from torch import nn

import tidemark
from tidemark import _hooks

KINDS = {
    "ops": ["ops"],
    "ops, stacks": ["ops", "stacks", "modules"],
    "all": ["ops", "stacks", "modules", "graph"],
    "paused": ["ops", "stacks", "modules", "graph"],
    "waiting": [],
}


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down, self.act = nn.Linear(width, 4 * width), nn.Linear(4 * width, width), nn.GELU()
        self.dropout, self.heads = nn.Dropout(0.1), heads

    def attention(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(x).split(width, dim=2)
        q, k, v = (each.view(batch, length, self.heads, -1).transpose(1, 2) for each in (q, k, v))
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.dropout(self.out(y.transpose(1, 2).reshape(batch, length, width)))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.dropout(self.down(self.act(self.up(self.norm2(x)))))


def training(model, loss_of, optimizer):
    def step():
        loss_of(model).backward()
        optimizer.step()
        optimizer.zero_grad()

    return step


def gpt():
    model = nn.Sequential(nn.Embedding(64, 16), *[Block(16, 2) for _ in range(12)], nn.LayerNorm(16), nn.Linear(16, 64))
    tokens = torch.randint(0, 64, (2, 8))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, foreach=True)
    return training(
        model, lambda model: nn.functional.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten()), optimizer
    )


def mlp():
    layers = [nn.Sequential(nn.Linear(8, 8), nn.LayerNorm(8), nn.GELU()) for _ in range(20)]
    model, data = nn.Sequential(*layers), torch.randn(4, 8)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, foreach=True)
    return training(model, lambda model: model(data).square().mean(), optimizer)


def lstm():
    cell, head = nn.LSTMCell(8, 8), nn.Linear(8, 2)
    data = torch.randn(100, 4, 8)

    def loss_of(model):
        h = c = torch.zeros(4, 8)
        for x in data:
            h, c = cell(x, (h, c))
        return head(h).square().mean()

    return training(cell, loss_of, torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.01))


WORKLOADS = {"mlp": mlp, "lstm": lstm, "gpt": gpt}


class Recording:
    """A recording that can be switched off and on between two steps, which takes some microseconds: the plugin omits
    the details as in light steps, and the hooks have no listener."""

    def __init__(self, parts, trace):
        tidemark.record(trace, force=True, parts=parts, detail="full")
        listener: Any = _hooks._listener
        self._listener = listener
        library = listener._plugin._library
        self._omit, self._resume = (
            library[f"_ZN8tidemark6plugin{name}Ev"] for name in ("12omit_details", "14resume_details")
        )

    def pause(self):
        """Pauses the details, as `tidemark pause` does."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(os.path.join(os.environ["TIDEMARK_RUNTIME"], f"{os.getpid()}.recorder"))
            connection.sendall(b'{"request": "pause"}\n')
            assert json.loads(connection.recv(4096))["ok"]

    def switch(self, on):
        (self._resume if on else self._omit)()
        _hooks._listener = self._listener if on else None
        if on:
            self._listener._plugin.step_ended()  # the steps that were not recorded are none of the next one


def time_of(step):
    """Returns the CPU time of the training thread in us."""
    begin = time.thread_time()
    step()
    return (time.thread_time() - begin) * 1e6


def ops_of(step):
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        step()
    return sum(event.count for event in profile.key_averages())


class Waiting:
    """Waits for the request to record, which can be switched off and on."""

    def __init__(self):
        startup = os.path.join(os.environ["TIDEMARK_HOME"], "startup")
        sys.path.insert(0, startup)
        import tidemark_listener

        self._listener = tidemark_listener

    def switch(self, on):
        if on:
            self._listener.listen("", "paused")
        elif self._listener._listening is not None:
            self._listener._listening[0].shutdown(socket.SHUT_RDWR)
            self._listener._close()


def alternate(step, switched, seconds):
    """Returns the times of steps while something is off, and those of the steps between them while it is on."""
    times: dict[bool, list[float]] = {False: [], True: []}
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for on in (False, True):
            switched.switch(on)
            step()  # frees the graph of the step before
            times[on].append(time_of(step))
    switched.switch(True)
    return times[False], times[True]


def compare(step, kind, seconds, trace):
    """Returns the times of steps that are not recorded, and those of the recorded steps between them."""
    if kind == "waiting":
        return alternate(step, Waiting(), seconds)
    recording = Recording(KINDS[kind], trace)
    if kind == "paused":
        recording.pause()
    times = alternate(step, recording, seconds)
    tidemark.stop()
    return times


def measure(name, folder, options):
    torch.manual_seed(0)
    step = WORKLOADS[name]()
    ops = ops_of(step)
    for _ in range(50):
        step()
    result = {"workload": name, "ops_per_step": ops}
    for kind in KINDS:
        bare, recorded = compare(step, kind, options.seconds, os.path.join(folder, f"{name}.tide"))
        ratios = [after / before for before, after in zip(bare, recorded)]
        added = [after - before for before, after in zip(bare, recorded)]
        result["bare_us"] = round(statistics.median(bare))
        result[kind] = {
            "ratio": round(statistics.median(ratios), 3),
            "ns_per_op": round(statistics.median(added) / ops * 1e3),
            "pairs": len(bare),
        }
    print(json.dumps(result), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("workloads", nargs="*", default=list(WORKLOADS), metavar="mlp|lstm|gpt")
    parser.add_argument("--seconds", type=float, default=10, help="of each comparison")
    options = parser.parse_args(sys.argv[1:])
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TIDEMARK_RUNTIME"] = os.path.join(folder, "runtime")
        for workload in options.workloads:
            measure(workload, folder, options)


if __name__ == "__main__":
    main()
