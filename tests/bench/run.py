#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Compares Tidemark with CPython's pickle.load on the same machine and prints ratios.

    run.py BUILD_DIR [--iterations N] [--long]

BUILD_DIR contains a release build with benchmarks (cmake --preset bench). --long adds a trace of 10 million events.
There is no limit to pass or fail, because machines are noisy. docs/PERFORMANCE.md lists measured numbers.
"""

import argparse
import json
import lzma
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
LOAD = """
import pickle, sys, time
start = time.perf_counter()
pickle.load(open(sys.argv[1], "rb"))
print(time.perf_counter() - start)
"""


def run(command, **environment):
    """Runs a command. Returns wall seconds, peak memory in MiB and output."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, **environment})
    assert process.stdout is not None
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"{command} ended with status {status}")
    return time.perf_counter() - start, usage.ru_maxrss / 1024, output.decode()


def find(build, name):
    return str(next(p for p in pathlib.Path(build).rglob(name) if p.is_file() and os.access(p, os.X_OK)))


def row(what, value, limit=""):
    print(f"{what:66} {value:>16}  {limit}", flush=True)


def measure_import(build, snapshot, work, iterations):
    tidemark, trace = find(build, "tidemark"), str(work / "gpt2.tide")
    loads, imports, memory = [], [], []
    for _ in range(iterations):
        loads.append(float(run([sys.executable, "-c", LOAD, str(snapshot)])[2]))
        seconds, mib, _ = run([tidemark, "import", str(snapshot), "-o", trace, "--force"])
        imports.append(seconds)
        memory.append(mib)
    size = snapshot.stat().st_size
    load, took = statistics.median(loads), statistics.median(imports)
    row("pickle.load, seconds", f"{load:.2f}")
    row("import (whole process), seconds", f"{took:.2f}")
    ratio = statistics.median(i / j for i, j in zip(imports, loads))
    row("import / pickle.load", f"{ratio:.2f}", "limit 1.0, target 0.5")
    row("peak memory of the import / file size", f"{max(memory) * 2**20 / size:.2f}", "limit 3")
    return trace, took


def measure_trace(build, trace):
    _, _, output = run([find(build, "trace_bench"), trace])
    result = json.loads(output)
    row("events", f"{result['events']:,}")
    row("bytes per event", f"{result['bytes_per_event']:.1f}", "limit 20")
    for key, text, limit in (
        ("open", "open, ms", ""),
        ("indexes", "indexes for the window, ms", ""),
        ("counters_at_random_event", "all counters at a random event, ms", "limit 20 (50 at 10 M)"),
        ("state_at_random_event", "segments and blocks at a random event, ms", ""),
        ("attribution_at_random_event", "memory by stack at a random event, ms", ""),
        ("columns_1600", "1600 columns of a random window, ms", ""),
        ("bands_1600", "the same with every allocation, ms", ""),
    ):
        row(f"{text} (median / p95)", f"{result[key]['p50']:.2f} / {result[key]['p95']:.2f}", limit)
    row("counter checkpoints, once, ms", f"{result['statistics_once']:.0f}")
    row("memory when shown, MiB", f"{result['memory_mib_shown']}", "limit 600 at 10 M")


def measure_window(build, trace, snapshot=None, import_seconds=None):
    try:
        gui, bench = find(build, "tidemark-gui"), find(build, "window_bench")
    except StopIteration:
        row("window", "not built")
        return
    with tempfile.TemporaryDirectory() as home:
        environment = {"QT_QPA_PLATFORM": "offscreen", "HOME": home}
        result = json.loads(run([bench, "frames", trace], **environment)[2])
        opened = result["open_to_first_picture_ms"]
        row("open to first complete picture, in process, ms", f"{opened:.0f}", "limit 1000 at 10 M")
        if import_seconds:
            row("  / import", f"{opened / import_seconds / 1000:.2f}", "limit 0.3")
            raw = json.loads(run([bench, "frames", str(snapshot)], **environment)[2])
            row("raw pickle to first complete picture, in process, ms", f"{raw['open_to_first_picture_ms']:.0f}")
            row("  / import", f"{raw['open_to_first_picture_ms'] / import_seconds / 1000:.2f}", "limit 1.2")
        picture = os.path.join(home, "window.png")
        seconds, mib, _ = run([gui, "--render", "window", "--size", "1600x900", "-o", picture, trace], **environment)
        row("window drawn into a PNG (whole process), s / MiB", f"{seconds:.2f} / {mib:.0f}", "600 MiB at 10 M")
        for part in ("window", "timeline", "allocations"):
            for gesture, times in result[part].items():
                row(
                    f"{part}, {gesture.replace('_', ' ')}: frame, ms (median / p95)",
                    f"{times['p50_ms']:.1f} / {times['p95_ms']:.1f}",
                    "limit 16",
                )


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("build")
    arguments.add_argument("--iterations", type=int, default=5)
    arguments.add_argument("--long", action="store_true")
    options = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        snapshot = work / "gpt2_train.pickle"
        snapshot.write_bytes(lzma.decompress((HERE / "data" / "gpt2_train.pickle.xz").read_bytes()))
        print("== GPT-2 training, 607,632 events")
        trace, import_seconds = measure_import(options.build, snapshot, work, options.iterations)
        measure_trace(options.build, trace)
        measure_window(options.build, trace, snapshot, import_seconds)
        if options.long:
            print("== the same repeated to 10 million events")
            longer = str(work / "long.tide")
            run([find(options.build, "make_long_trace"), str(snapshot), "10000000", longer])
            measure_trace(options.build, longer)
            measure_window(options.build, longer)


if __name__ == "__main__":
    main()
