# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Limits the time that the recorder takes from the program for work that nobody asked for."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator


class Budget:
    """Time to spend: `free_s` at the start, then a share of the run's time. Saves at most `most_saved_s`, so that a
    long run does not pay for a burst. Not thread-safe."""

    def __init__(self, share: float, free_s: float, most_saved_s: float = 1.0) -> None:
        self._share = share
        self._most_saved = most_saved_s
        self._saved = free_s
        self._counted_until = time.monotonic()

    def allows(self, expected_s: float) -> bool:
        """Returns whether work that takes this long would stay within the budget."""
        now = time.monotonic()
        self._saved = min(self._saved + self._share * (now - self._counted_until), self._most_saved)
        self._counted_until = now
        return expected_s <= self._saved

    @contextlib.contextmanager
    def spend(self) -> Iterator[None]:
        """Measures work, and takes its time from the budget, which later time must make up for if that is too much.
        The time in which this thread runs counts: while it waits, the program runs."""
        began = time.thread_time()
        try:
            yield
        finally:
            self._saved -= time.thread_time() - began
