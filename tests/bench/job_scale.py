#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Measures commands on a synthetic job of many ranks.

    job_scale.py TIDEMARK TRACE [--ranks 1024] [--gui tidemark-gui] [--cold 8]

The ranks are hard links to TRACE, with summaries that differ in rank, node and pid; one rank in 100 retains 1 GiB more.
So the files have the size of real ones, but one content. `--cold N`: also without summaries, of N ranks.
"""

import argparse
import json
import os
import pathlib
import resource
import subprocess
import tempfile
import time


def timed(command):
    """Returns seconds and the highest memory of a child so far, in MiB."""
    start = time.perf_counter()
    subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


def make_job(tidemark, trace, folder, ranks):
    name = "rank0-node0-1000"
    os.link(trace, folder / f"{name}.tide")
    subprocess.run([tidemark, "info", str(folder)], check=True, stdout=subprocess.DEVNULL)
    summaries = folder / "summaries"
    template = json.loads((summaries / f"{name}.json").read_text())
    (summaries / f"{name}.json").unlink()
    (folder / f"{name}.tide").unlink()
    for rank in range(ranks):
        summary = json.loads(json.dumps(template))
        summary["place"] = {
            "rank": rank,
            "local_rank": rank % 8,
            "world_size": ranks,
            "node": f"node{rank // 8}",
            "role": "",
        }
        summary["pid"] = 1000 + rank
        device = summary["devices"][0]
        if rank % 100 == 17:
            device["allocated_at_end"] += 1 << 30
            device["peak_allocated"] += 1 << 30
            device["sites"][0]["at_end"] += 1 << 30
            device["sites"][0]["at_peak"] += 1 << 30
        stem = f"rank{rank}-node{rank // 8}-{1000 + rank}"
        os.link(trace, folder / f"{stem}.tide")
        (summaries / f"{stem}.json").write_text(json.dumps(summary))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tidemark", type=pathlib.Path)
    parser.add_argument("trace", type=pathlib.Path)
    parser.add_argument("--ranks", type=int, default=1024)
    parser.add_argument("--gui", type=pathlib.Path)
    parser.add_argument("--cold", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.trace.parent) as name:
        folder = pathlib.Path(name) / "run.tidejob"
        folder.mkdir()
        make_job(options.tidemark, options.trace, folder, options.ranks)
        for command in ([options.tidemark, "info"], [options.tidemark, "explain"], [options.tidemark, "top"]):
            times = sorted(timed([*command, folder]) for _ in range(5))
            print(f"{command[1]:8} {options.ranks} ranks: {times[2][0]:.2f} s, {times[-1][1]:.0f} MiB")
        if options.gui:
            picture = folder.parent / "job.png"
            times = sorted(timed([options.gui, "--render", "window", "-o", picture, folder]) for _ in range(3))
            print(f"picture  {options.ranks} ranks: {times[1][0]:.2f} s, {times[-1][1]:.0f} MiB")
        if options.cold:
            for trace in sorted(folder.glob("*.tide"))[options.cold :]:
                trace.unlink()
            for summary in (folder / "summaries").iterdir():
                summary.unlink()
            seconds, memory = timed([options.tidemark, "explain", folder])
            print(f"explain  {options.cold} ranks without summaries: {seconds:.2f} s, {memory:.0f} MiB")


if __name__ == "__main__":
    main()
