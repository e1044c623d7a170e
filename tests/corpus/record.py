#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Records all programs of expected.json: small, medium and large, and medium with noise.

    record.py --out DIR --tidemark build/ci/recorder/cli/tidemark [--only 'w0*.medium*'] [--jobs 6] [--python PYTHON]

Writes DIR/NAME.SIZE[.noise].tide, .truth.json and .log, and DIR/summary.json. A failing run does not stop
the others.
"""

import argparse
import concurrent.futures
import fnmatch
import json
import os
import pathlib
import subprocess
import sys
import time

import corpus


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--tidemark", type=pathlib.Path, required=True)
    parser.add_argument("--only", default="*", metavar="GLOB", help="names of runs")
    parser.add_argument("--jobs", type=int, default=6)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--timeout", type=float, default=120)
    return parser.parse_args()


def recording(options, trace, program):
    command = [options.tidemark.resolve(), "record", "--force", "-o", trace, "--", options.python, *program]
    return [str(part) for part in command]


def run_logged(command, log, timeout, environment):
    """Returns the exit status; None after a timeout."""
    with open(log, "w") as file:
        try:
            return subprocess.run(
                command, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT, timeout=timeout,
                env=os.environ | environment | {"PYTHONDONTWRITEBYTECODE": "1"},
            ).returncode  # fmt: skip
        except subprocess.TimeoutExpired:
            return None


def warm_up(options):
    """Builds the plugin with a first recording. Parallel first recordings would build it several times."""
    program = ["-c", "import torch; torch.ones(1, device='cuda'); print(torch.cuda.device_count())"]
    log = options.out / "warm-up.log"
    status = run_logged(recording(options, options.out / "warm-up.tide", program), log, 300, {})
    print(f"warm-up: exit {status}", flush=True)
    numbers = [line for line in log.read_text().splitlines() if line.strip().isdigit()]
    return int(numbers[-1]) if numbers else 1


def record(options, run):
    trace, truth = options.out / f"{run.name}.tide", options.out / f"{run.name}.truth.json"
    for path in (trace, truth):
        path.unlink(missing_ok=True)
    start = time.monotonic()
    log = options.out / f"{run.name}.log"
    status = run_logged(
        recording(options, trace, run.command), log, options.timeout, {"SCENARIO_TRUTH": str(truth.resolve())}
    )
    result = {
        "name": run.name,
        "exit": status,
        "as_expected": status == run.entry.get("exit", 0) and trace.exists(),
        "seconds": round(time.monotonic() - start, 1),
        "bytes": trace.stat().st_size if trace.exists() else 0,
    }
    print(line(result), flush=True)
    return result


def line(result):
    remark = "" if result["as_expected"] else "  <- see the log"
    numbers = f"exit {result['exit']!s:>4} {result['seconds']:>6.1f} s {result['bytes']:>9,} B"
    return f"{result['name']:<46} {numbers}{remark}"


def record_all(options, runs):
    together = [run for run in runs if not run.entry.get("alone")]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(lambda run: record(options, run), together))
    return results + [record(options, run) for run in runs if run.entry.get("alone")]


def main():
    options = parse_options()
    options.out.mkdir(parents=True, exist_ok=True)
    gpus = warm_up(options)
    selected = [run for run in corpus.runs() if fnmatch.fnmatch(run.name, options.only)]
    runs = [run for run in selected if run.entry.get("gpus", 1) <= gpus]
    results = record_all(options, runs)
    (options.out / "summary.json").write_text(json.dumps(results, indent=1) + "\n")
    failed = [result for result in results if not result["as_expected"]]
    skipped = f"{len(selected) - len(runs)} skipped because they need more GPUs"
    print(f"\n{len(results)} runs, {skipped}, {len(failed)} not as expected")
    for result in failed:
        print(line(result))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
