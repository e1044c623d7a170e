# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Limits the time that the recorder takes from the program for work that nobody asked for."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator


class Budget:
    """Time to spend: `free_s` at the start, then a share of the run's time. Saves at most what this is in `window_s`,
    so that no period of this length pays more than the share, or one piece of work if that takes longer. Not
    thread-safe."""

    def __init__(self, share: float, free_s: float, window_s: float = 10.0) -> None:
        self._share = share
        self._most_saved = share * window_s
        self._saved = free_s
        self._counted_until = time.monotonic()

    def allows(self, expected_s: float) -> bool:
        """Returns whether there is time for work that takes this long. Work that takes longer than the window pays for
        may begin once all of that is saved; later time must make up for it."""
        now = time.monotonic()
        earned = self._share * (now - self._counted_until)
        self._saved = max(self._saved, min(self._saved + earned, self._most_saved))
        self._counted_until = now
        return self._saved >= min(expected_s, self._most_saved)

    @contextlib.contextmanager
    def spend(self) -> Iterator[None]:
        """Measures work, and takes its time from the budget, which later time must make up for if that is too much.
        The time in which this thread runs counts: while it waits, the program runs."""
        began = time.thread_time()
        try:
            yield
        finally:
            self._saved -= time.thread_time() - began
