# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Measures the cost of recording for a training program on a GPU: medians and ratios of alternating runs.

    python tests/bench/recorder_overhead.py TIDEMARK [--iterations 7] [--steps 100] [--pairs 1000000]
        [--reference PARTS]

TIDEMARK: the `tidemark` command whose recorder is measured. Prints JSON: for GPT-2 small (tests/gpu/gpt2.py) the step
time without and with recording, for torch.empty and del (tests/gpu/empty_and_del.py) the cost per allocator event, the
trace's bytes per event, and its data gaps.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

PROGRAMS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "gpu")
EVENTS_PER_PAIR = 3  # alloc, free requested, free completed


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def alternate(bare, recorded, key, count):
    """Alternates both commands, and which of them runs first. Returns the values of each."""
    values: dict[str, list[float]] = {"bare": [], "recorded": []}
    for number in range(count):
        order = [("bare", bare), ("recorded", recorded)]
        for name, command in order if number % 2 == 0 else reversed(order):
            values[name].append(run(command)[key])
    return values


def summary(values):
    bare, recorded = statistics.median(values["bare"]), statistics.median(values["recorded"])
    return {"bare": bare, "recorded": recorded, "ratio": recorded / bare, "iterations": values}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tidemark")
    parser.add_argument("--iterations", type=int, default=7)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--pairs", type=int, default=1_000_000)
    parser.add_argument("--with", dest="parts", default="stacks,ops,modules,graph,driver,nvml")
    parser.add_argument("--trace", help="write the last GPT-2 trace to this file")
    parser.add_argument("--reference", help="compare GPT-2 with a recording of these parts, not with a bare run")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        trace = options.trace or os.path.join(folder, "run.tide")
        record = [options.tidemark, "record", "--force", "--with", options.parts, "-o", trace, "--"]
        gpt2 = [sys.executable, os.path.join(PROGRAMS, "gpt2.py"), "--steps", str(options.steps)]
        reference = gpt2
        if options.reference:
            fewer = os.path.join(folder, "fewer.tide")
            reference = [options.tidemark, "record", "--force", "--with", options.reference, "-o", fewer, "--"] + gpt2
        pairs = [sys.executable, os.path.join(PROGRAMS, "empty_and_del.py"), "--pairs", str(options.pairs)]
        result = {}
        if options.pairs:
            result["pair_ns"] = summary(alternate(pairs, record + pairs, "pair_ns", options.iterations))
            cost = result["pair_ns"]["recorded"] - result["pair_ns"]["bare"]
            result["ns_per_event"] = cost / EVENTS_PER_PAIR
            result["pairs_trace"] = about(options.tidemark, trace)
        if options.steps:
            result["step_ms"] = summary(alternate(reference, record + gpt2, "step_ms", options.iterations))
            result["gpt2_trace"] = about(options.tidemark, trace)
    print(json.dumps(result, indent=1))


def about(tidemark, trace):
    info = json.loads(subprocess.run([tidemark, "info", trace, "--format", "json"], capture_output=True).stdout)
    events = sum(device["events"] for device in info["devices"])
    return {
        "events": events,
        "bytes_per_event": os.path.getsize(trace) / max(1, events),
        "data_gaps": [gap["text"] for gap in info["data_gaps"]],
    }


if __name__ == "__main__":
    main()
