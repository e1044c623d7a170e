# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""The parts of a heap scan. A scan holds the interpreter lock, so all Python threads wait for one part of it, or for
_LONGEST_WAIT_S."""

from __future__ import annotations

import contextlib
import gc
import math
import sys
import time
import typing
from collections.abc import Callable, Iterator

_SHORTEST_SEARCH_S = 0.005
_SHARE_OF_SEARCH = 0.6  # of the time that is left: what a search has found needs names
LONGEST_NAMING_S = 0.025  # of a part that searches and names paths, whose objects live until all paths have names
_LONGEST_WAIT_S = 0.05  # of another thread for a part


class Limits(typing.NamedTuple):
    """The time that a scan may take, in s: a part of it, and the processor time of all parts."""

    part_s: float
    total_s: float


class Parts:
    """The parts of a scan, between which other threads run. limits: None if the scan must be complete. runnable_ns:
    returns the time in ns that this thread has run, or has waited for a processor."""

    def __init__(self, limits: Limits | None = None, runnable_ns: Callable[[], int] = time.thread_time_ns) -> None:
        self.began = self._part_began = time.perf_counter_ns()
        self._runnable_ns = runnable_ns
        self._part_runnable = runnable_ns()
        self._cpu_began = time.thread_time()
        self._longest = 0
        self._limits = limits
        self.is_cut = False  # whether the time was too short for what the scan began to do

    @property
    def are_limited(self) -> bool:
        return self._limits is not None

    def next(self) -> bool:
        """Ends a part, and lets other threads run. Returns whether there is time for another part."""
        self._longest = self.longest()
        time.sleep(0)  # releases the interpreter lock
        self._part_began, self._part_runnable = time.perf_counter_ns(), self._runnable_ns()
        return self._has_time()

    def next_if_long(self) -> bool:
        """Ends a part that has taken long. Returns whether there is time for more. While a part lasts, the program
        drops nothing that the scan retains, so small scans delay none of its frees."""
        return self._has_time() if self._passed_s() < LONGEST_NAMING_S else self.next()

    def left(self) -> float:
        """Returns the time in s for a search in this part; 0: unlimited."""
        if self._limits is None:
            return 0.0
        longest_s = min(self._limits.part_s - self._passed_s(), _SHARE_OF_SEARCH * self._left_in_total())
        return max(longest_s, _SHORTEST_SEARCH_S)

    def search(self, search_for: Callable[[float], int]) -> int:
        """Calls a search with the time in s that it may take; 0: unlimited. Returns what it returns: how much it did
        not find."""
        longest_s, began = self.left(), time.perf_counter()
        missing = search_for(longest_s)
        self.is_cut = self.is_cut or bool(missing and 0 < longest_s <= time.perf_counter() - began)
        return missing

    def is_over(self) -> bool:
        """Returns whether this part has taken its time."""
        return self._limits is not None and self._passed_s() > self._limits.part_s

    def longest(self) -> int:
        """Returns the time in ns that other threads waited for the longest part so far: without that in which this
        thread waited for the interpreter lock, which it loses in the midst of a part if another one needs it too."""
        return max(self._longest, self._runnable_ns() - self._part_runnable)

    def _has_time(self) -> bool:
        has_time = self._left_in_total() > 0
        self.is_cut = self.is_cut or not has_time
        return has_time

    def _passed_s(self) -> float:
        return (time.perf_counter_ns() - self._part_began) / 1e9

    def _left_in_total(self) -> float:
        return math.inf if self._limits is None else self._limits.total_s - (time.thread_time() - self._cpu_began)


@contextlib.contextmanager
def whole_parts(limits: Limits | None = None, runnable_ns: Callable[[], int] = time.thread_time_ns) -> Iterator[Parts]:
    """Yields the parts of a scan, see Parts. Threads that wait for the interpreter lock wait for a whole part. Else
    they take it after 5 ms, and what the program then drops lives on, since the scan retains it."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(_LONGEST_WAIT_S)
    during = sys.getswitchinterval()
    time.sleep(0)  # a thread that waits already takes the lock after the interval before
    try:
        yield Parts(limits, runnable_ns)
    finally:
        if sys.getswitchinterval() == during:  # else the program has set it
            sys.setswitchinterval(before)


@contextlib.contextmanager
def no_collections() -> Iterator[None]:
    """Lets Python begin no garbage collection. The recorder's objects would begin one, which takes the time of a scan
    or of a pause, and frees garbage that a scan looks for. Python's switch for collections stays the program's own."""
    before = gc.get_threshold()
    gc.set_threshold(0, *before[1:])
    try:
        yield
    finally:
        if gc.get_threshold()[0] == 0:  # else the program has set it
            gc.set_threshold(*before)
