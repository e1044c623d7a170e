#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Explains each trace once for each kind of rows, without these rows: parts of a recording may be missing, and a
program may have no iterations. Exit status 1: an explanation failed.

    without_rows.py ARCHIVE.tar.xz --tidemark build/ci/recorder/cli/tidemark
"""

import argparse
import concurrent.futures
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile

import corpus

STEPS = ("annotation", "step", "mark", "mark_event", "repeated_steps", "complete_step")
ALLOCATIONS = ("allocation", "allocation_chunk", "allocation_category", "segment", "event")
MISSING = {
    "steps": STEPS,
    "allocations and steps": (*ALLOCATIONS, *STEPS, "autograd_node", "autograd_edge", "saved_tensor"),
    "driver memory": ("driver_allocation",),
    "driver memory and steps": ("driver_allocation", *STEPS),
    "samples": ("sample",),
    "referrers": ("referrer", "path_link", "heap_scan"),
    "graph": ("autograd_node", "autograd_edge", "saved_tensor", "allocation_category"),
    "source": ("source_line",),
}


def explain_without(trace, tables, tidemark):
    """Returns what went wrong, or nothing."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(shutil.copy(trace, folder))
        with sqlite3.connect(path) as database:
            known = {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            for table in known.intersection(("seal", *tables)):  # without a seal, no checksum is compared
                database.execute(f"DELETE FROM {table}")
        database.close()
        answer = subprocess.run([tidemark, "explain", path], capture_output=True, text=True, timeout=120)
    return f"exit {answer.returncode}: {answer.stderr.strip()[:200]}" if answer.returncode else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("traces", type=pathlib.Path, metavar="ARCHIVE")
    parser.add_argument("--tidemark", type=pathlib.Path, required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        corpus.unpack(options.traces, pathlib.Path(folder))
        tasks = {
            (trace.name, missing): pool.submit(explain_without, trace, tables, options.tidemark)
            for trace in sorted(pathlib.Path(folder).glob("*.tide"))
            for missing, tables in MISSING.items()
        }
        failures = [(*which, task.result()) for which, task in tasks.items() if task.result()]
    for name, missing, failure in failures:
        print(f"{name} without {missing}: {failure}")
    print(f"{len(tasks)} explanations, {len(failures)} failed")
    return 1 if failures or not tasks else 0


if __name__ == "__main__":
    sys.exit(main())
