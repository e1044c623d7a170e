# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Measures what recording costs on steps that keep the CPU busy, in pairs of a few steps each.

    PYTHONPATH=PREFIX/lib/tidemark/python TIDEMARK_HOME=PREFIX/lib/tidemark suspended_overhead.py [WORKLOAD...]

One recording is suspended for some steps, resumed for some, and so on: hundreds of pairs in a minute, between which a
machine that others use changes little. While it is suspended, the plugin ignores events, ops and the graph, the Python
hooks report to nobody, CUPTI has no subscriber, and the recorder's process is stopped. PyTorch's own memory history
with Python stacks is switched off and on in the same way. The first step after each switch does not count.

Prints JSON per workload: for each kind the median wall time of a recorded step, the median ratio of the steps of a
recorded run to those of the suspended run beside it, the 95 % confidence interval of that median, and the number of
pairs. Of adaptive detail, only light steps count, and "light" is their share. Searches and other pauses are rarer than
steps: `tidemark info` shows the whole cost of a recording.
"""

import argparse
import json
import os
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any

import torch

import tidemark
from step_overhead import WORKLOADS, block, interval_of_median
from tidemark import _api, _hooks

STEPS_BEFORE = 300  # steps are light, and the steps that set up a recording are over
STEPS_OF_RUN = 3


def processes_of_recorder(trace: str) -> Iterator[int]:
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/cmdline", "rb") as file:
                words = os.fsdecode(file.read()).split("\0")
        except OSError:
            continue  # it has ended
        if words[0].endswith("tidemark-recorder") and any(trace in word for word in words):
            yield int(name)


class Recorded:
    """A recording of Tidemark."""

    def __init__(self, detail: str, trace: str) -> None:
        tidemark.record(trace, force=True, detail=detail)
        recording = _api.current()
        assert recording is not None, "tidemark.record() has said why"
        self._recording: Any = recording
        self._recorder = list(processes_of_recorder(trace))
        assert self._recorder, "no recorder process was found"
        self._wants_light_steps = detail == "adaptive"

    def suspend(self) -> None:
        self._recording._plugin.suspend(1)
        _hooks.report_to(None)
        self._recording._driver.pause()
        for process in self._recorder:
            os.kill(process, signal.SIGSTOP)

    def resume(self) -> None:
        for process in self._recorder:
            os.kill(process, signal.SIGCONT)
        self._recording._driver.resume()
        _hooks.report_to(self._recording)
        self._recording._plugin.suspend(0)

    def counts(self) -> bool:
        """Returns whether the last steps are of the kind that is measured."""
        return not (self._wants_light_steps and self._recording._plugin.records_details())

    def end(self) -> None:
        tidemark.stop()


class History:
    """PyTorch's own memory history."""

    def __init__(self) -> None:
        self.resume()

    def suspend(self) -> None:
        torch.cuda.memory._record_memory_history(enabled=None)

    def resume(self) -> None:
        torch.cuda.memory._record_memory_history(stacks="python", max_entries=1_000_000)

    def counts(self) -> bool:
        return True

    def end(self) -> None:
        self.suspend()


KINDS: dict[str, Callable[[str], Recorded | History]] = {
    "adaptive": lambda trace: Recorded("adaptive", trace),
    "full": lambda trace: Recorded("full", trace),
    "history": lambda trace: History(),
}


def run(step: Callable[[], None]) -> float:
    """Returns the median wall time of a step in us."""
    times: list[float] = []
    for _ in range(STEPS_OF_RUN + 1):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        step()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - begin)
    return statistics.median(times[1:]) * 1e6


def measure(step: Callable[[], None], recording: Recorded | History, seconds: float) -> dict[str, Any]:
    for _ in range(STEPS_BEFORE):
        step()
    ratios: list[float] = []
    pairs = 0
    before, counted = run(step), recording.counts()
    recorded = [before]
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        recording.suspend()
        suspended = run(step)
        recording.resume()
        after, counts = run(step), recording.counts()
        if counted and counts:
            ratios.append((before + after) / 2 / suspended)
            recorded.append(after)
        before, counted = after, counts
        pairs += 1
    recording.end()
    found: dict[str, Any] = {"step_us": round(statistics.median(recorded)), "pairs": len(ratios)}
    if ratios:
        found |= {"ratio": round(statistics.median(ratios), 4), "interval": interval_of_median(ratios)}
    return found | {"light": round(len(ratios) / pairs, 3)}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("workloads", nargs="*", default=list(WORKLOADS), metavar="|".join(WORKLOADS))
    parser.add_argument("--seconds", type=float, default=60, help="of each kind")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    options = parser.parse_args(sys.argv[1:])
    with tempfile.TemporaryDirectory() as folder:
        for workload in options.workloads:
            step = WORKLOADS[workload]()
            block(step, 2)
            for kind in options.kinds:
                recording = KINDS[kind](os.path.join(folder, f"{workload}.tide"))
                found = measure(step, recording, options.seconds)
                print(json.dumps({"workload": workload, "kind": kind} | found), flush=True)


if __name__ == "__main__":
    main()
