#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Time and memory of each command for files that are full of one kind of row, each below 10 MB.

    full_files.py TIDEMARK FOLDER [NAME...]

A file's size limits what reading it may cost: 5 s, and 256 MiB or 40 times its size. No file that a program records
looks like these; they are what the limits are for. FOLDER gets the files.
"""

import argparse
import contextlib
import pathlib
import shutil
import sqlite3
import subprocess
import time

BASE = pathlib.Path(__file__).parents[1] / "data" / "traces" / "format-4.tide"
COMMANDS = ("info", "explain", "stats", "top", "graph", "breakdown", "referrers")
ALLOCATION = (
    "INSERT INTO allocation(id, time, free_after, free_delay, address, requested, rounding, segment, stack, "
    "free_stack, origin) VALUES(?, ?, ?, ?, ?, 512, 0, 1, 1, 0, 0)"
)
NODE = (
    "INSERT INTO autograd_node(id, type, sequence, origin, stack, variable, created_time) VALUES(?, 1, ?, 0, 1, 0, ?)"
)
EDGE = "INSERT INTO autograd_edge VALUES(?, ?, ?, 0)"
SAVED = "INSERT INTO saved_tensor VALUES(?, ?, 1, ?, 0, 512, 0, 0, 0)"


def last_id(trace, table):
    return trace.execute(f"SELECT coalesce(max(id), 0) FROM {table}").fetchone()[0]


def without_device_rows(trace):
    for table in ("allocation_chunk", "allocation", "event", "segment", "mark_event"):
        trace.execute(f"DELETE FROM {table}")
    trace.execute("DELETE FROM device WHERE id <> 0")


def allocations(trace, is_freed=False, step=512, count=220_000):
    without_device_rows(trace)
    trace.execute(
        "INSERT INTO segment VALUES(1, 0, ?, ?, NULL, NULL, NULL, NULL, 0, 0, 1, 0, 1, 0)", (1 << 30, 1 << 40)
    )
    trace.execute("UPDATE device SET events=?", (count * (2 if is_freed else 1),))
    delay = count if is_freed else None
    rows = ((i, i, delay, delay, (1 << 30) + i * step) for i in range(count))
    trace.executemany(ALLOCATION, rows)


def segments(trace, count=200_000):
    without_device_rows(trace)
    trace.execute("UPDATE device SET events=?", (count,))
    rows = ((1 + i, (1 << 30) + i * (2 << 20), 2 << 20, i, i) for i in range(count))
    trace.executemany("INSERT INTO segment VALUES(?, 0, ?, ?, ?, ?, NULL, NULL, 0, 0, 1, 0, 1, 0)", rows)


def devices(trace, count=2_000):
    trace.execute("DELETE FROM device WHERE id <> 0")
    for device in range(1, 128):
        first = (device << 28) + 1
        trace.execute("INSERT INTO device VALUES(?, 'GPU', NULL, 1000000, ?, 0)", (device, count))
        trace.execute(
            "INSERT INTO segment VALUES(?, ?, ?, ?, NULL, NULL, NULL, NULL, 0, 0, 1, 0, 1, 0)",
            (first, device, 1 << 30, 1 << 40),
        )
        rows = (((device << 40) + i, i, None, None, (1 << 30) + i * 512) for i in range(count))
        trace.executemany(ALLOCATION.replace("512, 0, 1, 1", f"512, 0, {first}, 1"), rows)


def stacks(trace, depth=60_000, count=8):
    first, frames = last_id(trace, "stack"), last_id(trace, "frame")
    trace.executemany("INSERT INTO frame VALUES(?, 1, 1, ?)", ((frames + 1 + i, 1_000 + i) for i in range(count)))
    trace.executemany(
        "INSERT INTO stack VALUES(?, ?, ?)",
        ((first + 1 + i, 0 if i % depth == 0 else first + i, frames + 1 + i // depth) for i in range(depth * count)),
    )
    trace.execute("DELETE FROM allocation_chunk")
    trace.execute("UPDATE allocation SET stack=?+id%?", (first + depth - 500, 500))


def strings(trace):
    first = last_id(trace, "string")
    trace.executemany("INSERT INTO string VALUES(?, ?)", ((first + 1 + i, f"{i:x}") for i in range(700_000)))


def origins(trace):
    first = last_id(trace, "origin")
    rows = ((first + 1 + i,) for i in range(650_000))
    trace.executemany("INSERT INTO origin VALUES(?, 1, 1, 1, 1, 1, 1)", rows)


def without_graph(trace):
    for table in ("autograd_edge", "autograd_node", "saved_tensor"):
        trace.execute(f"DELETE FROM {table}")


def chain_of_nodes(trace, count=160_000):
    without_graph(trace)
    trace.executemany(NODE, ((i + 1, i, i) for i in range(count)))
    trace.executemany(EDGE, ((i + 1, 0, i) for i in range(1, count)))
    trace.executemany(SAVED, ((i + 1, i + 1, i % 100) for i in range(count)))


def edges(trace, count=900):
    without_graph(trace)
    trace.executemany(NODE, ((i + 1, i, i) for i in range(count)))
    trace.executemany(EDGE, ((i + 1, j, j + 1) for i in range(count) for j in range(i)))
    trace.executemany(SAVED, ((i + 1, i + 1, i % 100) for i in range(count)))


def roots(trace, count=250_000):
    chain_of_nodes(trace, 10)
    trace.executemany(NODE, ((i + 1, i, i) for i in range(10, count)))
    trace.executemany(EDGE, ((i + 1, 0, 5) for i in range(10, count)))


def annotations(trace):
    rows = ((f"range {i % 7}", i, 500_000 - i) for i in range(250_000))
    trace.executemany("INSERT INTO annotation VALUES(NULL, ?, 'user', 0, 1, ?, ?)", rows)


def steps(trace):
    rows = ((i, i, i + 1) for i in range(380_000))
    trace.executemany("INSERT INTO step VALUES(NULL, ?, 'user', ?, ?)", rows)


def marks(trace):
    trace.executemany("INSERT INTO mark VALUES(NULL, ?, ?, 1)", ((f"m{i}", i) for i in range(400_000)))


def samples(trace):
    rows = ((i, i % 5_000) for i in range(350_000))
    trace.executemany("INSERT INTO sample VALUES(NULL, ?, 0, ?, 1000, 2000, 'nvml')", rows)


def data_gaps(trace):
    rows = ((f'{{"details":"{i}"}}',) for i in range(160_000))
    trace.executemany("INSERT INTO data_gap VALUES(NULL, 'not_recorded', 0, 0, 0, 0, 'nvml_failed', ?, NULL)", rows)


def driver_allocations(trace):
    rows = ((i << 20, i, i + 100_000 if i % 2 else None) for i in range(250_000))
    trace.executemany("INSERT INTO driver_allocation VALUES(NULL, 1, 0, 'device', ?, 512, ?, ?, 1, 1, NULL)", rows)


def categories(trace):
    rows = ((i % 100, i) for i in range(380_000))
    trace.executemany("INSERT INTO allocation_category VALUES(NULL, ?, ?, 'parameter', 1)", rows)


def referrers(trace, count=6_000):
    first = 900_000
    trace.execute("INSERT INTO heap_scan VALUES(?, 1, 'end', 1, 1, 1)", (first,))
    trace.executemany(
        "INSERT INTO referrer VALUES(?, ?, ?, ?)", ((first + i, first, i % 50 + 1, i % 100) for i in range(count))
    )
    trace.executemany(
        "INSERT INTO path_link VALUES(?, ?, 'attribute', 1, 1, 1, 1)",
        ((first + i, j) for i in range(count) for j in range(60)),
    )


def one_text(trace):
    trace.execute("UPDATE string SET text=? WHERE id=1", ("A" * 4_500_000,))
    trace.execute("INSERT INTO mark VALUES(NULL, ?, 1, 1)", ("B" * 4_500_000,))


FILLERS = {
    "allocations": allocations,
    "allocations that are freed": lambda trace: allocations(trace, is_freed=True, count=200_000),
    "allocations at one address": lambda trace: allocations(trace, step=0),
    "segments": segments,
    "128 devices": devices,
    "stacks of 60,000 frames": stacks,
    "strings": strings,
    "origins": origins,
    "nodes in a chain": chain_of_nodes,
    "edges": edges,
    "roots": roots,
    "annotations": annotations,
    "steps": steps,
    "marks": marks,
    "samples": samples,
    "data gaps": data_gaps,
    "driver allocations": driver_allocations,
    "categories": categories,
    "referrers": referrers,
    "one text": one_text,
}


def fill(name, folder):
    path = folder / f"{name.replace(' ', '_')}.tide"
    shutil.copyfile(BASE, path)
    with contextlib.closing(sqlite3.connect(path)) as trace:
        FILLERS[name](trace)
        trace.commit()
        trace.execute("VACUUM")
    return path


def measure(tidemark, command, path):
    """Returns (seconds, MiB, exit status)."""
    start = time.monotonic()
    run = subprocess.run(
        ["/usr/bin/time", "-f", "%M", tidemark, command, path],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        check=False,
    )
    return time.monotonic() - start, int(run.stderr.split()[-1]) / 1024, run.returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tidemark", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(FILLERS))
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    print("| full of | MB | slowest command | s | most memory | MiB |\n|---|---|---|---|---|---|")
    for name in options.names or FILLERS:
        path = fill(name, options.folder)
        measured = {command: measure(options.tidemark, command, path) for command in COMMANDS}
        slow = max(measured, key=lambda command: measured[command][0])
        large = max(measured, key=lambda command: measured[command][1])
        refused = f" (status {measured[slow][2]})" if measured[slow][2] else ""
        print(
            f"| {name} | {path.stat().st_size / 1e6:.1f} | {slow}{refused} | {measured[slow][0]:.1f} "
            f"| {large} | {measured[large][1]:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
