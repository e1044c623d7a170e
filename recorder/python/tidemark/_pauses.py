# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Measures how long the recorder's own Python code stops the program's threads."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator

from tidemark import _records
from tidemark._core import Core
from tidemark._parts import no_collections

_PERIOD_NS = 200_000_000


class _Thread(threading.local):
    """The pauses of one thread that were not sent yet, in ns."""

    depth = 0
    began = 0
    excluded = 0  # inside the current pause
    total = longest = count = 0
    sent_at = 0


class Pauses:
    """The pauses of one recording. Any thread may call every method. Heap scans are not pauses: they report their
    durations themselves."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._thread = _Thread()

    @contextlib.contextmanager
    def measure(self) -> Iterator[None]:
        """Measures the body of a `with` statement. A pause inside another one belongs to the outer one. Python begins
        no garbage collection meanwhile: the program makes its collections, and waits for them, after the pause."""
        thread = self._thread
        with no_collections():
            thread.depth += 1
            if thread.depth == 1:
                thread.excluded, thread.began = 0, time.perf_counter_ns()
            try:
                yield
            finally:
                thread.depth -= 1
                if thread.depth == 0:
                    now = time.perf_counter_ns()
                    self._add(thread, max(now - thread.began - thread.excluded, 0), now)

    @contextlib.contextmanager
    def exclude(self) -> Iterator[None]:
        """Leaves the body of a `with` statement out of the pause around it."""
        began = time.perf_counter_ns()
        try:
            yield
        finally:
            self._thread.excluded += time.perf_counter_ns() - began

    def _add(self, thread: _Thread, duration_ns: int, now: int) -> None:
        thread.total += duration_ns
        thread.longest = max(thread.longest, duration_ns)
        thread.count += 1
        if now - thread.sent_at >= _PERIOD_NS:
            thread.sent_at = now
            self.send()

    def send(self) -> None:
        """Sends the pauses of this thread."""
        thread = self._thread
        if thread.count:
            self._core.push(_records.pauses(thread.total, thread.longest, thread.count))
            thread.total = thread.longest = thread.count = 0
