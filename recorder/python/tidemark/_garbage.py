"""Collections of Python's garbage that freed something, as ranges of the thread that ran them."""

import gc

from tidemark import _records

_OLDEST = 2


class Collections:
    """Told by gc.callbacks until stop(). `ticks`: the clock of records."""

    def __init__(self, core, ticks):
        self._core = core
        self._ticks = ticks
        self._began = 0
        gc.callbacks.append(self._collects)

    def stop(self):
        gc.callbacks.remove(self._collects)

    def _collects(self, phase, info):
        if info["generation"] != _OLDEST:
            return
        if phase == "start":
            self._began = self._ticks()
        elif info["collected"] and self._core.recording():
            self._report(f"garbage collection ({info['collected']} objects)")

    def _report(self, name):
        api = self._core.table.contents
        ring = api.this_thread()
        text = api.text(ring, name.encode(), len(name)) if ring else 0
        for message in _records.span(text, self._began):
            self._core.push(message)
