#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Records programs with a known truth on a GPU, and saves what `tidemark explain` says of each.

    record.py TIDEMARK OUTPUT PROGRAM...

A PROGRAM is a Python file or an executable. Writes NAME.tide, NAME.json (the explanation) and NAME.log into the folder
OUTPUT. README.md in this folder describes the programs and the scores.
"""

import argparse
import concurrent.futures
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

SECONDS_TO_END = 20  # after an interrupt: the recorder writes what it has


def command_of(program, processes):
    if program.suffix != ".py":
        return [str(program)]
    if processes > 1:
        torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
        return [*torchrun, "--nproc-per-node", str(processes), str(program)]
    return [sys.executable, str(program)]


def traces_of(program, output):
    return sorted(output.glob(f"{program.stem}*.tide"))


def environment_of(jobs):
    """Returns an environment in which programs that run at once share the CPU's cores: PyTorch's threads that wait
    for each other's cores made programs several times slower."""
    threads = max(1, len(os.sched_getaffinity(0)) // jobs)
    return {"OMP_NUM_THREADS": str(threads), **os.environ}


def run_for(command, environment, log, seconds):
    """Returns the exit status; None if the command was interrupted, with all that it started, after so many seconds."""
    run = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, start_new_session=True, env=environment
    )
    try:
        return run.wait(seconds)
    except subprocess.TimeoutExpired:
        os.killpg(run.pid, signal.SIGINT)
    try:
        run.wait(SECONDS_TO_END)
    except subprocess.TimeoutExpired:
        os.killpg(run.pid, signal.SIGKILL)
        run.wait()
    return None


def record(program, options):
    """Returns a line about the run, and whether it came to its end: an out-of-memory error is an end like others."""
    begin = time.monotonic()
    trace = options.output / f"{program.stem}.tide"
    with (options.output / f"{program.stem}.log").open("w") as log:
        command = [options.tidemark, "record", "--force", "-o", trace, "--", *command_of(program, options.processes)]
        status = run_for(command, environment_of(options.jobs), log, options.seconds)
        written = traces_of(program, options.output)
        for one in written:
            explained = subprocess.run(
                [options.tidemark, "explain", one, "--format", "json"], capture_output=True, text=True
            )
            one.with_suffix(".json").write_text(explained.stdout)
            log.write(explained.stderr)
    sizes = " ".join(f"{one.name} {one.stat().st_size / 2**20:.1f} MiB" for one in written)
    end = "interrupted" if status is None else f"status {status}"
    return f"{program.stem}: {end}, {time.monotonic() - begin:.0f} s, {sizes or 'no trace'}", status is not None


def main():
    """Returns the exit status: 1 if a run was interrupted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tidemark", type=shutil.which)
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("programs", nargs="+", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=1, help="programs at once (default: 1)")
    parser.add_argument("--processes", type=int, default=1, help="processes of each program, by torchrun (default: 1)")
    parser.add_argument("--seconds", type=float, default=180, help="limit of one run (default: 180)")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        runs = [pool.submit(record, program.absolute(), options) for program in options.programs]
        for run in concurrent.futures.as_completed(runs):
            print(run.result()[0], flush=True)
    return 0 if all(run.result()[1] for run in runs) else 1


if __name__ == "__main__":
    sys.exit(main())
