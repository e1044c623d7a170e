# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Limits the time that the recorder takes from the program for work that nobody asked for."""

from __future__ import annotations

import collections
import contextlib
import time
from collections.abc import Iterator


class Budget:
    """Time to spend: no period of `window_s` has more than this share of its time. Not thread-safe."""

    def __init__(self, share: float, window_s: float = 10.0) -> None:
        self._most = share * window_s
        self._window_s = window_s
        self._spent: collections.deque[tuple[float, float]] = collections.deque()  # (when it ended, time)

    def left(self) -> float:
        """Returns the time in s that work may take now."""
        oldest = time.monotonic() - self._window_s
        while self._spent and self._spent[0][0] < oldest:
            self._spent.popleft()
        return self._most - sum(spent for _, spent in self._spent)

    def allows(self, expected_s: float) -> bool:
        """Returns whether there is time for work that takes this long, or for all that a window has, if it takes
        longer."""
        return self.left() >= min(expected_s, self._most)

    @contextlib.contextmanager
    def spend(self) -> Iterator[None]:
        """Measures work. The time in which this thread runs counts: while it waits, the program runs."""
        began = time.thread_time()
        try:
            yield
        finally:
            self._spent.append((time.monotonic(), time.thread_time() - began))
