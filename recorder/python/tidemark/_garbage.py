# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Records garbage collections of the oldest generation that freed objects, and calls of gc.freeze(), as ranges of the
thread that ran them."""

import gc
from typing import Any, Callable

from tidemark import _core, _records

_OLDEST = 2


class Collections:
    """Records until stop(). `ticks` returns the time on the clock of records. `before_freeze` is called before objects
    are frozen: no heap scan finds a frozen object that nothing refers to."""

    def __init__(self, core: _core.Core, ticks: Callable[[], int], before_freeze: Callable[[], None]) -> None:
        self._core = core
        self._ticks = ticks
        self._before_freeze = before_freeze
        self._start = 0
        self._freeze = gc.freeze
        gc.callbacks.append(self._on_collection)
        gc.freeze = self._on_freeze

    def stop(self) -> None:
        """Ends the recording of collections."""
        gc.callbacks.remove(self._on_collection)
        if gc.freeze == self._on_freeze:
            gc.freeze = self._freeze

    def _on_freeze(self) -> None:
        if self._core.recording():
            self._before_freeze()
        self._start, before = self._ticks(), gc.get_freeze_count()
        self._freeze()
        if self._core.recording():
            self._report(f"gc.freeze ({gc.get_freeze_count() - before} objects)")

    def _on_collection(self, phase: str, info: "dict[str, Any]") -> None:
        if info["generation"] != _OLDEST:
            return
        if phase == "start":
            self._start = self._ticks()
        elif info["collected"] and self._core.recording():
            self._report(f"garbage collection ({info['collected']} objects)")

    def _report(self, name: str) -> None:
        for message in _records.span(self._core.text(name), self._start):
            self._core.push(message)
