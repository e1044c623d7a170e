# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Measures the cost of an allocator event in the training thread: torch.empty and del, many times. Prints ns per pair.

python empty_and_del.py [--pairs N]
"""

import argparse
import json
import time

import torch


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=1_000_000)
    options = parser.parse_args()
    empty, device = torch.empty, torch.device("cuda")
    for _ in range(10_000):
        block = empty(1024, device=device)
        del block
    started = time.perf_counter_ns()
    for _ in range(options.pairs):
        block = empty(1024, device=device)
        del block
    print(json.dumps({"pair_ns": (time.perf_counter_ns() - started) / options.pairs}))


if __name__ == "__main__":
    main()
