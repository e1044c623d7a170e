# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Scans the heap for referrers of arrays in programs without PyTorch, where driver allocations are the events."""

from __future__ import annotations

import threading
import time
from types import TracebackType

from tidemark import _arrays, _callbacks, _failures, _heap, _jax_arrays, _pauses, _poller, _referrers, _scans
from tidemark._core import Core
from tidemark._failures import reports_failures
from tidemark._sentence import Sentence

_GROWTH = 1.5  # of the number of driver events before the next scan
# The arrays of JAX cause no events: then time passes before the next scan, at least as long, and by this factor. A leak
# is known after three scans in a row, and the import and the first compilations take seconds.
_PAUSE_FOR_JAX_S = 1.0
_GROWTH_FOR_JAX = 1.2
_MOST_FOR_JAX_S = 0.08  # of a scan: a sum needs all arrays, and its heap is large


class ArrayScans:
    """The scans of one recording, from the time on when driver allocations are the events. Any thread may call every
    method. report_gap: reports a data gap."""

    def __init__(self, core: Core, pauses: _pauses.Pauses, report_gap: _failures.ReportGap) -> None:
        self._core = core
        self._pauses = pauses
        self.failures = _failures.Failures(
            report_gap,
            "referrers_failed",
            lambda details: Sentence("referrers of arrays are not recorded: {details}", details=details),
        )
        self._scans: _scans.Scans | None = None
        self._jax = _jax_arrays.JaxArrays()
        self._began = time.monotonic()
        self._next_scan_for_jax = _PAUSE_FOR_JAX_S
        self._expected_s = _scans.FIRST_SCAN_S
        self._events_at_scan = 0
        self._ended = False
        self._poller = _poller.Poller(self._poll)

    def close(self) -> None:
        """Stops the polling."""
        self._poller.stop()
        if self._scans:
            self._scans.close()

    @reports_failures
    def scan(self) -> None:
        """Scans the heap on request of the user. Waits up to 5 s for a scan of another thread."""
        if self._scans:
            self._scans.scan("asked", wait_s=_scans.LONGEST_WAIT_S)

    @reports_failures
    def ends(self, traceback: TracebackType | None) -> None:
        """Scans the heap at the end of the recording, once. traceback: of the exception that ends the program."""
        self._begin_if_due()
        if self._scans and not self._ended:
            self._ended = True
            self._scans.scan("end", traceback, _scans.LONGEST_WAIT_S)

    @reports_failures
    def _poll(self) -> None:
        self._begin_if_due()
        if self._scans:
            self._scans.polling_thread = threading.get_ident()
            self._scans.serve_full_request(self.scan)
            if not self._core.details_paused():
                self._scans.serve_request()
                self._scan_if_memory_grows(self._scans)

    def _scan_if_memory_grows(self, scans: _scans.Scans) -> None:
        """Scans a program whose peak may be soon, however short it is. Such scans become fewer."""
        events, passed = sum(self._core.driver_events()), time.monotonic() - self._began
        has_grown = events > 0 and events >= _GROWTH * self._events_at_scan
        may_have_grown = passed >= self._next_scan_for_jax and bool(self._jax.classes())
        if not has_grown and not may_have_grown:
            return
        began = time.thread_time()
        most_s = _MOST_FOR_JAX_S if self._jax.classes() else _scans.MOST_FOR_RETAINED_S
        if scans.scan_if_affordable("memory grows", self._expected_s, most_s):
            self._events_at_scan = events
            self._next_scan_for_jax = max(passed + _PAUSE_FOR_JAX_S, _GROWTH_FOR_JAX * passed)
            self._expected_s = time.thread_time() - began + _scans.FIRST_GROWTH_SCAN_S

    def _begin_if_due(self) -> None:
        if self._scans is not None or not self._core.driver_owns_events():
            return
        try:
            heap = _heap.Heap()
        except OSError:
            self._poller.stop()  # it would fail again
            raise
        _callbacks.watch()
        referrers = _referrers.Referrers(self._core, heap, [_arrays.Arrays(self._core), self._jax])
        self._scans = _scans.Scans(self._core, referrers, self._pauses)
