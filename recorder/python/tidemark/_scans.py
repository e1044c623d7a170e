# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""When the heap is scanned: never by two threads at once, on requests of the user and of the recorder process, and
within the budget for scans that nobody asked for."""

from __future__ import annotations

import contextlib
import math
import threading
import time
import typing
from collections.abc import Callable, Iterator
from types import TracebackType

from tidemark import _budget, _pauses, _referrers
from tidemark._core import Core
from tidemark._parts import Limits, no_collections

LONGEST_PART_S = 0.03  # of a scan that nobody asked for
FIRST_SCAN_S = 0.04  # expected
MOST_FOR_RETAINED_S = 0.04  # of a scan since memory grows: the rest is for growing sites, which say more
LONGEST_WAIT_S = 5.0  # for a scan of another thread
_SHARE = 0.01  # of the program's time for scans that nobody asked for
FIRST_GROWTH_SCAN_S = 0.02  # expected: a scan since memory grows, as while a model is loaded, must leave time for it
_GROWTH_REASON = "allocation sites grow"  # as in facts.cpp: the recorder waits for it

_GrowthScan = typing.Callable[[str, Limits], typing.Optional[bool]]  # returns whether no other scan would find more


class Scans:
    """The scans of one recording. Any thread may call every method."""

    def __init__(self, core: Core, referrers: _referrers.Referrers, pauses: _pauses.Pauses) -> None:
        self._core = core
        self._referrers = referrers
        self._pauses = pauses
        self._scanning = threading.Lock()
        self._budget = _budget.Budget(_SHARE)
        self._last_growth_scan_s = FIRST_GROWTH_SCAN_S
        self._requests_served = core.scans_wanted()
        self._full_scans_served = core.full_scans_wanted()
        self._further: list[_GrowthScan] = []  # scans that may find what the last request did not
        self.polling_thread = 0  # for whole scans on this thread, no thread of the program waits
        core.serve_scans(1)

    def close(self) -> None:
        """Tells the recorder process that nobody serves requests any more."""
        self._core.serve_scans(0)

    def scan(self, reason: str, traceback: TracebackType | None = None, wait_s: float = 0.0) -> bool:
        """Scans for all targets. Waits at most wait_s for a scan of another thread; returns whether that was enough."""
        with self._exclusively(wait_s) as is_free:
            if is_free:
                self._referrers.scan(reason, traceback)
            return is_free

    def scan_if_affordable(self, reason: str, expected_s: float, most_s: float = math.inf) -> bool:
        """Scans for all targets within the budget. Returns whether there was time for it."""
        if not self._budget.allows(expected_s):
            return False
        with self._exclusively() as is_free:
            if is_free:
                with self._budget.spend():
                    self._referrers.scan(reason, None, self._limits(most_s))
            return is_free

    def serve_full_request(self, scan: Callable[[], None]) -> None:
        """Calls scan() if the user has requested a scan for everything by a command."""
        wanted = self._core.full_scans_wanted()
        if wanted != self._full_scans_served:
            self._full_scans_served = wanted
            scan()
            self._core.full_scans_made(wanted)

    def serve_request(self) -> None:
        """Scans for the memory of growing allocation sites if the recorder process has requested it. A request that is
        too expensive now is served later."""
        wanted = self._core.scans_wanted()
        if wanted == self._requests_served or not self._budget.allows(self._last_growth_scan_s):
            return
        began = time.thread_time()
        with self._exclusively() as is_free, self._budget.spend():
            if not is_free:
                return
            self._requests_served = wanted
            found = self._referrers.scan_growing(_GROWTH_REASON, self._limits())
            again = [] if self._is_polling() else [self._referrers.scan_growing]
            self._further = [] if found else [*again, self._referrers.scan_all_growing]
            self._last_growth_scan_s = time.thread_time() - began

    def scan_further(self) -> None:
        """Searches for the memory of growing sites that the last request did not find: once more with time, then among
        all objects. A thread of the program would have to wait for that."""
        if self._further and self._budget.allows(FIRST_SCAN_S):
            with self._exclusively() as is_free, self._budget.spend():
                if is_free and self._further and self._further.pop(0)(_GROWTH_REASON, self._limits()):
                    self._further = []

    def scan_before_freeze(self) -> None:
        """Scans for the memory of growing allocation sites as long as garbage among it can be seen."""
        if self._core.growing_blocks() and self._budget.allows(FIRST_SCAN_S):
            with self._exclusively() as is_free, self._budget.spend():
                if is_free:
                    self._referrers.scan_all_growing(_GROWTH_REASON, None)

    def _is_polling(self) -> bool:
        return threading.get_ident() == self.polling_thread

    def _limits(self, most_s: float = math.inf) -> Limits:
        """Returns the limits of a scan that nobody asked for. A thread of the program waits for the whole scan, others
        for a part of it."""
        longest_s = math.inf if self._is_polling() else LONGEST_PART_S
        return Limits(LONGEST_PART_S, min(self._budget.left(), most_s, longest_s))

    @contextlib.contextmanager
    def _exclusively(self, wait_s: float = 0.0) -> Iterator[bool]:
        """Yields whether this thread may scan. Waits at most `wait_s` for another one."""
        is_free = self._scanning.acquire(timeout=wait_s)
        try:
            with self._pauses.exclude(), no_collections():
                yield is_free
        finally:
            if is_free:
                self._scanning.release()
