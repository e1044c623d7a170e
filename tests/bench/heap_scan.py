# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Measures heap scans in a heap of many objects.

    TIDEMARK_HOME=BUILD/recorder/lib/tidemark python tests/bench/heap_scan.py [--objects 1000000]

Prints JSON, medians of seven iterations in ms: gc.get_objects(), a walk over all objects in parts of 4 ms and its
longest part, a scan of all objects, and the pass that detects objects without any referrer. Needs no torch.
"""

import argparse
import functools
import gc
import json
import os
import statistics
import sys
import time

sys.path.insert(0, os.path.join(os.environ["TIDEMARK_HOME"], "python"))

from tidemark import _heap

ITERATIONS = 7


class Node:
    def __init__(self, number):
        self.number = number
        self.items = [number, str(number)]


class Parts:
    """The longest part of a walk, in ms."""

    def __init__(self):
        self.longest, self._began = 0.0, time.perf_counter()

    def next(self):
        self.longest = max(self.longest, (time.perf_counter() - self._began) * 1000)
        self._began = time.perf_counter()
        return True


def timed(call):
    began = time.perf_counter()
    call()
    return (time.perf_counter() - began) * 1000


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--objects", type=int, default=1_000_000)
    options = parser.parse_args()
    heap = _heap.Heap()
    everything = [Node(number) for number in range(options.objects // 2)]
    times: dict[str, list[float]] = {
        name: [] for name in ("list_ms", "walk_ms", "longest_part_ms", "scan_ms", "unreferenced_ms")
    }
    gc.disable()
    for _ in range(ITERATIONS):
        times["list_ms"].append(timed(gc.get_objects))
        parts = Parts()
        walk = functools.partial(heap.instances_in_parts, type(parts), longest_s=0.004, between=parts.next)
        times["walk_ms"].append(timed(walk))
        times["longest_part_ms"].append(parts.longest)
        with heap.search([Node(0)], []) as search:
            times["scan_ms"].append(timed(lambda: search.search_from([_heap.Root(everything, -1)])))
            scanned = search.objects()
        with heap.search([Node(0)], []) as search:
            times["unreferenced_ms"].append(timed(search.drop_unreferenced))
    print(json.dumps({"objects": scanned, **{name: statistics.median(taken) for name, taken in times.items()}}))


if __name__ == "__main__":
    main()
