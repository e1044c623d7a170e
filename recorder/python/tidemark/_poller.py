# SPDX-FileCopyrightText: 2026 Tidemark developers
# SPDX-License-Identifier: Apache-2.0

"""Calls a function periodically on a thread that is invisible to `threading`."""

import _thread
from typing import Callable


class Poller:
    """Calls poll() after `first_s` seconds, then after pauses that grow to `longest_s`, until stop().

    Pauses grow because most changes happen at the start. The thread does not delay the end of the interpreter. It is
    not a threading.Thread, because programs count and join those."""

    def __init__(self, poll: Callable[[], None], first_s: float = 0.05, longest_s: float = 0.5) -> None:
        self._poll = poll
        self._pauses = first_s, longest_s
        self._stopped = _thread.allocate_lock()
        self._stopped.acquire()
        _thread.start_new_thread(self._run, ())

    def stop(self) -> None:
        """Ends the polling. A call of poll() in progress still completes."""
        if self._stopped.locked():
            self._stopped.release()

    def _run(self) -> None:
        pause, longest = self._pauses
        while not self._stopped.acquire(timeout=pause):
            self._poll()
            pause = min(pause * 1.05, longest)
